"""Detect questions about the history of something in the code: when it was added, who changed it, where it went.

Questions in nine languages are recognised. This module does no I/O. The hook loads it only for a prompt that may ask:
one with a question mark, with letters outside of ASCII, or with a word listed in ``enricher.context.channels.history``.
"""

from __future__ import annotations

from itertools import pairwise

from enricher.prompt.wording.words import words_of

ADDED, CHANGED, REMOVED, FIXED, NEWS = "added", "changed", "removed", "fixed", "news"
"""Kinds of questions. FIXED asks whether a bug was fixed before, and NEWS what is new in a version."""
LONGEST_SENTENCE = 400
_ENDS = str.maketrans(
    {"?": "?\n", "!": "!\n", "。": "\n", "？": "?\n", "！": "!\n", ";": "\n", "；": "\n", "¿": " ", "¡": " "}
)

_ENGLISH = (
    (REMOVED, "what happened|whatever happened", "to with"),
    (REMOVED, "what replaced|what replaces|we removed|we dropped|we deleted|we replaced", ""),
    (REMOVED, "bring|bringing", "back"),
    (REMOVED, "restore|resurrect|reintroduce|disappeared|vanished|got removed|used to have|used to be", ""),
    (CHANGED, "was", "reverted"),
    (CHANGED, "what changed|what has changed|what broke|last change to|last changed|recent changes to|history of", ""),
    (CHANGED, "stopped working|no longer works|worked before", ""),
    (CHANGED, "regression in|regression since|regressed|revert", ""),
    (CHANGED, "which change", "broke caused"),
)
"""Rows: the kind of question, the possible beginnings, and words, one of which must follow unless there are none."""
_GONE = frozenset("gone missing removed deleted dropped".split())
_DONE = {
    REMOVED: _GONE | frozenset("moved renamed retired replaced thrown killed remove removes delete deletes drop drops"
     " move rename retire replace disappear disappeared vanish vanished rid".split()),
    FIXED: frozenset("fixed fix solved solve".split()),
    ADDED: frozenset("added introduced created written implemented shipped brought add introduce create write"
     " implement land arrive appear adds introduces wrote".split()),
    CHANGED: frozenset("changed modified reverted rewritten touched broke change break breaks rewrote turn".split()),
}  # fmt: skip
"""English verbs that indicate the kind of question, anywhere after its beginning."""
_ASKED_WITH = {
    "why": "was were did has is", "when": "was were did has", "where": "did has was is", "which": "version release commit",
    "what": "version release commit", "the": "commit", "since": "when", "did": "we", "didn't": "we", "didnt": "we",
    "have": "we", "haven't": "we", "havent": "we",
}  # fmt: skip
"""First words of English questions, each with the words of which one must come next: "when was it …" is a question
about the past, "… when it was" is not."""
_WE, _VERSION, _YES_OR_NO = "we", "version", "is"
_KINDS_ASKED = {
    "why": (REMOVED, ADDED, CHANGED), "where": (REMOVED,), _WE: (REMOVED, FIXED, ADDED),
    "who": (REMOVED, ADDED, CHANGED), "wasn't": (FIXED,), "hasn't": (FIXED,), _YES_OR_NO: (REMOVED,),
}  # fmt: skip
"""Kinds of questions that are possible with a beginning; with other beginnings, all kinds are."""
_ALSO_DONE = {
    "where": {"go": REMOVED, "now": REMOVED}, "who": {"did": ADDED, "made": ADDED}, _YES_OR_NO: {"exist": REMOVED},
    "when": {"come": ADDED, "get": ADDED, "become": CHANGED, "stop": CHANGED, "start": CHANGED},
}  # fmt: skip
FAR_FROM_WHO = 3
"""Maximum words from "who" to the verb: "who has once added it", not "who can see what was added"."""
_BEGIN_YES_OR_NO = frozenset(
    "does is are was were has wurde wurden ist sind gibt existe existen foi foram è esiste".split()
)
"""First words of yes-or-no questions; such a question needs a question mark, and must be about a removal."""

_AT_THE_START = ("who", "revert", "restore", "bring", "resurrect", "reintroduce", "wasn't", "hasn't",
                 "we removed", "we dropped", "we deleted", "we replaced")  # fmt: skip
"""Words that are a question or request only at the beginning of a sentence, unlike "the user who removed it"."""
_POINTING = frozenset(
    "that this it these those them everything all das die der es dies ça eso esto isso isto это a-t-elle a-t-il".split()
)
_WORK = frozenset("commit commits change changes".split())
""""revert that" refers to the agent's own work, "revert that commit" to the history of the project."""
_BEFORE_AN_ORDER = frozenset(
    "please can could would you we i let's lets just and then so find out know tell me ok no want to".split()
)
_WHEN_WHO_WHY = (
    "warum wieso weshalb wann wer wo wohin welcher welchem welches"
    " pourquoi quand qui où quel quelle"
    " porqué qué cuándo cuando quién quien dónde donde"
    " porque porquê quando quem onde qual"
    " perché perche chi dove quale"
    " почему зачем когда кто куда где какой каком"
).split()
_SINCE_WHEN = ("seit wann", "ab wann", "depuis quand", "desde cuándo", "desde cuando", "desde quando", "da quando",
               "с каких пор")  # fmt: skip
_WHICH = frozenset("welcher welchem quelle quel qué que cuál cual qual quale какой какого каком".split())
_VERSIONS = ("version", "versión", "versão", "release", "верси", "релиз")
_SINCE = {"seit", "depuis", "desde", "da"}
"""Words that may also precede a version: "what has changed since 2.0"."""
_EXISTING = frozenset(
    "gibt gibts existiert haben existe existen hay há esiste c'è есть существует y kann peut puede pode può можно".split()
)
"""With one of these words, "since when" asks when a thing was added, whatever other verb the clause has."""
_STARTS = (*_SINCE_WHEN, "por qué", "por que", "was ist mit", "was geschah", "qu'est devenu", "qué pasó",
           "o que aconteceu", "cosa è successo", "che fine ha", "что случилось", "haben wir", "hatten wir",
           "n'avons-nous pas", "on n'a pas", "no habíamos", "no hemos", "já não", "non avevamo", "non abbiamo", "мы же", "мы уже",
           "разве мы")  # fmt: skip
_DEEDS = (
    (REMOVED, (
        "umbenannt verschoben renommé déplacé renombrado movido renomeado rinominato spostato переимен перемещ"
        " entfernt gelöscht rausgeworfen verschwunden weggefallen hingekommen supprimé retiré enlevé disparu effacé"
        " passé umgezogen eliminado eliminó eliminamos eliminaron eliminada quitado quitó quitamos quitaron quitada borrado"
        " borró borramos borrada desaparecido desapareció removido removida removeu removemos removeram apagado"
        " apagada apagou apagamos excluído excluída sumiu desapareceu rimosso rimossa rimossi eliminato eliminata"
        " tolto tolta cancellato cancellata sparito sparita finito finita удалил убрал удален удалён исчез пропал"
        " убран делся ersetzt remplacé reemplazado substituído sostituito заменил"
    ).split()),
    (ADDED, (
        "hinzugefügt eingeführt eingebaut angelegt hinzugekommen ergänzt ajouté introduit créé añadido añadió"
        " añadimos añadida agregado agregó agregamos agregada introdujo introducido introducida creado creada"
        " adicionado adicionada adicionou adicionamos introduzido introduzida criado criada aggiunto aggiunta"
        " introdotto introdotta creato creata dazugekommen reingekommen dazu kam kamen entrou entró arrivé добавил добавлен появил введен введён ввели"
    ).split()),
    (FIXED, (
        "gefixt behoben repariert corrigé résolu réparé arreglado arreglamos corregido corregimos solucionado"
        " corrigido corrigimos consertado corretto risolto sistemato исправил починил"
    ).split()),
    (CHANGED, (
        "geändert verändert umgebaut zurückgenommen changé modifié cassé annulé cambiado cambió cambiamos cambiada"
        " modificado modificó modificada rompió roto rota revertido revertida mudou mudado mudada alterado alterada"
        " alterou alteramos quebrou quebrado cambiato cambiata modificato modificata rotto rotta измен поменял сломал"
        " откат"
    ).split()),
)  # fmt: skip
"""Beginnings of verbs that indicate the kind of question, in the languages other than English."""
_BACK = (
    "zurückholen wiederherstellen wiederherzustellen stelle wieder restaure restaurer rétablis rétablir remets restaura"
    " restaurar recupera recuperar restablece ripristina ripristinare восстанови восстановить верни вернуть"
).split()
_IDEOGRAPHS = (
    (REMOVED, ("删除", "删掉", "移除", "去掉", "不见", "没了", "刪除", "移到", "恢复", "找回", "还原", "去哪",
               "削除", "消え", "なくな", "取り除", "どこに行", "どこへ", "復元", "元に戻")),
    (ADDED, ("添加", "加入", "引入", "新增", "加的", "追加", "導入", "加えら", "支持", "対応", "サポート")),
    (CHANGED, ("修改", "改了", "改动", "改过", "弄坏", "变更", "回滚", "変更", "変わ", "壊れ", "壊し")),
)  # fmt: skip
_ASIAN_QUESTIONS = ("为什么", "为何", "什么时候", "何时", "谁", "哪个", "哪次", "哪里", "去哪", "恢复", "找回", "还原", "从何时",
                    "なぜ", "どうして", "いつ", "誰", "どのコミット", "どこ", "復元", "元に戻")  # fmt: skip


_ONLY_OF_NAMES = frozenset(
    ("disappeared", "vanished", "got removed", "used to be", "what broke", "stopped working", "no longer works",
     "worked before", "regression in", "regression since", "regressed", "revert", "restore", "was", "which change")
)  # fmt: skip
"""Beginnings that ask about the past of an identifier, but may begin a report or request if ordinary words follow."""
_NEWS = ("release notes for", "release notes of", "changelog for", "changelog of", "changelog von", "änderungen von",
         "changements de la", "cambios de la", "mudanças da", "cambiamenti della", "what's new", "whats new", "what is new", "was ist neu", "was gibt es neues", "quoi de neuf",
         "qué hay de nuevo", "que hay de nuevo", "o que há de novo", "cosa c'è di nuovo", "что нового", "有什么新", "新功能",
         "新機能")  # fmt: skip
_CLAUSE_ENDS = (
    ", ", " - ", " – ", " — ", " (", ") ", "... ", "，", " but ", " because ", " aber ", " mais ", " pero ", " mas ",
)  # fmt: skip
_AND_THEN = frozenset(
    "what why how who when where which is are does do did can could it we i you they then that please if so tell in"
    " show find was wie wer wann wo warum ob qui que quoi comment qué que cómo quién cosa che come что как кто".split()
)
"""A clause ends before "and" (in any of the languages) if one of these words follows."""
_AND = frozenset("and und et y e и".split())
ENGLISH, LATIN, OTHER = "English", "Latin", "other"
"""Forms of a clause: in English, in another language with Latin letters, or in another script."""
Thing = tuple[str, list[str], str]
"""(Kind of question, words that name the thing, form of the clause); for OTHER, only the words in Latin letters."""


def find_things(prompt: str) -> list[list[Thing]]:
    """Return the things, named with ordinary words, whose past the clauses of the prompt ask about.

    Each list contains the words of a question that name the thing. For a question that names nothing ("when was that
    dropped"), the words before it, the previous clause and the one that ends it (", the wishlist?") are added.
    """
    clauses = [clause for sentence in _sentences(prompt) for clause in _clauses(sentence)]
    found = []
    for at, clause in enumerate(clauses):
        if things := _things_of(clause):
            kind, words, form = things[0]
            is_pointing = not words or not _POINTING.isdisjoint(words)
            behind = [one for one in clauses[at + 1 : at + 2] if "?" in one and "?" not in clause]
            around = (*clauses[at - 1 : at], *behind)
            found.append([*things, *((kind, _words(one)[1], form) for one in around if is_pointing)])
    return found


def _sentences(prompt: str) -> list[str]:
    sentences = prompt.translate(_ENDS).replace(". ", "\n").split("\n")
    return [sentence for sentence in sentences if len(sentence) <= LONGEST_SENTENCE]


def _clauses(sentence: str) -> list[str]:
    for end in _CLAUSE_ENDS:
        sentence = sentence.replace(end, "\n")
    found: list[list[str]] = [[]]
    words = sentence.replace("\n", " \n ").split(" ")
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "\n" or (word.lower() in _AND and following.lower() in _AND_THEN):
            found.append([])
        elif word:
            found[-1].append(word)
    return [" ".join(clause) for clause in found]


def _things_of(clause: str) -> list[Thing]:
    lowered, words = _words(clause)
    padded = f" {' '.join(words)} "
    is_latin = all(letter < "\u0370" for letter in lowered)  # Greek is the first other script
    if news := next((one for one in _NEWS if one in lowered), ""):
        rest = lowered.replace(news, " ")
        return [(NEWS, _words(rest)[1], LATIN) if is_latin else (NEWS, words_of(rest), OTHER)]
    kind, start, *things = _in_english(words, is_question="?" in clause)
    if kind:
        return [] if start in _ONLY_OF_NAMES else [(kind, thing, ENGLISH) for thing in things]
    kind = _asks_elsewhere(words, padded, is_question="?" in clause) or _asks_in_ideographs(lowered)
    if not (kind and is_latin):
        return [(kind, words_of(lowered), OTHER)] if kind else []
    deeds = tuple(beginning for _kind, beginnings in _DEEDS for beginning in beginnings)
    asking = {*_WHEN_WHO_WHY, *_EXISTING, *_WHICH, *_BEGIN_YES_OR_NO, *" ".join(_STARTS).split()} - _SINCE
    return [(kind, [word for word in words if not (word in asking or word.startswith(deeds))], LATIN)]


def find_questions(prompt: str) -> list[tuple[str, str]]:
    """Return (ADDED, CHANGED or REMOVED, sentence) for each sentence of the prompt that asks about the past."""
    return [(kind, one) for one in _sentences(prompt) if len(one) > 4 and (kind := _asks(one))]


def _asks(sentence: str) -> str:
    lowered, words = _words(sentence)
    padded = f" {' '.join(words)} "
    if _is_used_to(words):
        return CHANGED
    is_question = "?" in sentence
    return (
        _in_english(words, is_question=is_question)[0]
        or _asks_elsewhere(words, padded, is_question=is_question)
        or _asks_in_ideographs(lowered)
    )


def _words(sentence: str) -> tuple[str, list[str]]:
    lowered = sentence.lower().replace("\u2019", "'")
    return lowered, [word.strip("\"'`.,:;()[]{}?") for word in lowered.split()]


def _in_english(words: list[str], *, is_question: bool) -> tuple[str, str, list[str], list[str]]:
    """Return (kind of question, beginning, words for its thing, words before it); the kind is empty if it is none."""
    padded = f" {' '.join(words)} "
    for kind, starts, followers in _ENGLISH:
        for start in starts.split("|"):
            at = padded.find(f" {start} ")
            if at < 0 or (start in _AT_THE_START and not set(padded[:at].split()) <= _BEFORE_AN_ORDER):
                continue
            after = padded[at + len(start) + 1 :].split()
            if start == "revert" and after[:2] in (["the", "rest"], ["the", "others"]):
                continue
            if start == "revert" and after[:1] and after[0] in _POINTING and not _WORK.intersection(after[1:2]):
                continue
            verb = next((number for number, word in enumerate(after) if word in followers.split()), -1)
            if not followers or verb >= 0:
                return kind, start, [*after[: max(verb, 0)], *after[verb + 1 :]], []
    return _in_any_order(words, is_question=is_question)


def _in_any_order(words: list[str], *, is_question: bool) -> tuple[str, str, list[str], list[str]]:
    for at in range(len(words)):
        if start := _start(words, at, is_question=is_question):
            length = 1 if start in (*_AT_THE_START, _YES_OR_NO) else 2
            rest = words[at + length :]
            verb, kind = _deed(start, rest)
            if kind:
                return kind, start, [*rest[:verb], *rest[verb + 1 :]], words[:at]
    if is_question and words and words[-1] in _GONE:
        return REMOVED, words[-1], words[:-1], []
    return "", "", [], []


def _start(words: list[str], at: int, *, is_question: bool) -> str:
    """Return the beginning of a question at ``words[at]``, in the form used in the tables; empty if there is none."""
    word, following = words[at], " ".join(words[at + 1 : at + 2])
    if following in _ASKED_WITH.get(word, "").split():
        return _WE if following == _WE else _VERSION if following in ("version", "release", "when") else word
    if not _BEFORE_AN_ORDER.issuperset(words[:at]):
        return ""
    if is_question and word in _BEGIN_YES_OR_NO:
        return _YES_OR_NO
    return word if word in ("who", "wasn't", "hasn't") else ""


def _deed(start: str, rest: list[str]) -> tuple[int, str]:
    """Return the position of the verb among the words after a question's beginning, and the kind that it indicates."""
    for at, word in enumerate(rest[:FAR_FROM_WHO] if start == "who" else rest):
        shown = (kind for kind in _KINDS_ASKED.get(start, tuple(_DONE)) if word in _DONE[kind])
        if kind := _ALSO_DONE.get(start, {}).get(word) or next(shown, ""):
            return at, kind
    # "Since which version can one export orders": any verb will do.
    return len(rest), ADDED if start == _VERSION else ""


def _is_used_to(words: list[str]) -> bool:
    """Return whether the sentence says that something "used to" be different, not that it "is used to" do something."""
    return any(
        words[at : at + 2] == ["used", "to"]
        and words[at - 1] in ("it", "this", "that", "they", "which", "we", "there")
        and not {"is", "isn't", "isnt", "are", "was", "be"} & {*words[max(0, at - 3) : at]}
        for at in range(1, len(words) - 2)
    )


def _asks_elsewhere(words: list[str], padded: str, *, is_question: bool) -> str:
    is_of_version = any(one in _WHICH and other.startswith(_VERSIONS) for one, other in pairwise(words))
    is_since_when = is_of_version or any(f" {start} " in padded for start in _SINCE_WHEN)
    if is_since_when or any(f" {start}" in padded for start in _STARTS) or set(words) & {*_WHEN_WHO_WHY}:
        if is_since_when and _EXISTING.intersection(words):
            return ADDED
        kind = next((kind for kind, deeds in _DEEDS if any(f" {deed}" in padded for deed in deeds)), "")
        return kind or (ADDED if is_since_when else "")
    if is_question and words and words[0] in _BEGIN_YES_OR_NO:
        kind, deeds = _DEEDS[0]
        return kind if any(f" {deed}" in padded for deed in deeds) else ""
    return REMOVED if set(words) & {*_BACK} else ""


def _asks_in_ideographs(lowered: str) -> str:
    if lowered.isascii() or not any(one in lowered for one in _ASIAN_QUESTIONS):
        return ""
    return next((kind for kind, words in _IDEOGRAPHS if any(word in lowered for word in words)), "")
