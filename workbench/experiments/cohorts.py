"""Divide sessions into the two cohorts of an experiment, and compare how the prompts of each were labelled.

The cohort of a session is computed from a keyed hash of its id, with the experiment's name as the key, so it is the
same on every machine and at any time. Every session counts in its assigned cohort, whatever rules it really ran with.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from storage.base.fast_stdlib import keyed_hash
from storage.traces import short
from workbench.statistics.intervals import Share, share_changed
from workbench.statistics.pairs import Effect, Verdict, difference_of_means, difference_of_shares
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from storage.evaluation.experiments import SessionFigures

    Cohort = Literal["a", "b"]

FEWEST_SESSIONS = 2  # one has no variance
FEWEST_TO_JUDGE = 10
"""Number of labelled sessions that each cohort needs for a verdict; with fewer, the interval would be too narrow."""
LARGE = 1000
"""Figures from this size on are shown as whole numbers, smaller ones with three significant digits."""

COSTS: tuple[tuple[str, Callable[[SessionFigures], float]], ...] = (
    ("prompts_per_session", lambda one: float(one.prompts)),
    ("tokens_per_session", lambda one: float(one.tokens)),
)


@dataclass(frozen=True, slots=True)
class CohortFigures:
    """The figures of one cohort of sessions.

    ``held_back`` is the number of prompts to which no text was added because of shadow mode (in which texts are only
    recorded). ``right`` is the share of the labelled prompts whose label says that the result was right.
    """

    sessions: int
    prompts: int
    held_back: int
    labelled: int
    right: Share

    def summary(self) -> str:
        """Return a phrase with the number of sessions, of prompts, and of prompts that were labelled right."""
        held_back = f", {self.held_back} held back" if self.held_back else ""
        prompts = f"{counted(self.sessions, 'session')}, {counted(self.prompts, 'prompt')}{held_back}"
        return f"{prompts}, {self.right.changed} of {self.labelled} labelled prompts right"


@dataclass(frozen=True, slots=True)
class CohortComparison:
    """The figures of the two cohorts of an experiment, and their differences.

    ``effects`` has the difference b minus a for each metric, by its name; it is None if there are too few sessions. The
    verdict depends only on the share of prompts labelled right: "changed" if it is significantly higher in b,
    "regressed" if significantly lower. Otherwise, or with fewer than ten labelled sessions in a cohort, it is
    "inconclusive".
    """

    name: str
    a: CohortFigures
    b: CohortFigures
    effects: dict[str, Effect | None]
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a dictionary of JSON values."""
        return asdict(self)

    def summaries(self) -> list[str]:
        """Return a line of text for each cohort that sums up its figures."""
        return [f"a: {self.a.summary()}", f"b: {self.b.summary()}"]

    def effect_cells(self) -> list[tuple[str, str, str, str]]:
        """Return a table row per effect: its name, the difference b - a, the 95 % interval and the effect size."""
        cells = []
        for name, effect in self.effects.items():
            if effect is None:
                cells.append((name, "too few sessions", "", ""))
            else:
                ends = f"{figure(effect.interval.low)} to {figure(effect.interval.high)}"
                cells.append((name, figure(effect.difference), ends, figure(effect.size)))
        return cells


def cohort_of(session_id: str, *, name: str) -> Cohort:
    """Return the cohort of a session in the experiment ``name``; it never changes.

    About half of all sessions are in each cohort.
    """
    digest = keyed_hash(name.encode(), short(session_id).encode())
    return "b" if int(digest[:8], 16) & 1 else "a"  # any bit of the hash would do


def compare(sessions: Sequence[SessionFigures], *, name: str) -> CohortComparison:
    """Compare the cohorts by the share of prompts labelled right, and by prompts and tokens per session."""
    groups = {cohort: [one for one in sessions if cohort_of(one.session_id, name=name) == cohort] for cohort in "ab"}
    a, b = (_side(groups[cohort]) for cohort in "ab")
    labelled_sessions = min(a.right.clusters, b.right.clusters)
    right = difference_of_shares(a.right, b.right) if labelled_sessions >= FEWEST_SESSIONS else None
    has_sessions = min(a.sessions, b.sessions) >= FEWEST_SESSIONS
    effects: dict[str, Effect | None] = {"right": right}
    for metric, of in COSTS:
        values = [[of(one) for one in groups[cohort]] for cohort in "ab"]
        effects[metric] = difference_of_means(*values) if has_sessions else None
    verdict = _verdict(right) if labelled_sessions >= FEWEST_TO_JUDGE else "inconclusive"
    return CohortComparison(name, a, b, effects, verdict)


def figure(value: float | None) -> str:
    """Return a number as text with three significant digits, or as a whole number if it is large; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.3g}"


def _side(sessions: Sequence[SessionFigures]) -> CohortFigures:
    right = share_changed([(one.right, one.labelled) for one in sessions if one.labelled])
    prompts, held_back = sum(one.prompts for one in sessions), sum(one.held_back for one in sessions)
    return CohortFigures(len(sessions), prompts, held_back, right.prompts, right)


def _verdict(right: Effect | None) -> Verdict:
    if right is None or 0 in right.interval:
        return "inconclusive"
    return "changed" if right.difference > 0 else "regressed"
