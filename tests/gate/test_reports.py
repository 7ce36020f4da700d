"""What others read of a gate: nothing in a prompt acts on a comment, an XML file or a terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from maintainer import NO_QUESTION, QUESTION
from markdown_it import MarkdownIt
from simulator import ROOT

from workbench.commands.replaying.replay import replay
from workbench.gate import cases, gate, reports
from workbench.gate.case import CLASS, OK, Decided, GoldenCase

if TYPE_CHECKING:
    from maintainer import Repository

    from workbench.gate.gate_report import GateReport

HOSTILE = [
    pytest.param("</details><script>alert(1)</script><!--", id="html"),
    pytest.param("a | b | c\n|---|---|\n| d |", id="a table"),
    pytest.param("` `` ``` out of the code @everyone #1 https://example.org", id="code marks"),
    pytest.param("@octocat please see #12 and [x](javascript:alert(1))", id="mention"),
    pytest.param("a \\| b \\` c \\", id="backslashes"),
    pytest.param("\x1b[31m\x07\x00 red \u202e turned \ufffe", id="controls"),
]


def judged(repository: Repository, prompt: str) -> GateReport:
    """Return the report on a case that regresses, whose prompt ends with ``prompt``."""
    asked = GoldenCase("a" * 24, f"{QUESTION} {prompt}", OK, Decided("widget", approach="x|y`<b>"))
    cases.write(str(repository.file), [asked])
    repository.commit()
    repository.instruct(NO_QUESTION)
    report = gate.run(str(repository.root))
    assert report.verdict == "regressed"
    return report


@pytest.mark.parametrize("prompt", HOSTILE)
def test_a_prompt_stays_text_in_a_comment(repository: Repository, prompt: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(reports.markdown(judged(repository, prompt)))
    inline = [child for token in tokens for child in token.children or ()]
    outside = " ".join(child.content for child in inline if child.type != "code_inline")
    html = {token.content.strip() for token in tokens if token.type == "html_block"}

    assert not {"octocat", "everyone", "script", "example"} & set(outside.replace("@", " ").replace("/", " ").split())
    assert all(one.startswith(("<details><summary>", "</details>")) for one in html)
    assert not any(child.type in ("link_open", "image") for child in inline)


@pytest.mark.parametrize("prompt", HOSTILE)
def test_a_prompt_makes_no_cell_of_its_own(repository: Repository, prompt: str) -> None:
    text = reports.markdown(judged(repository, prompt))
    rows = [line for line in text.splitlines() if line.startswith("| `widget`")]

    assert [row.count("|") for row in rows] == [4]


@pytest.mark.parametrize("prompt", HOSTILE)
def test_the_xml_can_be_read(repository: Repository, prompt: str) -> None:
    case = ET.fromstring(reports.junit(judged(repository, prompt))).find(".//testcase")

    assert case is not None
    assert (case.get("classname"), case.find("failure") is not None) == ("widget", True)


def test_a_prompt_cannot_act_on_the_terminal(repository: Repository) -> None:
    judged(repository, "\x1b[31m\x07")
    said = repository.gate(exit_code=1)

    assert "\x1b" not in said
    assert "\\x1b[31m" in said


def test_the_xml_tells_what_is_missing_and_unusable(approved: Repository) -> None:
    approved.file.write_text(approved.file.read_text().splitlines()[0] + "\n=======\n")
    suite = ET.fromstring(reports.junit(gate.run(str(approved.root), base="HEAD"))).find("testsuite")

    assert suite is not None
    assert (suite.get("tests"), suite.get("errors")) == ("3", "2")
    assert [one.get("classname") for one in suite.iter("testcase")] == ["debug", "cases", "cases"]


def test_a_long_comment_is_cut_to_what_a_comment_may_have(repository: Repository) -> None:
    many = [GoldenCase(f"{at:024x}", f"{QUESTION} {'wide ' * 80}{at}", OK, Decided("widget")) for at in range(400)]
    cases.write(str(repository.file), many)
    text = reports.markdown(gate.run(str(repository.root)))

    assert len(text) <= reports.LARGEST
    assert "and 350 more" in text


def test_every_key_of_the_json_is_documented(approved: Repository) -> None:
    report = approved.judged("HEAD")
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "labels.md").read_text().rpartition("`--json` has")[2]))

    assert json.loads(json.dumps(report)) == report
    assert not {*report, *report["results"][0]} - documented


def test_every_key_of_a_case_and_every_option_is_documented() -> None:
    page = (ROOT / "docs" / "labels.md").read_text()

    assert not [name for name in GoldenCase.__slots__ if f"`{name}`" not in page and name != "says"]
    options = [option.opts[0] for option in replay.params if option.help.startswith("With --gate")]
    assert len(options) == 4 and not [one for one in options if f"`{one}" not in page]


def test_figures_are_rounded_only_when_they_are_printed(repository: Repository) -> None:
    expected = Decided(task_type="question")
    cases.write(str(repository.file), [GoldenCase(f"{at:024x}", QUESTION, OK, expected) for at in range(10)])
    report = gate.run(str(repository.root))

    assert reports.to_json(report)["at_most"] == report.figures.at_most
    assert "of 100 like these, at most 28 would get worse (95 % sure)" in reports.text(report)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        pytest.param(1, "1 became wrong, which may be chance (p = 0.500, McNemar's mid-p test)", id="one"),
        pytest.param(8, "8 became wrong, which is too clear for chance (p = 0.004, McNemar's mid-p test)", id="eight"),
    ],
)
def test_what_became_right_or_wrong_is_weighed_in_words_before_the_figure(
    repository: Repository, times: int, said: str
) -> None:
    wanted = Decided(task_type="question")
    cases.write(str(repository.file), [GoldenCase(f"{at:024x}", QUESTION, CLASS, wanted) for at in range(times)])
    repository.commit()
    repository.instruct(NO_QUESTION)

    assert f"no case became right and {said}" in reports.text(gate.run(str(repository.root), base="HEAD"))


def test_a_few_cases_claim_nothing_about_other_prompts(approved: Repository) -> None:
    printed = approved.gate("--base", "HEAD")

    assert "%" not in printed
    assert "2 cases are too few to tell how many other prompts would get worse" in printed
