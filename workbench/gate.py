"""Judge the golden cases by changed instructions, and say whether the change may go in.

Runs from the file of cases alone: no database, no trust, no state, nothing of the person
who runs it. What the base's instructions fail already is told and does not count.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from enricher.home import project_root
from enricher.rules.cache import Rules
from enricher.rules.compiler import compile_layers
from enricher.rules.layers import OWN_FOLDER, Layer, packaged_file
from workbench import cases as files
from workbench import revision as revisions
from workbench.case import OK
from workbench.gate_figures import Figures, figures_of
from workbench.statistics import verdict_of

if TYPE_CHECKING:
    from enricher.rules.compiler import Compiled
    from enricher.rules.document import Problem
    from workbench.case import Case, Decided
    from workbench.revision import Revision
    from workbench.statistics import Verdict

INSTRUCTIONS = "instructions.md"
PROJECT = "project"


class GateError(Exception):
    """The gate cannot be run; the message says what to do."""


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


@dataclass(slots=True)
class _Side:
    """The rules of one side and how a person would call it."""

    label: str
    rules: Rules
    notes: list[str] = field(default_factory=list)


def run(cwd: str, *, base: str = "", cases: str = "", instructions: str = "", allow_removed: bool = False) -> Report:
    """Judge the cases of the repository around ``cwd``, or of the file ``cases``.

    ``base`` is a git revision; ``instructions`` a file in place of all layers. Raises
    GateError where there is nothing to judge, or nothing to judge by.
    """
    path = os.path.abspath(os.path.join(cwd, cases)) if cases else files.path_for(cwd)
    instructions = os.path.abspath(os.path.join(cwd, instructions)) if instructions else ""
    try:
        known = _read(path)
        now = _side(cwd, instructions)
        if not base:
            return _report(path, known, now)
        revision = revisions.find(cwd, base)
        before = _side_at(revision, cwd, instructions, now=now)
        earlier = _cases_at(revision, path)
        return _report(path, known, now, before=before, earlier=earlier, allow_removed=allow_removed)
    except (files.CasesError, revisions.RevisionError) as error:
        raise GateError(str(error)) from error


def kinds(before: Decided, after: Decided) -> tuple[str, ...]:
    """Return the kinds of change between two judgements, as ``workbench.compare`` names them."""
    named = {"task_type": "task type", "search_intent": "intent", "shown": "shown", "approach": "approach"}
    differing = before.differences(after)
    found = [kind for name, kind in named.items() if name in differing]
    if "guardrails" in differing:
        old, new = before.guardrails or (), after.guardrails or ()
        found += ["guardrail added"] * bool(set(new) - set(old)) + ["guardrail dropped"] * bool(set(old) - set(new))
        found += ["guardrails reordered"] * (sorted(old) == sorted(new))
    return tuple(found)


def _read(path: str) -> files.Cases:
    if not os.path.exists(path):
        raise GateError(f"{path}: no such file; write cases with: enricher trace label ID ok --case")
    known = files.read(path)
    if not known.cases and not known.problems:
        raise GateError(f"{path}: no case in it; write some with: enricher trace label ID ok --case")
    return known


def _layers(cwd: str, instructions: str) -> list[Layer]:
    """Return what speaks here: the packaged file and the repository's own, or one file in place of both."""
    if instructions:
        return [Layer("base", instructions)]
    own = os.path.join(project_root(cwd), OWN_FOLDER, INSTRUCTIONS)
    return [Layer("packaged", packaged_file()), *([Layer(PROJECT, own)] if os.path.exists(own) else [])]


def _side(cwd: str, instructions: str) -> _Side:
    if instructions and not os.path.exists(instructions):
        raise GateError(f"{instructions}: no such file")
    return _Side("the work tree", _rules(compile_layers(_layers(cwd, instructions))))


def _side_at(revision: Revision, cwd: str, instructions: str, *, now: _Side) -> _Side:
    """Compile what the revision held: the same layers, with its text for every file that lies in the repository."""
    layers = _layers(cwd, instructions)
    own = os.path.join(project_root(cwd), OWN_FOLDER, INSTRUCTIONS)
    if not instructions:
        layers = [layers[0], *([Layer(PROJECT, own)] if revision.holds(own) else [])]
    side = _Side(f"{revision.name} ({revision.commit[:10]})", now.rules)
    if instructions and not revision.holds(instructions):
        side.notes.append(f"{instructions} is not in {revision.name}; the packaged instructions stand for the base")
        layers = [Layer("packaged", packaged_file())]
    texts = _texts_at(revision, [layer.path for layer in layers])
    compiled = compile_layers(layers, texts=texts)
    if catalogues := _texts_at(revision, [path for path in compiled.sources if path not in texts]):
        compiled = compile_layers(layers, texts={**texts, **catalogues})
    side.rules = _rules(compiled, of=f" of {revision.name}")
    return side


def _texts_at(revision: Revision, paths: list[str]) -> dict[str, str]:
    return {path: revision.content(path).decode("utf-8", "replace") for path in paths if revision.holds(path)}


def _rules(compiled: Compiled, *, of: str = "") -> Rules:
    if compiled.broken:
        problems = "\n".join(map(str, compiled.broken))
        raise GateError(f"the instructions{of} are broken, so no case was judged\n{problems}")
    return Rules(compiled.hash, compiled.body)


def _cases_at(revision: Revision, path: str) -> dict[str, Case]:
    """Return the cases of the revision's file; lines of it that cannot be read are not asked for again."""
    if not revision.holds(path):
        return {}
    return files.parse(revision.content(path), path=f"{revision.name}:{path}").by_id()


def _report(
    path: str,
    known: files.Cases,
    now: _Side,
    *,
    before: _Side | None = None,
    earlier: dict[str, Case] | None = None,
    allow_removed: bool = False,
) -> Report:
    checked = tuple(_check(case, now, before) for case in known.cases)
    present, earlier = known.by_id(), earlier or {}
    gone = tuple(case for case in earlier.values() if case.id not in present)
    changed = sum(bool(one.kinds) for one in checked)
    figures = figures_of(checked, changed=changed, is_paired=before is not None)
    verdict = verdict_of(
        changed,
        failing_cases=sum(one.is_regression for one in checked),
        gained=figures.gained,
        lost=figures.lost,
    )
    if before is None and not figures.approved:
        verdict = "inconclusive"  # nothing was approved, so nothing could regress
    return Report(
        path,
        now.rules.hash,
        before.label if before else "",
        before.rules.hash if before else "",
        checked,
        known.problems,
        missing=() if allow_removed else gone,
        removed=gone if allow_removed else (),
        rewritten=tuple(case for case in known.cases if case.id in earlier and _differs(case, earlier[case.id])),
        figures=figures,
        verdict=verdict,
        notes=tuple(before.notes) if before else (),
    )


def _check(case: Case, now: _Side, before: _Side | None) -> Checked:
    got = case.decided_by(now.rules)
    if before is None:
        return Checked(case, got, case.faults(got))
    earlier = got if before.rules.hash == now.rules.hash else case.decided_by(before.rules)
    return Checked(case, got, case.faults(got), earlier, case.faults(earlier))


def _differs(case: Case, earlier: Case) -> bool:
    """Say whether a case asks for something else than it did; a note asks for nothing."""
    return replace(case, note="") != replace(earlier, note="")


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
