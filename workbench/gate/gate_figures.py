"""Compute the figures of a gate: changed cases, cases that became right or wrong, and the detectable difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.gate.case import OK
from workbench.statistics import (
    Interval,
    benjamini_hochberg,
    mcnemar_midp,
    minimum_detectable_effect,
    minimum_detectable_share,
    upper_bound,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.gate.gate_report import Checked


@dataclass(frozen=True, slots=True)
class TaskType:
    """The cases of one task type: how many became right and wrong; ``p_value`` is adjusted for the number of types."""

    name: str
    cases: int
    gained: int
    lost: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over all cases; shares lie between 0 and 1.

    ``share`` is that of the changed cases, ``p_value`` the mid-p of McNemar's test on gained and lost. ``at_most``
    is the upper bound of the share of prompts like the approved cases that may still regress, None if an approved
    case regressed. ``detectable`` is the smallest difference that these cases detect with a power of 80 %.
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


def figures_of(checked: Sequence[Checked], *, changed: int, is_paired: bool) -> Figures:
    """Return the figures of the checked cases; without a base (not ``is_paired``), ``gained`` and ``lost`` are 0."""
    gained, lost = (_gained(checked), _lost(checked)) if is_paired else (0, 0)
    held = [one for one in checked if one.case.verdict == OK and not one.faults_before]
    has_regressed = any(one.is_regression for one in checked)
    return Figures(
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
