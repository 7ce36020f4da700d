"""Why a trace came out as it did, in the words of ``enricher explain``, for its page.

The recorded rules and inputs give all of it. A snapshot holds neither, so there it is what the recorded points say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.interfaces.explanation import FACETS, ExplanationError, nearest, of_record

if TYPE_CHECKING:
    import sqlite3

    from enricher.interfaces.explanation import Explanation

    Row = dict[str, Any]

MOST_SENTENCES = 40


@dataclass(frozen=True, slots=True)
class Reasons:
    """Sentences on what came nearest, by facet; on the task type's confidence; on what was left out; on silence."""

    nearest: dict[str, str]
    certainty: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    silence: tuple[str, ...] = ()


def reasons(db: sqlite3.Connection, trace: Row) -> Reasons:
    """Return the reasons behind a trace, as ``storage.traces.queries.show`` returns it."""
    try:
        found = of_record(db, trace) if trace["prompt"] else None
    except (ExplanationError, LookupError, TypeError, ValueError, AttributeError):
        found = None  # recorded without its inputs, or with damaged ones
    if found is None or found.enrichment.classification.task_type != trace["task_type"]:
        return _by_points(trace)
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
