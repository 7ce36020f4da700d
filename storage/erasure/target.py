"""Say what a user wants forgotten."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from storage.erasure.mentions import Mentions

    Record = dict[str, Any]

NEAR_S = 5.0
"""Log lines of a session that were written within this many seconds of a prompt's start are taken to be about it."""


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """What a user wants forgotten: traces by their ``ids``, texts (``mentions``), and whole sessions.

    ``moments`` maps each session to the start times of its forgotten traces, in seconds since 1970. ``injected`` maps
    each session that still has other traces to the facts added to its forgotten prompts, as ``kind:ref``
    (``guardrail:H3``).
    """

    ids: frozenset[str]
    mentions: Mentions
    sessions: frozenset[str] = frozenset()
    moments: Mapping[str, list[float]] = field(default_factory=dict)
    injected: Mapping[str, set[str]] = field(default_factory=dict)

    def is_logged_in(self, line: bytes) -> bool:
        """Return whether a line of the log is about a trace, a session or a text that is to be forgotten."""
        record = record_of(line)
        session, at = str(record.get("session_id", "")), seconds(str(record.get("at", "")))
        is_near = session != "" and any(-1 < at - moment < NEAR_S for moment in self.moments.get(session, ()))
        return is_near or self.is_in_line(line, session)

    def is_in_line(self, line: bytes, session: str = "") -> bool:
        """Return whether a line of JSON contains an id, a session or a text that is to be forgotten.

        ``session`` is the session of the line if the caller knows it.
        """
        session = session or str(record_of(line).get("session_id", ""))
        if session in self.sessions or self.mentions.in_bytes(line):
            return True
        # An id stands between quotes: those of JSON, or those of Python in the text of an error.
        return any(word in self.ids for word in line.decode("utf-8", "replace").replace("'", '"').split('"'))


def record_of(line: bytes) -> Record:
    """Return the JSON object in a line; an empty dictionary if there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def seconds(at: str) -> float:
    """Convert a time in ISO-8601 to seconds since 1970; 0 if the text is not a time."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0
