"""The hook with a model: a real process asks a loopback server that speaks both protocols, and never depends on it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from serving import anthropic_environment, openai_environment

from enricher.model import allowance
from storage.db import database
from storage.traces import queries
from workbench.tui.panes.trace_text import trace_text
from workbench.views.outcomes import describe_model_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving import ModelServer
    from simulator import Account

UNCLEAR = "our basket has the prices of yesterday's import in it now"
"""A prompt about whose task type the rules are uncertain."""
WHERE = "where is the config?"
PATIENT_MS = 1100
"""A time limit that a loopback server keeps on a busy machine."""
SAID = {"intent_type": "howto", "confidence": 0.9, "topics": ["Checkout"], "task_type": "ops", "task_confidence": 0.9}


@pytest.fixture(params=[anthropic_environment, openai_environment], ids=["anthropic", "openai"])
def speaks(request: pytest.FixtureRequest) -> Callable[[ModelServer], dict[str, str]]:
    environment: Callable[[ModelServer], dict[str, str]] = request.param
    return environment


@pytest.fixture
def asking(account: Account, model_server: ModelServer) -> Iterator[Account]:
    """Return an account with a model that answers at once."""
    yield configured(account, anthropic_environment(model_server))
    account.rest()


def configured(account: Account, environment: dict[str, str]) -> Account:
    account.env |= environment | {"ENRICHER_MODEL_ACCURACY": "0.9"}
    account.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = str(PATIENT_MS)
    return account


def model_of(account: Account) -> dict[str, Any]:
    """Return what the newest trace says of the model."""
    found: dict[str, Any] = account.trace()["inputs"].get("model", {})
    return found


def says(**changed: object) -> str:
    return json.dumps(SAID | changed)


@pytest.mark.conformance("S1-5.2a", "S1-5.2b", "S1-5.8b", "S1-5.12a", "S1-6.4b")
def test_a_model_decides_what_the_rules_leave_open(
    account: Account, model_server: ModelServer, speaks: Callable[[ModelServer], dict[str, str]]
) -> None:
    configured(account, speaks(model_server))
    model_server.reply = says()
    answer = account.ask(UNCLEAR)
    trace, model = account.trace(), model_of(account)

    assert answer.is_harmless()
    assert len(model_server.calls) == 1
    assert UNCLEAR in model_server.calls[0].body["messages"][0]["content"]
    assert (trace["task_type"], trace["uncertain"], trace["search_intent"]) == ("ops", False, "howto")
    assert (trace["inputs"]["verdict"]["source"], "Checkout" in trace["topics"]) == ("model", True)
    assert (model["status"], model["limit_ms"], model["model"]) == ("ok", PATIENT_MS, "test-model")
    assert model["input_tokens"] > 100
    assert model["latency_ms"] > 0
    assert "model" in [stage["stage"] for stage in trace["stages"]]
    assert json.loads(account.cli("enrich", UNCLEAR, "--json"))["search_intent"]["source"] == "llm"


def test_without_a_model_nothing_is_asked_or_recorded(account: Account) -> None:
    account.ask(UNCLEAR)

    assert "model" not in account.trace()["inputs"]
    assert not (account.state / allowance.FILE).exists()


@pytest.mark.conformance("S1-5.6d", "S1-5.10a")
def test_signals_and_model_together_are_hybrid(asking: Account, model_server: ModelServer) -> None:
    model_server.reply = says(intent_type="location", topics=["settings"])
    shown = json.loads(asking.cli("enrich", WHERE, "--json"))

    assert shown["search_intent"]["type"] == "location"
    assert shown["search_intent"]["source"] == "hybrid"
    assert shown["topics"][-1] == "settings"
    assert shown["model"]["status"] == "ok"


FAULTS = {
    "timeout": ("timeout", {"delay_s": 5.0}),
    "500": ("error", {"status": 500}),
    "429": ("error", {"status": 429}),
    "529": ("error", {"status": 529}),
    "no json": ("error", {"malformed": "not json"}),
    "cut": ("error", {"half_close": "within the body"}),
    "no headers": ("error", {"half_close": "before the headers"}),
    "html": ("error", {"malformed": "html"}),
    "no object": ("parse", {"reply": "I would say it is a location."}),
    "no confidence": ("parse", {"reply": '{"intent_type": "location"}'}),
}


@pytest.mark.conformance(
    "S1-5.2c", "S1-5.4b", "S1-5.4c", "S1-5.5a", "S1-5.5b", "S1-5.5c", "S1-5.5d", "S1-5.10a", "S1-5.11a", "S1-5.12a"
)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_leaves_the_verdict_of_the_rules_and_its_reason(
    account: Account, model_server: ModelServer, fault: str, speaks: Callable[[ModelServer], dict[str, str]]
) -> None:
    without = account.ask_patiently(WHERE).context
    by_rules = account.trace()
    reason, setting = FAULTS[fault]
    configured(account, speaks(model_server))
    account.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "200" if fault == "timeout" else str(PATIENT_MS)
    for name, value in setting.items():
        setattr(model_server, name, value)
    answer = account.ask(WHERE)
    trace, model = account.trace(), model_of(account)

    assert answer.is_harmless()
    assert answer.context == without
    assert trace["search_intent"] == by_rules["search_intent"] == "location"
    assert trace["inputs"]["verdict"]["source"] == "rules"
    assert (model["status"], bool(model["reason"])) == (reason, True)
    assert json.loads(account.cli("enrich", WHERE, "--json"))["search_intent"]["source"] == "keyword"
    logged = next((one["reason"] for one in account.log() if one["stage"] == "model"), "")
    assert logged.startswith(f"{reason}: ")
    assert f"({model['latency_ms']} of {model['limit_ms']} ms)" in logged


@pytest.mark.conformance("S1-5.4a", "S1-5.4d", "S1-5.8c")
@pytest.mark.parametrize("limit_ms", [20, 200, 500])
def test_the_hook_waits_as_long_as_it_may_and_no_longer(
    asking: Account, model_server: ModelServer, limit_ms: int
) -> None:
    model_server.reply, model_server.delay_s = says(), 0.9
    asking.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = str(limit_ms)
    answer = asking.ask(WHERE)
    model = model_of(asking)

    assert answer.is_harmless()
    assert (model["status"], model["limit_ms"]) == ("timeout", limit_ms)
    assert limit_ms <= model["latency_ms"]


@pytest.mark.timed
@pytest.mark.conformance("S1-5.8c")
def test_with_half_of_the_time_for_a_silent_model_the_hook_takes_less_than_200_ms(
    asking: Account, model_server: ModelServer
) -> None:
    """Ruling R17: what the model gets is taken from the 200 ms. 19 of 20 runs; the process's start is not counted."""
    model_server.delay_s = 5.0
    asking.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "100"
    took_ms = []
    for _ in range(20):
        asking.ask(WHERE)
        (asking.state / allowance.FILE).unlink(missing_ok=True)  # else a model that is so slow is not asked any more
        assert model_of(asking)["status"] == "timeout"
        took_ms.append(asking.trace()["latency_ms"])

    assert sorted(took_ms)[18] < 200


@pytest.mark.conformance("E54", "S1-5.4a")
@pytest.mark.parametrize(("delay_s", "status"), [(0.5, "ok"), (5.0, "timeout")])
def test_the_model_counts_if_it_answers_before_the_hook_must(
    asking: Account, model_server: ModelServer, delay_s: float, status: str
) -> None:
    model_server.delay_s, model_server.reply = delay_s, says()
    asking.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "60000"
    answer = asking.ask(UNCLEAR)
    has_ended_first = not model_server.calls[0].finished.is_set()

    assert answer.is_harmless()
    assert (model_of(asking)["status"], asking.trace()["error"]) == (status, "")
    assert has_ended_first is (status == "timeout")


@pytest.mark.conformance("S1-5.7b", "S1-5.7c", "S1-5.12a")
@pytest.mark.parametrize("name", ["SUBCOG_SEARCH_INTENT_USE_LLM", "ENRICHER_SEARCH_INTENT_USE_LLM"])
def test_a_model_that_is_switched_off_is_not_called(asking: Account, model_server: ModelServer, name: str) -> None:
    asking.env |= {name: "false", "ENRICHER_MODEL_TASK_TYPE": "never"}
    asking.ask(WHERE)

    assert model_server.calls == []
    assert "model" not in asking.trace()["inputs"]
    assert asking.trace()["search_intent"] == "location"
    assert json.loads(asking.cli("enrich", WHERE, "--json"))["search_intent"]["source"] == "keyword"
    assert model_server.calls == []


@pytest.mark.conformance("S1-6.4f")
@pytest.mark.parametrize("is_late", ["false", "true"])
def test_without_search_intents_no_model_is_asked_for_one(
    asking: Account, model_server: ModelServer, is_late: str
) -> None:
    asking.env |= {"ENRICHER_SEARCH_INTENT_ENABLED": "false", "ENRICHER_MODEL_TASK_TYPE": "never"}
    asking.env["ENRICHER_MODEL_LATE"] = is_late
    asking.ask(WHERE)
    asking.rest()

    assert model_server.calls == []
    assert "model" not in asking.trace()["inputs"]


@pytest.mark.conformance("S1-5.7a")
def test_use_llm_is_on_where_a_model_is_configured(asking: Account) -> None:
    def shown() -> bool:
        found: bool = json.loads(asking.cli("config", "show", "--json"))["settings"]["search_intent.use_llm"]
        return found

    assert shown() is True
    del asking.env["ENRICHER_MODEL_URL"]
    assert shown() is False


@pytest.mark.parametrize(("when", "asked"), [("uncertain", False), ("always", True), ("never", False)])
def test_the_task_type_is_asked_for_when_the_rules_are_uncertain_or_always(
    asking: Account, model_server: ModelServer, when: str, *, asked: bool
) -> None:
    model_server.reply = says()
    asking.env["ENRICHER_MODEL_TASK_TYPE"] = when
    asking.ask("TypeError: x is undefined\n\nfix this crash in cart.py please")

    assert ("task_confidence" in model_server.calls[0].body["messages"][0]["content"]) is asked


def test_the_question_holds_the_meanings_of_the_classes_and_the_nearest_labelled_prompts(
    asking: Account, model_server: ModelServer
) -> None:
    model_server.reply = says()
    for prompt in ("the basket lost the prices again", "write the release notes"):
        asking.ask(prompt)
        asking.cli("trace", "label", asking.trace()["id"], "debug")
    asking.ask(UNCLEAR)
    asked = model_server.calls[-1].body["messages"][0]["content"]

    assert '"debug": "The turn ends with a defect found or fixed"' in asked
    assert '"the basket lost the prices again" -> debug\n' in asked
    assert "release notes" not in asked


def test_what_the_model_said_is_replayed_and_other_rules_hear_it_too(
    asking: Account, model_server: ModelServer
) -> None:
    model_server.reply = says()
    asking.ask(UNCLEAR)
    asking.rest()
    layer = asking.instruct("# Classification\n\n## Task type\n\n```yaml\nextend: true\nmin_confidence: 0.99\n```\n")
    said = json.loads(asking.cli("replay", "--instructions", str(layer), "--json"))

    assert "1 texts came out byte for byte as recorded, 0 did not" in asking.cli("replay", "--verify")
    assert len(model_server.calls) == 1
    assert json.dumps(said).count("ops")  # still the model's class, now too uncertain to be shown


def test_the_trace_tells_what_the_model_said_in_the_shell_the_app_and_on_the_page(
    asking: Account, model_server: ModelServer
) -> None:
    model_server.reply = says()
    asking.ask(UNCLEAR)
    trace = asking.trace()
    told = describe_model_call(trace)
    with contextlib.closing(database.connect(str(asking.state))) as db:
        shown = queries.show(db, trace["id"])

    assert told.startswith("test-model: ok, ops (0.90) and howto (0.90), ")
    assert " tokens" in told
    assert "test-model: ok" in asking.cli("trace", "show", trace["id"])
    assert "test-model: ok" in trace_text({**shown, "label_history": (), "sources": {}}, width=200).plain


def test_a_replay_can_ask_the_model_anew_and_says_what_that_costs(asking: Account, model_server: ModelServer) -> None:
    model_server.reply = says()
    asking.ask(UNCLEAR)
    asking.rest()
    model_server.reply = says(task_type="docs")
    found = json.loads(asking.cli("replay", "--ask-model", "--json"))

    assert [one["to"] for one in found["changes"]] == ["docs"]
    assert (found["asked"], found["without_opinion"], len(model_server.calls)) == (1, {}, 2)
    assert asking.trace()["task_type"] == "ops"
    assert "1 prompts asked about, 0 without an opinion; 1 come out differently" in asking.cli("replay", "--ask-model")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"CALLS_PER_DAY": "1"}, "budget: 1 calls today"),
        ({"USD_PER_DAY": "0.0001", "USD_PER_MILLION_INPUT": "5"}, "budget: 0.00 USD today"),
    ],
)
def test_a_spent_budget_stops_the_calls(
    asking: Account, model_server: ModelServer, settings: dict[str, str], reason: str
) -> None:
    asking.env |= {f"ENRICHER_MODEL_{name}": value for name, value in settings.items()}
    model_server.reply = says()
    asking.ask(UNCLEAR)
    asking.rest()
    asking.ask(f"{UNCLEAR}?")

    assert len(model_server.calls) == 1
    assert (model_of(asking)["status"], model_of(asking)["reason"]) == ("skipped", reason)


def test_after_three_failures_the_model_is_left_alone_for_a_while(asking: Account, model_server: ModelServer) -> None:
    model_server.status = 500
    for _ in range(4):
        asking.ask(WHERE)
        asking.rest()

    assert len(model_server.calls) == 3
    assert model_of(asking)["reason"] == "paused after 3 failures in a row"


def test_a_call_that_cannot_finish_in_time_is_not_made(asking: Account, model_server: ModelServer) -> None:
    asking.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "60"
    model_server.reply, model_server.delay_s = says(), 0.4
    for _ in range(allowance.ENOUGH + 1):
        asking.ask(WHERE)
        asking.rest()

    assert len(model_server.calls) == allowance.ENOUGH
    assert model_of(asking)["reason"].startswith("slow: it usually takes ")


def test_the_cost_of_a_call_is_recorded_even_if_it_came_too_late(asking: Account, model_server: ModelServer) -> None:
    asking.env |= {"ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS": "30", "ENRICHER_MODEL_USD_PER_MILLION_INPUT": "5"}
    model_server.reply, model_server.delay_s = says(), 0.5
    asking.ask(UNCLEAR)
    asking.rest()

    assert model_of(asking)["status"] == "timeout"
    assert allowance.read(str(asking.state)).today()[1] > 0


def test_killing_the_process_that_asks_loses_only_its_part(asking: Account, model_server: ModelServer) -> None:
    model_server.delay_s = 5.0

    def kill() -> None:
        model_server.wait_for_calls(1)
        os.kill(max(asking._processes()), signal.SIGKILL)  # noqa: SLF001 (the youngest is the one that asks)

    thread = threading.Thread(target=kill)
    thread.start()
    answer = asking.ask(WHERE)
    thread.join()

    assert answer.is_harmless()
    assert model_of(asking)["status"] == "error"
    assert asking.trace()["search_intent"] == "location"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"URL": "gopher://x"}, "write a URL such as"),
        ({"NAME": ""}, "name the model"),
        ({"KEY_ENV": "NOT_SET"}, "NOT_SET is not set; it has to hold the key for 127.0.0.1"),
        ({"URL": "http://model.example"}, "is not sent to model.example:80 without encryption"),
    ],
)
def test_settings_that_describe_no_endpoint_are_told_and_harm_nothing(
    asking: Account, settings: dict[str, str], reason: str
) -> None:
    asking.env |= {f"ENRICHER_MODEL_{name}": value for name, value in settings.items()}
    answer = asking.ask(WHERE)

    assert answer.is_harmless()
    assert model_of(asking)["status"] == "error"
    assert reason in model_of(asking)["reason"]


def test_a_project_cannot_send_prompts_elsewhere(account: Account, model_server: ModelServer) -> None:
    folder = account.project / ".enricher"
    folder.mkdir()
    (folder / "config.toml").write_text(f'[model]\nurl = "{model_server.url}"\nname = "x"\n')
    (folder / "instructions.md").write_text("# Classification\n")
    account.cli("trust", str(account.project))
    account.ask_patiently(WHERE)
    shown = json.loads(account.cli("config", "show", "--json"))

    assert model_server.calls == []
    assert shown["settings"]["model.url"] == ""
    assert "config.toml:2: 'model.url' is ignored" in account.cli("doctor")


def test_a_key_is_never_recorded(asking: Account, model_server: ModelServer) -> None:
    model_server.status = 401
    asking.ask(WHERE)
    asking.rest()
    key = asking.env["MODEL_TEST_KEY"]

    assert model_server.calls[0].key == key
    for file in asking.state.rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file


def test_a_key_can_come_from_the_keyring_of_the_system(asking: Account, model_server: ModelServer) -> None:
    key = asking.env.pop("MODEL_TEST_KEY")
    program = asking.home / "bin" / "keyring"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$*" = "get my-model test-model" ] && echo {key}\n')
    program.chmod(0o700)
    asking.env |= {"PATH": f"{program.parent}:{asking.env['PATH']}", "ENRICHER_MODEL_KEYRING": "my-model"}
    model_server.reply = says()
    asking.ask(UNCLEAR)
    assert (model_of(asking)["status"], model_server.calls[0].key) == ("ok", key)

    asking.env["ENRICHER_MODEL_KEYRING"] = "another"
    asking.ask(f"{UNCLEAR}?")
    assert "run: keyring set another test-model" in model_of(asking)["reason"]


@pytest.mark.parametrize("is_late", ["false", "true"])
def test_a_secret_is_not_sent_even_if_prompts_are_logged_as_typed(
    asking: Account, model_server: ModelServer, is_late: str
) -> None:
    """Neither with its own prompt, whose result may come late, nor with a later one to which it is an example."""
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    asking.env |= {"ENRICHER_LOG": "full", "ENRICHER_MODEL_LATE": is_late}
    asking.ask(f"{UNCLEAR}: {secret}")
    asking.rest()
    asking.cli("trace", "label", asking.trace()["id"], "docs")
    asking.ask(UNCLEAR)
    sent = [json.dumps(call.body) for call in model_server.wait_for_calls(2)]

    assert secret in asking.traces()[0]["prompt"]
    assert [secret in body for body in sent] == [False, False]
    assert " -> docs" in sent[1]


def test_an_account_of_calls_that_is_garbage_is_begun_anew(asking: Account, model_server: ModelServer) -> None:
    asking.ask(WHERE)
    asking.rest()
    for garbage in (b"\xff\x00", b"[]", b'{"calls": "many"}', b'{"latencies_ms": [null]}'):
        (asking.state / allowance.FILE).write_bytes(garbage)
        assert asking.ask(WHERE).is_harmless()
        asking.rest()
    assert len(model_server.calls) == 5
    assert allowance.read(str(asking.state)).today()[0] == 1


def test_time_passes() -> None:
    account = allowance.Account()
    account.count()
    account.ended(allowance.OPINION, is_failure=True)
    assert account.pauses == {allowance.OPINION: (1, 0.0)}
    account.ended(allowance.OPINION, is_failure=True, retry_after_s=90.0)
    assert 80 < account.pauses[allowance.OPINION][1] - time.time() <= 90
