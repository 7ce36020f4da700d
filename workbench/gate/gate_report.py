"""The outcome of a gate: each case with what came out before and now, and whether the change may go in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.gate.case import OK

if TYPE_CHECKING:
    from enricher.rules.compiling.document import Problem
    from workbench.gate.case import Case, Decided
    from workbench.gate.gate_figures import Figures
    from workbench.statistics import Verdict


@dataclass(frozen=True, slots=True)
class Checked:
    """A case with what comes out for it now and came out before; without a base ``before`` is None.

    The faults name what is not as the case wants it; empty where it passes.
    """

    case: Case
    now: Decided
    faults: tuple[str, ...]
    before: Decided | None = None
    faults_before: tuple[str, ...] = ()

    @property
    def has_failed_newly(self) -> bool:
        """Whether it fails, and did not with the base; an approved case without a base has passed once."""
        return bool(self.faults) and not self.faults_before and (self.before is not None or self.case.verdict == OK)

    @property
    def is_regression(self) -> bool:
        """Whether an approved case fails newly, which closes the gate."""
        return self.has_failed_newly and self.case.verdict == OK

    @property
    def is_fixed(self) -> bool:
        """Whether it failed with the base and passes now."""
        return bool(self.faults_before) and not self.faults

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of change against the base, without one against what was approved."""
        earlier = self.before or (self.case.says if self.case.verdict == OK else None)
        return kinds(earlier, self.now) if earlier else ()

    @property
    def task_type(self) -> str:
        """The class that the case belongs to."""
        return self.case.says.task_type or self.now.task_type or ""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome: every case, what is wrong with the file of cases, the figures and the verdict.

    ``base`` is how a person calls it, empty where there is none; ``candidate`` and ``base_hash`` identify the rules.
    """

    file: str
    candidate: str
    base: str
    base_hash: str
    checked: tuple[Checked, ...]
    problems: tuple[Problem, ...]
    missing: tuple[Case, ...]
    removed: tuple[Case, ...]
    rewritten: tuple[Case, ...]
    figures: Figures
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Whether the change may go in."""
        return self.verdict != "regressed" and not self.problems and not self.missing

    def reasons(self) -> list[str]:
        """Return why the gate is closed, one sentence each; none where it is open."""
        regressions = sum(one.is_regression for one in self.checked)
        told = [
            (regressions, f"{_count(regressions, 'approved case')} came out differently"),
            (
                self.verdict == "regressed" and not regressions,
                f"{self.figures.lost} labelled prompts became wrong and {self.figures.gained} right",
            ),
            (len(self.missing), f"{_count(len(self.missing), 'case')} of the base missing"),
            (len(self.problems), f"{_count(len(self.problems), 'line')} of the file unusable"),
        ]
        return [sentence for is_so, sentence in told if is_so]


def kinds(before: Decided, after: Decided) -> tuple[str, ...]:
    """Return the kinds of change between two judgements, as ``workbench.replay.compare`` names them."""
    named = {"task_type": "task type", "search_intent": "intent", "shown": "shown", "approach": "approach"}
    differing = before.differences(after)
    found = [kind for name, kind in named.items() if name in differing]
    if "guardrails" in differing:
        old, new = before.guardrails or (), after.guardrails or ()
        found += ["guardrail added"] * bool(set(new) - set(old)) + ["guardrail dropped"] * bool(set(old) - set(new))
        found += ["guardrails reordered"] * (sorted(old) == sorted(new))
    return tuple(found)


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
