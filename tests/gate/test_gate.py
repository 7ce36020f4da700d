"""The gate in CI: from the file of cases alone, against a revision, with an exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from checkout import Checkout
from maintainer import DEBUG, NO_DEBUG, NO_QUESTION, QUESTION

from enricher.rules.layers import packaged_file
from workbench.gate import gate
from workbench.gate.case import OK, Decided, GoldenCase
from workbench.gate.gate_report import Checked, figures_of, kinds

if TYPE_CHECKING:
    from pathlib import Path

    from maintainer import Repository


def correct(repository: Repository, task_type: str, *, times: int = 1) -> None:
    """Write cases that say which task type the question should have had."""
    case = {"verdict": "class", "prompt": QUESTION, "expected": {"task_type": task_type}}
    repository.file.parent.mkdir(exist_ok=True)
    repository.file.write_text("".join(json.dumps({"id": str(at), **case}) + "\n" for at in range(times)))


def states(report: dict) -> list[str]:
    return [one["state"] for one in report["results"]]


def test_without_a_change_nothing_changes(approved: Repository) -> None:
    report = approved.judged("HEAD")

    assert (report["verdict"], report["passed"], report["changed"]) == ("identical", True, 0)
    assert report["candidate"] == report["base_hash"]


def test_no_state_is_needed_and_none_is_left(approved: Repository) -> None:
    approved.gate("--base", "HEAD")

    assert not (approved.account.home / "ci").exists()


def test_an_edit_that_breaks_an_approved_case_closes_the_gate(approved: Repository) -> None:
    approved.instruct(NO_DEBUG)
    report = approved.report("--base", "HEAD", exit_code=1)

    assert (report["verdict"], report["changed"], states(report)) == ("regressed", 1, ["regressed", "passed"])
    assert report["reasons"] == ["1 approved case came out differently"]
    assert report["results"][0]["faults"] == ["task_type", "shown"]


def test_the_instructions_of_a_checkout_need_no_trust(approved: Repository) -> None:
    approved.instruct(NO_DEBUG)

    assert "task type: expected debug, got " in approved.gate(exit_code=1)


def test_without_a_base_every_failing_approved_case_closes_the_gate(approved: Repository) -> None:
    approved.instruct(NO_DEBUG)
    approved.commit()

    assert approved.judged()["verdict"] == "regressed"
    assert approved.gate(exit_code=1).count("\nfails: ") == 1
    assert approved.judged("HEAD")["passed"] is True


def test_what_failed_already_is_told_and_does_not_count(approved: Repository, lines: dict[str, str]) -> None:
    approved.instruct(NO_DEBUG)
    approved.commit()
    approved.file.write_text("".join(lines.values()))
    report = approved.judged("HEAD")

    assert states(report) == ["failed before", "passed", "passed"]
    assert report["verdict"] == "identical"


def test_an_edit_that_is_taken_back_closes_the_gate_for_what_was_approved_with_it(repository: Repository) -> None:
    repository.instruct(NO_QUESTION)
    repository.commit()
    repository.instruct("")
    repository.approve(QUESTION)
    passing = repository.judged("HEAD")
    repository.instruct(NO_QUESTION)
    taken_back = repository.judged("HEAD")
    said = repository.gate("--base", "HEAD", exit_code=1)

    assert (passing["verdict"], states(passing)) == ("changed", ["fixed"])
    assert (taken_back["verdict"], states(taken_back)) == ("regressed", ["not mended"])
    assert (taken_back["gained"], taken_back["lost"], taken_back["changed"]) == (0, 0, 0)
    assert taken_back["reasons"] == ["1 approved case is not mended yet: it fails with HEAD, too"]
    assert said.splitlines()[:3] == [
        "The gate is closed: 1 approved case is not mended yet: it fails with HEAD, too",
        f"no case comes out differently from {taken_back['base']}",
        "1 case is too few to tell how many other prompts would get worse",
    ]
    assert "not mended: " in said


def test_an_edit_that_mends_a_corrected_class_is_told_as_a_change(repository: Repository) -> None:
    repository.instruct(NO_QUESTION)
    correct(repository, "question")
    repository.commit()
    repository.instruct("")
    report = repository.judged("HEAD")
    said = repository.gate("--base", "HEAD")

    assert (report["verdict"], report["gained"], report["lost"]) == ("changed", 1, 0)
    assert states(report) == ["fixed"]
    assert said.splitlines()[2] == "  1 case with another task type"
    assert "    task type: docs → question\n" in said
    assert "1 case became right and none became wrong, which may be chance (p = 0.500, McNemar's mid-p test)" in said


def test_a_case_that_passes_with_another_decision_is_listed_with_what_changed(repository: Repository) -> None:
    repository.approve(QUESTION)
    (line,) = repository.lines()
    line["expected"] = {"guardrails": line["expected"]["guardrails"]}
    repository.file.write_text(json.dumps(line) + "\n")
    repository.commit()
    repository.instruct(NO_QUESTION)
    said = repository.gate("--base", "HEAD")

    assert f"changed: {line['id']} {QUESTION}\n    task type: question → docs\n" in said


def test_a_corrected_class_that_is_lost_again_is_inconclusive_by_itself(repository: Repository) -> None:
    correct(repository, "question")
    repository.commit()
    repository.instruct(NO_QUESTION)
    report = repository.judged("HEAD")

    assert (report["verdict"], states(report)) == ("inconclusive", ["became wrong"])


def test_a_file_without_approved_cases_says_so(repository: Repository) -> None:
    correct(repository, "docs")
    report = repository.judged()

    assert (report["verdict"], states(report)) == ("inconclusive", ["open"])


def test_a_case_that_is_missing_closes_the_gate_unless_it_may(approved: Repository) -> None:
    gone, *rest = approved.file.read_text().splitlines(keepends=True)
    approved.file.write_text("".join(rest))

    assert approved.report("--base", "HEAD", exit_code=1)["missing"] == [json.loads(gone)["id"]]
    assert approved.report("--base", "HEAD", "--allow-removed")["removed"] == [json.loads(gone)["id"]]


def test_a_case_that_asks_for_less_than_it_did_is_told(approved: Repository) -> None:
    line = approved.lines()[0]
    approved.file.write_text(approved.file.read_text().replace('"guardrails": ["H5"], ', ""))

    assert approved.judged("HEAD")["rewritten"] == [line["id"]]


def test_an_unusable_line_closes_the_gate_with_its_place(approved: Repository) -> None:
    with approved.file.open("a") as file:
        file.write("<<<<<<< HEAD\n")
    said = approved.gate(exit_code=1)

    assert f"{approved.file}:3: error: a merge was left unfinished here" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"base": "nowhere"}, "nowhere is no revision of", id="unknown revision"),
        pytest.param({"base": "--output=x"}, "is no revision of", id="an option for git"),
        pytest.param({"cases": "none.jsonl"}, "none.jsonl: no such file; write cases with", id="no file"),
        pytest.param({"cases": "empty.jsonl"}, "empty.jsonl: no case in it", id="no case"),
        pytest.param({"cases": ".enricher"}, "cannot be read", id="a folder"),
        pytest.param({"instructions": "none.md"}, "none.md: no such file", id="no instructions"),
    ],
)
def test_what_cannot_be_judged_is_said(approved: Repository, options: dict[str, str], message: str) -> None:
    (approved.root / "empty.jsonl").write_text("\n")

    with pytest.raises(gate.GateError, match=message):
        approved.judged(**options)


def test_the_command_says_in_one_line_what_it_cannot_do(approved: Repository) -> None:
    assert approved.gate("--base", "nowhere", exit_code=1).startswith("Error: nowhere is no revision of ")
    assert "cannot be written" in approved.gate("--junit", "no/such/folder.xml", exit_code=1)


def test_broken_instructions_are_told_with_their_line(approved: Repository) -> None:
    approved.instruct(NO_DEBUG.replace("disabled: true", "signals: [{phrase: x, weight: many}]"))

    with pytest.raises(gate.GateError, match=r"so no case was judged\n.*instructions.md:6: error:"):
        approved.judged()


def test_a_base_outside_of_git_is_told(approved: Repository, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_bytes(approved.file.read_bytes())

    with pytest.raises(gate.GateError, match=r"not a git repository|Stopping at filesystem boundary"):
        gate.run(str(tmp_path), cases="cases.jsonl", base="HEAD")


def test_one_file_may_stand_for_all_layers(repository: Repository) -> None:
    repository.account.env["ENRICHER_PROFILE"] = "as-specified"  # where the catalogue's task types call for guardrails
    repository.approve(DEBUG)
    folder = repository.root / "rules"
    folder.mkdir()
    with open(packaged_file()) as file:
        packaged = file.read()
    for name in ("HEURISTICS.md", "guardrails.md"):
        with open(packaged_file().replace("prompt-enricher-instructions.md", name)) as file:
            (folder / name).write_text(file.read())
    (folder / "all.md").write_text(packaged)
    repository.commit()
    catalogue = folder / "guardrails.md"
    catalogue.write_text("\n".join(line for line in catalogue.read_text().splitlines() if "H3" not in line))

    report = repository.judged("HEAD", instructions="rules/all.md")
    assert report["results"][0]["before"]["guardrails"] == ["H5", "H3"]
    assert report["results"][0]["now"]["guardrails"] == ["H5"]


def test_a_base_without_the_named_instructions_falls_back_to_the_packaged(approved: Repository) -> None:
    report = approved.judged("HEAD", instructions=packaged_file())

    assert report["notes"] == [f"{packaged_file()} is not in HEAD; the packaged instructions are the base instead"]
    assert report["verdict"] == "identical"


def test_instructions_that_the_base_lacks_are_a_change(approved: Repository) -> None:
    approved.instruct(NO_QUESTION)
    report = approved.judged("HEAD")

    assert report["candidate"] != report["base_hash"]
    assert report["verdict"] == "identical"


def test_instructions_that_were_taken_away_are_a_change(approved: Repository) -> None:
    approved.instruct(NO_DEBUG)
    approved.commit()
    (approved.file.parent / "instructions.md").unlink()
    report = approved.judged("HEAD")

    assert (report["verdict"], states(report)) == ("changed", ["fixed", "passed"])


@pytest.mark.slow
def test_an_edit_of_the_packaged_file_that_is_not_committed_is_a_change(approved: Repository, tmp_path: Path) -> None:
    product = Checkout(tmp_path / "product", approved.account)
    for words in (("init", "-q"), ("add", "instructions"), ("commit", "-qm", "rules")):
        approved.git("-C", str(product.root), *words)
    before = product.enricher("replay", "--gate", "--base", "HEAD")
    product.edit("instructions/prompt-enricher-instructions.md", "## Task type: debug\n", "## Task type: bug\n")
    product.edit("instructions/fitted/task-types.md", "## Task type: debug\n", "## Task type: bug\n")
    after = product.enricher("replay", "--gate", "--base", "HEAD")

    assert before.startswith("The gate is passed: no case comes out differently\n")
    assert after.startswith("The gate is closed: 1 approved case came out differently\n1 of 2 cases comes")
    assert "note: prompt-enricher-instructions.md, task-types.md of the packaged instructions: what is not " in after


def test_a_failing_case_is_never_under_a_plain_passed(repository: Repository) -> None:
    correct(repository, "debug")
    repository.commit()

    said = repository.gate("--base", "HEAD").splitlines()[0]

    assert said == "The gate is passed: no case is approved, so none can close it, though 1 case fails"


def test_the_persons_own_layers_do_not_speak(approved: Repository) -> None:
    approved.account.instruct(NO_DEBUG)

    assert approved.report()["passed"] is True


def test_cases_that_pass_only_with_the_persons_own_layer_are_found(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    correct(repository, "debug")
    monkeypatch.setenv("ENRICHER_CONFIG_HOME", str(repository.account.config))
    without = gate.passing_with_own_layer(str(repository.root))
    repository.account.instruct(NO_QUESTION + "\n## Task type: debug\n\n```yaml\nextend: true\nsignals:\n"
        "  - {phrase: cache, weight: 30}\n```\n")  # fmt: skip

    assert without == []
    assert gate.passing_with_own_layer(str(repository.root)) == ["0"]


def test_a_budget_of_the_instructions_takes_part(approved: Repository) -> None:
    approved.instruct("# Output\n\n## Budgets\n\n```yaml\ntokens: 1\n```\n")

    assert approved.judged("HEAD")["results"][0]["faults"] == ["guardrails"]


def test_the_files_hold_what_was_found(approved: Repository) -> None:
    approved.instruct(NO_DEBUG)
    approved.gate("--base", "HEAD", "--junit", "junit.xml", "--markdown", "comment.md", exit_code=1)

    suite = ET.parse(approved.root / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "skipped", "errors")] == ["2", "1", "0", "0"]
    assert [(one.get("classname"), one.find("failure") is None) for one in suite] == [("debug", False), ("chat", True)]
    beginning = "### ❌ Prompt enricher\n\n**The gate is closed: 1 approved case came out differently**\n"
    assert (approved.root / "comment.md").read_text().startswith(beginning)


def test_kinds_of_change_are_named() -> None:
    before = Decided("debug", True, "none", ("H5", "H3"), "")

    assert kinds(before, before) == ()
    assert kinds(before, Decided("debug", True, "none", ("H3", "H5"), "")) == ("guardrails reordered",)
    assert kinds(before, Decided("docs", False, "howto", ("H3", "H4"), "use-skill")) == (
        "task type", "intent", "shown", "approach", "guardrail added", "guardrail dropped",
    )  # fmt: skip


def checked(number: int, *, task_type: str, before: str, now: str) -> Checked:
    """Return an approved case of that class with what came out before and now."""
    case = GoldenCase(str(number), "x", OK, Decided(task_type))
    return Checked(case, Decided(now), case.faults(Decided(now)), Decided(before), case.faults(Decided(before)))


def test_figures_adjust_for_the_number_of_task_types() -> None:
    rows = [checked(at, task_type="docs", before="chat", now="docs") for at in range(8)]
    rows += [checked(at, task_type="test", before="test", now="test") for at in range(8, 10)]
    figures = figures_of(rows, is_paired=True)

    docs, test = figures.task_types
    assert (docs.gained, docs.lost, test.gained) == (8, 0, 0)
    assert docs.p_value == pytest.approx(2 * figures.p_value) == pytest.approx(2 * 0.5**8)
    assert figures.at_most == pytest.approx(0.6576, abs=1e-3)


def test_a_significant_loss_of_corrected_classes_closes_the_gate(repository: Repository) -> None:
    correct(repository, "question", times=8)
    repository.commit()
    repository.instruct(NO_QUESTION)
    report = repository.judged("HEAD")

    assert report["passed"] is False
    assert report["reasons"] == ["8 labelled prompts became wrong and 0 right"]
    assert report["p_value"] < 0.01
