"""The channel ``history``: the commit that removed, renamed, moved, added or changed what a prompt names.

The channel answers if the prompt asks about the past, names something that no longer exists, or mentions a time. It
reads the tables that ``enricher.sources.code.indexing.changes`` and ``enricher.sources.release_notes`` filled in the
background after earlier prompts. It runs in the hook, and starts no process.
"""

from __future__ import annotations

from enricher.context import Candidate, Channel
from enricher.context.prompt_names import names_in
from enricher.prompt.text import without_code
from enricher.prompt.wording.words import words_of
from enricher.sources.code import clone, marks, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context import ChannelRule, Request
    from enricher.context.prompt_names import PromptNames
    from enricher.prompt.wording.past_questions import Thing

MOST_CHARS = 6_000
FRAMES = ('File "', "at ", "Traceback")

_CUES = frozenset(
    """
    why when who what whats where which since whatever last recent did didn have haven wasn hasn we
    disappeared vanished bring bringing restore resurrect reintroduce revert history regression regressed stopped used
    longer worked gone notes changelog
    warum wieso weshalb wann wer wo wohin welcher welchem was wir neu wiederherstellen wieder
    pourquoi quand qui quel quelle depuis quoi avons restaure restaurer remets
    cuando por desde donde hemos restaura restaurar recupera recuperar porque quando quem onde qual versione
    chi dove quale abbiamo cosa ripristina ripristinare cambios changements cambiamenti
    """.split()
)
"""A prompt with any of these words, a question mark or non-ASCII letters is parsed for a question about the past.

For other prompts the parser is not even imported.
"""
_TIMES = frozenset(
    """
    yesterday yesterday's today today's morning afternoon evening tonight night week weekend month days day weeks
    months hours hour ago recently lately monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec
    gestern heute vorgestern woche monat tagen stunden montag dienstag mittwoch donnerstag freitag samstag sonntag
    januar februar mai juni juli oktober dezember neulich wochenende hier lundi mardi mercredi jeudi vendredi samedi
    dimanche mars avril juin octobre semaine mois jours ayer hoy anoche semana lunes martes jueves viernes domingo
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ontem hoje segunda-feira
    quarta-feira quinta-feira sexta-feira janeiro fevereiro maio junho julho setembro outubro novembro dezembro ieri
    oggi stamattina settimana giorni gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    """.split()
)
"""ASCII words for times; a prompt with non-ASCII letters is always parsed for a time."""
BOTH_NAMES = "the prompt has both names"
CHANGES = frozenset("fix change commit patch refactoring refactor rewrite rename".split())
"""Words for a change, which may be called by what it changed: "the overflow change"."""
_SINCE = frozenset("since after seit depuis desde da dal".split())
_RELEASES = frozenset("release version tag".split())


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return commits that answer the prompt's question, removed what it names, or are from a time that it mentions."""
    project = request.project
    prose = _prose(request.prompt[:MOST_CHARS])
    words = [word.strip("._-/").lower() for word in words_of(prose)]
    may_ask = "?" in prose or not prose.isascii() or not _CUES.isdisjoint(words)
    has_time = _may_have_a_time(prose, words)
    named = names_in(prose)
    # What the agent has just changed is in no commit yet.
    has_change = "the" in words and not CHANGES.isdisjoint(words) and not request.conversation.has_edits
    if not (may_ask or has_time or named or has_change) or not project.git_dir:
        return []
    questions: list[tuple[str, str]] = []
    things: list[list[Thing]] = []
    if may_ask:
        from enricher.prompt.wording.past_questions import find_questions, find_things

        questions, things = find_questions(prose), find_things(prose)
    index = request.index() if questions or things or has_time or named or has_change else None
    if index and named.modules:
        from enricher.sources.code.name_history import file_called

        named.files += [path for module in named.modules if (path := file_called(index, module))]
    if not index or not (questions or things or has_time or has_change or _may_be_gone(index, named)):
        return []
    # Another clone has other commits; without ``is_whole``, no history has been read yet.
    if meta(index, "clone") != clone(project.git_dir) or not meta(index, "is_whole"):
        return []
    from enricher.context import commits

    found = _of_past(index, request, named, questions, things)
    for one in found:
        new = one.label.partition(f"{commits.RENAMED_TO} `")[2].partition("`")[0]
        one.stale = one.stale or (BOTH_NAMES if new and new in request.prompt else "")
    found = found or (commits.of_a_time(index, request, named, prose) if has_time else [])
    if not found and has_change:
        from enricher.context import named_changes

        return named_changes.find(index, prose, CHANGES)
    return found


def _of_past(
    index: Connection,
    request: Request,
    named: PromptNames,
    questions: list[tuple[str, str]],
    things: list[list[Thing]],
) -> list[Candidate]:
    """Return the commits and release notes about the past of the names and things in a prompt."""
    from enricher.context import commits

    of_things: list[Candidate] = []
    guesses: tuple[int, ...] = (2,)
    if things:
        from enricher.context import past_things

        of_things = past_things.find(index, things)
        guesses = () if of_things else past_things.lengths_of_names(things)
    found = commits.of_names(index, request, named, questions, guesses=guesses)
    if not (found or of_things) and things:
        names = [*(path.lower() for path in named.folders[:1]), *past_things.folders(things)[:1]]
        found = next((told for name in names if (told := commits.of_folder(index, name))), [])
    found += [one for one in of_things if not found or one.kind == past_things.NOTE]
    return found


def _may_have_a_time(prose: str, words: list[str]) -> bool:
    if not prose.isascii() or not _TIMES.isdisjoint(words):
        return True
    # Dates such as 2026-11-21 and 21.11.2026.
    if any((word[:2] == "20" and word[4:5] in ("-", "/")) or word[-5:-2] == ".20" for word in words):
        return True
    if _SINCE.isdisjoint(words):
        return False
    return not _RELEASES.isdisjoint(words) or any(word.lstrip("v")[:1].isdigit() for word in words)  # "since v1.2"


def _may_be_gone(db: Connection, named: PromptNames) -> bool:
    # Without a question about the past or a time, only commits that removed something can be shown.
    from enricher.sources.code.name_history import RENAMED, UNDEFINED, key

    keys, files = [key(name) for name in named.identifiers], [path.rpartition("/")[2].lower() for path in named.files]
    files += [f"{module.rpartition('.')[2].lower()}.py" for module in named.dotted]
    query = (
        f"select 1 from name_changes where key in ({marks(keys)}) and what & {UNDEFINED | RENAMED}"
        f" union all select 1 from file_changes where name in ({marks(files)}) and before <> '' limit 1"
    )
    return db.execute(query, [*keys, *files]).fetchone() is not None


def _prose(prompt: str) -> str:
    # Most prompts contain none of these.
    if not any(sign in prompt for sign in ("```", "~~~", "\n    ", "\n\t", "\n>", 'File "', "\n  at ", "\nat ")):
        return prompt
    lines = without_code(prompt.split("\n"))
    quoted = ("    ", "\t", ">")
    return "\n".join(line for line in lines if not (line.startswith(quoted) or line.lstrip().startswith(FRAMES)))


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="the commit that removed, renamed, added or changed what it names, where it asks or that is gone; the line"
    " of the release notes on it; commits of the time that it speaks of",
    read_more="docs/code.md",
    min_score=0.5,
    most=3,
    priority=9,
    tokens=150,
)
