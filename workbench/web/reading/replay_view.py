"""Prepare a stored replay for its page: the verdict in words, and the differences of each changed prompt. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.replay.compare import KINDS
from workbench.statistics.pairs import mcnemar_midp
from workbench.views.differences import DiffSection, compared, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from storage.evaluation.replays import ChangedPrompt, PreviewedResult, StoredReplay

VERDICT_TEXTS = {
    "identical": "No prompt changes.",
    "changed": "Prompts change; no approved case is among them, and labels do not show that it is worse.",
    "regressed": "An approved case changes, or significantly more labelled prompts become wrong than right.",
    "inconclusive": "Some labelled prompts become wrong, and too few labels show that more become right.",
}
LOOKS = {"identical": "good", "changed": "quiet", "regressed": "bad", "inconclusive": "warn"}
NOT_TESTS = "traces.origin <> 'test'"
NONE = "none"


@dataclass(frozen=True, slots=True)
class Move:
    """A field of a prompt's outcome that differs between the two sides."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A prompt with a changed outcome; ``sections`` compare the texts for the agent, empty if they are the same."""

    trace_id: str
    at: str
    opening: str
    kinds: tuple[str, ...]
    cause: str
    moves: tuple[Move, ...]
    sections: tuple[DiffSection, ...]


@dataclass(frozen=True, slots=True)
class ReplayView:
    """A stored replay with its figures parsed; numbers are None if an earlier release did not store them.

    ``low`` and ``high`` bound the share of changed prompts (95 %), ``p_value`` is mid-p McNemar's on labelled prompts.
    """

    kept: StoredReplay
    low: float | None
    high: float | None
    tokens: tuple[float, float] | None
    silent: tuple[int, int] | None
    unknown: int
    approved: int
    regressed: tuple[str, ...]
    gained: int
    lost: int

    @property
    def share(self) -> float:
        """Share of prompts with a changed outcome."""
        return self.kept.changed / self.kept.prompts if self.kept.prompts else 0.0

    @property
    def p_value(self) -> float | None:
        """McNemar's mid-p value for labelled prompts that became right or wrong; None if there are none."""
        return mcnemar_midp(self.gained, self.lost) if self.gained or self.lost else None

    @property
    def verdict_text(self) -> str:
        """The verdict as a sentence."""
        return VERDICT_TEXTS.get(self.kept.verdict, "")

    @property
    def look(self) -> str:
        """The CSS class for the verdict."""
        return LOOKS.get(self.kept.verdict, "quiet")

    @property
    def selection(self) -> str:
        """The filter that selected the replayed prompts; empty for the default, all prompts but tests."""
        return "" if self.kept.selection == NOT_TESTS else self.kept.selection


def replay(kept: StoredReplay) -> ReplayView:
    """Return a stored replay with its figures parsed."""
    figures = kept.figures
    low, high = figures.get("share") or (None, None)
    tokens, silent = figures.get("tokens_per_session"), figures.get("silent")
    return ReplayView(
        kept, low, high,
        (float(tokens[0]), float(tokens[1])) if tokens else None,
        (int(silent[0]), int(silent[1])) if silent else None,
        int(figures.get("unknown", 0)), int(figures.get("approved", 0)),
        tuple(map(str, figures.get("regressed", ()))), int(figures.get("gained", 0)), int(figures.get("lost", 0)),
    )  # fmt: skip


def changed(seen: PreviewedResult) -> Changed:
    """Return one prompt of a replay with the fields and lines of text that differ between the two sides."""
    result = seen.result
    before, after = str(result.before.get("text", "")), str(result.after.get("text", ""))
    sections = tuple(folded(compared(before, after))) if before != after else ()
    first = opening(seen.prompt)
    return Changed(result.trace_id, seen.at, first, result.kinds, result.cause, tuple(moves(result)), sections)


def opening(prompt: str) -> str:
    """Return the first line of a prompt that is not blank."""
    return next((line.strip() for line in prompt.splitlines() if line.strip()), "")


def moves(result: ChangedPrompt) -> Iterator[Move]:
    """Yield the fields of the outcome that differ, the task type first."""
    before, after = result.before, result.after
    for name, one, other in (
        ("task type", _task_type(before), _task_type(after)),
        ("search intent", str(before.get("search_intent", "")), str(after.get("search_intent", ""))),
        ("workflow", str(before.get("workflow", "")), str(after.get("workflow", ""))),
        ("guardrails added", NONE, _beyond(after, before)),
        ("guardrails dropped", _beyond(before, after), NONE),
        ("approach", str(before.get("approach", "")), str(after.get("approach", ""))),
        ("context", _items(before), _items(after)),
        ("tokens", str(before.get("tokens", "")), str(after.get("tokens", ""))),
    ):
        if one != other:
            yield Move(name, one or NONE, other or NONE)


def in_order(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts by kind of change in the order of KINDS, unknown kinds last."""
    return {kind: counts[kind] for kind in (*KINDS, *sorted(counts.keys() - set(KINDS))) if kind in counts}


def _task_type(side: dict[str, Any]) -> str:
    return f"{side.get('task_type', '')}{'' if side.get('shown', True) else ' (not shown)'}"


def _beyond(side: dict[str, Any], other: dict[str, Any]) -> str:
    return ", ".join(str(one) for one in side.get("guardrails", ()) if one not in other.get("guardrails", ())) or NONE


def _items(side: dict[str, Any]) -> str:
    unknown = side.get("unknown", ())
    items = [f"{channel} {ref}" for channel, ref in side.get("items", ()) if channel not in unknown]
    return ", ".join([*items, *(f"{channel}: unknown" for channel in unknown)])
