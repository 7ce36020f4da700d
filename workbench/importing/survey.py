"""Count what an import would store, by host and project, before anything is stored; then store it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.pipeline import PROMPT_LIMIT
from enricher.prompt.redaction import redact_and_cap
from storage import traces
from storage.base.lean import keyed_hash
from storage.traces import intake, storable
from workbench.importing import LeftOut, Problem, Turn
from workbench.importing.machine import PROGRAM
from workbench.importing.sifting import NEW

if TYPE_CHECKING:
    import sqlite3

    from workbench.importing import Advance, Source
    from workbench.importing.sifting import Sieve
    from workbench.importing.tracing import Tracer

TEMPLATE_CHARS = 200
TEMPLATE_SESSIONS = 5
"""A long beginning found in this many sessions is a program's: nobody types the same 200 characters so often."""
MOST_PROBLEMS = 1000
BATCH = 100
"""Traces per transaction: other writers wait some tens of milliseconds for it."""


@dataclass(slots=True)
class Group:
    """The conversations of one client in one project; ``prompts`` counts those to be stored."""

    host: str
    project: str
    files: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    prompts: int = 0
    secrets: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    not_again: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Survey:
    """What an import would store; ``since`` is the oldest prompt's time if limited, ``at_since`` their count then."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    templates: frozenset[str] = frozenset()
    since: int = 0
    at_since: int = 0
    prompts: int = 0

    def group(self, host: str, project: str) -> Group:
        """Return the group of a client and a project, created at the first call."""
        return self.groups.setdefault((host, project), Group(host, project))

    def report(self, problem: Problem) -> None:
        """Record a problem; beyond ``MOST_PROBLEMS`` it is only counted."""
        self.problem_count += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)


def survey(sources: list[Source], sieve: Sieve, advance: Advance, *, limit: int = 0) -> Survey:
    """Read every file and count what an import would store; ``limit`` 0 means all."""
    result = Survey()
    heads: dict[str, set[str]] = {}
    fresh: list[tuple[int, str, Group, tuple[str, ...]]] = []
    for source, event, fate in sieve.sift(sources, advance):
        if isinstance(event, Problem):
            result.report(event)
            continue
        project = sieve.tracer.project_of(event.cwd)
        group = result.group(event.host, project.root or event.cwd if project else "")
        group.files.add(source.path)
        group.sessions.add(event.session_id)
        if isinstance(event, LeftOut):
            group.left_out[event.kind] += 1
        elif fate != NEW:
            group.not_again[fate] += 1
        else:
            head = head_of(event)
            if head:
                heads.setdefault(head, set()).add(event.session_id or event.index)
            fresh.append((event.at, head, group, _secrets(event)))
    result.templates = frozenset(head for head, sessions in heads.items() if len(sessions) >= TEMPLATE_SESSIONS)
    _count(result, fresh, limit)
    return result


def head_of(turn: Turn) -> str:
    """Return a hash of the beginning of a long prompt, empty for a short one."""
    words = " ".join(turn.text[: 4 * TEMPLATE_CHARS].split())
    return keyed_hash(b"head", words[:TEMPLATE_CHARS].encode(errors="replace")) if len(words) >= TEMPLATE_CHARS else ""


def _secrets(turn: Turn) -> tuple[str, ...]:
    return redact_and_cap(storable(turn.text), PROMPT_LIMIT)[1]


def _count(result: Survey, fresh: list[tuple[int, str, Group, tuple[str, ...]]], limit: int) -> None:
    typed = [one for one in fresh if one[1] not in result.templates]
    for _at, head, group, _kinds in fresh:
        group.left_out[PROGRAM] += head in result.templates
    if limit and len(typed) > limit:
        typed = sorted(typed, key=lambda one: -one[0])[:limit]
        result.since = typed[-1][0]
        result.at_since = sum(at == result.since for at, *_ in typed)
        for at, head, group, _kinds in fresh:
            group.not_again["beyond --limit"] += at < result.since and head not in result.templates
    for _at, _head, group, kinds in typed:
        group.prompts += 1
        group.secrets.update(kinds)
    result.prompts = len(typed)


@dataclass(slots=True)
class Stored:
    """Count of prompts stored so far; ``refused`` counts those that the database rejected."""

    prompts: int = 0
    refused: int = 0


def store(
    db: sqlite3.Connection,
    sources: list[Source],
    *,
    found: Survey,
    sieve: Sieve,
    tracer: Tracer,
    stored: Stored,
    advance: Advance,
) -> None:
    """Read the files again and store the prompts that ``found`` counted; ``stored`` counts them as they are stored.

    Raises sqlite3.Error and OSError if the database cannot be written.
    """
    batch: list[dict[str, traces.Rows]] = []
    left_at_since = found.at_since
    for _source, event, fate in sieve.sift(sources, advance):
        if not isinstance(event, Turn) or fate != NEW or event.at < found.since or head_of(event) in found.templates:
            continue
        if found.since and event.at == found.since:
            if not left_at_since:
                continue
            left_at_since -= 1
        batch.append(traces.flatten(tracer.trace(event)))
        if len(batch) == BATCH:
            _flush(db, batch, tracer, stored)
    _flush(db, batch, tracer, stored)


def _flush(db: sqlite3.Connection, batch: list[dict[str, traces.Rows]], tracer: Tracer, stored: Stored) -> None:
    if not batch:
        return
    if tracer.leave_versions():
        intake.drain(tracer.state, db)
    added, refused = intake.add(db, batch)
    stored.prompts += added
    stored.refused += refused
    batch.clear()
