"""Word an estimate as a suggestion: what could be split, why, and what is safe; the agent decides (seed 002)."""

from __future__ import annotations

from enricher.prompt.text import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.complexity.estimate import Estimate

LONGEST_PART, MOST_QUOTED = 60, 6
FEWEST_INDEPENDENT = 2
SAFETY = "safe for independent files only, with one owner for each file; otherwise one after the other"


def suggestion(estimate: Estimate) -> str:
    """Return the sentence about splitting the task; empty if there is nothing to suggest.

    A task whose parts are independent may be done in parallel; a large task without such parts may be split.
    """
    parts = estimate.independent
    grounds = f"confidence {estimate.confidence:.2f}: {estimate.rationale}"
    if not estimate.should_split:
        return ""
    if len(parts) >= FEWEST_INDEPENDENT:
        quoted = "; ".join(f"{one.number} '{harmless(one.text, longest=LONGEST_PART)}'" for one in parts[:MOST_QUOTED])
        more = f"; {len(parts) - MOST_QUOTED} more" if len(parts) > MOST_QUOTED else ""
        how = f"this could be done in {len(parts)} independent parts ({quoted}{more})"
        choice = f"decide whether to parallelise, and give the reason; {SAFETY}"
    else:
        how = "this could be split into smaller tasks"
        choice = f"decide whether to split it, and give the reason; parallel work is {SAFETY}"
    return f"Suggested: {how} ({grounds}) \u2014 {choice}."
