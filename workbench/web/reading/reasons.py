"""Explain the result of a prompt on its page, with the sentences that ``enricher explain`` prints.

They are computed from the rules and inputs recorded with the prompt. A snapshot contains neither, so the sentences are
stored in it when it is written. If none are stored for a prompt, only its recorded points are explained.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.interfaces.explanation import FACETS, ExplanationError, nearest, of_record

if TYPE_CHECKING:
    from enricher.interfaces.explanation import Explanation
    from enricher.rules.cache import Rules

    Row = dict[str, Any]

MOST_SENTENCES = 40
WHAT_WAS_STORED = "select sentences from explanations where trace_id = :id"


@dataclass(frozen=True, slots=True)
class Reasons:
    """The sentences that explain the result of a prompt.

    ``nearest`` has, by facet, one on the second-best class; ``certainty`` is about the confidence in the task type,
    ``left_out`` about lines that were not added, ``silence`` about the guardrail or approach that was nearly added.
    """

    nearest: dict[str, str]
    certainty: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    silence: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the sentences as a JSON list of lists, without the names of the facets."""
        nearest_ones = [self.nearest[facet] for facet in FACETS]
        return json.dumps([nearest_ones, self.certainty, self.left_out, self.silence], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Reasons:
        """Read the sentences from the JSON text that ``to_json`` has returned."""
        nearest_ones, *others = json.loads(text)
        return cls(dict(zip(FACETS, nearest_ones, strict=True)), *map(tuple, others))


def of_shown(db: sqlite3.Connection, trace: Row) -> Reasons:
    """Return the sentences for a trace of the live history or of a snapshot; ``trace`` comes from ``queries.show``."""
    with suppress(sqlite3.OperationalError):  # only a snapshot has the table
        if row := db.execute(WHAT_WAS_STORED, {"id": trace["id"]}).fetchone():
            return Reasons.from_json(row[0])
    return computed(db, trace) or _by_points(trace)


def computed(db: sqlite3.Connection, trace: Row, rules: Rules | None = None) -> Reasons | None:
    """Compute the sentences from the recorded rules and inputs of a prompt.

    Return None if these are missing or now lead to another task type. ``rules`` are the recorded rules; without them,
    they are read from the database.
    """
    try:
        found = of_record(db, trace, rules=rules) if trace["prompt"] else None
    except (ExplanationError, LookupError, TypeError, ValueError, AttributeError):
        return None  # its inputs were not recorded, or are damaged
    if found is None or found.enrichment.classification.task_type != trace["task_type"]:
        return None
    return _explained(found)


def _explained(found: Explanation) -> Reasons:
    doubts, thresholds = " and ".join(found.doubts()), "; ".join(found.thresholds())
    return Reasons(
        {facet: found.nearest(facet) for facet in FACETS},
        tuple(filter(None, (doubts and f"uncertain because {doubts}", thresholds and f"thresholds: {thresholds}"))),
        tuple(found.left_out()[:MOST_SENTENCES]),
        tuple(filter(None, (found.nearest_rule(),))),
    )


def _by_points(trace: Row) -> Reasons:
    """Return the sentences that can be computed from the recorded points alone: those on the second-best classes."""
    by_facet = {}
    for facet in FACETS:
        own = [(one["name"], one["score"]) for one in trace["scores"] if one["facet"] == facet and one["score"]]
        by_facet[facet] = nearest(sorted(own, key=lambda pair: -pair[1]))
    return Reasons(by_facet)
