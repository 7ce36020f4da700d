"""``enricher ab ask`` and ``ab resume``: two arms, the same cases, a model that is really asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from protocols import ApiError
from serving import MODEL, anthropic_environment
from simulator import ENTRY, ROOT

from enricher.model import allowance
from storage.db import database

if TYPE_CHECKING:
    from serving import ModelServer
    from simulator import Account

METRICS = ["tokens", "latency_ms", "success", "quality", "violations"]
RULE = {"id": "CODE_001", "name": "NO_STUBS", "severity": "critical", "description": "Never generate stub functions"}
FOUND = {"rule_id": "CODE_001", "severity": "critical", "message": "the function is a stub"}


def response(*violations: dict[str, str], content: str = "Read it.") -> str:
    found = {"is_valid": not violations, "quality_score": 90, "violations": list(violations)}
    return f"<METADATA>\n{json.dumps(found)}\n</METADATA>\n<CONTENT>\n{content}\n</CONTENT>"


@pytest.fixture
def asking(account: Account, model_server: ModelServer) -> Account:
    """Return an account with a model that has a price: 1 and 5 US dollars per million tokens."""
    account.env |= anthropic_environment(model_server)
    account.env |= {"ENRICHER_MODEL_USD_PER_MILLION_INPUT": "1", "ENRICHER_MODEL_USD_PER_MILLION_OUTPUT": "5"}
    model_server.reply = response()
    return account


def cases(account: Account, count: int = 6, **more: Any) -> str:
    rows = [
        {"id": f"c{n:03}", "code": f"def number_{n:03}():\n    return {n}\n", "rules": [RULE], **more}
        for n in range(count)
    ]
    return str(account.write("cases.jsonl", "\n".join(map(json.dumps, rows))))


def ask(account: Account, *more: str, template: str = "validation") -> dict[str, Any]:
    value: dict[str, Any] = json.loads(account.cli("ab", "ask", "--template", template, "--json", *more))
    return value


def prompts(server: ModelServer) -> list[str]:
    return [call.body["messages"][0]["content"] for call in server.calls]


def asked(server: ModelServer) -> list[str]:
    """Return case and arm of each call in their order: a is unstructured, b is structured."""
    found = []
    for text in prompts(server):
        number = text.partition("def number_")[2][:3]
        found.append(f"{number}{'b' if text.startswith('<METADATA>') else 'a'}")
    return found


@pytest.mark.conformance("S2-6a", "S2-6b", "S2-M1", "S2-M2", "S2-M4", "S2-M5")
def test_both_arms_are_asked_about_every_case_and_every_response_is_stored(
    asking: Account, model_server: ModelServer
) -> None:
    model_server.reply = lambda text, _body: response(*[FOUND] * text.startswith("<METADATA>"))
    made = ask(asking, "--prompts", cases(asking))
    kept = json.loads(asking.cli("ab", "show", made["id"], "--json"))

    assert kept == made
    assert list(made["metrics"]) == METRICS
    for one in made["metrics"].values():
        assert one["pairs"] == one["a"]["n"] == one["b"]["n"] == 6
        assert one["difference"] == pytest.approx(one["b"]["mean"] - one["a"]["mean"])
        assert one["interval"]["low"] <= one["difference"] <= one["interval"]["high"]
        assert one["a"]["sd"] >= 0
    assert made["metrics"]["tokens"]["difference"] > 0
    assert made["metrics"]["violations"]["difference"] == 1
    assert len(kept["results"]) == 6
    for row in kept["results"]:
        for arm in "ab":
            assert row[arm]["tokens"] == row[arm]["prompt_tokens"] + row[arm]["response_tokens"]
            assert row[arm]["usd"] == pytest.approx((row[arm]["prompt_tokens"] + 5 * row[arm]["response_tokens"]) / 1e6)
            assert (row[arm]["succeeded"], row[arm]["quality"], row[arm]["fault"]) == (True, 1.0, "")
            assert row[arm]["latency_ms"] > 0


@pytest.mark.conformance("S2-6a", "S2-6j")
def test_an_arm_has_its_own_mode_whatever_is_configured(asking: Account, model_server: ModelServer) -> None:
    made = ask(asking, "--a", "structured", "--b", "unstructured", "--prompts", cases(asking, 1))
    sent = prompts(model_server)

    assert [text.startswith("<METADATA>") for text in sent] == [True, False]
    assert made["arms"]["a"]["hash"] != made["arms"]["b"]["hash"]
    assert not made["same_arms"]


def test_which_arm_goes_first_alternates(asking: Account, model_server: ModelServer) -> None:
    ask(asking, "--prompts", cases(asking, 4))

    assert asked(model_server) == ["000a", "000b", "001b", "001a", "002a", "002b", "003b", "003a"]


@pytest.mark.conformance("S2-6c")
def test_equal_arms_are_not_significant_and_shifted_ones_are(asking: Account, model_server: ModelServer) -> None:
    file = cases(asking, 30)
    replies = iter(range(1000))
    model_server.reply = lambda _text, _body: response(content="word " * (next(replies) * 7 % 5))
    equal = ask(asking, "--a", "structured", "--b", "structured", "--prompts", file)["metrics"]["tokens"]
    shifted = ask(asking, "--prompts", file)

    assert (equal["p"] > 0.05, equal["verdict"], equal["test"]) == (True, "inconclusive", "signed rank")
    assert (shifted["metrics"]["tokens"]["p_adjusted"] < 0.001, shifted["verdict"]) == (True, "changed")


@pytest.mark.conformance("S2-6d")
def test_a_response_that_cannot_be_validated_is_no_success(asking: Account, model_server: ModelServer) -> None:
    model_server.reply = lambda text, _body: "Looks good to me!" if "number_003" in text else response()
    made = ask(asking, "--prompts", cases(asking))

    assert made["metrics"]["success"]["a"]["mean"] == pytest.approx(5 / 6)
    assert (made["results"][3]["a"]["quality"], made["results"][3]["a"]["succeeded"]) == (0, False)
    assert sum(made["breaches"]["a"].values()) == 1


def test_a_dry_run_asks_nothing_and_its_cost_is_an_upper_bound(asking: Account, model_server: ModelServer) -> None:
    file = cases(asking)
    bound = ask(asking, "--prompts", file, "--dry-run")
    assert (model_server.calls, json.loads(asking.cli("ab", "list", "--json"))) == ([], [])
    calls = ask(asking, "--prompts", file)["calls"]

    assert bound["calls"] == calls["made"] == 12
    assert sum(calls["prompt_tokens"].values()) <= bound["prompt_tokens_at_most"]
    assert sum(calls["usd"].values()) <= bound["usd_at_most"]
    assert bound["arms"]["b"]["prompt_tokens_estimated"] > bound["arms"]["a"]["prompt_tokens_estimated"]


def test_the_budget_ends_it_before_it_is_exceeded_and_a_larger_one_goes_on(
    asking: Account, model_server: ModelServer
) -> None:
    file = cases(asking)
    budget = ask(asking, "--prompts", file, "--dry-run")["usd_at_most"] / 5  # of one case, and a little more
    made = ask(asking, "--prompts", file, "--budget", str(budget))
    count = len(model_server.calls)

    assert 0 < made["prompts"] < 6
    assert sum(made["calls"]["usd"].values()) <= budget
    assert "budget" in made["stopped"]
    assert made["left_out"] == {"not asked by both arms": 6 - made["prompts"]}
    again = json.loads(asking.cli("ab", "resume", made["id"], "--budget", "1", "--json"))
    assert (again["prompts"], again["stopped"]) == (6, "")
    assert len(model_server.calls) == 12 > count
    assert len(set(asked(model_server))) == 12


def test_a_budget_needs_a_price(asking: Account, model_server: ModelServer) -> None:
    words = ("ab", "ask", "--template", "validation", "--b", "model:other", "--prompts", cases(asking), "--budget", "1")

    assert "a budget needs the price of other" in asking.cli(*words, exit_code=2)
    assert model_server.calls == []


def test_a_budget_without_a_price_is_refused_when_it_goes_on_too(asking: Account, model_server: ModelServer) -> None:
    del asking.env["ENRICHER_MODEL_USD_PER_MILLION_INPUT"], asking.env["ENRICHER_MODEL_USD_PER_MILLION_OUTPUT"]
    asking.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "2"
    made = ask(asking, "--prompts", cases(asking, 2))

    assert "a budget needs the price" in asking.cli("ab", "resume", made["id"], "--budget", "1", exit_code=2)
    assert len(model_server.calls) == 2


def test_the_calls_of_a_day_end_it_between_two_cases(asking: Account, model_server: ModelServer) -> None:
    asking.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "5"
    made = ask(asking, "--prompts", cases(asking))

    assert (made["prompts"], len(model_server.calls)) == (2, 4)
    assert made["stopped"] == "budget: 4 of 5 calls are made today"


@pytest.mark.slow
def test_what_was_killed_goes_on_where_it_was(asking: Account, model_server: ModelServer) -> None:
    model_server.delay_s = 0.1
    words = ("ab", "ask", "--template", "validation", "--prompts", cases(asking, 8))
    running = subprocess.Popen(
        [sys.executable, "-c", ENTRY, str(ROOT), *words],
        env=asking.env,
        cwd=asking.project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    model_server.wait_for_calls(5, timeout=30)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    model_server.delay_s = 0.0
    found = json.loads(asking.cli("ab", "list", "--json"))[0]
    shown = json.loads(asking.cli("ab", "show", found["id"], "--json"))
    made = json.loads(asking.cli("ab", "resume", found["id"], "--json"))

    assert found["stopped"] == "it was interrupted"
    assert shown["calls"]["made"] == sum(arm in row for row in shown["results"] for arm in "ab") >= 4
    assert shown["prompts"] >= 2
    assert (made["prompts"], made["stopped"], made["calls"]["made"]) == (8, "", 16)
    assert len(set(asked(model_server))) == 16
    assert len(model_server.calls) <= 17  # the call during which it was killed has no result


def test_an_endpoint_that_refuses_ends_it_without_a_result(asking: Account, model_server: ModelServer) -> None:
    model_server.status = 529
    made = ask(asking, "--prompts", cases(asking))

    assert "HTTP 529" in made["stopped"]
    assert (made["calls"]["made"], made["results"], len(model_server.calls)) == (0, [], 1)


def test_a_prompt_that_the_endpoint_refuses_is_a_failed_response(asking: Account, model_server: ModelServer) -> None:
    def reply(text: str, _body: dict[str, Any]) -> str:
        if "number_001" in text:
            raise ApiError(400, "prompt is too long")
        return response()

    model_server.reply = reply
    made = ask(asking, "--prompts", cases(asking, 3))

    assert made["metrics"]["success"]["a"]["mean"] == pytest.approx(2 / 3)
    assert made["metrics"]["tokens"]["pairs"] == 2  # nobody counted the tokens of the third
    assert made["results"][1]["a"]["violations"] is None
    assert made["calls"]["without_count"] == 2


def test_a_case_that_was_edited_meanwhile_is_left_out(asking: Account, model_server: ModelServer) -> None:
    asking.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "2"
    made = ask(asking, "--prompts", cases(asking, 3))
    asking.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "100"
    file = asking.home / "cases.jsonl"
    file.write_text(file.read_text().replace("return 2", "return 3"))
    again = json.loads(asking.cli("ab", "resume", made["id"], "--json"))

    assert (again["prompts"], len(model_server.calls)) == (2, 4)
    assert again["left_out"] == {"its prompt is not the one that the experiment began with": 1}


def test_recorded_prompts_are_cases_and_their_secrets_are_not_sent(asking: Account, model_server: ModelServer) -> None:
    asking.env |= {"ENRICHER_LOG": "full", "ENRICHER_MODEL_TASK_TYPE": "never", "ENRICHER_SEARCH_INTENT_USE_LLM": "0"}
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    asking.ask_patiently(f"why does the deploy fail with {secret}?")
    asking.rest()
    trace = asking.trace()
    model_server.calls.clear()
    model_server.reply = '{"intent_type": "troubleshoot", "confidence": 0.8, "topics": []}'
    made = ask(asking, template="classification")

    assert secret in trace["prompt"]
    assert [row["prompt_id"] for row in made["results"]] == [trace["id"]]
    assert len(model_server.calls) == 2
    assert all("why does the deploy fail" in text and secret not in text for text in prompts(model_server))
    assert all("debug" in text for text in prompts(model_server))  # the task types to choose from


def test_a_forgotten_prompt_leaves_nothing_in_an_experiment(asking: Account) -> None:
    asking.env |= {"ENRICHER_MODEL_TASK_TYPE": "never", "ENRICHER_SEARCH_INTENT_USE_LLM": "0"}
    for prompt in ("why does the deploy fail?", "add a test for the basket"):
        asking.ask_patiently(prompt)
    asking.rest()
    traces = asking.traces()
    made = ask(asking, template="classification")
    asking.cli("trace", "forget", traces[0]["id"], "--yes")
    with closing(database.connect(str(asking.state))) as db:
        (plan,) = db.execute("select plan from experiments").fetchone()

    assert sorted(row["prompt_id"] for row in made["results"]) == sorted(trace["id"] for trace in traces)
    assert [case[0] for case in json.loads(plan)["cases"]] == [traces[-1]["id"]]
    left = json.loads(asking.cli("ab", "show", made["id"], "--json"))
    assert [row["prompt_id"] for row in left["results"]] == [traces[-1]["id"]]


def test_the_times_of_an_experiment_do_not_keep_the_hook_from_asking(asking: Account) -> None:
    made = ask(asking, "--prompts", cases(asking, 4))
    known = allowance.read(str(asking.state))

    assert (known.latencies_ms, known.today()[0]) == ([], 8)
    assert known.today()[1] == pytest.approx(sum(made["calls"]["usd"].values()), abs=1e-5)


def test_two_models_are_compared_with_their_own_prices(asking: Account, model_server: ModelServer) -> None:
    model_server.models = (MODEL, "larger")
    words = ("--a", f"model:{MODEL}", "--b", "model:larger", "--price", "larger=10,50")
    made = ask(asking, *words, "--prompts", cases(asking, 2))

    assert [call.body["model"] for call in model_server.calls] == [MODEL, "larger", "larger", MODEL]
    assert made["calls"]["usd"]["b"] == pytest.approx(10 * made["calls"]["usd"]["a"])
    assert [made["arms"][name]["model"] for name in "ab"] == [MODEL, "larger"]


def test_without_a_price_no_cost_is_stated(asking: Account, model_server: ModelServer) -> None:
    del asking.env["ENRICHER_MODEL_USD_PER_MILLION_INPUT"], asking.env["ENRICHER_MODEL_USD_PER_MILLION_OUTPUT"]
    file = cases(asking, 2)
    said = asking.cli("ab", "ask", "--template", "validation", "--prompts", file)

    assert "the price of a, b is not known" in " ".join(said.split())
    assert "USD" not in said
    assert ask(asking, "--prompts", file, "--dry-run")["usd_at_most"] is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param(("--b", "shorter"), "'shorter' is no arm of a template", id="no arm"),
        pytest.param(("--template", "nothing"), "there is no template 'nothing'", id="no template"),
        pytest.param(("--limit", "5"), "cannot be used with --prompts", id="a file is not limited"),
        pytest.param(("--price", "x=1"), "'x=1' is no price", id="no price"),
        pytest.param(("--template", "planning"), "case c000", id="a variable is missing"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is(
    asking: Account, model_server: ModelServer, words: tuple[str, ...], complaint: str
) -> None:
    exit_code = 2 if "--limit" in words else 1
    said = asking.cli("ab", "ask", "--template", "validation", "--prompts", cases(asking), *words, exit_code=exit_code)

    assert complaint in said
    assert model_server.calls == []


def test_an_experiment_without_a_model_cannot_go_on(asking: Account) -> None:
    file = asking.write("prompts.jsonl", '{"id": "p1", "prompt": "fix the tests"}')
    made = json.loads(asking.cli("ab", "run", "--b", "recorded", "--prompts", str(file), "--json"))

    assert "asked no model" in asking.cli("ab", "resume", made["id"], exit_code=1)
