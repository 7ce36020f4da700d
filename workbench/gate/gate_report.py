"""Compare each case's decisions before and after a change, compute statistics, and say whether it may be merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.gate.case import FIELD_NAMES, OK
from workbench.statistics.intervals import Interval, upper_bound, wilson
from workbench.statistics.pairs import (
    benjamini_hochberg,
    mcnemar_midp,
    minimum_detectable_effect,
    minimum_detectable_share,
)
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enricher.rules.compiling.document import Problem
    from workbench.gate.case import Decided, GoldenCase
    from workbench.statistics.pairs import Verdict


@dataclass(frozen=True, slots=True)
class Checked:
    """A golden case with what was decided about its prompt before and after the change.

    ``now`` is the decision by the new rules, ``before`` the one by the rules of the base, which is the git revision to
    compare with; without a base, ``before`` is None. ``faults`` and ``faults_before`` are the names of the fields in
    which these decisions are wrong; the case passes if there are none. ``is_new`` means that the base's cases file
    lacks the case.
    """

    case: GoldenCase
    now: Decided
    faults: tuple[str, ...]
    before: Decided | None = None
    faults_before: tuple[str, ...] = ()
    is_new: bool = False

    @property
    def has_failed_newly(self) -> bool:
        """Return whether the case fails now but passed with the base's rules."""
        return bool(self.faults) and self.before is not None and not self.faults_before

    @property
    def closes_gate(self) -> bool:
        """Return whether this is an approved case that fails now, and may not.

        It may only if it failed with the base's rules already and the base's cases file has it. One that the file lacks
        was approved since: somebody saw its result, but the rules that gave it may have been reverted or never
        committed.
        """
        was_approved_since = self.is_new and bool(self.faults)
        return self.case.verdict == OK and (was_approved_since or self.has_failed_newly)

    @property
    def is_unmended(self) -> bool:
        """Return whether this approved case closes the gate although it failed with the base's rules, too."""
        return self.closes_gate and bool(self.faults_before)

    @property
    def is_fixed(self) -> bool:
        """Return whether the case failed under the base's rules and passes now."""
        return bool(self.faults_before) and not self.faults

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of difference between the decision by the base's rules and the one by the new rules.

        Without a base, an approved case is compared with its approved decision; for other cases, the result is empty.
        """
        earlier = self.before or (self.case.says if self.case.verdict == OK else None)
        return kinds(earlier, self.now) if earlier else ()

    @property
    def task_type(self) -> str:
        """Return the task type that the case expects; if it expects none, the one that the new rules chose."""
        return self.case.says.task_type or self.now.task_type or ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of one run of the gate on the cases file ``file``.

    ``base`` is the name of the revision to compare with, as the user gave it, plus its commit; empty if there is none.
    ``candidate`` and ``base_hash`` are the hashes of the new rules and of the base's rules. ``problems`` are the file's
    unusable lines. Cases that the base's file has and this file lacks are in ``missing``, or in ``removed`` if the user
    allowed their removal. ``rewritten`` has the cases that differ from the base's case with the same id.
    """

    file: str
    candidate: str
    base: str
    base_hash: str
    checked: tuple[Checked, ...]
    problems: tuple[Problem, ...]
    missing: tuple[GoldenCase, ...]
    removed: tuple[GoldenCase, ...]
    rewritten: tuple[GoldenCase, ...]
    figures: GateFigures
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Return whether the change may be merged."""
        return self.verdict != "regressed" and not self.problems and not self.missing

    def reasons(self) -> list[str]:
        """Return the reasons why the gate is closed, one clause each; empty if it is open."""
        unmended = sum(one.is_unmended for one in self.checked)
        regressed = sum(one.closes_gate for one in self.checked) - unmended
        base = self.base.partition(" ")[0]  # without the commit
        found = []
        if regressed:
            do_not = "does not" if regressed == 1 else "do not"
            how = "came out differently" if base else f"{do_not} come out as approved"
            found.append(f"{counted(regressed, 'approved case')} {how}")
        if unmended:
            are, they_fail = ("is", "it fails") if unmended == 1 else ("are", "they fail")
            cases = counted(unmended, "approved case")
            found.append(f"{cases} {are} not mended yet: {they_fail} with {base}, too")
        if self.verdict == "regressed" and not (regressed or unmended):
            found.append(f"{self.figures.lost} labelled prompts became wrong and {self.figures.gained} right")
        if self.missing:
            found.append(f"{counted(len(self.missing), 'case')} of the base missing")
        if self.problems:
            found.append(f"{counted(len(self.problems), 'line')} of the file unusable")
        return found


def kinds(before: Decided, after: Decided) -> tuple[str, ...]:
    """Return the kinds of change between two decisions, named as in ``workbench.replay.compare``."""
    differing = before.differences(after)
    found = [kind for name, kind in FIELD_NAMES.items() if name in differing and name != "guardrails"]
    if "guardrails" in differing:
        old, new = before.guardrails or (), after.guardrails or ()
        found += ["guardrail added"] * bool(set(new) - set(old)) + ["guardrail dropped"] * bool(set(old) - set(new))
        found += ["guardrails reordered"] * (sorted(old) == sorted(new))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TaskType:
    """The figures for the cases of one task type.

    ``gained`` is the number of cases that failed before the change and pass now, ``lost`` the number of those that
    passed before and fail now. ``p_value`` is that of McNemar's test on these numbers, adjusted for the number of task
    types.
    """

    name: str
    cases: int
    gained: int
    lost: int
    p_value: float


@dataclass(frozen=True, slots=True)
class GateFigures:
    """Counts over all cases; shares lie between 0 and 1.

    ``changed`` counts the cases with a different decision, ``share`` is the confidence interval of their share.
    ``gained`` is the number of cases that failed before the change and pass now, ``lost`` the number of those that
    passed before and fail now; ``p_value`` is the mid-p value of McNemar's test on the two. ``at_most`` is the upper
    bound for the share of similar prompts that may still regress; None if an approved case regressed, or if none had
    passed before. ``detectable`` is the smallest difference that these cases detect with a power of 80 %.
    """

    cases: int
    approved: int
    changed: int
    share: Interval
    kinds: tuple[tuple[str, int], ...]
    gained: int
    lost: int
    p_value: float
    at_most: float | None
    detectable: float
    task_types: tuple[TaskType, ...]


def figures_of(checked: Sequence[Checked], *, is_paired: bool) -> GateFigures:
    """Return the figures of the checked cases; ``is_paired`` means that there is a base to compare with."""
    gained, lost = _gained(checked), _lost(checked)
    changed = sum(bool(one.kinds) for one in checked)
    held = [one for one in checked if one.case.verdict == OK and not one.faults_before]  # the others cannot get worse
    has_regressed = any(one.closes_gate for one in checked)
    return GateFigures(
        cases=len(checked),
        approved=sum(one.case.verdict == OK for one in checked),
        changed=changed,
        share=wilson(changed, len(checked)),
        kinds=tuple(Counter(kind for one in checked for kind in one.kinds).most_common()),
        gained=gained,
        lost=lost,
        p_value=mcnemar_midp(gained, lost),
        at_most=upper_bound(len(held)) if held and not has_regressed else None,
        detectable=_detectable(len(checked), gained + lost),
        task_types=_task_types(checked) if is_paired else (),
    )


def _gained(checked: Iterable[Checked]) -> int:
    return sum(one.is_fixed for one in checked)


def _lost(checked: Iterable[Checked]) -> int:
    return sum(one.has_failed_newly for one in checked)


def _detectable(cases: int, discordant: int) -> float:
    if not discordant:
        return minimum_detectable_share(cases)
    return minimum_detectable_effect(cases, baseline=discordant / cases)


def _task_types(checked: Sequence[Checked]) -> tuple[TaskType, ...]:
    groups: dict[str, list[Checked]] = {}
    for one in checked:
        groups.setdefault(one.task_type, []).append(one)
    names = sorted(groups)
    counts = [(_gained(groups[name]), _lost(groups[name])) for name in names]
    adjusted = benjamini_hochberg([mcnemar_midp(*pair) for pair in counts])
    rows = zip(names, counts, adjusted, strict=True)
    return tuple(TaskType(name, len(groups[name]), gained, lost, p) for name, (gained, lost), p in rows)
