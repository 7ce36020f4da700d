"""The estimate in a real hook process: recorded if switched on, suggested under ``as-specified``, never acted on."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT

from enricher.complexity.estimate import estimate
from enricher.interfaces.api import recorded_rules, replay
from enricher.interfaces.compat.complexity import load_thresholds
from storage.db import database
from storage.traces import queries

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

COMPLEX = """Please do the following in the shop:
1. add the sessions table to schema.sql
2. once the schema is there, implement the login endpoint in api/login.py
3. document the flags in docs/cli.md
4. write tests for the parser in cart.py
"""
STRACE = shutil.which("strace")
ORDERS = re.compile(r"\b(?:must|mandatory|always|never|required|follow)\b", re.IGNORECASE)


@pytest.fixture
def on(account: Account) -> Account:
    account.env["ENRICHER_COMPLEXITY_ENABLED"] = "true"
    return account


@pytest.fixture
def as_specified(on: Account) -> Account:
    on.env["ENRICHER_PROFILE"] = "as-specified"
    return on


def suggested(account: Account, prompt: str = COMPLEX) -> str:
    """Type a prompt and return the suggestion in the approach line of its block."""
    answer = account.ask_patiently(prompt)
    assert answer.is_harmless()
    assert answer.exit_code == 0
    line = next(line for line in answer.context.splitlines() if line.startswith("**Suggested Approach**"))
    return line.partition("Suggested: ")[2]


def rows(account: Account, query: str) -> list[tuple[Any, ...]]:
    account.rest()
    account.cli("trace", "list")
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        return db.execute(query).fetchall()


@pytest.mark.conformance("S2-5b")
def test_a_trace_has_the_estimate_only_where_it_is_switched_on(account: Account) -> None:
    account.ask_patiently(COMPLEX)
    assert "complexity_estimates" not in account.trace()

    account.env["ENRICHER_COMPLEXITY_ENABLED"] = "true"
    account.ask_patiently(COMPLEX + "please")

    (found,) = account.trace()["complexity_estimates"]
    expected = estimate(COMPLEX + "please", load_thresholds(), task_type=known_type(account))
    assert found["overall_complexity_score"] == expected.score
    assert (found["estimated_files"], found["confidence"]) == (expected.files, expected.confidence)
    assert found["estimation_factors"]["medium"] == ["schema", "implement", "endpoint", "parser"]


def known_type(account: Account) -> str:
    trace = account.trace()
    return "" if trace["uncertain"] else str(trace["task_type"])


@pytest.mark.conformance("S2-4b")
def test_the_stored_row_has_the_id_of_its_trace(on: Account) -> None:
    on.ask_patiently(COMPLEX)

    stored = rows(on, "select trace_id, heuristic_score > 0, llm_adjusted_score from complexity_estimates")
    assert stored == [(on.trace()["id"], 1, None)]


@pytest.mark.conformance("S2-5Ba")
def test_what_is_said_is_a_suggestion_with_confidence_and_rationale(as_specified: Account) -> None:
    said = suggested(as_specified)

    assert said.startswith("this could be done in 3 independent parts (1 'add the sessions table to schema.sql'; 3 ")
    assert re.search(r"\(confidence 0\.\d\d: score \d+(?:\.\d)? reaches 60; .*4 listed parts\)", said)
    assert not ORDERS.search(said)


@pytest.mark.conformance("S2-5Bc")
def test_the_agent_decides_and_knows_what_is_safe(as_specified: Account) -> None:
    said = suggested(as_specified)

    assert "decide whether to parallelise, and give the reason" in said
    for rule in ("independent files only", "one owner for each file", "otherwise one after the other"):
        assert rule in said


def test_a_large_task_without_parts_of_its_own_gets_none(as_specified: Account) -> None:
    said = suggested(as_specified, "migrate all 40 modules to async and rewrite the scheduler from scratch")

    assert said.startswith("this could be split into smaller tasks (confidence ")
    assert "independent parts" not in said


def test_a_small_task_gets_no_suggestion(as_specified: Account) -> None:
    assert "Suggested: " not in as_specified.ask_patiently("fix the typo in README.md").context


def test_the_profile_quiet_says_nothing_of_it(on: Account) -> None:
    with_estimate = on.ask_patiently(COMPLEX).context

    assert on.trace()["complexity_estimates"]
    assert "arallel" not in with_estimate


@pytest.mark.conformance("S2-5Bb")
def test_no_agent_is_started_and_no_file_is_changed(as_specified: Account) -> None:
    for name in ("claude", "gemini", "codex", "copilot", "git", "sh", "python3"):
        script = f"#!/bin/sh\ntouch {as_specified.home}/started-$(basename $0)\n"
        as_specified.write(f"bin/{name}", script, mode=0o755)
    as_specified.env["PATH"] = f"{as_specified.home}/bin:{as_specified.env['PATH']}"
    as_specified.write("project/schema.sql", "create table carts (id);\n")
    before = tree(as_specified.home, without=as_specified.state)

    assert "independent parts" in suggested(as_specified)
    as_specified.rest()

    assert tree(as_specified.home, without=as_specified.state) == before


@pytest.mark.conformance("S2-5Bb")
@pytest.mark.skipif(not STRACE, reason="strace is not installed")
def test_the_hook_starts_nothing_but_its_own_maintenance(as_specified: Account) -> None:
    as_specified.ask_patiently("warm up, the test is not working")
    as_specified.rest()
    record = as_specified.home / "calls"
    tracing = (str(STRACE), "-f", "-qq", "-s", "300", "-e", "trace=execve", "-o", str(record))

    answer = as_specified.run(as_specified.event(COMPLEX), before=tracing)

    if answer.exit_code or not record.exists():
        pytest.skip(f"strace cannot trace here: {answer.stderr.decode(errors='replace')[:100]}")
    started = re.findall(r"^\d+ +(execve\(.*)$", record.read_text(errors="replace"), re.MULTILINE)
    assert "independent parts" in answer.context
    assert started
    assert all(re.match(r'execve\("[^"]*/python[^"/]*", \["[^"]*python[^"]*", "-I"', call) for call in started), started


def tree(folder: Path, *, without: Path) -> dict[str, bytes]:
    return {
        str(file): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and without not in file.parents and "__pycache__" not in file.parts
    }


def test_a_recorded_prompt_is_replayed_byte_for_byte(as_specified: Account) -> None:
    suggested(as_specified)
    as_specified.rest()

    assert "byte for byte" in as_specified.cli("replay", "--verify")


def test_a_recorded_opinion_with_a_complexity_counts(as_specified: Account) -> None:
    suggested(as_specified)
    as_specified.rest()
    as_specified.cli("trace", "list")
    with closing(database.connect(str(as_specified.state))) as db:
        trace: dict[str, Any] = queries.show(db, queries.last(db))
        stored = queries.instructions(db, trace["rules_hash"])
    rules = recorded_rules(trace["rules_hash"], str(stored))
    opinion = {"task_type": "implementation", "confidence": 0.9, "complexity": 10}

    found = replay(COMPLEX, {**trace["inputs"], "model": {"opinion": opinion}}, rules).estimate

    assert found is not None
    assert found.model == 10
    assert found.score == pytest.approx(0.4 * found.heuristic + 6, abs=0.05)


def test_without_texts_in_the_log_no_estimate_is_stored(on: Account) -> None:
    on.env["ENRICHER_LOG"] = "hash"
    on.ask_patiently(COMPLEX)

    assert rows(on, "select * from complexity_estimates") == []


def test_skipped_prompts_and_small_talk_get_none(on: Account) -> None:
    on.ask("thanks")
    on.ask("/help")

    assert rows(on, "select * from complexity_estimates") == []


def test_commands_show_it(on: Account) -> None:
    shown = on.cli("explain", COMPLEX)
    assert re.search(r"complexity: \d+(\.\d)? of 100, [a-z ]+: \d+ lines in 4\s+files", shown)
    assert "part 2 (after 1): once the schema is there" in " ".join(shown.split())
    enriched = json.loads(on.cli("enrich", COMPLEX, "--json"))["complexity"]
    assert enriched == json.loads(on.cli("explain", COMPLEX, "--json"))["complexity"]
    assert enriched["groups"] == [[1, 3, 4], [2]]
    on.ask_patiently(COMPLEX)
    assert "overall_complexity_score" in on.cli("trace", "last")
    del on.env["ENRICHER_COMPLEXITY_ENABLED"]
    assert "complexity:" not in on.cli("explain", COMPLEX)
    assert json.loads(on.cli("enrich", COMPLEX, "--json"))["complexity"] is None


def test_a_prompt_loads_nothing_of_it_while_it_is_off() -> None:
    source = (ROOT / "enricher" / "respond" / "decision.py").read_text(encoding="utf-8")

    assert not re.search(r"^from enricher\.complexity", source, re.MULTILINE)
