"""``enricher ab`` from outside: real files, a real log, the numbers as they are printed and kept."""

from __future__ import annotations

import json
import os
import random
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from storage.db import database
from workbench import experiments as harness
from workbench.experiments.arms import Recording
from workbench.experiments.questions import QuestionError, Questions
from workbench.replay.rulesets.versions import Versions

if TYPE_CHECKING:
    from simulator import Account

    from workbench.experiments.report import ExperimentReport

PACKAGED = Path(__file__).parents[2] / "instructions"
TRACE = (
    'Traceback (most recent call last):\n  File "shop/export.py", line {n}, in run\n    row["sku"]\nKeyError: \'sku\''
)
SAID = "## Prompt Enrichment\n**Classification**: debug\n**Suggested Approach**: Start at shop/export.py:{n}.{more}"
METRICS = ["tokens", "latency_ms", "success", "quality", "violations"]


def instructions(account: Account, name: str, *edits: tuple[str, str]) -> str:
    """Write a copy of the packaged instructions with its catalogues, edited."""
    folder = account.home / name
    for file in PACKAGED.rglob("*.md"):
        text = file.read_text()
        for before, after in edits if file.name.startswith("prompt-enricher") else ():
            assert before in text, before
            text = text.replace(before, after)
        account.write(folder / file.relative_to(PACKAGED), text)
    return str(folder / "prompt-enricher-instructions.md")


def prompts(account: Account, count: int = 30, **more: str) -> str:
    """Write prompts whose pasted traces get a text."""
    rows = [
        {"id": f"p{n:03}", "prompt": f"why does it fail?\n{TRACE.format(n=n)}", **more} for n in range(1, count + 1)
    ]
    return str(account.write("prompts.jsonl", "\n".join(map(json.dumps, rows))))


def answers(account: Account, name: str, texts: list[str], *, latencies: list[float] | None = None) -> str:
    """Write recorded answers to the prompts p001, p002, …"""
    rows = [
        {"id": f"p{n:03}", "text": text, "latency_ms": latencies[n - 1] if latencies else 5.0}
        for n, text in enumerate(texts, 1)
    ]
    return str(account.write(name, "\n".join(map(json.dumps, rows))))


def run(account: Account, a: str, b: str, *more: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(account.cli("ab", "run", "--a", a, "--b", b, "--json", *more))
    return value


def compared(account: Account, a: str, b: str, asked: str) -> ExperimentReport:
    """Compare two recordings in this process."""
    with (
        patch.dict(os.environ, account.env, clear=True),
        closing(database.connect(str(account.state))) as db,
    ):
        questions = Questions(Versions(db))
        both = {"a": Recording(a), "b": Recording(b)}
        return harness.run(questions.of_file(asked), **both, left_out=questions.left_out).report


AS_SPECIFIED = {"ENRICHER_PROFILE": "as-specified"}
"""Under it approaches are said, and the packaged ones speak of these prompts."""
WORDIER = ("Start at {frame}:", "You may want to start reading at {frame}:")


@pytest.mark.conformance("S2-6a", "S2-6b")
def test_two_arms_are_compared_prompt_by_prompt_in_five_metrics(account: Account) -> None:
    account.env |= AS_SPECIFIED
    a, b = instructions(account, "a"), instructions(account, "b", WORDIER)
    made = run(account, a, b, "--prompts", prompts(account, task_type="debug"))
    kept = json.loads(account.cli("ab", "show", made["id"][:16], "--json"))

    assert made["arms"]["a"]["hash"] != made["arms"]["b"]["hash"]
    assert kept == made
    assert [one["prompt_id"] for one in kept["results"]] == [f"p{n:03}" for n in range(1, 31)]
    assert all("Start at" in one["a"]["text"] and "start reading at" in one["b"]["text"] for one in kept["results"])
    assert list(made["metrics"]) == METRICS
    for one in made["metrics"].values():
        assert one["pairs"] == one["a"]["n"] == one["b"]["n"] == 30
        assert one["difference"] == pytest.approx(one["b"]["mean"] - one["a"]["mean"])
        assert one["interval"]["low"] <= one["difference"] <= one["interval"]["high"]
        assert one["a"]["sd"] >= 0
    assert made["metrics"]["tokens"]["difference"] > 0
    assert made["metrics"]["quality"]["a"]["mean"] == 1


@pytest.mark.conformance("S2-6c")
def test_equal_arms_are_not_significant_and_shifted_ones_are(account: Account) -> None:
    chance = random.Random(1)
    texts = [[SAID.format(n=n, more=" word" * chance.randrange(9)) for n in range(30)] for _arm in range(2)]
    shifted = [text + " and six words more than before" for text in texts[0]]
    asked = ("--prompts", prompts(account), "--out", str(account.home / "report.json"))
    arms = zip(("a.jsonl", "equal.jsonl", "more.jsonl"), (*texts, shifted), strict=True)
    a, equal, more = (answers(account, name, said) for name, said in arms)

    same = run(account, a, equal, *asked)["metrics"]["tokens"]
    other = run(account, a, more, *asked)

    assert (same["p"] > 0.05, same["verdict"], same["test"]) == (True, "inconclusive", "signed rank")
    assert (other["metrics"]["tokens"]["p"] < 0.001, other["metrics"]["tokens"]["verdict"]) == (True, "changed")
    assert json.loads((account.home / "report.json").read_text()) == other


@pytest.mark.conformance("S2-6d")
def test_a_response_that_cannot_be_read_back_is_no_success(account: Account) -> None:
    texts = [SAID.format(n=n, more="") for n in range(30)]
    good = answers(account, "good.jsonl", texts)
    bad = answers(account, "bad.jsonl", [*texts[:-1], "Sure! I would start at shop/export.py."])
    made = run(account, good, bad, "--prompts", prompts(account))

    assert made["metrics"]["success"]["a"]["mean"] == 1
    assert made["metrics"]["success"]["b"]["mean"] == pytest.approx(29 / 30)
    assert made["breaches"]["b"] == {"form": 1}
    assert made["metrics"]["success"]["p"] == 0.5


def test_the_same_instructions_on_both_sides_are_identical_nothing_is_tested_and_both_runs_are_listed(
    account: Account,
) -> None:
    a, asked = instructions(account, "a"), prompts(account, 3)
    first = run(account, a, a, "--prompts", asked)
    said = account.cli("ab", "run", "--a", a, "--b", a, "--prompts", asked, "--question", "is it the same?")
    listed = json.loads(account.cli("ab", "list", "--json"))

    assert (first["verdict"], first["same_arms"]) == ("identical", True)
    assert {(one["verdict"], one["p"]) for one in first["metrics"].values()} == {("identical", None)}
    assert "both arms are the same, so nothing was tested" in " ".join(said.split())
    assert [one["question"] for one in listed] == ["is it the same?", first["question"]]


def test_the_log_is_compared_with_what_it_was_recorded_under_and_exported_it_is_the_same(account: Account) -> None:
    account.env |= AS_SPECIFIED
    account.ask("/help")
    account.ask(f"why does it fail?\n{TRACE.format(n=7)}")
    account.rest()
    trace = account.trace()
    account.cli("trace", "label", trace["id"], "ok")
    exported = account.write("traces.jsonl", account.cli("trace", "export", "--format", "jsonl"))
    b = instructions(account, "b", WORDIER)
    made, again = run(account, "recorded", b), run(account, "recorded", b, "--prompts", str(exported))

    assert (made["share"]["changed"], made["left_out"], made["metrics"]["quality"]["pairs"]) == (1, {"skipped": 1}, 1)
    assert made["results"][0]["prompt_id"] == trace["id"]
    assert made["results"][0]["a"]["text"] == trace["output_text"]
    assert again["results"][0]["b"]["text"] == made["results"][0]["b"]["text"]


def test_more_labelled_prompts_wrong_than_right_is_a_regression(account: Account) -> None:
    good = answers(account, "good.jsonl", [SAID.format(n=n, more="") for n in range(30)])
    bad = answers(account, "bad.jsonl", [SAID.format(n=n, more="").replace("debug", "docs") for n in range(30)])
    report = compared(account, good, bad, prompts(account, task_type="debug"))
    quality = next(one for one in report.metrics if one.name == "quality")

    assert (report.verdict, report.gained, report.lost) == ("regressed", 0, 30)
    assert (quality.test, quality.verdict) == ("mid-p McNemar", "regressed")


def test_prompts_of_one_session_are_tested_as_one(account: Account) -> None:
    good = answers(account, "good.jsonl", [SAID.format(n=n, more="") for n in range(30)])
    longer = answers(account, "longer.jsonl", [SAID.format(n=n, more=" Then go on.") for n in range(30)])
    report = compared(account, good, longer, prompts(account, session_id="one"))
    tokens = report.to_json()["metrics"]["tokens"]

    assert (tokens["tested_by"], tokens["p"], tokens["verdict"]) == ("session", 1, "inconclusive")
    assert tokens["interval"] == {"low": None, "high": None, "level": 0.95}


def test_a_recording_that_tells_a_session_the_same_again_is_caught(account: Account) -> None:
    once = answers(account, "once.jsonl", [SAID.format(n=1, more=""), "", "", ""])
    again = answers(account, "again.jsonl", [SAID.format(n=1, more="")] * 4)
    report = compared(account, once, again, prompts(account, 4, session_id="one"))

    assert report.breaches == {"a": {}, "b": {"repeated": 3}}


def test_an_answer_that_failed_is_wrong_and_no_success(account: Account) -> None:
    good = answers(account, "good.jsonl", [SAID.format(n=1, more="")] * 2)
    failed = account.write("failed.jsonl", '{"id": "p001", "error": "timed out"}\n{"id": "p002", "error": "timed out"}')
    report = compared(account, good, str(failed), prompts(account, 2, task_type="debug"))

    assert [one.b.mean for one in report.metrics if one.name in METRICS[2:]] == [0, 0, 0]


def test_what_enrich_printed_is_an_arm_and_a_session_is_told_a_thing_once(account: Account) -> None:
    account.env |= AS_SPECIFIED
    asked = prompts(account, 3, session_id="one")
    printed = account.write("printed.jsonl", account.cli("enrich", "--jsonl", asked))
    made = run(account, "recorded", str(printed), "--prompts", asked)

    assert (made["breaches"]["a"], made["metrics"]["success"]["b"]["mean"]) == ({}, 1)
    assert made["results"][0]["a"]["text"] == made["results"][0]["b"]["text"] != ""
    assert made["metrics"]["latency_ms"]["b"]["mean"] > 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        pytest.param("{", "prompts.jsonl:1: the line is not JSON", id="no JSON"),
        pytest.param("\n[]", "prompts.jsonl:2: the line is not a JSON object", id="no object"),
        pytest.param('{"id": 1}', "prompts.jsonl:1: the row has no prompt", id="no prompt"),
        pytest.param('{"prompt_hmac": ""}', "prompts.jsonl:1: the trace has no 'id'", id="half a trace"),
        pytest.param(b"\xff", "prompts.jsonl:1: this is no UTF-8 text", id="no text"),
    ],
)
def test_prompts_that_cannot_be_used_are_told_with_their_line(account: Account, line: str, complaint: str) -> None:
    asked = account.write("prompts.jsonl", line)
    with closing(database.connect(str(account.state))) as db, pytest.raises(QuestionError) as refusal:
        list(Questions(Versions(db)).of_file(str(asked)))

    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        pytest.param({"id": 1, "text": ""}, "does not say how long it took", id="no latency"),
        pytest.param({"text": "", "latency_ms": 1}, "the answer has no id", id="no id"),
        pytest.param({"id": 1, "latency_ms": 1}, "the answer has no text", id="no text"),
        pytest.param({"id": 1, "text": "", "latency_ms": -1}, "does not say how long it took", id="back in time"),
    ],
)
def test_answers_that_cannot_be_used_are_told_with_their_line(
    tmp_path: Path, answer: dict[str, object], complaint: str
) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(answer))
    with pytest.raises(QuestionError, match=f"answers.jsonl:1: .*{complaint}"):
        Recording(str(file))


def test_an_id_that_stands_twice_is_told_and_nothing_is_kept(account: Account) -> None:
    asked = account.write("prompts.jsonl", '{"id": 1, "prompt": "a"}\n{"id": 1, "prompt": "b"}')

    assert "prompts.jsonl:2: the id '1'" in account.cli(
        "ab", "run", "--b", "recorded", "--prompts", str(asked), exit_code=1
    )
    assert json.loads(account.cli("ab", "list", "--json")) == []


def test_an_arm_that_is_nothing_is_told_so(account: Account) -> None:
    said = account.cli("ab", "run", "--b", "nothing-of-this-name", exit_code=1)

    assert "is no file, no version and no git revision" in said
