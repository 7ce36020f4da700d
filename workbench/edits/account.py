"""Run a replay to its end and report its figures: blast radius, labelled prompts and golden cases, verdict.

A labelled prompt is judged as in the gate (``workbench.gate.case``): a case fails unless its outcome, without context
and wording, is the approved one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.evaluation import replays
from workbench.edits.progress import Figures
from workbench.gate import cases
from workbench.gate.case import CLASS, OK
from workbench.statistics import verdict_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from enricher.rules.cache import Rules
    from workbench.gate.case import Case
    from workbench.replay.compare import BlastRadius, Change
    from workbench.replay.replay import Replay
    from workbench.replay.rulesets.sides import Side
    from workbench.statistics import Verdict

TELL_EVERY_S = 0.1


def account(run: Replay, *, cases_file: str = "", began: float | None = None) -> Iterator[Figures]:
    """Yield the figures as they grow, newest prompts first; the last ones are complete unless the run was stopped.

    ``began`` is the ``time.perf_counter`` value from which seconds are counted, None for now.
    Raises ``SideError``, ``CasesError``.
    """
    began = time.perf_counter() if began is None else began
    radius, total, told_at = run.blast_radius(), run.corpus.count(), 0.0
    known = replays.labelled(run.corpus.db)
    labels: dict[str, str] = {}
    for pairs in run.pairs():
        for pair in pairs:
            radius.add(pair)
            if pair.prompt.id in known:
                labels[pair.prompt.id] = known[pair.prompt.id]
        if time.perf_counter() - told_at > TELL_EVERY_S:
            yield _figures(run, radius, total=total, began=began)
            told_at = time.perf_counter()
    if run.should_stop():
        return
    sides = {"base": run.base, "candidate": run.candidate}
    standing = stand(run.corpus.db, radius.changes, **sides, labels=labels, cases_file=cases_file)
    yield _figures(run, radius, total=radius.prompts, began=began, standing=standing)


def _figures(
    run: Replay, radius: BlastRadius, *, total: int, began: float, standing: Standing | None = None
) -> Figures:
    return Figures(
        radius.base, radius.candidate, (run.base, run.candidate), radius.prompts, total, tuple(radius.changes),
        radius.tokens_per_session(), (radius.silent_before, radius.silent_after), radius.unknown,
        time.perf_counter() - began,
        share=radius.share() if standing else None,
        standing=standing,
        verdict=_verdict(radius, standing) if standing else None,
        left_out=tuple(sorted(run.corpus.left_out.items())) if standing else (),
    )  # fmt: skip


def _verdict(radius: BlastRadius, standing: Standing) -> Verdict:
    """Return the verdict: "identical" if both sides have the same rules, "inconclusive" if there are no prompts."""
    if radius.is_same_rules:
        return "identical"
    if not radius.prompts and not standing.regressed:
        return "inconclusive"
    return verdict_of(radius.changed, failing_cases=len(standing.regressed), gained=standing.gained, lost=standing.lost)


@dataclass(frozen=True, slots=True)
class Standing:
    """Results on the labelled prompts: ``regressed`` has the ids of approved cases that pass the base and fail now.

    ``approved`` counts the approved cases; ``gained`` and ``lost`` the labels and cases that became right
    and wrong.
    """

    approved: int = 0
    regressed: tuple[str, ...] = ()
    gained: int = 0
    lost: int = 0


def stand(
    db: sqlite3.Connection,
    changes: Iterable[Change],
    *,
    base: Side,
    candidate: Side,
    labels: Mapping[str, str],
    cases_file: str = "",
) -> Standing:
    """Evaluate the labelled prompts among the changes, and the cases of a file, which replace labels of the same trace.

    ``labels`` are those of all replayed prompts, by id, as ``storage.evaluation.replays.labelled`` returns them.
    Raises ``workbench.gate.cases.CasesError``.
    """
    golden = cases.read(cases_file).by_id() if cases_file else {}
    labels = {trace: verdict for trace, verdict in labels.items() if trace not in golden}
    approved = sum(case.verdict == OK for case in golden.values()) + sum(one == OK for one in labels.values())
    judged = [*_of_traces(db, changes, labels, base, candidate), *_of_file(golden.values(), base, candidate)]
    return Standing(
        approved,
        tuple(case.id for case, before, after in judged if after and not before and case.verdict == OK),
        sum(before and not after for _case, before, after in judged),
        sum(after and not before for _case, before, after in judged),
    )


def _of_traces(
    db: sqlite3.Connection, changes: Iterable[Change], labels: Mapping[str, str], base: Side, candidate: Side
) -> Iterable[tuple[Case, bool, bool]]:
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


def _of_file(golden: Iterable[Case], base: Side, candidate: Side) -> Iterable[tuple[Case, bool, bool]]:
    before, after = base.rules_for(""), candidate.rules_for("")
    for case in golden:
        yield case, _fails(case, before), _fails(case, after)


def _fails(case: Case, rules: Rules | None, recorded: str = "") -> bool:
    """Return whether the case fails; without rules, whether its label contradicts the recorded task type."""
    if rules is not None:
        return bool(case.faults(case.decided_by(rules)))
    return case.verdict != OK and not (case.verdict == CLASS and case.says.task_type == recorded)
