"""Why a prompt came out as it did, in the sentences of ``enricher explain``.

The recorded rules and inputs give all of them. A snapshot holds neither, so the sentences are stored when it is
written; for a prompt without stored ones, the recorded points give some of them.
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
    """Sentences on what came nearest, by facet; on the task type's confidence; on what was left out; on silence."""

    nearest: dict[str, str]
    certainty: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    silence: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the sentences as a JSON list of lists, without the names of facets."""
        nearest_ones = [self.nearest[facet] for facet in FACETS]
        return json.dumps([nearest_ones, self.certainty, self.left_out, self.silence], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Reasons:
        """Return the reasons that ``to_json`` has written."""
        nearest_ones, *others = json.loads(text)
        return cls(dict(zip(FACETS, nearest_ones, strict=True)), *map(tuple, others))


def of_shown(db: sqlite3.Connection, trace: Row) -> Reasons:
    """Return the reasons behind a trace of the live history or of a snapshot, as ``queries.show`` returns it."""
    with suppress(sqlite3.OperationalError):  # only a snapshot has the table
        if row := db.execute(WHAT_WAS_STORED, {"id": trace["id"]}).fetchone():
            return Reasons.from_json(row[0])
    return computed(db, trace) or _by_points(trace)


def computed(db: sqlite3.Connection, trace: Row, rules: Rules | None = None) -> Reasons | None:
    """Return the reasons that the recorded rules and inputs give; None if they are missing or give another task type.

    ``rules`` are the prompt's own, if they were read already.
    """
    try:
        found = of_record(db, trace, rules=rules) if trace["prompt"] else None
    except (ExplanationError, LookupError, TypeError, ValueError, AttributeError):
        return None  # recorded without its inputs, or with damaged ones
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
    """Return what the recorded points of the classes say."""
    by_facet = {}
    for facet in FACETS:
        own = [(one["name"], one["score"]) for one in trace["scores"] if one["facet"] == facet and one["score"]]
        by_facet[facet] = nearest(sorted(own, key=lambda pair: -pair[1]))
    return Reasons(by_facet)
