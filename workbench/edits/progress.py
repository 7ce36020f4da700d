"""Replay prompts with edited instructions, count the changes, judge labelled prompts, and store the result.

Labelled prompts are judged like the golden cases of the gate (``workbench.gate.case``): a case fails if its outcome,
apart from the facts added and the words of the text, differs from the approved one.
"""

from __future__ import annotations

import difflib
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from storage.evaluation import corpus, replays
from workbench.gate import cases
from workbench.gate.case import CLASS, OK
from workbench.replay.compare import KINDS
from workbench.replay.rulesets.compared_rules import NEWEST
from workbench.statistics.pairs import verdict_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from enricher.classify import Rules
    from enricher.rules.compiling.document import Problem
    from workbench.gate.case import GoldenCase
    from workbench.replay.compare import BlastRadius, Change
    from workbench.replay.outcome import Outcome
    from workbench.replay.replay import Replay
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.statistics.intervals import Share
    from workbench.statistics.pairs import Verdict

YIELD_EVERY_S = 0.1
"""Minimum time between two updates of the figures on a screen."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The result of examining an edited text that cannot be compiled.

    Nothing was replayed, and the figures of the last valid text stay valid. ``problems`` are the errors in the text.
    """

    problems: tuple[Problem, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What an edit changes (its blast radius), as far as the replay has got.

    The newest ``prompts`` of ``total`` prompts were replayed; the edit applies to ``concerned`` of them: that of a
    project's layer not to other projects. ``base`` and ``candidate`` are the names of the rules
    before and after the edit, and ``sides`` are these rules. Before and after the edit, ``tokens`` are the mean numbers
    of tokens added per session, and ``silent`` are the numbers of prompts without any added text. ``unknown`` is the
    number of prompts for which the answer of a channel (a source of facts) is unknown. ``share``, ``label_results`` and
    ``verdict`` are None until all prompts were replayed.
    """

    base: str
    candidate: str
    sides: tuple[Side, Side]
    prompts: int
    concerned: int
    total: int
    changes: tuple[Change, ...]
    tokens: tuple[float, float]
    silent: tuple[int, int]
    unknown: int
    seconds: float
    share: Share | None = None
    label_results: LabelResults | None = None
    verdict: Verdict | None = None
    left_out: tuple[tuple[str, int], ...] = ()
    errors: int = 0
    """Number of errors that ``enricher check`` would report; if it is not 0, the verdict is unreliable."""
    counted: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """The ids of the prompts behind each figure, by the figure's name; empty until all prompts were replayed."""

    @property
    def is_complete(self) -> bool:
        """Return whether all prompts were replayed."""
        return self.verdict is not None

    def by_kind(self) -> dict[str, int]:
        """Return the number of prompts per kind of change; a prompt counts once for each of its kinds."""
        counts = Counter(kind for change in self.changes for kind in change.kinds)
        return {kind: counts[kind] for kind in KINDS if kind in counts}

    def groups(self) -> list[tuple[str, list[Change]]]:
        """Return the changed prompts grouped by their first kind of change, in the order of KINDS."""
        found: dict[str, list[Change]] = {}
        for change in self.changes:
            found.setdefault(change.kinds[0], []).append(change)
        return [(kind, found[kind]) for kind in KINDS if kind in found]


@dataclass(frozen=True, slots=True)
class LintResult:
    """Problems that ``enricher check`` reports in addition to compile errors; empty if there are none."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ChangeCause:
    """The part of an edit that changed a prompt's outcome; prompts with the same cause have the same ``group``."""

    text: str
    heading: str = ""
    line: int = 0
    group: str = ""


@dataclass(frozen=True, slots=True)
class CauseBatch:
    """Some of the causes of changed outcomes, keyed by the trace id of the prompt."""

    causes: dict[str, ChangeCause]


@dataclass(frozen=True, slots=True)
class GateResult:
    """The reasons why the gate would be closed if the edited text were saved; empty if it would be open.

    The gate compares the result of each golden case with that of the last commit.
    """

    reasons: tuple[str, ...]


Progress = Broken | Figures | LintResult | GateResult | CauseBatch


def store_run(
    db: sqlite3.Connection, figures: Figures, *, diff: str, selection: str, causes: dict[str, ChangeCause]
) -> str:
    """Store the result of a complete replay, so that the published pages can show it; return the replay's id."""
    on_labels = figures.label_results or LabelResults()
    kept = replays.StoredReplay(
        figures.base, figures.sides[0].hash, figures.candidate, figures.sides[1].hash, selection, diff,
        figures.verdict or "inconclusive", figures.prompts, len(figures.changes),
        {
            "concerned": figures.concerned,
            "tokens_per_session": list(figures.tokens), "silent": list(figures.silent), "unknown": figures.unknown,
            "by_kind": figures.by_kind(),
            "share": [figures.share.interval.low, figures.share.interval.high] if figures.share else None,
            "approved": on_labels.approved, "regressed": list(on_labels.regressed),
            "gained": on_labels.gained, "lost": on_labels.lost,
        },
    )  # fmt: skip
    results = (
        replays.ChangedPrompt(
            change.prompt.id, change.kinds, causes[change.prompt.id].text if change.prompt.id in causes else "",
            as_json(change.before), as_json(change.after),
        )
        for change in figures.changes
    )  # fmt: skip
    return replays.store(db, kept, results)


def as_json(outcome: Outcome) -> dict[str, object]:
    """Return the fields of an outcome as a dictionary of JSON values."""
    fields = asdict(outcome)
    del fields["today"]  # neither stored replays nor ``--json`` have it
    return fields


def difference(before: str, after: str, path: str) -> str:
    """Return the unified diff between two versions of a file's text; ``path`` gives the name in its header."""
    name = os.path.basename(path)
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name)
    # difflib leaves out this note, without which ``patch`` would read the last line and the next one as one.
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class LabelResults:
    """The effect of an edit on the labelled prompts and the golden cases.

    ``approved`` is the number of approved prompts and cases. ``regressed`` are the ids of the approved ones that were
    right before the edit and are wrong after it. ``gained`` is the number of all labelled prompts and cases that became
    right, and ``lost`` the number of those that became wrong.
    """

    approved: int = 0
    regressed: tuple[str, ...] = ()
    gained: int = 0
    lost: int = 0
    counted: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False, compare=False)
    """The ids of the recorded prompts behind each number, by its name, without cases from another trace history."""


def evaluate_labels(
    db: sqlite3.Connection,
    changes: Iterable[Change],
    *,
    base: Side,
    candidate: Side,
    labels: Mapping[str, str],
    cases_file: str = "",
) -> LabelResults:
    """Judge the changed prompts that have a label, and the golden cases of a file, before and after the edit.

    A prompt with a golden case is judged by that case, not by its label. ``labels`` are the labels of all replayed
    prompts, by trace id: "ok", "wrong", or the task type that a user called correct. Raises
    ``workbench.gate.cases.CasesError``.
    """
    golden = cases.read(cases_file).by_id() if cases_file else {}
    labels = {trace: verdict for trace, verdict in labels.items() if trace not in golden}
    approved = [case.id for case in golden.values() if case.verdict == OK]
    approved += [trace for trace, verdict in labels.items() if verdict == OK]
    judged = [*_of_traces(db, changes, labels, base, candidate), *_of_file(golden.values(), base, candidate)]
    lost = [case for case, before, after in judged if after and not before]
    gained = [case.id for case, before, after in judged if before and not after]
    regressed = tuple(case.id for case in lost if case.verdict == OK)
    ids = {
        "approved": approved, "approved, now wrong": regressed, "corrected": gained, "lost": [one.id for one in lost],
    }  # fmt: skip
    here = labels.keys() | corpus.recorded_ids(db, golden)  # a golden case may come from a colleague's history
    counted = {name: [one for one in those if one in here] for name, those in ids.items()}
    return LabelResults(len(approved), regressed, len(gained), len(lost), counted)


def _of_traces(
    db: sqlite3.Connection, changes: Iterable[Change], labels: Mapping[str, str], base: Side, candidate: Side
) -> Iterable[tuple[GoldenCase, bool, bool]]:
    for change in changes:
        verdict = labels.get(change.prompt.id)
        if verdict is None:
            continue
        try:
            case = cases.case_of(db, change.prompt.id, verdict)
        except cases.CasesError:
            continue  # the prompt's text was not kept, so it cannot be judged again
        version = change.prompt.rules_hash
        yield (
            case,
            _fails(case, base.rules_for(version, change.prompt.scopes[0]), change.before.task_type),
            _fails(case, candidate.rules_for(version, change.prompt.scopes[1]), change.after.task_type),
        )


def _of_file(golden: Iterable[GoldenCase], base: Side, candidate: Side) -> Iterable[tuple[GoldenCase, bool, bool]]:
    before, after = base.rules_for(NEWEST), candidate.rules_for(NEWEST)
    for case in golden:
        yield case, _fails(case, before), _fails(case, after)


def _fails(case: GoldenCase, rules: Rules | None, recorded: str = "") -> bool:
    """Return whether a case fails under ``rules``.

    If ``rules`` is None, return whether the case's label contradicts ``recorded``, the task type that was recorded.
    """
    if rules is not None:
        return bool(case.faults(case.decided_by(rules)))
    return case.verdict != OK and not (case.verdict == CLASS and case.says.task_type == recorded)


def account(run: Replay, *, cases_file: str = "", began: float | None = None) -> Iterator[Figures]:
    """Replay the prompts, the newest first, and repeatedly yield the figures so far.

    The last figures are complete unless the replay was stopped. ``began`` is the ``time.perf_counter`` value from which
    the duration is measured; None means now. Raises ``SideError``, ``CasesError``.
    """
    began = time.perf_counter() if began is None else began
    radius, total, yielded_at = run.blast_radius(), run.corpus.count(), 0.0
    labels: dict[str, str] = {}
    for replayed in run.batches():
        radius.add(replayed)
        ids = [*(pair.prompt.id for pair in replayed.pairs), *(row.id for row in replayed.unaffected)]
        for trace_id, (verdict, task_type) in corpus.labels_of(run.corpus.db, ids).items():
            labels[trace_id] = task_type or verdict
        if time.perf_counter() - yielded_at > YIELD_EVERY_S:
            yield _figures(run, radius, total=total, began=began)
            yielded_at = time.perf_counter()  # after the caller has drawn them
    if run.should_stop():  # the figures are of the prompts before the stop only
        return
    sides = {"base": run.base, "candidate": run.candidate}
    on_labels = evaluate_labels(run.corpus.db, radius.changes, **sides, labels=labels, cases_file=cases_file)
    yield _figures(run, radius, total=radius.prompts, began=began, on_labels=on_labels)


def _figures(
    run: Replay, radius: BlastRadius, *, total: int, began: float, on_labels: LabelResults | None = None
) -> Figures:
    return Figures(
        radius.base, radius.candidate, (run.base, run.candidate), radius.prompts, radius.concerned, total,
        tuple(radius.changes),
        radius.tokens_per_session(), (len(radius.silent[0]), len(radius.silent[1])), radius.unknown,
        time.perf_counter() - began,
        share=radius.share() if on_labels else None,
        label_results=on_labels,
        verdict=_verdict(radius, on_labels) if on_labels else None,
        left_out=tuple(sorted(run.corpus.left_out.items())) if on_labels else (),
        counted=_counted(run, radius, on_labels) if on_labels else {},
    )  # fmt: skip


def _counted(run: Replay, radius: BlastRadius, on_labels: LabelResults) -> dict[str, Sequence[str]]:
    """Return, for each figure, the ids of the prompts that it counts.

    The changed prompts are left out, because ``Figures.changes`` has them.
    """
    return {
        "replayed": radius.replayed,
        "silent before": radius.silent[0],
        "silent after": radius.silent[1],
        **on_labels.counted,
        **{f"left out ({reason})": ids for reason, ids in sorted(run.corpus.ids_left_out.items())},
    }


def _verdict(radius: BlastRadius, on_labels: LabelResults) -> Verdict:
    """Return the verdict on the edit.

    It is "identical" if the rules are the same before and after, and "inconclusive" if no prompt was replayed and no
    approved case became wrong; otherwise, ``verdict_of`` decides.
    """
    if radius.is_same_rules:
        return "identical"
    if not radius.prompts and not on_labels.regressed:
        return "inconclusive"
    return verdict_of(
        radius.changed, failing_cases=len(on_labels.regressed), gained=on_labels.gained, lost=on_labels.lost
    )
