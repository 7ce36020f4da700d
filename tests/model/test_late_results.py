"""Late results: the hook answers by the rules at once, and what a model adds arrives within the same turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from serving import anthropic_environment
from simulator import ROOT

from enricher.model import allowance
from enricher.record.late import TITLE, new_lines
from enricher.respond.render import CONTEXT_LABEL
from storage import traces
from storage.state import late, sessions
from storage.traces import spool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import ModelServer
    from simulator import Account, Answer

UNCLEAR = "the thing with the basket, you know"
"""A prompt of which the rules know neither task type nor intent."""
SAID = {"intent_type": "howto", "confidence": 0.9, "topics": ["Checkout"], "task_type": "docs", "task_confidence": 0.95}
DOCS = f"{TITLE}\n**Classification**: docs"
WITH_CLASS = "# Output\n\n## Lines\n\n```yaml\nclass_line: alone\n```\n"
MODULES = """
import os, sys
bare = set(sys.modules)
def leave(code):
    os.write(2, "\\n".join(sorted(set(sys.modules) - bare)).encode())
    leave_now(code)
leave_now, os._exit = os._exit, leave
sys.path.append(sys.argv[1])
from enricher.hook.process import main
before = set(sys.modules)
bare |= before
main(["claude"])
"""
"""Runs the hook and prints on stderr the modules that it loads after its own."""


@pytest.fixture
def late_account(account: Account, model_server: ModelServer) -> Iterator[Account]:
    """Return an account with late results whose text shows the task type of a prompt."""
    account.env |= anthropic_environment(model_server) | {
        "ENRICHER_MODEL_LATE": "true",
        "ENRICHER_MODEL_ACCURACY": "0.95",
    }
    account.instruct(WITH_CLASS)
    account.compile()
    model_server.reply = json.dumps(SAID)
    yield account
    account.rest()


def tool_ended(account: Account, session: str, event: str = "PostToolUse", **changed: object) -> Answer:
    """Run the hook as the client does after a use of a tool."""
    return account.run(
        {
            "session_id": session,
            "transcript_path": str(account.home / "no-transcript.jsonl"),
            "cwd": str(account.project),
            "hook_event_name": event,
            "tool_name": "Read",
            "tool_input": {"file_path": "cart.py"},
            "tool_response": {"type": "text"},
        }
        | changed
    )


def waiting(account: Account) -> list[Path]:
    """Return the files of results that no client has got yet."""
    return [file for file in (account.state / late.FOLDER).glob("*") if not file.name.endswith(late.TURN)]


def model_of(account: Account, position: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = account.traces()[position]["inputs"]["model"]
    return found


@pytest.mark.conformance("E53")
def test_the_hook_answers_before_the_model_and_the_result_arrives_in_the_same_turn(
    late_account: Account, model_server: ModelServer
) -> None:
    may_answer = threading.Event()
    model_server.reply = lambda _text, _body: json.dumps(SAID) if may_answer.wait(60) else ""
    answer = late_account.ask(UNCLEAR, session_id="s")
    asked, by_rules = model_of(late_account), late_account.trace()
    early = tool_ended(late_account, "s")
    is_answered = model_server.wait_for_calls(1)[0].finished.is_set()
    may_answer.set()
    late_account.rest()
    first, second = tool_ended(late_account, "s"), tool_ended(late_account, "s")
    told = model_of(late_account)

    assert not is_answered
    assert (answer.context, early.stdout, early.is_harmless()) == ("", b"", True)
    assert (by_rules["task_type"], by_rules["inputs"]["verdict"]["source"]) != ("docs", "model")
    assert (asked["status"], asked.get("outcome")) == ("late", "asked")
    assert first.context == DOCS
    assert first.json is not None
    assert first.json["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert second.stdout == b""
    assert (told["status"], told["outcome"], told["text"]) == ("late", "delivered", DOCS)
    assert (told["latency_ms"] > 0, told["input_tokens"] > 100, told["usd"]) == (True, True, 0.0)
    assert told["late_opinion"]["task_type"] == "docs"
    assert waiting(late_account) == []
    assert sessions.session_state(str(late_account.state), "s").tokens == told["tokens"] > 0


def answered_late(account: Account, session: str = "s", prompt: str = UNCLEAR) -> None:
    """Type a prompt and wait until the model has answered."""
    account.ask(prompt, session_id=session)
    account.rest()


def test_gemini_gets_it_after_a_tool(late_account: Account) -> None:
    late_account.ask(UNCLEAR, session_id="s", hook_event_name="BeforeAgent")
    late_account.rest()
    answer = tool_ended(late_account, "s", "AfterTool")

    assert late_account.trace()["host"] == "gemini"
    assert answer.json == {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": DOCS}}


def test_a_result_that_waits_is_private_and_goes_to_its_own_session_and_no_subagent(late_account: Account) -> None:
    answered_late(late_account)
    (file,) = waiting(late_account)

    assert file.stat().st_mode & 0o777 == 0o600
    assert tool_ended(late_account, "other").stdout == b""
    assert tool_ended(late_account, "s", agent_id="explorer").stdout == b""
    assert tool_ended(late_account, "s").context == DOCS


def test_the_next_prompt_drops_a_result_that_nobody_took(late_account: Account) -> None:
    answered_late(late_account)
    late_account.ask("/clear", session_id="s")
    dropped = model_of(late_account, 0)

    assert tool_ended(late_account, "s").stdout == b""
    assert (dropped["status"], dropped["outcome"]) == ("late", "dropped")
    assert dropped["reason"] == "the next prompt came first"
    assert dropped["late_opinion"]["task_type"] == "docs"
    assert dropped["input_tokens"] > 100


def test_a_result_that_comes_after_the_next_prompt_is_dropped(late_account: Account, model_server: ModelServer) -> None:
    model_server.delay_s = 2.0
    late_account.ask(UNCLEAR, session_id="s")
    model_server.wait_for_calls(1)
    late_account.ask(".a prompt that asks no model", session_id="s")
    late_account.rest()

    assert waiting(late_account) == []
    assert (model_of(late_account, 0)["outcome"], len(model_server.calls)) == ("dropped", 1)


def test_a_prompt_of_a_subagent_does_not_end_the_turn(late_account: Account) -> None:
    answered_late(late_account)
    late_account.ask("look at cart.py", session_id="s", agent_id="explorer")

    assert tool_ended(late_account, "s").context == DOCS


def test_an_opinion_that_changes_nothing_adds_nothing(late_account: Account) -> None:
    late_account.instruct("# Output\n\n## Lines\n\n```yaml\nclass_line: never\n```\n")
    late_account.compile()
    answered_late(late_account)
    model = model_of(late_account)

    assert waiting(late_account) == []
    assert (model["status"], model["outcome"]) == ("late", "nothing new")
    assert model["late_opinion"]["task_type"] == "docs"


def test_what_was_said_at_the_prompt_is_not_said_again(late_account: Account) -> None:
    late_account.env["ENRICHER_PROFILE"] = "as-specified"
    answer = late_account.ask(UNCLEAR, session_id="s")
    late_account.rest()
    added = tool_ended(late_account, "s").context.splitlines()

    assert added[0] == TITLE
    assert "**Classification**: docs" in added
    assert set(added) & set(answer.context.splitlines()) == set()


@pytest.mark.parametrize(("fault", "status"), [({"status": 500}, "error"), ({"reply": "no idea"}, "parse")])
def test_a_model_that_fails_late_is_recorded(
    late_account: Account, model_server: ModelServer, fault: dict[str, Any], status: str
) -> None:
    for name, value in fault.items():
        setattr(model_server, name, value)
    answered_late(late_account)
    model = model_of(late_account)

    assert (model["status"], bool(model["reason"]), "outcome" in model) == (status, True, False)
    assert model["latency_ms"] > 0
    assert tool_ended(late_account, "s").stdout == b""
    assert [one["reason"].partition(":")[0] for one in late_account.log() if one["stage"] == "model"] == [status]


def test_a_spent_budget_stops_late_calls_too(late_account: Account, model_server: ModelServer) -> None:
    late_account.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "0"
    answered_late(late_account)

    assert model_server.calls == []
    assert (model_of(late_account)["status"], model_of(late_account)["reason"]) == ("skipped", "budget: 0 calls today")


def test_the_usual_time_of_a_call_does_not_matter(late_account: Account, model_server: ModelServer) -> None:
    late_account.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "1"
    model_server.delay_s = 0.2
    for number in range(allowance.ENOUGH + 1):
        answered_late(late_account, f"s{number}")

    assert len(model_server.calls) == allowance.ENOUGH + 1


@pytest.mark.parametrize("delivered", [True, False])
def test_the_text_of_such_a_prompt_is_replayed_byte_for_byte(late_account: Account, *, delivered: bool) -> None:
    answered_late(late_account)
    if delivered:
        assert tool_ended(late_account, "s").context == DOCS

    assert "1 texts came out byte for byte as recorded, 0 did not" in late_account.cli("replay", "--verify")


def test_the_trace_shows_what_became_of_it(late_account: Account) -> None:
    answered_late(late_account)
    tool_ended(late_account, "s")
    shown = " ".join(late_account.cli("trace", "show", late_account.trace()["id"]).split())

    assert "test-model: late, delivered, " in shown
    assert f"added late {TITLE} **Classification**: docs" in shown


@pytest.mark.upkeep
def test_a_session_that_does_not_go_on_leaves_nothing_behind(late_account: Account) -> None:
    answered_late(late_account)
    for file in (late_account.state / late.FOLDER).iterdir():
        os.utime(file, (time.time() - late.UNCLAIMED_AFTER_S - 9,) * 2)
    late_account.env["ENRICHER_MODEL_LATE"] = "false"
    late_account.ask("thanks", session_id="another")
    late_account.rest()

    assert list((late_account.state / late.FOLDER).iterdir()) == []
    assert (model_of(late_account, 0)["outcome"], model_of(late_account, 0)["reason"]) == (
        "dropped",
        "the session did not go on",
    )


def test_forgetting_a_prompt_removes_the_result_that_waits(late_account: Account) -> None:
    answered_late(late_account)
    late_account.cli("trace", "forget", late_account.trace()["id"], "--yes")

    assert waiting(late_account) == []
    assert tool_ended(late_account, "s").stdout == b""


@pytest.mark.parametrize(
    "changed",
    [
        {"ENRICHER_LOG": "hash"},
        {"ENRICHER_MODEL_LATE": "false"},
        pytest.param({"hook_event_name": "userPromptSubmitted"}, id="a client without such a hook point"),
        pytest.param({"session_id": ""}, id="no session"),
    ],
)
def test_where_a_late_result_cannot_be_delivered_the_hook_waits(
    late_account: Account, model_server: ModelServer, changed: dict[str, str]
) -> None:
    late_account.env["ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS"] = "1100"
    late_account.env |= {name: value for name, value in changed.items() if name.isupper()}
    event = {name: value for name, value in changed.items() if name.islower()}
    late_account.ask(UNCLEAR, **event)

    assert model_server.calls[0].finished.is_set()
    assert late_account.trace()["task_type"] == "docs"


def test_in_shadow_mode_nothing_is_delivered(late_account: Account) -> None:
    late_account.env["ENRICHER_SHADOW"] = "true"
    answered_late(late_account)

    assert (waiting(late_account), tool_ended(late_account, "s").stdout) == ([], b"")
    assert (model_of(late_account)["outcome"], model_of(late_account)["reason"]) == ("dropped", "shadow mode")


def test_a_project_cannot_ask_for_late_results(account: Account) -> None:
    account.write("project/.enricher/config.toml", "[model]\nlate = true\n")
    account.write("project/.enricher/instructions.md", "# Classification\n")
    account.cli("trust", str(account.project))

    assert json.loads(account.cli("config", "show", "--json"))["settings"]["model.late"] is False


def loaded_at_a_tool(account: Account, session: str) -> list[str]:
    """Return the modules that the hook loads beyond its own when a tool ends."""
    given = json.dumps({"session_id": session, "hook_event_name": "PostToolUse"}).encode()
    command = [sys.executable, "-I", "-S", "-c", MODULES, str(ROOT)]
    ended = subprocess.run(command, input=given, env=account.env, capture_output=True, check=True)
    return ended.stderr.decode().split()


def test_a_tool_loads_nothing_unless_a_result_waits(late_account: Account) -> None:
    never = loaded_at_a_tool(late_account, "s")
    answered_late(late_account)
    before = len(late_account.traces())

    assert never == []
    assert loaded_at_a_tool(late_account, "other") == ["_blake2", "storage.state.late"]
    assert "enricher.record.late" in loaded_at_a_tool(late_account, "s")
    assert len(late_account.traces()) == before


BOOT_MODULES = """
import os, sys
def leave(code):
    os.write(2, "\\n".join(sorted(name for name in sys.modules if name.startswith(("enricher", "storage")))).encode())
    leave_now(code)
leave_now, os._exit = os._exit, leave
sys.argv = sys.argv[1:]
__file__ = sys.argv[0]
exec(compile(open(__file__).read(), __file__, "exec"))
"""


def loaded_from_the_start(account: Account, given: bytes) -> set[str]:
    """Return our modules that a whole hook process loads, started as by the launcher; it prints nothing else."""
    command = [sys.executable, "-I", "-S", "-c", BOOT_MODULES, str(ROOT / "enricher" / "boot.py"), "claude"]
    ended = subprocess.run(command, input=given, env=account.env, capture_output=True, check=True)
    assert ended.stdout == b""
    return set(ended.stderr.decode().split())


def test_a_prompt_loads_nothing_of_late_results_unless_there_ever_was_one(account: Account) -> None:
    event = account.event("thanks!")
    account.run(event)  # which makes the state folder
    loaded = loaded_from_the_start(account, json.dumps(account.event("thanks!")).encode())

    assert "enricher.hook.process" in loaded
    assert {"enricher.hook.early", "storage.state.late", "enricher.record.late"} & loaded == set()


@pytest.mark.parametrize("size", [0, 300_000])
def test_the_end_of_a_tool_is_passed_over_before_the_hook_is_loaded(late_account: Account, size: int) -> None:
    event = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_response": {"text": "}" * size}}
    (late_account.state / late.FOLDER).mkdir(parents=True, mode=0o700)
    loaded = loaded_from_the_start(late_account, json.dumps(event, separators=(",", ":")).encode())

    assert loaded == {"enricher", "enricher.bundle", "enricher.home", "enricher.hook", "enricher.hook.early"}


@pytest.mark.parametrize("pieces", [1, 2])
def test_a_prompt_that_was_begun_to_be_read_is_answered_whole(late_account: Account, pieces: int) -> None:
    """The prompt holds the words of the other event, and may come in pieces, the first up to a closing brace."""
    late_account.env["ENRICHER_MODEL_LATE"] = "false"
    prompt = 'explain {"a": {"hook_event_name":"PostToolUse"}} and where is the config?'
    late_account.ask("thanks")
    (late_account.state / late.FOLDER).mkdir(exist_ok=True, mode=0o700)
    given = json.dumps(late_account.event(prompt), separators=(",", ":")).encode()
    cut = given.index(b"}") + 1 if pieces == 2 else len(given)
    with subprocess.Popen(
        late_account.command(), env=late_account.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as hook:
        assert hook.stdin is not None
        hook.stdin.write(given[:cut])
        hook.stdin.flush()
        time.sleep(0.1)
        hook.communicate(given[cut:], timeout=30)
    late_account.rest()

    assert hook.returncode == 0
    assert late_account.trace()["prompt"] == prompt


def test_a_client_that_never_writes_is_given_up_on(late_account: Account) -> None:
    (late_account.state / late.FOLDER).mkdir(parents=True, mode=0o700)
    reader, writer = os.pipe()
    with subprocess.Popen(late_account.command(), env=late_account.env, stdin=reader, stdout=subprocess.PIPE) as hook:
        os.close(reader)
        stdout, _ = hook.communicate(timeout=30)
        os.close(writer)

    assert (hook.returncode, stdout) == (0, b"")


def test_a_result_for_an_earlier_prompt_is_not_delivered(late_account: Account) -> None:
    answered_late(late_account)
    late.begin_turn(str(late_account.state), "s", "a-later-trace")

    assert tool_ended(late_account, "s").stdout == b""
    assert (model_of(late_account)["outcome"], waiting(late_account)) == ("dropped", [])


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"trace": 7}', b'{"trace": "x"}', b"{" * 5000])
def test_a_damaged_result_is_removed_and_harms_nothing(late_account: Account, content: bytes) -> None:
    answered_late(late_account)
    (file,) = waiting(late_account)
    file.write_bytes(content)

    answer = tool_ended(late_account, "s")
    assert (answer.is_harmless(), answer.stdout) == (True, b"")
    assert waiting(late_account) == []


def test_of_many_tools_that_end_at_once_one_gets_the_result(tmp_path: Path) -> None:
    state = str(tmp_path)
    late.begin_turn(state, "s", "t")
    assert late.store(state, "s", {"trace": "t", "text": "x"})
    with ThreadPoolExecutor(8) as pool:
        taken = [found for found in pool.map(lambda _: late.take(state, "s"), range(8)) if found]

    assert taken == [{"trace": "t", "text": "x"}]
    assert not late.store(state, "s", {"trace": "an earlier one", "text": "x"})


def test_a_label_stays_only_beside_a_fact() -> None:
    said = f"## Prompt Enrichment\n{CONTEXT_LABEL}\n- cart.py\n**Suggested Approach**: plan"
    later = f"## Prompt Enrichment\n{CONTEXT_LABEL}\n- cart.py\n- shop.py\n_Partial: code (time)_"

    assert new_lines(later, said) == [CONTEXT_LABEL, "- shop.py"]
    assert new_lines(said, said) == []


def test_a_late_record_without_its_trace_or_with_garbage_is_ignored(account: Account) -> None:
    account.ask("thanks")
    trace = account.trace()
    spool.put_late(str(account.state), "0" * 24, {"status": "late"})
    folder = account.state / spool.NAME
    record = {"v": traces.SCHEMA_VERSION, "tables": {"late": [["model", "id"], [["{", trace["id"]]]]}}
    (folder / f"{trace['id']}late.ok.json").write_text(json.dumps(record))
    record["tables"] = {"late": [["id", "model"], [[trace["id"], "{}"]]]}
    (folder / "ffff.ok.json").write_text(json.dumps(record))

    assert account.trace() == trace
    assert spool.waiting(str(account.state)) == []
    assert spool.refused(str(account.state)) == 1
