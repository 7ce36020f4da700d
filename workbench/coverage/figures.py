"""Represent the figures of a coverage count: how often each rule fired, and what follows from that about the rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from workbench.statistics.intervals import Interval, upper_bound, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.coverage.unmatched import Cluster

ALWAYS = "<always>"
"""The label of the points that a class gives to every prompt."""
KINDS = ("signal", "task type", "search intent", "guardrail", "approach", "workflow", "channel")
MOST_POSSIBLE = 0.2
"""A rule that was tried for only some prompts, and never fired, counts as dead if its true share is at most this."""
ENOUGH_PROMPTS = 20
"""Minimum number of prompts before rules that always fire are reported; in fewer, it may be chance."""
FIRED, RIGHT, WRONG = "fired", "right", "wrong"
"""The attributes of a ``CoverageRow`` that count prompts."""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One rule or signal, with the number of prompts on which it fired (matched) and what labels say about it.

    ``rule`` is the id of the rule; ``name`` is its class, guardrail, approach, workflow or channel; ``label`` is the
    signal as ``enricher explain`` prints it. ``prompts`` is the number of prompts on which it could fire: all that were
    measured; for a channel or an approach of the profile ``as-specified``, those for which it was asked. It fired on
    ``fired`` of them, and added ``tokens`` tokens to them in total. ``right`` and ``wrong`` count the labelled prompts
    on which it fired and its class won, rightly or wrongly. ``examples`` are the ids of the newest prompts on which it
    fired. ``condition`` is the number of a signal in the compiled table, -1 for a rule. ``is_foreign`` is whether a
    signal has wordings of other languages.
    """

    kind: str
    rule: str
    facet: str
    name: str
    label: str
    weight: int
    condition: int
    file: str
    line: int
    fired: int = 0
    prompts: int = 0
    tokens: int = 0
    right: int = 0
    wrong: int = 0
    examples: tuple[str, ...] = ()
    is_foreign: bool = False

    @property
    def share(self) -> float:
        """Return the share of ``prompts`` on which the rule fired; 0 if there are none."""
        return self.fired / self.prompts if self.prompts else 0.0

    @property
    def is_dead(self) -> bool:
        """Return whether the rule never fired, although it could have."""
        return not self.fired and self.prompts > 0

    @property
    def is_always_on(self) -> bool:
        """Return whether the rule fired on every prompt, so that it does not distinguish prompts."""
        return self.fired == self.prompts > 0

    @property
    def is_meant_to_fire(self) -> bool:
        """Return whether the rule is meant to fire on every prompt: the points that a class begins with."""
        return self.label == ALWAYS

    @property
    def tokens_each(self) -> int:
        """Return the mean number of tokens that the rule adds to a prompt on which it fires; 0 if it never fired."""
        return round(self.tokens / self.fired) if self.fired else 0

    def rightness(self) -> Interval:
        """Return Wilson's interval for how often the rule's class was right, of the times that it won with the rule."""
        return wilson(self.right, self.right + self.wrong)

    def may_reach(self) -> float:
        """Return the 95 % upper bound of the true share of a rule that has fired on none of its prompts.

        The true share is the share of all prompts on which the rule would fire, not only of the recorded ones.
        """
        return upper_bound(self.prompts)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Several rules or signals of one kind and facet that fired on exactly the same prompts."""

    rows: tuple[CoverageRow, ...]
    fired: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The figures of a coverage count: how often each rule fired on the prompts counted so far.

    ``judged_again`` is the number of prompts that were recorded under other rules. ``labels`` has the number of
    labelled prompts for each right task type; prompts whose label only says «wrong» are not among them. ``folder`` is
    the folder whose own layer is among the rules, which judge all prompts, wherever they were typed.
    """

    rules_hash: str
    prompts: int
    judged_again: int
    labelled: int
    rows: tuple[CoverageRow, ...]
    overlaps: tuple[Overlap, ...]
    unmatched: int
    clusters: tuple[Cluster, ...]
    labels: dict[str, int]
    ids: Mapping[CoverageRow, Mapping[str, list[str]]] = field(default_factory=dict, repr=False, compare=False)
    kept: Mapping[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    folder: str = field(default="", compare=False)

    def counted(self, row: CoverageRow, number: str = FIRED) -> list[str]:
        """Return the ids of the prompts behind one of the three numbers of ``row``, newest first.

        ``number`` is FIRED, RIGHT or WRONG: the prompts on which the rule fired, was right, or was wrong. Ids beyond
        the maximum ``kept`` of the ``Measurement`` may be missing.
        """
        return self.ids[row][number][: getattr(row, number)]

    def counted_in_all(self, number: str) -> list[str]:
        """Return the ids of the prompts that are counted in one of the figures of this object.

        ``number`` names the figure: "prompts", "labelled", "judged_again" or "unmatched".
        """
        return self.kept[number][: getattr(self, number)]

    def class_share(self, row: CoverageRow) -> float:
        """Return how often a class that wins at random would be right: the share of labels with the row's class."""
        known = sum(self.labels.values())
        return self.labels.get(row.name, 0) / known if known else 0.0

    def doubtful(self) -> list[CoverageRow]:
        """Return the signals with whose points their class won, but was right no more often than by chance (95 %)."""
        judged = [row for row in self.rows if row.kind == "signal" and row.facet == TASK_TYPE and row.right + row.wrong]
        found = [row for row in judged if not row.is_meant_to_fire and row.rightness().high <= self.class_share(row)]
        return sorted(found, key=lambda row: (row.rightness().high - self.class_share(row), row.file, row.line))

    def dead(self) -> list[CoverageRow]:
        """Return the rules and signals that never fired, although they could have.

        Signals with wordings of other languages than English come last.
        """
        found = (row for row in self.rows if row.is_dead and not self.is_too_seldom_asked(row))
        return sorted(found, key=lambda row: row.is_foreign)

    def is_too_seldom_asked(self, row: CoverageRow) -> bool:
        """Return whether a rule never fired, but was asked for too few of the prompts to tell whether it ever would."""
        is_asked_apart = not row.fired and row.prompts < self.prompts
        return is_asked_apart and (not row.prompts or row.may_reach() > MOST_POSSIBLE)

    def too_seldom_asked(self) -> list[CoverageRow]:
        """Return the rules about which nothing is known, because too few of the counted prompts were checked."""
        return list(filter(self.is_too_seldom_asked, self.rows))

    def always_on(self) -> list[CoverageRow]:
        """Return the rules and signals that fired on every prompt, if at least ENOUGH_PROMPTS prompts were counted.

        The signal ``<always>`` is left out, because it is meant to fire always.
        """
        found = [row for row in self.rows if row.is_always_on and not row.is_meant_to_fire]
        return [row for row in found if row.prompts >= ENOUGH_PROMPTS]

    def dead_may_reach(self) -> float:
        """Return ``may_reach`` of a rule that could have fired on each of the counted prompts, but did on none."""
        return upper_bound(self.prompts)


def as_object(found: Coverage) -> dict[str, object]:
    """Return all figures of a coverage count as JSON values."""
    rows, dead = [], set(found.dead())
    for row in found.rows:
        interval = row.rightness()
        judged = {"low": interval.low, "high": interval.high} if row.right + row.wrong else None
        rows.append(
            asdict(row) | {"share": row.share, "rightness": judged, "dead": row in dead, "always_on": row.is_always_on}
        )
    overlaps = [{"fired": one.fired, "rows": list(map(_identified, one.rows))} for one in found.overlaps]
    return {
        "rules_hash": found.rules_hash,
        "prompts": found.prompts,
        "judged_again": found.judged_again,
        "labelled": found.labelled,
        "dead_may_reach": found.dead_may_reach() if found.prompts else None,
        "rows": rows,
        "overlaps": overlaps,
        "labels": found.labels,
        "doubtful": list(map(_identified, found.doubtful())),
        "unmatched": {"prompts": found.unmatched, "clusters": [one.as_object() for one in found.clusters]},
    }


def _identified(row: CoverageRow) -> dict[str, object]:
    return {"file": row.file, "line": row.line, "label": row.label, "name": row.name}
