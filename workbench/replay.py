"""Run recorded prompts again: with the version they had, the recorded text must come out byte for byte.

Everything else the workbench says rests on that, so it is checked on every trace
before anything is compared.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.api import recorded_rules, replay
from storage import database, queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from enricher.rules.cache import Rules

EVERYTHING = queries.Filter()


@dataclass(slots=True)
class Fidelity:
    """How many traces came out as recorded; ``differing`` names those that did not, ``left_out`` counts why not run."""

    same: int = 0
    differing: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        """Count a trace that cannot be run again."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def verify(state_dir: str) -> Fidelity:
    """Replay every trace with its recorded rules and inputs; raises ``storage.database.StorageError``."""
    outcome = Fidelity()
    with contextlib.closing(database.connect(state_dir)) as db:
        version = _versions(db)
        for trace in queries.export(db, EVERYTHING, with_children=False):
            _verify_one(trace, version, outcome)
    return outcome


def _versions(db: sqlite3.Connection) -> Callable[[str], Rules | None]:
    known: dict[str, Rules | None] = {}

    def version(identity: str) -> Rules | None:
        if identity not in known:
            stored = queries.instructions(db, identity)
            known[identity] = _readable(identity, stored)
        return known[identity]

    return version


def _readable(identity: str, stored: str | None) -> Rules | None:
    try:
        return recorded_rules(identity, stored) if stored else None
    except ValueError:
        return None


def _verify_one(trace: dict[str, Any], version: Callable[[str], Rules | None], outcome: Fidelity) -> None:
    if trace["status"] in ("skipped", "error"):
        outcome.leave_out(trace["status"])
        return
    rules = version(trace["rules_hash"])
    if "settings" not in (trace["inputs"] or {}) or rules is None:
        outcome.leave_out("no text kept" if rules else "rules version not stored, or of another release")
        return
    if replay(trace["prompt"], trace["inputs"], rules).text == trace["output_text"]:
        outcome.same += 1
    else:
        outcome.differing.append(trace["id"])
