"""Golden cases: what of a trace becomes one, and a file that people can share."""

from __future__ import annotations

import json
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from maintainer import DEBUG, NO_DEBUG, QUESTION, SMALL_TALK

from workbench.gate import cases
from workbench.gate.case import OK, Decided, GoldenCase

if TYPE_CHECKING:
    from pathlib import Path

    from maintainer import Repository

LINE = '{"id": "%s", "verdict": "ok", "prompt": "explain it", "expected": {"task_type": "question"}}\n'
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def case(number: int, **changed: object) -> GoldenCase:
    return GoldenCase(
        **{"id": f"{number:024x}", "prompt": QUESTION, "verdict": OK, "says": Decided("question")} | changed
    )


def test_an_approved_trace_holds_what_was_decided(repository: Repository) -> None:
    trace_id = repository.approve(DEBUG)

    expected = {"task_type": "debug", "shown": True, "guardrails": ["H5"], "approach": ""}
    assert repository.lines() == [{"id": trace_id, "verdict": "ok", "prompt": DEBUG, "expected": expected}]


def test_a_corrected_class_holds_the_class(repository: Repository) -> None:
    trace_id = repository.approve(QUESTION, "docs")

    assert repository.lines() == [
        {"id": trace_id, "verdict": "class", "prompt": QUESTION, "expected": {"task_type": "docs"}}
    ]


def test_a_wrong_trace_holds_what_must_not_come_out_again(repository: Repository) -> None:
    repository.approve(DEBUG, "wrong")

    assert repository.lines()[0]["unwanted"]["guardrails"] == ["H5"]
    assert "expected" not in repository.lines()[0]


def test_a_label_without_case_writes_no_file(repository: Repository) -> None:
    trace_id = repository.typed(DEBUG)
    repository.account.cli("trace", "label", trace_id, "ok")

    assert not repository.file.exists()
    assert repository.account.trace()["label"]["verdict"] == "ok"


def test_a_later_verdict_replaces_the_case(repository: Repository) -> None:
    trace_id = repository.approve(DEBUG)
    repository.account.cli("trace", "label", trace_id, "test", "--case")

    assert [line["expected"] for line in repository.lines()] == [{"task_type": "test"}]


def test_what_channels_offered_is_not_in_a_case(repository: Repository) -> None:
    repository.account.write("project/shop/export.py", "def nightly_export():\n    return user\n")
    repository.commit()
    repository.account.cli("code", "index")
    repository.typed("why does nightly_export fail with KeyError 'user'? fix it and nothing else", session_id="one")
    told = repository.account.trace()["items"]
    trace_id = repository.typed("fix nightly_export for the first user and nothing else", session_id="one")
    repository.account.cli("trace", "label", trace_id, "ok", "--case")

    assert [item["ref"] for item in told if item["kept"]] == ["shop/export.py:1"]
    assert any(ref.startswith("item:") for ref in repository.account.trace()["inputs"]["injected"])
    assert "shop/export.py" not in repository.file.read_text()
    assert all(ref.startswith("guardrail:") for ref in repository.lines()[0]["injected"])


def test_text_that_was_logged_in_full_is_redacted(repository: Repository) -> None:
    repository.account.write("config/config.toml", 'log = "full"\n')
    repository.account.compile()
    repository.approve(f"why does the export with {SECRET} fail?")

    assert SECRET in repository.account.trace()["prompt"]
    assert SECRET not in repository.file.read_text()
    assert "[redacted:" in repository.lines()[0]["prompt"]


def test_a_trace_without_text_is_refused_and_told_why(repository: Repository) -> None:
    repository.account.write("config/config.toml", 'log = "hash"\n')
    repository.account.compile()
    trace_id = repository.typed(DEBUG)

    said = repository.account.cli("trace", "label", trace_id, "ok", "--case", exit_code=1)
    assert "its text was not kept (log = hash)" in said
    assert repository.account.trace()["label"] is None


def test_a_skipped_trace_is_no_case(repository: Repository) -> None:
    trace_id = repository.typed("/compact")

    said = repository.account.cli("trace", "label", trace_id, "ok", "--case", exit_code=1)
    assert "nothing was judged (skipped: slash_command)" in said


def test_a_prompt_that_points_back_carries_the_words_it_points_to(repository: Repository, tmp_path: Path) -> None:
    turns = [
        {"type": "user", "message": {"role": "user", "content": "write a unit test for the parser in parser.py"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}},
    ]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    trace_id = repository.typed("do the same for the other one", transcript_path=str(transcript))
    repository.account.cli("trace", "label", trace_id, "ok", "--case")

    line = repository.lines()[0]
    assert line["earlier"] == "write a unit test for the parser in parser.py"
    assert repository.judged()["results"][0]["now"]["task_type"] == line["expected"]["task_type"]


def test_what_the_session_was_told_before_is_part_of_a_case(repository: Repository) -> None:
    repository.typed(DEBUG, session_id="one")
    trace_id = repository.typed("the nightly import is failing as well, fix the bug", session_id="one")
    repository.account.cli("trace", "label", trace_id, "ok", "--case")

    line = repository.lines()[0]
    assert line["injected"] == ["guardrail:H5"]
    assert (line["expected"]["guardrails"], line["spent"] > 0) == ([], True)
    assert repository.judged()["verdict"] == "identical"


def test_only_the_skill_that_the_prompt_names_is_kept(repository: Repository) -> None:
    for name, description in (
        ("release-notes", "Write the release notes of a version"),
        ("kitchen", "Private recipes"),
    ):
        repository.account.write(
            f"project/.claude/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n"
        )
    repository.approve("write the release notes of version two")

    line = repository.lines()[0]
    assert line["skills"] == [["release-notes", "Write the release notes of a version"]]


def test_only_what_the_environment_set_is_kept_of_the_settings(repository: Repository) -> None:
    repository.account.env["ENRICHER_BUDGETS_ITEMS"] = "3"
    repository.approve(DEBUG)

    assert repository.lines()[0]["settings"] == {"budgets.items": 3}


def test_a_label_of_ones_own_takes_no_trust_away(repository: Repository) -> None:
    repository.instruct(NO_DEBUG)
    repository.account.cli("trust")
    trace_id = repository.typed(DEBUG)
    repository.account.cli("trace", "label", trace_id, "ok", "--case")

    assert repository.account.ask(DEBUG).told == ""
    assert repository.account.trace()["task_type"] != "debug"


def test_cases_that_a_pull_brought_take_no_trust_away_and_ask_for_none(repository: Repository) -> None:
    repository.file.parent.mkdir()
    repository.file.write_text(LINE % "theirs")
    assert repository.account.ask(DEBUG).told == ""
    repository.instruct(NO_DEBUG)
    repository.account.cli("trust")
    repository.file.write_text((LINE % "theirs") * 20_000)

    assert repository.account.ask_patiently(DEBUG).told == ""
    assert repository.account.trace()["task_type"] != "debug"


def test_a_label_gives_no_trust(repository: Repository) -> None:
    repository.instruct(NO_DEBUG)
    repository.approve(DEBUG)
    repository.account.ask(DEBUG)

    assert repository.account.trace()["task_type"] == "debug"


def test_cases_are_sorted_and_written_the_same_again(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    cases.write(str(file), [case(3), case(1), case(2, note="see #12", settings={"budgets.items": 3})])
    before = file.read_bytes()
    cases.write(str(file), reversed(cases.read(str(file)).cases))

    assert [json.loads(line)["id"][-1] for line in before.splitlines()] == ["1", "2", "3"]
    assert file.read_bytes() == before


def test_a_note_outlives_a_new_verdict(tmp_path: Path) -> None:
    file = str(tmp_path / "cases.jsonl")
    cases.write(file, [case(1, note="see #12")])

    assert cases.add(file, case(1, says=Decided("docs"))) == case(1, note="see #12")
    assert cases.read(file).cases[0].note == "see #12"


def test_two_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = str(tmp_path / "cases.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: cases.add(file, case(number)), range(40)))

    assert len(cases.read(file).cases) == 40


def test_every_text_is_redacted_on_its_way_in(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    secret = f"token = {SECRET}"
    cases.write(str(file), [case(1, prompt=secret, earlier=secret, note=secret, skills=((secret, secret),))])

    assert SECRET not in file.read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("<<<<<<< HEAD", "a merge was left unfinished here", id="begin of a conflict"),
        pytest.param("=======", "a merge was left unfinished here", id="middle of a conflict"),
        pytest.param(">>>>>>> theirs", "a merge was left unfinished here", id="end of a conflict"),
        pytest.param('{"id": "a"', "no JSON", id="cut off"),
        pytest.param("[" * 100_000, "no JSON (nested too deeply)", id="nested"),
        pytest.param("[]", "a case is an object", id="a list"),
        pytest.param('{"id": "a"}', "verdict is null; write one of ok, wrong, class", id="no verdict"),
        pytest.param(LINE.replace('"id": "%s", ', ""), "no 'id'", id="no id"),
        pytest.param(LINE.replace("expected", "unwanted"), "no 'expected'", id="the other expectation"),
        pytest.param(LINE.replace('{"task_type": "question"}', "{}"), "expected is {}", id="nothing expected"),
        pytest.param(LINE.replace('"question"', "7"), "expected.task_type is 7; write a task type", id="a number"),
        pytest.param(LINE.replace('"question"', '"question", "shown": "yes"'), "write true or false", id="a word"),
        pytest.param(LINE.replace("explain it", " "), "prompt is", id="empty prompt"),
        pytest.param(LINE.replace('"id": "%s"', '"id": "a", "color": 1'), 'unknown key "color"', id="unknown key"),
        pytest.param(
            LINE.replace('"id": "%s"', '"id": "a", "settings": {"budgets.items": "3"}'), "settings is", id="bad setting"
        ),
    ],
)
def test_a_line_that_is_no_case_is_told_with_file_and_line(line: str, message: str) -> None:
    found = cases.parse(f"{LINE % 'x'}\n{line}".encode(), path="cases.jsonl")

    (problem,) = found.problems
    assert str(problem).startswith("cases.jsonl:3: error: ")
    assert message in problem.message
    assert len(found.cases) == 1


@pytest.mark.parametrize("others", ["", "*.md text\n"], ids=["no other attributes", "other attributes"])
def test_with_the_last_case_its_file_and_its_attribute_go(tmp_path: Path, others: str) -> None:
    folder, attributes = tmp_path / ".enricher", tmp_path / ".enricher" / ".gitattributes"
    file = str(folder / "cases.jsonl")
    folder.mkdir()
    if others:
        attributes.write_text(others)
    cases.add(file, case(1))
    cases.add(file, case(2))
    cases.put_back(file, case(2).id, None)
    kept = (cases.read(file).cases, attributes.read_text())
    cases.put_back(file, case(1).id, None)

    assert kept == ((case(1),), others + cases.ATTRIBUTES)
    assert {one.name: one.read_text() for one in folder.iterdir()} == ({".gitattributes": others} if others else {})


def test_what_is_no_regular_file_is_refused_and_nobody_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cases.jsonl")

    with pytest.raises(cases.CasesError, match="is not a regular file"):
        cases.read(str(tmp_path / "cases.jsonl"))


def test_bytes_that_are_no_text_are_told() -> None:
    assert cases.parse(b"\xff\xfe\x00", path="f").problems[0].line == 1


def test_line_ends_and_marks_of_other_editors_are_taken() -> None:
    found = cases.parse(b"\xef\xbb\xbf" + (LINE % "a" + "\n" + LINE % "b").replace("\n", "\r\n").encode(), path="f")

    assert (len(found.cases), found.problems) == (2, ())


def test_a_case_that_stands_twice_is_told_with_both_lines() -> None:
    found = cases.parse((LINE % "a" + LINE % "b" + LINE % "a").encode(), path="f")

    assert str(found.problems[0]) == "f:3: error: a occurs twice; the first is on line 1: delete one of them"


def test_a_file_with_a_bad_line_is_left_as_it_is(repository: Repository) -> None:
    repository.file.parent.mkdir()
    repository.file.write_text("{}\n")
    trace_id = repository.typed(DEBUG)

    assert "cases.jsonl:1: error:" in repository.account.cli("trace", "label", trace_id, "ok", "--case", exit_code=1)
    assert repository.file.read_text() == "{}\n"


def test_what_two_people_add_merges(repository: Repository) -> None:
    first = repository.approve(DEBUG)
    repository.commit()
    repository.git("checkout", "-qb", "theirs")
    theirs = [repository.approve(QUESTION), repository.approve("write a test for the login form")]
    repository.commit()
    repository.git("checkout", "-q", "main")
    ours = [repository.approve(SMALL_TALK), repository.approve("refactor the parser into two modules")]
    repository.commit()
    repository.git("merge", "-q", "--no-edit", "theirs")

    assert {line["id"] for line in repository.lines()} == {first, *theirs, *ours}
    assert repository.judged()["passed"] is True


def test_a_case_that_both_sides_changed_closes_the_gate_with_its_lines(repository: Repository) -> None:
    trace_id = repository.approve(QUESTION)
    repository.commit()
    repository.git("checkout", "-qb", "theirs")
    repository.account.cli("trace", "label", trace_id, "docs", "--case")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.account.cli("trace", "label", trace_id, "research", "--case")
    repository.commit()
    repository.git("merge", "-q", "--no-edit", "theirs")

    (problem,) = repository.judged()["problems"]
    assert problem["line"] == 2
    assert f"{trace_id} occurs twice" in problem["message"]


def test_a_wrong_case_passes_as_soon_as_something_of_it_changed() -> None:
    wrong = case(1, verdict="wrong", says=Decided("debug", True, guardrails=("H5", "H3")))

    assert wrong.faults(Decided("debug", True, "howto", ("H5", "H3"), "")) == ("task_type", "shown", "guardrails")
    assert wrong.faults(Decided("debug", True, "howto", ("H5",), "")) == ()


def test_the_rules_of_another_release_are_told(repository: Repository) -> None:
    trace_id = repository.typed(DEBUG)
    repository.account.traces()
    with sqlite3.connect(repository.account.state / "enricher.db") as db:
        db.execute("update instructions_versions set text = '{}'")

    said = repository.account.cli("trace", "label", trace_id, "ok", "--case", exit_code=1)
    assert "say which task type it should have had instead" in said
    repository.account.cli("trace", "label", trace_id, "docs", "--case")
    assert repository.lines()[0]["expected"] == {"task_type": "docs"}


def test_that_something_was_said_and_edited_before_is_part_of_a_case(repository: Repository) -> None:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/srv/shop/button.py"}}
    earlier = [
        {"type": "user", "message": {"role": "user", "content": "show the button"}, "promptSource": "typed"},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [edit]}},
    ]
    transcript = repository.account.write("transcript.jsonl", "".join(json.dumps(one) + "\n" for one in earlier))
    trace_id = repository.typed("the button is still missing", transcript_path=str(transcript))
    repository.account.cli("trace", "label", trace_id, "ok", "--case")

    (line,) = repository.lines()
    assert (line["past"], line.get("edited"), line["expected"]["guardrails"]) == (True, True, ["H3"])
    assert repository.judged()["verdict"] == "identical"
