"""Recognise a prompt in which the user tells the agent to run nothing: "let's not run commands for now".

A refusal counts only if this module lists each word of its clause, because any other word may limit it ("do not run the
tests in CI") or name one command ("don't run prettier"). An order or a permission to run something ends a refusal and
needs no such care. No I/O, and no regular expressions, because this runs in the hook.
"""

from __future__ import annotations

from enricher.prompt.conversation import ALLOWED, REFUSED
from enricher.prompt.text import without_code

MOST_WORDS = 400
"""Maximum words of a prompt that is searched; a longer one is mostly pasted text or a specification."""
EDGES = " \t.,;:!?()[]\"'`*_~\u201c\u201d\u2026\u00bf\u00a1"
SENTENCE_ENDS = (". ", "! ", "? ", "; ", "\u3002", "\uff1f", "\uff01", "\uff1b", "\uff0c", "\u3001")
CLAUSE_ENDS = (
    ", ", " - ", " \u2014 ", " and ", " but ", " und ", " aber ", " et ", " mais ", " y ", " pero ", " e ", " mas ",
    " ma ", " и ", " но ",
)  # fmt: skip
PASTED_STARTS = (">", "|", "$", "#", "+", "at ", "file ", "diff ")

WORDS = """
negation: don't dont not never no stop avoid cannot can't nicht nichts kein keine keinen keinerlei pas rien aucun
  aucune nada não nem non nulla niente nessun nessuna не ничего никаких ningún ningun ninguna nenhum nenhuma
verb: run running rerun execute executing launch launching start starting ausführen führ führe fuehre starte starten
  laufen exécute exécutez exécuter lance lancez lancer ejecutes ejecutar ejecuta corras correr corre executar rode
  rodar eseguire esegui lanciare lancia запускай запускать запусти запускайте выполняй выполнять выполни запустить
  выполнить
thing: command commands app application server code program script scripts test tests suite anything it them things
  stuff befehle befehl anwendung programm skripte nichts es sie commande commandes appli serveur programme rien
  comando comandos aplicación aplicacion servidor código programa pruebas nada aplicativo testes aplicação comandi
  applicazione programma codice nulla niente команды команд код приложение программу тесты тест скрипты ничего тестов
  его
glue: any pour instant the your my our this that these all of a more shell terminal bash unit for now please pls
  yourself on own again yet anymore at here ever even just to try trying attempt attempting also still either or aus
  bitte die der das den irgendwelche jetzt vorerst erstmal mehr selbst lass lassen hier noch auch mir s'il te plaît de
  les le la l n ne d maintenant plus toi-même ici no los las el un una por favor ahora más tú mismo aquí todavía os as
  o enquanto mais você mesmo agora qui i gli l'app l'applicazione per favore ora più tu stesso пока пожалуйста сам
  сама больше здесь сейчас
before: and but so then ok okay please again also from now on for the time being you we i said told want would like
  i'd you'd i'm let let's lets us should must shall may will make sure that be better rather du bitte ab jetzt tu vous
  por favor tú você per favore ты пожалуйста пока an
polite: ok okay yes sure please now and then so can could would you may should let let's lets just go ahead feel free
  to try again also first it's fine allowed are must finally du kannst darfst bitte jetzt tu vous peux pouvez
  maintenant puedes ahora por favor você pode agora puoi ora ты можешь теперь можно пожалуйста
conditional: if when whenever while wenn falls si quand lorsque cuando se quando если когда
limit: in with during under auf mit dans avec en con em com в
"""  # noqa: RUF001
BEHIND = (
    "until i", "unless i", "unless told", "unless asked", "because", "since", "i will", "i'll", "i do that", "i run",
)  # fmt: skip
"""How the reason for a refusal, or its end, may follow it."""
CLOSING = ("time being", "the moment", "this session", "this conversation", "your own", "momento")
ENGLISH = ("don't", "dont", "not", "never", "cannot", "can't")
OF_THE_AGENT = ("let's", "lets", "let", "please", "you")
"""How a sentence begins that tells the agent what it is "not" to do."""
ELIDED = ("l'", "n'", "d'")
STARTING = ("start", "launch")
NOT_AFTER_RUN = ("in", "into", "out", "time", "times", "list", "detail")
"""Words after "run" that make it no order: "we run into trouble", "the run list"."""
WITH_LASS, WITH_AUS = ("laufen",), ("führ", "führe", "fuehre")
WIDE_VERBS = ("运行", "執行", "执行", "跑", "启动", "実行", "起動", "走らせ")
WIDE_REFUSALS = ("不要", "別", "别", "请勿", "ないで")
WIDE_OTHERS = tuple(
    "ください 下さい コマンド プログラム スクリプト サーバー テスト アプリ コード とりあえず しばらく 何も 一切 まだ"
    " 今は 当面 どんな 应用 程序 命令 测试 代码 脚本 任何 什么 现在 目前 暂时 先 请 你 再 了 它 的 任 を は も の ね"
    " し さ".split()
)
"""What may stand beside a refusal in Chinese or Japanese; longer words come first."""
WIDE_PERMISSIONS = ("可以", "一下", "现在", "请", "ください", "下さい", "ていい", "て構", "てもいい", "て良い")


def _tables() -> dict[str, frozenset[str]]:
    joined = WORDS.strip().replace("\n  ", " ")
    return {kind: frozenset(words.split()) for kind, _, words in (line.partition(": ") for line in joined.split("\n"))}


_OF = _tables()
_KNOWN = _OF["negation"] | _OF["verb"] | _OF["thing"] | _OF["glue"]


def wish(prompt: str) -> str:
    """Return REFUSED if a prompt forbids running anything, ALLOWED if it orders or allows a run; else an empty text."""
    low = prompt.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if len(low.split(None, MOST_WORDS)) > MOST_WORDS:
        return ""
    found = ""
    for sentence in _sentences(low):
        if any(word in sentence for word in WIDE_VERBS):
            kind = _of_ideographs(sentence)
        else:
            kind = _of_sentence(sentence)
        if kind == REFUSED:
            return REFUSED
        found = found or kind
    return found


def _sentences(low: str) -> list[str]:
    lines = [line.strip() for line in without_code(low.splitlines())]
    text = "\n".join(line for line in lines if not line.startswith(PASTED_STARTS))
    for mark in SENTENCE_ENDS:
        text = text.replace(mark, f"{mark.strip()}\n")
    return [line for line in text.split("\n") if line]


def _of_sentence(sentence: str) -> str:
    parts = sentence.replace("do not ", "don't ").replace("can not ", "cannot ")
    for mark in CLAUSE_ENDS:
        parts = parts.replace(mark, "\n")
    clauses = [words for part in parts.split("\n") if (words := _words(part))]
    everything = [word for words in clauses for word in words]
    if not everything:
        return ""
    is_limited = not _OF["conditional"].isdisjoint(everything) or everything[0] in _OF["limit"]
    if not is_limited and any(_refuses(words, everything[0]) for words in clauses):
        return REFUSED
    is_question = sentence.rstrip().endswith("?") and everything[0] not in _OF["polite"]
    return ALLOWED if not is_question and any(map(_allows, clauses)) else ""


def _words(clause: str) -> list[str]:
    for article in ELIDED:
        clause = clause.replace(f" {article}", f" {article} ").removeprefix(article)
    return [bare for one in clause.split() if (bare := one.strip(EDGES))]


def _refuses(words: list[str], first: str) -> bool:
    """Return whether a clause is a refusal; ``first`` is the first word of its sentence."""
    at = next((number for number, word in enumerate(words) if word in _OF["negation"]), -1)
    start = next((number for number, word in enumerate(words) if word in _KNOWN - _OF["before"]), -1)
    if at < 0 or not _OF["before"].issuperset(words[: min(at, start)]):
        return False
    own = _without_reason(words[min(at, start) :])
    if not _KNOWN.issuperset(own) or _OF["thing"].isdisjoint(own) or not _is_run(own):
        return False
    negation, before, behind = words[at], words[:at], [*words[at + 1 :], ""][0]
    if negation in ENGLISH and not _OF["thing"].isdisjoint(before):
        return False  # "the tests do not run"
    if negation == "no":
        return behind in _OF["verb"] and behind not in ("run", "start", "launch", "execute")
    if negation in ("cannot", "can't"):
        return before[-1:] == ["you"]
    if negation == "not":  # "make it build the image and not run the tests" is about the program
        return behind in ("try", "trying", "attempt") or first in OF_THE_AGENT or "told" in before
    return True


def _without_reason(words: list[str]) -> list[str]:
    """Return the words up to the reason, the end or the duration of a refusal: "… because it is slow", "… for now"."""
    text = " ".join(words)
    for phrase in BEHIND:
        text = f"{text} ".partition(f" {phrase} ")[0].strip()
    for phrase in CLOSING:
        if text.endswith(phrase):
            own = text.split()
            last = max((at for at, word in enumerate(own) if word in _OF["thing"]), default=len(own))
            text = " ".join(own[: last + 1]) if len(own) - last <= len(phrase.split()) + 3 else text
    return text.split()


def _is_run(words: list[str]) -> bool:
    """Return whether the words have a verb such as "run" before what is run (in German, it may come last)."""
    verbs = [at for at, word in enumerate(words) if word in _OF["verb"]]
    if not verbs:
        return False
    verb = words[verbs[0]]
    if verb in WITH_LASS:
        return not {"lass", "lassen"}.isdisjoint(words)
    return verb not in WITH_AUS or "aus" in words


def _allows(words: list[str]) -> bool:
    """Return whether a clause orders or allows a run: "run the tests", "you can run it now"."""
    if words[:1] == ["i"] and "to" in words[:5] and "you" in words[:5]:  # "i want you to run it"
        words = words[words.index("to") + 1 :]
    while words and words[0] in _OF["polite"]:
        words = words[1:]
    if len(words) < 2 or not _OF["negation"].isdisjoint(words) or not {words[0], words[-1]} & (_OF["verb"] | {"lass"}):
        return False
    if words[0] in _OF["verb"]:
        is_other = words[0] in STARTING and _OF["thing"].isdisjoint(words)  # "start with the parser"
        return not (is_other or words[0].endswith("ing") or words[1] in NOT_AFTER_RUN) and _is_run(words)
    return _KNOWN.issuperset(words) and _is_run(words)


def _of_ideographs(sentence: str) -> str:
    if any(word in sentence for word in WIDE_REFUSALS):
        left = sentence.strip(EDGES)
        for word in (*WIDE_REFUSALS, *WIDE_VERBS, *WIDE_OTHERS):
            left = left.replace(word, "")
        return "" if left.strip(f"{EDGES}\u3002\uff01\uff0c\u3001") else REFUSED
    return (
        ALLOWED if any(word in sentence for word in WIDE_PERMISSIONS) and not sentence.endswith(("?", "\uff1f")) else ""
    )
