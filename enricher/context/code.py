"""The channel ``code``: the files of the project that a prompt names or is about, with the line to start from.

Reads the index that ``enricher.code.index`` keeps; a project without one is answered from git's list of files.
Every path is looked at before it is offered: it exists, inside the project, and its line still holds the name.
On the hook's path; starts no process.
"""

from __future__ import annotations

import os

from enricher.code import database_file, is_project
from enricher.context import Candidate, Channel
from enricher.context.query import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.code.ranking import Hit
    from enricher.context import ChannelRule, Request
    from enricher.context.query import Query
    from enricher.project import Project

MOST_RANKED, MOST_OFFERED = 40, 10
"""What the prompt points at may be far down among files that say the same words."""
MOST_VERIFIED = 4
"""Candidates whose lines are looked up in the files; more than are ever shown."""
LEAST = 0.05
POINTED_AT = 0.7
"""A file that the prompt names, quotes or shows in a trace stands before those that are only about the same."""
BESIDE_POINTED = 0.8
"""What is left of the others' scores then: who names the place needs no guesses."""
LIKELY = 0.3
"""Below any floor worth setting: such a file is offered for the record, and not looked into."""


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the files that the prompt is about, best first."""
    del channel
    project = request.project
    if not project.root or not is_project(project.root, project.git_dir):
        return []
    asked = request.prompt
    subject = request.conversation.subject(asked)
    query = read(f"{asked}\n{subject}" if subject else asked)
    if not (query.weights or query.paths or query.frames):
        return []
    path = database_file(request.state, project.id)
    if not os.path.exists(path):
        return _dated(_unindexed(project, query, request.cwd), subject)
    return _dated(_indexed(request, query, path), subject)


def _indexed(request: Request, query: Query, path: str) -> list[Candidate]:
    """What the index tells; a damaged one is taken away, so that the upkeep of this prompt builds another."""
    from storage import reader

    db = reader.open_reader(path, until=request.until)
    try:
        return _ranked(db, request, query)
    except reader.failures() as failure:
        if reader.is_damage(failure):
            os.unlink(path)
        raise
    finally:
        db.close()


def _ranked(db: Connection, request: Request, query: Query) -> list[Candidate]:
    from enricher.code.ranking import find_symbols, rank, weigh_certainty

    ranking = rank(db, query, limit=MOST_RANKED, root=request.project.root)
    weigh_certainty(ranking)
    hits = sorted(ranking.hits, key=lambda hit: hit.certainty < POINTED_AT)[:MOST_OFFERED]
    likely = [hit for hit in hits[:MOST_VERIFIED] if hit.certainty >= LIKELY]
    find_symbols(db, likely, query)
    return _candidates(hits, request.project, query, request.cwd)


def _dated(offered: list[Candidate], subject: str) -> list[Candidate]:
    """Say of what a prompt only points at that it was named before."""
    for one in offered if subject else ():
        one.label = one.label.replace(" — named in the prompt", " — named earlier in this session")
    return offered


def _candidates(hits: list[Hit], project: Project, query: Query, cwd: str) -> list[Candidate]:
    offered: list[Candidate] = []
    ceiling = 1.0
    for hit in hits:
        beside = BESIDE_POINTED if hits[0].certainty >= POINTED_AT > hit.certainty else 1.0
        score = round(min(hit.certainty * beside, ceiling), 4)
        if score < LEAST:
            score = round(min(LEAST, ceiling), 4)
        ceiling = score - 0.0005
        is_likely = score >= LIKELY and len(offered) < MOST_VERIFIED
        stale = _fault(project.root, hit.path) if is_likely else _gone(project.root, hit.path)
        label = f"{_quoted(hit.path)} — {hit.why()}"
        if is_likely and not stale:
            line, symbol = _place(project.root, hit)
            reasons = [reason for reason in hit.why().split("; ") if not (symbol and reason.startswith("defines "))]
            why = "; ".join(reasons) or "named in the prompt"
            place = f"{_quoted(hit.path)}{f':{line}' if line else ''}"
            label = f"{place}{f' {_quoted(symbol)}' if symbol else ''} — {why}"
        offered.append(Candidate("", hit.path, score, label=label, kind="file", stale=stale))
    return _with_named(offered, project, query, cwd)


def _with_named(offered: list[Candidate], project: Project, query: Query, cwd: str) -> list[Candidate]:
    """Put first what the prompt names and the index does not know: a file made a moment ago, or an ignored one."""
    known = {one.ref for one in offered}
    for name, line, _where in query.paths[:8]:
        for base in dict.fromkeys((os.path.realpath(cwd) if cwd else project.root, project.root)):
            path = os.path.relpath(os.path.normpath(f"{base}/{name}"), project.root).replace(os.sep, "/")
            if path.startswith("..") or path in known or not os.path.isfile(f"{project.root}/{path}"):
                continue
            if not _fault(project.root, path):
                known.add(path)
                label = f"{path}{f':{line}' if line else ''} — named in the prompt"
                offered.insert(0, Candidate("", path, 0.97, label=label, kind="file"))
    return offered


def _quoted(name: str) -> str:
    """A path or a heading of several words could pose as ours."""
    words = name.split()
    return name if len(words) == 1 else '"' + " ".join(words).replace('"', "'") + '"'


def _gone(root: str, path: str) -> str:
    return "" if os.path.isfile(f"{root}/{path}") else "the file is gone"


def _fault(root: str, path: str) -> str:
    """Say why a path is not to be told; empty where it is a file of the project."""
    if gone := _gone(root, path):
        return gone
    full = f"{root}/{path}"
    real = os.path.realpath(full)
    return "" if real == full or real.startswith(root + "/") else "the path leads out of the project"


def _place(root: str, hit: Hit) -> tuple[int, str]:
    """The line to start from and the name that stands there, as the file is now."""
    from enricher.code.ranking import read_file

    if not hit.symbols and not hit.line:
        return 0, ""
    lines = read_file(f"{root}/{hit.path}").split("\n")
    if hit.line:
        return (hit.line, _around(hit)) if hit.line <= len(lines) else (0, "")
    for _value, name, line in sorted(hit.symbols, key=lambda symbol: (-symbol[0], symbol[2])):
        if 0 < line <= len(lines) and name in lines[line - 1]:
            return line, name
        moved = [number for number, text in enumerate(lines, 1) if _defines(text, name)]
        if len(moved) == 1:
            return moved[0], name
    return 0, ""


def _around(hit: Hit) -> str:
    """The name defined last before the line that a trace or the prompt names."""
    before = [(line, name) for _value, name, line in hit.symbols if line <= hit.line]
    return max(before)[1] if before else ""


def _defines(text: str, name: str) -> bool:
    words = text.replace("(", " ").replace(":", " ").replace("{", " ").split()
    return name in words[1:4] and words[0] in ("def", "class", "function", "func", "fn", "export", "async", "pub")


def _unindexed(project: Project, query: Query, cwd: str) -> list[Candidate]:
    """What names alone can tell, before the first index is built."""
    from enricher.code.unindexed import find

    offered = []
    for path, score, why in find(project, query, limit=MOST_OFFERED):
        stale = _fault(project.root, path)
        offered.append(Candidate("", path, score, label=f"{_quoted(path)} — {why}", kind="file", stale=stale))
    return _with_named(offered, project, query, cwd)


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="at most three files that it names or is about, with line and reason",
    read_more="docs/code.md",
    min_score=0.5,
    most=3,
    priority=9,
    tokens=150,
)
