"""The channel ``history``: the commit that removed, renamed, moved, added or changed what a prompt names.

Said where the prompt asks about the past, or names what is there no more; and commits of the time it speaks of.
Reads what ``enricher.code.changes`` put into the index behind earlier prompts. On the hook's path; starts no process.
"""

from __future__ import annotations

import builtins
import os
import time

from enricher.code import clone, database_file, is_project
from enricher.code.words import SOURCE_ENDS, STOP_WORDS, looks_like_a_name, stem
from enricher.context import Candidate, Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.code.past import Event
    from enricher.code.times import Span
    from enricher.context import ChannelRule, Request

MOST_CHARS = 6_000
MOST_NAMES = 8
MOST_PAIRS = 12
MOST_TOLD = 3
MOST_READ = 400
DAY = 86_400
LONGEST_NAME = 60
SURE = 0.9
DIGITS = 7

_QUESTIONS = frozenset(
    """
    why when who what where which since whatever warum wieso weshalb wann wer wo wohin welcher seit
    pourquoi quand qui quel quelle depuis cuando por desde donde quien porque quando quem onde qual chi dove quale da
    """.split()
)
_DEEDS = frozenset(
    """
    remove removed removes delete deleted deletes drop dropped drops gone missing disappear disappeared vanish
    vanished go moved renamed add added adds introduce introduced introduces create created creates wrote
    write written implemented brought change changed modified touched reverted rewrote rewritten broke breaks
    break caused happened have exist exists there entfernt verschwunden umbenannt verschoben hingekommen
    eingebaut angelegt umgebaut disparu introduit eliminado eliminada eliminamos eliminaron quitado quitada
    quitamos borrado borrada borramos movido roto rota rompi agregado agregada agregamos introdujo introducido
    creado creada cambiado cambiamos cambiada modificado modificada removido removida removeu removemos
    removeram apagado apagada apagou sumiu desapareceu adicionado adicionada adicionou adicionamos criado
    criada mudou mudado alterado alterada alterou quebrou rimosso rimossa eliminato eliminata tolto tolta
    cancellato spostato sparito finito aggiunto aggiunta introdotto creato cambiato modificato rotto
    """.split()
)
_CUES = frozenset(
    """
    disappeared vanished bring bringing restore resurrect reintroduce revert history regression regressed stopped used
    longer recent worked last wiederherstellen wieder restaure restaurer remets restaura restaurar recupera recuperar
    ripristina ripristinare
    """.split()
)
"""A question about the past says one of ``_QUESTIONS`` and one of ``_DEEDS``, or one of these; without, nothing is
loaded to read it. A prompt that is not ASCII is always read."""
_TIMES = frozenset(
    """
    yesterday yesterday's today today's morning afternoon evening tonight night week weekend month days day weeks months
    hours hour ago recently lately monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec
    gestern heute vorgestern woche monat tagen stunden montag dienstag mittwoch donnerstag freitag samstag sonntag
    januar februar mai juni juli oktober dezember neulich wochenende
    hier lundi mardi mercredi jeudi vendredi samedi dimanche mars avril juin octobre semaine mois jours
    ayer hoy anoche semana lunes martes jueves viernes domingo enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre ontem hoje segunda-feira quarta-feira quinta-feira sexta-feira
    janeiro fevereiro maio junho julho setembro outubro novembro dezembro ieri oggi stamattina settimana giorni
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    """.split()
)
"""Words of time; a prompt that is not ASCII may hold others."""
_SINCE = frozenset("since after seit depuis desde da dal".split())
_RELEASES = frozenset("release version tag".split())
_KEPT = "_-./"
_SEPARATORS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in _KEPT)}


class Named:
    """What a prompt names: identifiers and the like, files, and words that are names only where the prompt asks."""

    __slots__ = ("files", "identifiers", "spoken")

    def __init__(self) -> None:
        self.identifiers: list[str] = []
        self.files: list[str] = []
        self.spoken: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.identifiers or self.files)


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the commits that answer what the prompt asks about the past, or that took away what it names."""
    del channel
    project = request.project
    prose = _prose(request.prompt[:MOST_CHARS])
    words = {word.strip("._-/").lower() for word in _words(prose)}
    may_ask = _may_ask(prose, words)
    has_time = _may_have_a_time(prose, words)
    named = _named(prose)
    if not (may_ask or has_time or named) or not project.git_dir or not is_project(project.root, project.git_dir):
        return []
    questions: list[tuple[str, str]] = []
    if may_ask:
        from enricher.context.pasttense import asked

        questions = asked(prose)
    path = database_file(request.state, project.id)
    if not (questions or has_time or named) or not os.path.exists(path):
        return []
    from storage import reader

    db = reader.open_reader(path, until=request.until)
    try:
        kept = dict(db.execute("select key, value from meta where key in ('clone', 'is_whole')").fetchall())
        if kept.get("clone") != clone(project.git_dir) or "is_whole" not in kept:
            return []
        told = _of_names(db, request, named, questions, is_whole=kept["is_whole"] == "1")
        return told or (_of_a_time(db, request, named, prose) if has_time else [])
    finally:
        db.close()


def _may_ask(prose: str, words: set[str]) -> bool:
    if not prose.isascii():
        return True
    return not _CUES.isdisjoint(words) or not (_DEEDS.isdisjoint(words) or _QUESTIONS.isdisjoint(words))


def _may_have_a_time(prose: str, words: set[str]) -> bool:
    if not prose.isascii() or not _TIMES.isdisjoint(words):
        return True
    if any((word[:2] == "20" and word[4:5] in ("-", "/")) or word[-5:-2] == ".20" for word in words):
        return True
    is_of_a_release = bool(_RELEASES & words) or any(word.lstrip("v")[:1].isdigit() for word in words)
    return is_of_a_release and not _SINCE.isdisjoint(words)


def _words(text: str) -> list[str]:
    """Return the runs of ASCII letters, digits and the signs of names: also those inside a sentence of ideographs."""
    return text.encode("ascii", "replace").decode().translate(_SEPARATORS).split()


def _prose(prompt: str) -> str:
    """Return the prompt without fenced blocks, quoted lines and indented code."""
    if not ("```" in prompt or "~~~" in prompt or "\n    " in prompt or "\n\t" in prompt or "\n>" in prompt):
        return prompt
    lines, is_fenced = [], False
    for line in prompt.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced and not line.startswith(("    ", "\t", ">")):
            lines.append(line)
    return "\n".join(lines)


def _named(prose: str) -> Named:
    """Return what the prompt's own words name."""
    found = Named()
    for word in _words(prose):
        bare = word.rstrip("./-") if word[:1] in "/-" else word.strip("./-")
        last = bare.rpartition("/")[2]
        head, dot, end = last.rpartition(".")
        if not 2 < len(bare) <= LONGEST_NAME or bare.strip("0123456789._-") == "":
            continue
        if dot and head and end in SOURCE_ENDS:
            found.files.append(bare)
        elif "/" in bare:
            found.spoken += [bare] if bare[0] == "/" else []
        elif "." in bare or "-" in bare:
            found.spoken.append(bare)
            found.identifiers += [last for last in (bare.rpartition(".")[2],) if _is_identifier(last)]
        elif _is_identifier(bare) and not hasattr(builtins, bare):
            found.identifiers.append(bare)
    if "`" in prose or "(" in prose:
        found.identifiers += [one for one in _marked(prose) if one not in found.identifiers]
    found.identifiers = list(dict.fromkeys(found.identifiers))[:MOST_NAMES]
    found.files = list(dict.fromkeys(found.files))[:MOST_NAMES]
    return found


def _is_identifier(word: str) -> bool:
    return len(word) > 3 and word.isidentifier() and looks_like_a_name(word)


def _marked(prose: str) -> list[str]:
    """Return plain words that stand in backticks or before a call's parenthesis."""
    pieces = prose.split("`")
    found = [one.strip().removesuffix("()") for one in pieces[1::2]] if len(pieces) % 2 else []
    found += [one.split()[-1] for one in prose.split("()")[:-1] if one.split()]
    return [one for one in found if 2 < len(one) <= LONGEST_NAME and one.isidentifier() and one.isascii()]


def _of_names(
    db: Connection, request: Request, named: Named, questions: list[tuple[str, str]], *, is_whole: bool
) -> list[Candidate]:
    from enricher.code import past

    verbatim = [*named.identifiers, *(one for one in named.spoken if questions)]
    guessed = [form for _kind, sentence in questions for form in _forms_of_pairs(sentence)]
    wanted = list(dict.fromkeys([*verbatim, *guessed]))
    found = past.events(db, wanted) if wanted else {}
    told: list[Candidate] = []
    for name in wanted:
        history = found.get(name, [])
        if name in guessed and not any(one.what for one in history):
            continue
        told += _of_name(db, name, history, _kind_of_question(name, named, questions), is_whole=is_whole)
    for path in named.files:
        told += _of_file(db, request, path, _kind_of_question(path, named, questions))
    return told[:MOST_TOLD]


def _kind_of_question(name: str, named: Named, questions: list[tuple[str, str]]) -> str:
    """Return what is asked about a name: in its own sentence, or in one that names nothing itself."""
    for kind, sentence in questions:
        if name in sentence:
            return kind
    others = (*named.identifiers, *named.files, *named.spoken)
    return next((kind for kind, sentence in questions if not any(one in sentence for one in others)), "")


def _forms_of_pairs(sentence: str) -> list[str]:
    """Return the names that two words in a row may be: "rate limiter" is ``RateLimiter`` or ``rate_limiter``."""
    plain = [word.lower() for word in _words(sentence) if word.isalpha() and len(word) > 2]
    found: list[str] = []
    for at in range(min(len(plain) - 1, MOST_PAIRS)):
        one, other = plain[at : at + 2]
        if not {one, other} & (STOP_WORDS | _DEEDS | _QUESTIONS):
            joined = one.capitalize() + other.capitalize()
            found += [f"{one}_{other}", joined, one + other.capitalize(), f"--{one}-{other}", f"{one}_{other}".upper()]
    return found


def _of_name(db: Connection, name: str, found: list[Event], kind: str, *, is_whole: bool) -> list[Candidate]:
    """Return what is worth saying of a name's history: what was asked, or that it is there no more."""
    from enricher.code import past

    first = past.introduction(found, is_whole=is_whole) if kind == "added" else None
    told = [_candidate(name, "added", first)] if first else []
    removed = past.removal(found)
    if removed and (kind or removed.what & past.UNDEFINED) and past.is_gone(db, name):
        return [*told, _candidate(name, _how(db, name, removed), removed)]
    if kind == "removed":
        moved = next((one for one in found if one.what & (past.MOVED | past.RENAMED)), None)
        return [_candidate(name, _how(db, name, moved), moved)] if moved else []
    if kind == "changed":
        changed = [one for one in found if one.what and one.state != past.SWEEP][:2]
        return [_candidate(name, "changed" if one is not found[-1] else "added", one) for one in changed]
    return told


def _how(db: Connection, name: str, event: Event) -> str:
    """Return in words what a commit did to a name that was somewhere else, or called otherwise, before."""
    from enricher.code import past

    if event.what & past.RENAMED:
        new, *later = past.successors(db, name, event)
        return f"renamed to `{new}`" + (f" (now `{later[-1]}`)" if later else "")
    if event.what & past.MOVED:
        before, _, after = event.detail.partition("\t")
        return f"moved from {before} to {after}"
    return f"removed from {event.detail}" if event.detail else "removed"


def _of_file(db: Connection, request: Request, path: str, kind: str) -> list[Candidate]:
    from enricher.code import past

    root = request.project.root
    asked = path.removeprefix(f"{root}/").lstrip("/")
    if not kind and any(os.path.exists(os.path.join(base, asked)) for base in (root, request.cwd or root)):
        return []
    name = asked.rpartition("/")[2]
    for before, after, event in past.file_events(db, name):
        if before and f"/{before}".endswith(f"/{asked}") and not os.path.exists(f"{root}/{before}"):
            if not kind and _has_namesake(db, name):
                return []
            how = f"renamed to {after}" if after else "removed"
            return [_candidate(before, how, event)]
        if not before and kind == "added" and f"/{after}".endswith(f"/{asked}"):
            return [_candidate(after, "added", event)] if event.state != past.SWEEP else []
    return []


def _of_a_time(db: Connection, request: Request, named: Named, prose: str) -> list[Candidate]:
    """Return commits of the time whose work the prompt speaks of: those about what it names, else the newest."""
    from enricher.code import occasions
    from enricher.code.times import span

    tags = {name.lower(): at for name, at in db.execute("select name, at from tags").fetchall()}
    found = span(prose, request.now, tags)
    if found is None:
        return []
    rows = db.execute(
        "select id, sha, at, subject, files from commits where at between ? and ? and is_reverted = 0 and files <> ''"
        " order by at desc, id desc limit ?",
        (found.start, min(found.end, request.now + DAY), MOST_READ),
    ).fetchall()
    about = _about(db, rows, named, found)
    is_general = found.why == occasions.WORK and not (named or found.is_specific)
    if not about and not is_general and (found.why == occasions.WORK or len(rows) > MOST_TOLD):
        return []
    told: list[Candidate] = []
    count = f"{len(rows)}{' or more' if len(rows) == MOST_READ else ''}"
    for _number, sha, at, subject, _files in (about or rows)[:MOST_TOLD]:
        day = time.strftime("%Y-%m-%d", time.localtime(at))
        of = f", the newest of {count}" if not told and not about and len(rows) > MOST_TOLD else ""
        label = f"{sha[:DIGITS]} {day}{of}"
        told.append(Candidate(subject, sha, SURE - 0.001 * len(told), label=label, date=day, kind="then"))
    return told


Row = tuple[int, str, int, str, str]


def _about(db: Connection, rows: list[Row], named: Named, found: Span) -> list[Row]:
    """Return the commits that touch what the prompt names, or whose subject says what the sentence is about."""
    from enricher.code import past

    keys = [past.key(name) for name in named.identifiers]
    marks = ",".join("?" * len(keys))
    query = f"select distinct id from name_changes where key in ({marks}) and at between ? and ?"
    touching = {number for (number,) in db.execute(query, (*keys, found.start, found.end))} if keys else set()
    names = {path.rpartition("/")[2] for path in named.files}
    by_name = [
        row for row in rows
        if row[0] in touching or (names and names & {path.rpartition("/")[2] for path in row[4].split("\n")})
    ]  # fmt: skip
    if by_name or not found.words:
        return by_name
    shared = [(len(found.words & {stem(piece) for piece in _words(row[3].lower())}), row) for row in rows]
    most = max((count for count, _row in shared), default=0)
    best = [row for count, row in shared if count == most > 0]
    return best if most > 1 or len(best) <= MOST_TOLD else []


def _has_namesake(db: Connection, name: str) -> bool:
    """Say whether the project has a file of that name somewhere else."""
    bare = name.lower().partition(".")[0]
    rows = db.execute("select path from files where stem = ? limit 50", (bare,)).fetchall()
    return any(f"/{path}".endswith(f"/{name}") for (path,) in rows)


def _candidate(name: str, how: str, event: Event) -> Candidate:
    day = time.strftime("%Y-%m-%d", time.localtime(event.at))
    label = f"`{name}` — {how} in {event.sha[:DIGITS]}, {day}"
    kind = how.partition(" ")[0]
    return Candidate(event.subject, f"{event.sha[:12]} {name}", SURE, label=label, date=day, kind=kind)


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="the commit that removed, renamed, added or changed what it names, where it asks or that is gone; commits of"
    " the time that it speaks of",
    read_more="docs/code.md",
    min_score=0.5,
    most=3,
    priority=9,
    tokens=150,
)
