"""Decide whether a sentence that mentions a time is about work done then, not about dates that a program processes.

Words for times have many uses ("add a yesterday filter", "in May we will", "orders of last week"), so a sentence needs
further evidence: a statement that somebody did something, a question about changes, a change identified by its time,
or a problem that began then. This module does no I/O. The hook loads it only for prompts that mention a time.
"""

from __future__ import annotations

from enricher.prompt.wording.words import STOP_WORDS, generic_stems, stem

WORK, CHANGE, TROUBLE = "work", "change", "trouble"
"""What a sentence is about: work that someone did, a change identified by its time, or a problem that began then."""

_SOMEBODY = frozenset("we i you us anyone someone somebody i've we've you've we'd i'd everyone".split())
_OTHERS = frozenset("he she they".split())
_DONE = frozenset(
    "did done made changed committed merged pushed added removed deleted fixed refactored rewrote renamed moved introduced"
    " implemented wrote written started worked broke touched updated upgraded bumped reverted released shipped deployed landed"
    " built finished completed discussed agreed decided tried".split()
)
_ONLY_DONE_TO_CODE = frozenset("committed merged pushed refactored renamed reverted deployed released rewrote".split())
_DO = frozenset(
    "do change commit merge push add remove delete fix release ship deploy touch break work implement refactor rename move"
    " update upgrade bump finish start build write happen get leave".split()
)
_NOUNS = frozenset(
    "commit commits change changes merge merges refactoring refactor pr prs diff work release deploy deployment history"
    " changelog progress rewrite rename revert activity fix fixes cleanup".split()
)
_DO_FIRST = frozenset(
    "rename rewrite release work fix merge revert commit push deploy change refactor diff rebase".split()
)
"""Words for work that, at the beginning of a sentence, are an instruction instead of a mention of past work."""
_AFTER_WHAT = frozenset(
    "changed happened broke was were did has have got is new commits changes commit change work files functions tests code"
    " features modules parts prs tickets else landed all".split()
)
_TROUBLE = frozenset(
    "broken broke breaks break fails failing failed fail error errors crash crashes crashed crashing bug wrong slow slower hangs"
    " flaky red stopped regression regressed missing empty anymore twice worked working works fine green passing passed problem"
    " problems issue issues started stops blank weird strange odd timeout timeouts appeared appears doesn't isn't don't nothing".split()
)
_BEGAN = frozenset("worked working fine broke stopped passed passing green appeared".split())
_SUBJECTS = frozenset(
    "it this that tests build export import ci pipeline everything deploy login bug error problem issue crash".split()
)
_ORDERS = frozenset(
    "add create implement build make introduce support display render count delete purge select query fetch return returns export"
    " filter sort group send email notify archive calculate compute generate schedule".split()
)
_LISTINGS = frozenset("show list get find".split())
_SCREENS = frozenset(
    "column page dashboard ui view table button filter widget chart tab panel endpoint api component screen header label field"
    " option dropdown picker preset report query graph card badge toggle checkbox menu heading row section orders users sales"
    " customers invoices events messages posts".split()
)
_THINGS_OF_A_TIME = _SCREENS | frozenset(
    "date dates data value values string range entry entries total totals stats button's".split()
)
_TALK = frozenset(
    "everything anything whats summarize summarise summary list show tell continue standup repo repository codebase here there"
    " project branch team together been have past before where which what's please could would quickly briefly short brief"
    " overview recap remind happen happening going done much many every each code file files lines hey hello thanks".split()
)
_FUTURE = frozenset(
    "will we'll i'll you'll it'll shall gonna tomorrow next werden wird werde nächste nächsten prochain prochaine demain"
    " mañana próxima próximo amanhã prossima prossimo domani будем будет буду завтра vamos vais vai".split()
)
_RANGES = frozenset("over within across".split())
"""Words before the time of data, not of work: "the average over the last three days"."""
_CONJUNCTION = frozenset("is was are were has will isn't wasn't".split())

_FOREIGN_PEOPLE = frozenset(
    "wir ich du ihr man was wer welche welcher welches nous on je j'ai tu vous qui que quoi quels quelles qu'est-ce qu'on"
    " qué quién cuáles nosotros yo o quem quais nós eu che cosa chi quali noi io что кто какие мы я ты".split()
)
_FOREIGN_DONE = (
    "gemacht", "geändert", "getan", "gebaut", "gefixt", "gemergt", "eingebaut", "passiert", "committe", "gepusht", "umgebaut",
    "gearbeitet", "hinzugefügt", "entfernt", "veröffentlicht", "begonnen", "angefangen", "verändert", "gelöscht", "fait", "changé",
    "modifié", "ajouté", "supprimé", "commité", "mergé", "fusionné", "corrigé", "livré", "publié", "commencé", "passé", "travaillé",
    "hicimos", "hiciste", "hice", "hizo", "hecho", "cambió", "cambiamos", "cambiaste", "cambiado", "modific", "añadi", "agrega",
    "corregi", "arregl", "publica", "empez", "pasó", "trabaj", "fizemos", "fizeste", "fez", "feito", "mudou", "mudamos", "mudado",
    "altera", "adicion", "corrigi", "começ", "aconteceu", "trabalh", "fatto", "cambiat", "aggiunt", "corrett", "pubblicat",
    "iniziat", "success", "lavorat", "сделал", "делал", "измен", "менял", "добавил", "исправил", "случил", "произош", "начал",
    "коммит", "закоммит", "слил", "работали", "удалил",
)  # fmt: skip
_ENGLISH = frozenset("the of to is for and with should not this that it are be on by from were".split())
"""English words that do not occur in any of the other languages, unlike "in", "at" and "was"."""
_COMMITS = ("commits", "коммит")
_FOREIGN_WORKED = (
    "lief ", "ging ", "funktionierte", "marchait", "fonctionnait", "funcionaba", "funcionava", "funzionava", "работало",
    "работал ",
)  # fmt: skip
_FOREIGN_NOUNS = ("änderung", "commits", "changements", "modifications", "cambios", "mudanças", "alterações", "modifiche",
                  "cambiamenti", "изменени", "refactoring")  # fmt: skip
_FOREIGN_TROUBLE = (
    "kaputt", "fehler", "schlägt", "schlagen", "funktioniert", "geht nicht", "läuft nicht", "lief ", "ging ", "langsam", "stürzt",
    "crash", "doppelt", "falsch", "cassé", "échou", "échec", "erreur", "marche", "fonctionn", "lent", "plante", "bug", "roto", "rota",
    "falla", "error", "funciona", "rompió", "quebr", "falha", "erro ", "erros", "rotto", "rotta", "fallisc", "errore", "funzion",
    "слом", "падает", "падают", "ошибк", "работает", "работало", "медлен", "упал", "не работ",
)  # fmt: skip
_FOREIGN_SCREENS = (
    "filter", "spalte", "knopf", "button", "feld", "schaltfläche", "seite", "ansicht", "diagramm", "filtre", "colonne", "bouton",
    "champ", "page", "libellé", "filtro", "columna", "botón", "campo", "página", "etiqueta", "coluna", "botão", "colonna", "pulsante",
    "bottone", "pagina", "фильтр", "столб", "колонк", "кнопк", "поле", "страниц", "bericht", "rapport", "informe", "relatório",
    "отчёт", "отчет",
)  # fmt: skip
_FOREIGN_ORDERS = (
    "füge ", "erstelle ", "baue ", "zeige ", "ajoute ", "crée ", "affiche ", "añade ", "agrega ", "crea ", "muestra ", "adicione ",
    "adiciona ", "crie ", "mostre ", "aggiungi ", "mostra ", "добавь ", "создай ", "покажи ", "сделай ",
)  # fmt: skip


def in_english(words: list[str], at: int, end: int, *, is_since: bool) -> str:
    """Return what an English sentence that mentions a time is about: WORK, CHANGE, TROUBLE, or empty for anything else.

    ``words[at:end]`` are the words of the sentence that state the time. ``is_since`` means that the time lasts until
    now, as in "since Monday".
    """
    after = words[end] if end < len(words) else ""
    is_of_the_time = words[end - 1].endswith("'s")
    if after in _THINGS_OF_A_TIME or after.count(":") or (at and words[at - 1] in ("a", "an") and not is_of_the_time):
        return ""
    if _RANGES.intersection(words[max(0, at - 2) : at]):
        return ""
    rest = " ".join([*words[:at], *words[end:]])
    if _FUTURE.intersection(rest.split()) or "going to" in rest or "plan to" in rest:
        return ""
    if is_of_the_time:
        return CHANGE if _NOUNS.intersection(words[end : end + 3]) else ""
    if _someone_did(words):
        return WORK
    has_screen = bool(_SCREENS.intersection(words))
    is_order = words[0] in _ORDERS or (words[0] == "please" and words[1:2] and words[1] in _ORDERS)
    if _is_trouble(words, at, end, is_since=is_since) and not is_order and not (words[0] in _LISTINGS and has_screen):
        return TROUBLE
    if has_screen or (is_order and not {"changelog", "notes"} & {*words}):
        return ""
    asks = any(_asks_about_work(word, words[number + 1 : number + 2]) for number, word in enumerate(words))
    distinct = {*words}
    if asks and (distinct & (_DONE | _DO | _NOUNS) or {"happened", "new", "different", "changed", "broke"} & distinct):
        return WORK
    before = words[max(0, at - 5) : at]
    is_of_work = _NOUNS.intersection(before[at <= 5 and words[0] in _DO_FIRST :]) or (
        "git" in before and "log" in before
    )
    return CHANGE if is_of_work else ""


def subjects(words: list[str]) -> set[str]:
    """Return the stems of the words in a sentence that may name its subject, such as "login" or "invoices".

    Words for work, problems and people are left out, and so are words that may occur in any project.
    """
    common = _SOMEBODY | _OTHERS | _DONE | _DO | _NOUNS | _AFTER_WHAT | _TROUBLE | _TALK
    return {
        stemmed
        for word in words
        if len(word) > 3 and word.isalpha() and word not in common and word not in STOP_WORDS
        if (stemmed := stem(word)) not in generic_stems()
    }


def _asks_about_work(word: str, following: list[str]) -> bool:
    """Return whether ``word`` begins a question about work, as in "what changed", but not in "which orders"."""
    if word in ("what's", "whats"):
        return True
    return word in ("what", "which", "who", "anything", "something") and bool(
        (_AFTER_WHAT | _DONE).intersection(following)
    )


def _someone_did(words: list[str]) -> bool:
    """Return whether a sentence states or asks that somebody did work on the code: "we changed", "did you commit"."""
    for number, word in enumerate(words):
        if word in _SOMEBODY or word in _OTHERS:
            done = _ONLY_DONE_TO_CODE if word in _OTHERS else _DONE
            following = words[number + 1 : number + 5]
            # "Tell us who changed it": after these words, the subject is someone else.
            if done.intersection(following) and not {"who", "that", "if"} & {*following}:
                return True
            if words[number - 1 : number] in (["did"], ["have"]) and _DO.union(_DONE).intersection(following):
                return True
    return False


def _is_trouble(words: list[str], at: int, end: int, *, is_since: bool) -> bool:
    distinct = {*words}
    # "Since Monday is a holiday": this "since" means "because".
    if is_since and end < len(words) and words[end] in _CONJUNCTION:
        return False
    if is_since and (distinct & _TROUBLE or (at < 2 and words[0] == "since") or {"no", "longer"} <= distinct):
        return True
    # "It worked yesterday" implies that something has broken it.
    began = distinct & _BEGAN
    if "working" in began and not {"was", "were", "been"} & distinct:
        began -= {"working"}
    return bool(began and "who" not in distinct and (distinct & _SUBJECTS or at + 1 >= len(words) - 2))


def in_other_languages(lowered: str, words: list[str], at: int, end: int, *, is_since: bool) -> str:
    """Do the same as ``in_english`` for a sentence in German, French, Spanish, Portuguese, Italian or Russian.

    ``lowered`` is the sentence in lower case.
    """
    rest = [*words[:at], *words[end:]]
    has_screen = _has(lowered, _FOREIGN_SCREENS)
    if _FUTURE.intersection(rest) or _ENGLISH.intersection(rest):
        return ""
    if not has_screen and _has(lowered, _COMMITS):
        return WORK
    if lowered.lstrip().startswith(_FOREIGN_ORDERS):
        return ""
    if not has_screen and _has(lowered, _FOREIGN_WORKED):
        return TROUBLE
    if not has_screen and _has(lowered, _FOREIGN_DONE):
        has_person = bool(_FOREIGN_PEOPLE.intersection(words)) or lowered.startswith("qu'")
        if has_person or any(
            word.endswith(("mos", "али", "или", "лось", "мось")) or word in ("abbiamo", "ho", "hai", "hemos")
            for word in words
        ):
            return WORK
    if _has(lowered, _FOREIGN_TROUBLE) and (is_since or (not has_screen and not lowered.isascii())):
        return TROUBLE
    return WORK if _has(lowered, _FOREIGN_NOUNS) and not has_screen else ""


def _has(lowered: str, beginnings: tuple[str, ...]) -> bool:
    """Return whether a word of the sentence ``lowered`` starts with one of ``beginnings``."""
    spaced = f" {lowered} "
    return any(f" {one}" in spaced for one in beginnings)
