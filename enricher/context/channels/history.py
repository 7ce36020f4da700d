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
LONGEST_QUESTION = 8  # maximum distance, in words, from the question word to the verb

_QUESTIONS = frozenset(
    """
    why when who what where which since whatever last recent wasn hasn does is are was were has warum
    wieso weshalb wann wer wo wohin welcher welchem seit ab wurde wurden
    pourquoi quand qui quel quelle depuis cuando por desde donde quien porque quando quem onde qual chi dove quale da
    """.split()
)
_DEEDS = frozenset(
    """
    remove removed removes delete deleted deletes drop dropped drops gone missing disappear disappeared vanish
    vanished go moved renamed add added adds introduce introduced introduces create created creates wrote
    write written implemented brought land shipped ship arrive appear thrown rid fixed solved replaced replaces retired
    retire replace move rename
    change changes changed modified touched reverted rewrote rewritten broke breaks
    break caused happened have exist exists there version release turn come did made
    entfernt verschwunden umbenannt verschoben hingekommen
    eingebaut angelegt umgebaut disparu introduit eliminado eliminada eliminamos eliminaron quitado quitada
    quitamos borrado borrada borramos movido roto rota rompi agregado agregada agregamos introdujo introducido
    creado creada cambiado cambiamos cambiada modificado modificada removido removida removeu removemos
    removeram apagado apagada apagou sumiu desapareceu adicionado adicionada adicionou adicionamos criado
    criada mudou mudado alterado alterada alterou quebrou rimosso rimossa eliminato eliminata tolto tolta
    cancellato spostato sparito finito aggiunto aggiunta introdotto creato cambiato modificato rotto
    gibt gibts existiert existe existen hay esiste versione kam kamen umgezogen entrou foi
    """.split()
)
_CUES = frozenset(
    """
    disappeared vanished bring bringing restore resurrect reintroduce revert history regression regressed stopped used
    longer worked gone wiederherstellen wieder restaure restaurer remets restaura restaurar recupera recuperar
    ripristina ripristinare
    """.split()
)
"""A prompt with any of these words is parsed for a question about the past.

So is a prompt with a word of ``_QUESTIONS`` that a word of ``_DEEDS`` follows, and any prompt that is not ASCII.
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
"""ASCII words for times; a prompt that is not ASCII is always parsed for a time."""
_PAIRS = (
    "did we", "didnt we", "didn t we", "have we", "haven t we", "havent we", "we removed", "we dropped", "we deleted",
    "we replaced", "haben wir", "hatten wir", "non abbiamo", "no hemos", "since when", "since which", "seit wann",
    "seit welcher", "ab welcher", "depuis quand", "depuis quelle", "desde quando", "desde cuando", "da quando",
    "da quale",
)  # fmt: skip
"""Words that may begin a question about the past: "did we not fix it?", "we dropped it, remove the rest"."""
_NEW = frozenset("new notes changelog neu neues neuf nuevo novo nuovo changements cambios cambiamenti".split())
_SINCE = frozenset("since after seit depuis desde da dal".split())
_RELEASES = frozenset("release version tag".split())


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return commits that answer the prompt's question, removed what it names, or are from a time that it mentions."""
    project = request.project
    prose = _prose(request.prompt[:MOST_CHARS])
    words = [word.strip("._-/").lower() for word in words_of(prose)]
    may_ask = _may_ask(prose, words)
    has_time = _may_have_a_time(prose, words)
    named = names_in(prose)
    if not (may_ask or has_time or named) or not project.git_dir:
        return []
    questions: list[tuple[str, str]] = []
    things: list[list[Thing]] = []
    if may_ask:
        from enricher.prompt.wording.past_questions import find_questions, find_things

        questions, things = find_questions(prose), find_things(prose)
    index = request.index() if questions or things or has_time or named else None
    if index and named.modules:
        from enricher.sources.code.name_history import file_called

        named.files += [path for module in named.modules if (path := file_called(index, module))]
    if not index or not (questions or things or has_time or _may_be_gone(index, named)):
        return []
    # Another clone has other commits; without ``is_whole``, no history has been read yet.
    if meta(index, "clone") != clone(project.git_dir) or not meta(index, "is_whole"):
        return []
    from enricher.context import commits

    of_things: list[Candidate] = []
    guesses: tuple[int, ...] = (2,)
    if things:
        from enricher.context import past_things

        of_things = past_things.find(index, things)
        guesses = () if of_things else past_things.lengths_of_names(things)
    found = commits.of_names(index, request, named, questions, guesses=guesses)
    if not (found or of_things) and things:
        found = [one for name in past_things.folders(things)[:1] for one in commits.of_folder(index, name)]
    found += [one for one in of_things if not found or one.kind == past_things.NOTE]
    return found or (commits.of_a_time(index, request, named, prose) if has_time else [])


def _may_ask(prose: str, words: list[str]) -> bool:
    if not prose.isascii() or not _CUES.isdisjoint(words):
        return True
    spoken = f" {' '.join(words)} "
    if any(f" {pair} " in spoken for pair in _PAIRS):
        return True
    if not _NEW.isdisjoint(words) and any(word.lstrip("v")[:1].isdigit() for word in words):  # "what's new in 2.0"
        return True
    starts = [at for at, word in enumerate(words) if word in _QUESTIONS]
    return any(not _DEEDS.isdisjoint(words[at : at + LONGEST_QUESTION]) for at in starts)


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
    # Most prompts have none of these.
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
