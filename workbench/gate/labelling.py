"""Label recorded prompts and single lines of the texts added to them, write golden cases, and undo both."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from enricher.home import project_root
from enricher.prompt.redaction import redact
from enricher.sources.git import GitError, ask
from storage.traces import labels, line_labels, queries, storable
from workbench.gate import cases, gate
from workbench.gate.case import CLASS, OK, WRONG, Decided
from workbench.gate.cases import CasesError

if TYPE_CHECKING:
    import sqlite3

    from storage.traces.line_labels import Line, Row
    from workbench.gate.case import GoldenCase

LONGEST_NAME = 80  # of a person, in the cases file


@dataclass(frozen=True, slots=True)
class Given:
    """What was stored when a trace was labelled, so that it can be undone.

    ``label`` is the stored label, or None. ``path`` is the file in which a golden case was written, and ``earlier`` is
    the case that it replaced there; if none was written, ``path`` is empty and ``problem`` may give the reason.
    ``is_open`` means that the project's rules do not produce the approved result yet. ``line`` is the number of the
    line that was labelled, or 0 if the whole trace was.
    """

    trace_id: str
    label: labels.Row | None
    path: str = ""
    earlier: GoldenCase | None = None
    problem: str = ""
    is_open: bool = False
    line: int = 0
    is_again: bool = False
    """Whether the trace had this label and this golden case already, so that nothing was stored."""


def write_case(db: sqlite3.Connection, trace_id: str, verdict: str, *, path: str) -> str:
    """Write a trace with the label ``verdict`` as a golden case to its project's cases file, or to ``path``.

    Return the path of the file. Raises CasesError if the trace cannot become a case or the file cannot be written.
    """
    file = path or cases.path_for(folder_of(db, trace_id))
    cases.add(file, _signed(cases.case_of(db, trace_id, verdict), file))
    return file


def folder_of(db: sqlite3.Connection, trace_id: str) -> str:
    """Return the folder in which the trace's prompt was typed; raises CasesError if it no longer exists."""
    cwd = str(queries.show(db, trace_id)["cwd"])
    if not os.path.isdir(cwd):
        raise CasesError(f"its folder{cwd and f' {cwd}'} is gone, so there is no file for a golden case")
    return cwd


def label(db: sqlite3.Connection, trace_id: str, verdict: str) -> Given:
    """Store a label for a trace, and write a golden case if its folder is in a repository."""
    entry = _add_label(db, trace_id, verdict)
    try:
        path = file_of_case(db, trace_id)
        case = _signed(cases.case_of(db, trace_id, verdict), path)
        earlier = cases.add(path, case)
        return Given(trace_id, entry, path, earlier, is_again=not entry and earlier == case)
    except CasesError as error:
        return Given(trace_id, entry, problem=str(error), is_again=not entry)


def _add_label(db: sqlite3.Connection, trace_id: str, verdict: str) -> labels.Row | None:
    """Store a label and return it; None if the trace has that label already."""
    return None if labels.is_newest(db, trace_id, verdict) else labels.add(db, trace_id, verdict)


def approve(db: sqlite3.Connection, trace_id: str, wanted: Decided, *, unwanted: str = "") -> Given:
    """Store ``wanted``, the right result for a recorded prompt, as a golden case, and any task type it has as a label.

    If the text added to the prompt has a line for the guardrail ``unwanted``, that line is labelled as wrong.

    If the rules in the project's work tree already produce ``wanted``, the case gets the verdict ``ok`` (approved), and
    the gate will reject an edit that breaks it. Otherwise, the case needs a task type and gets the verdict ``class``,
    which does not close the gate while the case fails. If no case can be written, the result's ``problem`` says why; if
    no label applies either, CasesError is raised.
    """
    entry = _add_label(db, trace_id, wanted.task_type) if wanted.task_type else None
    line = _call_guardrail_wrong(db, trace_id, unwanted) if unwanted else 0
    try:
        path = file_of_case(db, trace_id)
        case = replace(cases.case_of(db, trace_id, wanted.task_type or "ok"), verdict=OK, says=wanted)
        if case.faults(case.decided_by(gate.work_tree_rules(os.path.dirname(path)))):
            if wanted.task_type is None:
                raise CasesError("the rules do not give that yet: save an edit that does, then approve")
            case = replace(case, verdict=CLASS)
        case = _signed(case, path)
        earlier = cases.add(path, case)
        is_again = not entry and not line and earlier == case
        return Given(trace_id, entry, path, earlier, is_open=case.verdict == CLASS, line=line, is_again=is_again)
    except (CasesError, gate.GateError) as error:
        if not wanted.task_type and not line:
            raise CasesError(str(error)) from error
        return Given(trace_id, entry, problem=str(error), line=line)


def _call_guardrail_wrong(db: sqlite3.Connection, trace_id: str, name: str) -> int:
    """Label as wrong the line for the guardrail ``name`` in the text added to the prompt; return the line's number.

    Return 0 if the text has no such line, or if the line has that label already.
    """
    own = (one for one in line_labels.lines(queries.show(db, trace_id)) if one.kind == line_labels.GUARDRAIL)
    number = next((one.number for one in own if one.rule == name), 0)
    known = line_labels.of_trace(db, trace_id).get(number)
    if not number or (known and known.verdict == line_labels.WRONG):
        return 0
    judge_line(db, trace_id, number, line_labels.WRONG)
    return number


def expect_workflow(db: sqlite3.Connection, trace_id: str, name: str, *, path: str) -> Given:
    """Record in a trace's golden case that the workflow ``name`` is expected; no label is stored.

    A new case is made if there is none, or if its verdict is ``wrong``. The case gets the verdict ``class`` (not
    approved) if the rules in the project's work tree do not give its expected result yet; otherwise, a new case is
    approved. Raises CasesError if the trace cannot become a case, the file cannot be used, or the rules are broken.
    """
    file = path or cases.path_for(folder_of(db, trace_id))
    case = earlier = cases.read(file).by_id().get(trace_id)
    if case is None or case.verdict == WRONG:
        case = replace(cases.case_of(db, trace_id, name), verdict=OK, says=Decided())
    wanted = replace(case, says=replace(case.says, workflow=name))
    try:
        faults = wanted.faults(wanted.decided_by(gate.work_tree_rules(os.path.dirname(file))))
    except gate.GateError as error:
        raise CasesError(str(error)) from error
    cases.add(file, _signed(replace(wanted, verdict=CLASS) if faults else wanted, file))
    return Given(trace_id, None, file, earlier, is_open=bool(faults))


def take_back(db: sqlite3.Connection, given: Given) -> None:
    """Undo what ``given`` records: remove the label, and restore the earlier golden case.

    Raises CasesError if the cases file cannot be read or written.
    """
    if given.line:
        with contextlib.suppress(line_labels.NothingToUndoError):  # it was undone elsewhere in the meantime
            line_labels.take_back(db, given.trace_id, given.line)
    elif given.label is not None:
        labels.take_back(db, given.label)
    if given.path:
        cases.put_back(given.path, given.trace_id, given.earlier)


def file_of_case(db: sqlite3.Connection, trace_id: str) -> str:
    """Return the path of the cases file of the repository in which a trace's prompt was typed.

    Raises CasesError if its folder no longer exists, or is not in a repository.
    """
    folder = folder_of(db, trace_id)
    if not os.path.lexists(os.path.join(root := project_root(folder), ".git")):
        raise CasesError(f"{root} is no git repository, so there is no file for a golden case")
    return cases.path_for(folder)


def _signed(case: GoldenCase, path: str) -> GoldenCase:
    """Return the case with the user name from git's configuration as its author; unchanged if git has none."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder):  # .enricher is made with the first case
        folder = os.path.dirname(folder)
    try:
        name = ask(folder, "config", "user.name").decode("utf-8", "replace").strip()
    except GitError:
        return case
    # Control characters, such as those that move a terminal's cursor, are not taken into a file that others read.
    return replace(case, by=name[:LONGEST_NAME]) if name.isprintable() else case


def judge_line(db: sqlite3.Connection, trace_id: str, number: int, verdict: str, *, because: str = "") -> Row:
    """Store a user's verdict on line ``number`` of the text added to a prompt, and return the stored row.

    Secrets in ``because``, the user's reason, are redacted first. Raises UnknownLineError if there is no such line.
    """
    judged = with_approach_name(db, trace_id, line_labels.line(queries.show(db, trace_id), number))
    reason = redact(storable(" ".join(because.split())))[0]
    return line_labels.add(db, trace_id, judged, verdict, because=reason)


def with_approach_name(db: sqlite3.Connection, trace_id: str, judged: Line) -> Line:
    """Return ``judged``; if this line states an approach, its ``rule`` is set to the name of the approach.

    The line's text does not contain the name, so it is found by applying the trace's stored rules to its recorded
    inputs again. If those rules are no longer stored, ``judged`` is returned unchanged.
    """
    if judged.kind != line_labels.APPROACH or judged.rule:
        return judged
    try:
        approach = cases.case_of(db, trace_id, "ok").says.approach
    except CasesError:  # the rules with which it was recorded are no longer stored
        return judged
    return replace(judged, rule=approach or "")
