"""Decide which prompts of past conversations an import stores.

All files are read twice: first to count the prompts by client and project, then to store them.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.pipeline import PROMPT_LIMIT
from enricher.prompt.event import PromptEvent, has_memory_cue, skip_reason
from enricher.prompt.project import identify
from enricher.prompt.redaction import redact_and_cap
from enricher.settings import KEEPS_TEXT
from storage import traces
from storage.base.fast_stdlib import keyed_hash
from storage.traces import intake, short, storable
from workbench.importing import LeftOut, ReadProblem, Turn, conversation_files
from workbench.importing.client_records import PROGRAM
from workbench.importing.tracing import moment_of, suffix_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from workbench.importing import Advance, ConversationFile, Event
    from workbench.importing.tracing import Tracer

NEW, IMPORTED, RECORDED, COPY = "", "imported already", "recorded by the hook", "copy"
OLDER, LATER = "older than --since", "dated later than now"
NO_TEXT_KEPT = "log keeps no text"
MOST_SESSIONS = 256  # whose stored traces are remembered
TEMPLATE_CHARS = 200
TEMPLATE_SESSIONS = 5
"""Number of sessions from which prompts with the same first 200 characters count as written by a program."""
MOST_PROBLEMS = 1000  # that are described, all others are counted
BATCH = 100
"""Number of traces stored per transaction; other writers wait some tens of milliseconds for each transaction."""


@dataclass(frozen=True, slots=True)
class ImportFilter:
    """Which prompts to import: a time range in microseconds since 1970, a project, and a maximum number.

    If there are more prompts than ``limit`` (0 means no limit), the newest are imported. ``until`` excludes prompts
    that are typed between counting and storing.
    """

    since: int
    until: int
    project: str = ""
    limit: int = 0


class Sieve:
    """Decides which prompts to store: those new to the database, in the time range, and not copies of others."""

    def __init__(self, db: sqlite3.Connection | None, tracer: Tracer, wanted: ImportFilter) -> None:
        self._db = db
        self.tracer = tracer
        self._wanted = wanted
        self._project = identify(wanted.project) if wanted.project else None
        self._sessions: dict[str, tuple[set[str], Counter[str]]] = {}
        self._seen: set[str] = set()

    def sift(self, sources: list[ConversationFile], advance: Advance) -> Iterator[tuple[ConversationFile, Event, str]]:
        """Yield each prompt with its file and the reason for not storing it; for a prompt to store, the reason is NEW.

        If the filter names a project, prompts of other projects are skipped. Turns that are left out and problems are
        yielded, too, with an empty reason.
        """
        for source in sources:
            for event in conversation_files.read(source, advance):
                if isinstance(event, ReadProblem):
                    yield source, event, ""
                elif self._is_elsewhere(event.cwd):
                    continue
                elif isinstance(event, LeftOut):
                    yield source, event, ""
                elif kind := self._kind(event):
                    yield source, LeftOut(event.host, event.session_id, event.cwd, kind), ""
                else:
                    yield source, event, self._fate(event)

    def _is_elsewhere(self, cwd: str) -> bool:
        if self._project is None:
            return False
        found = self.tracer.project_of(cwd)
        root = self._project.root.rstrip("/")
        return found is None or not (found.id == self._project.id or f"{os.path.abspath(cwd)}/".startswith(f"{root}/"))

    def _kind(self, turn: Turn) -> str:
        """Return why the hook would not have enriched the prompt; empty if it would have."""
        settings = self.tracer.settings_for(turn.cwd)
        if settings["log"] not in KEEPS_TEXT:
            return NO_TEXT_KEPT
        reason = skip_reason(PromptEvent(turn.text), bypass_prefix=str(settings["bypass_prefix"]))
        if not reason and has_memory_cue(turn.text):
            from enricher.prompt import capture

            reason = "remember" if capture.is_all(turn.text) else ""
        return reason.replace("_", " ")

    def _fate(self, turn: Turn) -> str:
        if turn.at < self._wanted.since:
            return OLDER
        if turn.at > self._wanted.until:
            return LATER
        mac = keyed_hash(self.tracer.key, storable(turn.text).encode())
        moment, own = moment_of(turn.at), suffix_of(turn)
        if self._is_imported(turn, mac=mac, moment=moment, suffix=own):
            return IMPORTED
        # A copy of a session has other ids, but the same times.
        mark = f"{turn.host} {moment} {mac}" if turn.is_dated else f"{moment} {own}"
        if mark in self._seen:
            return COPY
        self._seen.add(mark)
        recorded = self._session(turn)[1]
        if recorded[mac]:  # a prompt that was typed twice was recorded twice
            recorded[mac] -= 1
            return RECORDED
        return NEW

    def _is_imported(self, turn: Turn, *, mac: str, moment: str, suffix: str) -> bool:
        if self._db is None:
            return False
        if not turn.is_dated:
            return suffix in self._session(turn)[0]
        there = intake.at_a_moment(self._db, moment)
        return any(found == moment + suffix or found_mac == mac for found, found_mac in there)

    def _session(self, turn: Turn) -> tuple[set[str], Counter[str]]:
        """Return what the database has of the session of ``turn``.

        The first value is the set of id suffixes (``suffix_of``) of the session's imported traces; the second counts,
        by the hash of a prompt, how often the hook recorded it.
        """
        name = short(turn.session_id)
        if name not in self._sessions:
            imported: set[str] = set()
            recorded: Counter[str] = Counter()
            for row in intake.of_a_session(self._db, name) if self._db is not None else ():
                if row["origin"] == "import":
                    imported.add(row["id"][14:])  # without the time, which was a guess
                elif name and row["origin"] == "hook" and row["status"] != "skipped":
                    recorded[row["prompt_hmac"]] += 1
            self._sessions[name] = (imported, recorded)
            if len(self._sessions) > MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]  # the oldest
        return self._sessions[name]


@dataclass(slots=True)
class ConversationGroup:
    """The conversations of one client in one project; ``prompts`` is the number of prompts that would be stored.

    ``secrets`` counts the secrets to be removed from these prompts, by kind. ``left_out`` counts, by kind, the turns
    that no user typed or that the hook would skip; ``not_again`` counts, by reason, the other prompts that are not
    stored.
    """

    host: str
    project: str
    files: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    prompts: int = 0
    secrets: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    not_again: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class ImportSurvey:
    """What an import would store, counted by client and project.

    ``templates`` are hashes of the first characters that many prompts have in common; a prompt that begins like this is
    assumed to come from a program. If there are more prompts than the limit, ``since`` is the time of the oldest one
    to store, and ``at_since`` is the number of prompts to store that have exactly this time; otherwise both are 0.
    """

    groups: dict[tuple[str, str], ConversationGroup] = field(default_factory=dict)
    problems: list[ReadProblem] = field(default_factory=list)
    problem_count: int = 0
    templates: frozenset[str] = frozenset()
    since: int = 0
    at_since: int = 0
    prompts: int = 0

    def group(self, host: str, project: str) -> ConversationGroup:
        """Return the group of a client and a project; create it if there is none yet."""
        return self.groups.setdefault((host, project), ConversationGroup(host, project))

    def report(self, problem: ReadProblem) -> None:
        """Record a problem; above ``MOST_PROBLEMS``, problems are only counted."""
        self.problem_count += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)


def survey(sources: list[ConversationFile], sieve: Sieve, advance: Advance, *, limit: int = 0) -> ImportSurvey:
    """Read every file and count what an import would store; ``limit`` 0 means no limit."""
    result = ImportSurvey()
    heads: dict[str, set[str]] = {}
    fresh: list[tuple[int, str, ConversationGroup, tuple[str, ...]]] = []
    for source, event, fate in sieve.sift(sources, advance):
        if isinstance(event, ReadProblem):
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
                # A prompt without a session counts as a session of its own.
                heads.setdefault(head, set()).add(event.session_id or event.index)
            fresh.append((event.at, head, group, redact_and_cap(storable(event.text), PROMPT_LIMIT)[1]))
    result.templates = frozenset(head for head, sessions in heads.items() if len(sessions) >= TEMPLATE_SESSIONS)
    _count(result, fresh, limit)
    return result


def head_of(turn: Turn) -> str:
    """Return a hash of the first TEMPLATE_CHARS characters of a prompt; empty for a shorter prompt."""
    words = " ".join(turn.text[: 4 * TEMPLATE_CHARS].split())  # white space may be most of a text
    return keyed_hash(b"head", words[:TEMPLATE_CHARS].encode(errors="replace")) if len(words) >= TEMPLATE_CHARS else ""


def _count(result: ImportSurvey, fresh: list[tuple[int, str, ConversationGroup, tuple[str, ...]]], limit: int) -> None:
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
    """Counts of the prompts that an import has processed so far.

    ``prompts`` is the number of stored prompts, ``refused`` the number of those that the database rejected.
    """

    prompts: int = 0
    refused: int = 0


def store(
    db: sqlite3.Connection,
    sources: list[ConversationFile],
    *,
    found: ImportSurvey,
    sieve: Sieve,
    tracer: Tracer,
    stored: Stored,
    advance: Advance,
) -> None:
    """Read the files again, store the prompts that ``found`` counted, and update ``stored`` after each batch.

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
    if tracer.store_versions():
        intake.drain(tracer.state, db)
    added, refused = intake.add(db, batch)
    stored.prompts += added
    stored.refused += refused
    batch.clear()
