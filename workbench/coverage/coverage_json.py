"""Coverage as JSON values, for ``enricher coverage --json`` and the published page."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.coverage.coverage import Coverage


def as_object(found: Coverage) -> dict[str, object]:
    """Return all figures as JSON values."""
    rows = []
    for row in found.rows:
        interval = row.rightness()
        judged = {"low": interval.low, "high": interval.high} if row.right + row.wrong else None
        rows.append(
            asdict(row) | {"share": row.share, "rightness": judged, "dead": row.is_dead, "always_on": row.is_always_on}
        )
    overlaps = [
        {
            "fired": one.fired,
            "rows": [{"file": row.file, "line": row.line, "label": row.label, "name": row.name} for row in one.rows],
        }
        for one in found.overlaps
    ]
    return {
        "rules_hash": found.rules_hash,
        "prompts": found.prompts,
        "judged_again": found.judged_again,
        "labelled": found.labelled,
        "dead_may_reach": found.dead_may_reach() if found.prompts else None,
        "rows": rows,
        "overlaps": overlaps,
        "labels": found.labels,
        "doubtful": [
            {"file": row.file, "line": row.line, "label": row.label, "name": row.name} for row in found.doubtful()
        ],
        "unmatched": {"prompts": found.unmatched, "clusters": [asdict(one) for one in found.clusters]},
    }
