"""Read and write golden cases: labelled prompts in a file of the repository, which CI evaluates without a database.

Each case is one line, and lines are sorted by id, so that git can merge additions by two people. All texts are redacted
once more before they are written.

CasesError               the file cannot be used, or the trace cannot become a case
└── UnusableFileError        the file has lines that are not valid cases
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from enricher.erasure.golden import locked_folder
from enricher.home import project_root
from enricher.interfaces.api import recorded_rules
from enricher.prompt.conversation import Conversation
from enricher.prompt.conversation.followup import basis
from enricher.respond.facts import read_facts
from enricher.rules.compiling.document import Problem
from enricher.settings import DEFAULTS
from storage.base import private, temporary_files
from storage.traces import queries
from workbench.gate.case import CLASS, OK, WRONG, Decided, GoldenCase, LineError, clean, from_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from enricher.classify import Rules

FOLDER, FILE = ".enricher", "cases.jsonl"
ATTRIBUTES = f"{FILE} merge=union\n"
"""Line for ``.gitattributes`` that makes git keep the lines of both branches in a merge.

A case that both branches changed is then in the file twice, which is reported.
"""
LARGEST = 32 << 20  # bytes of the file, which is read whole
SHOWN_ONCE = ("guardrail:", "approach:", "runs:")
"""Prefixes of the entries in a session's file that affect its later decisions.

What has been shown often enough is not shown again, and who wants nothing to be run is not asked for a run.
References of facts have other prefixes and no effect.
"""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors on Windows put it in front


class CasesError(Exception):
    """Raised if the cases file cannot be used, or the trace cannot become a case; the message says what to do."""


class UnusableFileError(CasesError):
    """Raised if the cases file has unusable lines; ``problems`` has the line number and the reason for each."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Cases:
    """The content of a cases file: the usable cases, and a problem with its line number for every unusable line."""

    cases: tuple[GoldenCase, ...] = ()
    problems: tuple[Problem, ...] = ()

    def by_id(self) -> dict[str, GoldenCase]:
        """Return the cases, keyed by their id."""
        return {case.id: case for case in self.cases}


def path_for(cwd: str) -> str:
    """Return where the repository that contains ``cwd`` keeps its golden cases; the file need not exist."""
    return os.path.join(project_root(cwd), FOLDER, FILE)


def read(path: str) -> Cases:
    """Return the cases of a file; there are none if it does not exist.

    Raises CasesError if the file cannot be read.
    """
    try:
        content = private.read_file(os.path.realpath(path), LARGEST + 1)
    except FileNotFoundError:
        return Cases()
    except OSError as failure:
        raise CasesError(f"{path} cannot be read: {failure.strerror or failure}") from failure
    if len(content) > LARGEST:
        raise CasesError(f"{path} is larger than {LARGEST >> 20} MiB; keep fewer cases")
    return parse(content, path=path)


def parse(content: bytes, *, path: str) -> Cases:
    """Return the cases in the content of a cases file; ``path`` is the file name that problems mention."""
    found: dict[str, tuple[int, GoldenCase]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            case = from_line(line)
        except LineError as error:
            problems.append(Problem(path, number, "error", str(error)))
            continue
        if case.id in found:
            message = f"{case.id} occurs twice; the first is on line {found[case.id][0]}: delete one of them"
            problems.append(Problem(path, number, "error", message))
        found.setdefault(case.id, (number, case))
    return Cases(tuple(case for _, case in found.values()), tuple(problems))


def write(path: str, cases: Iterable[GoldenCase]) -> None:
    """Replace the content of the file with these cases, sorted by id; raises CasesError if it cannot be written.

    In a repository's ``.enricher`` folder, ``.gitattributes`` is extended so that git merges the file line by line.
    """
    lines = [json.dumps(case.to_json(), ensure_ascii=False) for case in sorted(cases, key=lambda case: case.id)]
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    try:
        private.make_directory(folder)
        temporary_files.replace_file(target, "".join(f"{line}\n" for line in lines).encode())
        if (os.path.basename(folder), name) == (FOLDER, FILE):
            _let_git_merge(os.path.join(folder, ".gitattributes"))
    except OSError as failure:
        raise CasesError(f"{path} cannot be written: {failure.strerror or failure}") from failure


def add(path: str, case: GoldenCase) -> GoldenCase | None:
    """Add a case to the file, replacing an earlier case with the same id; return that earlier case, or None.

    Raises UnusableFileError if the file has an unusable line, and then leaves it unchanged.
    """
    with _one_at_a_time(path):
        known = read(path)
        if known.problems:
            raise UnusableFileError(known.problems)
        cases = known.by_id()
        earlier = cases.get(case.id)
        cases[case.id] = replace(case, note=case.note or earlier.note) if earlier else case
        write(path, cases.values())
    return earlier


def put_back(path: str, case_id: str, earlier: GoldenCase | None) -> None:
    """Undo ``add``: replace the case with the ``earlier`` one, or remove it if there was none; raises CasesError.

    If no case is left, the file is removed, too, with its line in ``.gitattributes``.
    """
    with _one_at_a_time(path):
        known = read(path)
        if known.problems:
            raise UnusableFileError(known.problems)
        others = [case for case in known.cases if case.id != case_id]
        if others or earlier:
            write(path, [*others, *([earlier] if earlier else [])])
        else:
            _remove(path)


def case_of(db: sqlite3.Connection, trace_id: str, verdict: str) -> GoldenCase:
    """Return a golden case made from a recorded prompt; ``verdict`` is "ok", "wrong" or the correct task type.

    For "ok" and "wrong", the recorded inputs, redacted and without added facts, are judged again under the rules stored
    with the trace; the outcome is the result to expect or to avoid. Raises CasesError if the prompt was not judged or
    its text was not kept, or if these rules are needed but cannot be used.
    """
    trace: dict[str, Any] = queries.show(db, trace_id)
    _refuse_without_text(trace)
    rules = _rules(db, trace)
    case = _inputs(trace_id, trace["prompt"], trace["inputs"], declared=_declared(rules))
    if verdict not in (OK, WRONG):
        return replace(case, verdict=CLASS, says=Decided(task_type=verdict))
    if rules is None:
        raise CasesError(
            f"{trace_id} cannot become a case: the rules it had were not kept, or are of another release; "
            "say which task type it should have had instead"
        )
    decided = case.decided_by(rules)
    workflow = decided.workflow if case.form else None  # only a plan shows it, so otherwise nobody approved it
    return replace(case, verdict=verdict, says=replace(decided, search_intent=None, workflow=workflow))


def _refuse_without_text(trace: dict[str, Any]) -> None:
    if trace["status"] in ("skipped", "error"):
        reason = trace["skip_reason"] or trace["error"]
        raise CasesError(f"{trace['id']} cannot become a case: nothing was judged ({trace['status']}: {reason})")
    if not trace["prompt"].strip() or "settings" not in (trace["inputs"] or {}):
        raise CasesError(
            f"{trace['id']} cannot become a case: its text was not kept (log = hash); "
            "with log = redacted in config.toml the next prompts can"
        )


def _rules(db: sqlite3.Connection, trace: dict[str, Any]) -> Rules | None:
    """Return the rules that judged the trace; None if they were not stored or were compiled by another release."""
    stored = queries.instructions(db, trace["rules_hash"])
    try:
        return recorded_rules(trace["rules_hash"], stored) if stored else None
    except ValueError:
        return None


def _declared(rules: Rules | None) -> dict[str, Any]:
    """Return the default settings, except that budgets are those that ``rules`` declare; no ``config.toml`` is read."""
    return {**DEFAULTS, **(rules.body["budgets"] if rules else {})}


def _inputs(case_id: str, prompt: str, recorded: dict[str, Any], *, declared: Mapping[str, Any]) -> GoldenCase:
    """Return a case with the recorded inputs that affect the decision, redacted, and without an expected result yet."""
    skill = read_facts(prompt, (), recorded["skills"]).get("skill")
    conversation = Conversation.from_json(recorded.get("conversation", {}))
    return GoldenCase(
        case_id, clean(prompt), OK, Decided(),
        earlier=clean(basis(conversation, prompt)),
        past=bool(conversation),
        edited=conversation.has_edits,
        settings={key: value for key, value in recorded["settings"].items() if declared.get(key) != value},
        skills=tuple((clean(name), clean(description)) for name, description in recorded["skills"] if name == skill),
        injected=tuple(ref for ref in recorded["injected"] if ref.startswith(SHOWN_ONCE)),
        spent=recorded["spent"],
        form=recorded.get("form", ""),
    )  # fmt: skip


@contextlib.contextmanager
def _one_at_a_time(path: str) -> Iterator[None]:
    folder = os.path.dirname(os.path.realpath(path))
    with contextlib.ExitStack() as lock:
        try:
            private.make_directory(folder)
            lock.enter_context(locked_folder(folder))
        except OSError as failure:
            raise CasesError(f"{path} cannot be written: {failure.strerror or failure}") from failure
        yield


def _remove(path: str) -> None:
    target = os.path.realpath(path)
    attributes = os.path.join(os.path.dirname(target), ".gitattributes")
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        with contextlib.suppress(FileNotFoundError):
            _take_out_line(attributes, ATTRIBUTES.encode())
    except OSError as failure:
        raise CasesError(f"{path} cannot be removed: {failure.strerror or failure}") from failure


def _take_out_line(path: str, line: bytes) -> None:
    """Remove a line from a file; delete the file if it has no other line."""
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    others = [one for one in lines if one != line]
    if not others:
        os.unlink(path)
    elif others != lines:
        temporary_files.replace_file(path, b"".join(others))


def _let_git_merge(path: str) -> None:
    known = ""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as file:
        known = file.read()
    if FILE not in known:
        with open(path, "a", encoding="utf-8") as file:
            file.write(ATTRIBUTES if not known or known.endswith("\n") else f"\n{ATTRIBUTES}")
