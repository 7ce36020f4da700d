"""Evaluate labelled traces and the golden cases of a file under both sides of a replay.

The criterion is that of the gate (``workbench.gate.case``): a case fails unless its outcome, without context
and wording, is the approved one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.gate import cases
from workbench.gate.case import CLASS, OK

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from enricher.rules.cache import Rules
    from workbench.gate.case import Case
    from workbench.replay.compare import Change
    from workbench.replay.rulesets.sides import Side


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
