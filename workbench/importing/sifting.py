"""Decide for each prompt found whether to store it; the decision is the same when listing and when storing."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.pipeline import KEEPS_TEXT, has_memory_cue
from enricher.prompt.event import PromptEvent, skip_reason
from enricher.prompt.project import identify
from storage.base.lean import keyed_hash
from storage.traces import intake, short, storable
from workbench.importing import LeftOut, Problem, Turn, places
from workbench.importing.tracing import moment_of, suffix_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from workbench.importing import Advance, Event, Source
    from workbench.importing.tracing import Tracer

NEW, IMPORTED, RECORDED, COPY = "", "imported already", "recorded by the hook", "copy"
OLDER, LATER = "older than --since", "dated later than now"
NO_TEXT_KEPT = "log keeps no text"
MOST_SESSIONS = 256


@dataclass(frozen=True, slots=True)
class ImportFilter:
    """The prompts to import: a time range (microseconds), a project, and a maximum number, newest first.

    ``until`` excludes prompts typed between listing and storing.
    """

    since: int
    until: int
    project: str = ""
    limit: int = 0


class Sieve:
    """Filters prompts: leaves out those that the database holds, and those that it has let through before."""

    def __init__(self, db: sqlite3.Connection | None, tracer: Tracer, wanted: ImportFilter) -> None:
        self._db = db
        self.tracer = tracer
        self._wanted = wanted
        self._project = identify(wanted.project) if wanted.project else None
        self._sessions: dict[str, tuple[set[str], Counter[str]]] = {}
        self._seen: set[str] = set()

    def sift(self, sources: list[Source], advance: Advance) -> Iterator[tuple[Source, Event, str]]:
        """Yield every event of the requested project with its fate: NEW or why not stored; empty if not a prompt."""
        for source in sources:
            for event in places.read(source, advance):
                if isinstance(event, Problem):
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
        """Return why the hook would not have enriched the prompt, empty if it would have."""
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
        mark = f"{turn.host} {moment} {mac}" if turn.is_dated else f"{moment} {own}"
        if mark in self._seen:
            return COPY
        self._seen.add(mark)
        recorded = self._session(turn)[1]
        if recorded[mac]:
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
        """Return the id suffixes of a session's imported traces, and how often the hook recorded each prompt."""
        name = short(turn.session_id)
        if name not in self._sessions:
            imported: set[str] = set()
            recorded: Counter[str] = Counter()
            for row in intake.of_a_session(self._db, name) if self._db is not None else ():
                if row["origin"] == "import":
                    imported.add(row["id"][14:])
                elif name and row["origin"] == "hook" and row["status"] != "skipped":
                    recorded[row["prompt_hmac"]] += 1
            self._sessions[name] = (imported, recorded)
            if len(self._sessions) > MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return self._sessions[name]
