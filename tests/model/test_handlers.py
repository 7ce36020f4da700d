"""The channels of seed 004 that are part of the package, through the real hook, against a loopback server.

P44 asks for content of the right kind: running text from ``summarization``, a Markdown list from ``code_analysis``,
snippets of the project from ``similarity``; also where the model fails and they answer from the files alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT

from enricher.context import ChannelResult
from enricher.model import allowance
from enricher.model.endpoint import endpoint_of
from enricher.settings import DEFAULTS, with_environment
from enricher.sources.code.search import ensure

sys.path.insert(0, str(ROOT / "tests" / "pipeline"))
from pipeline_caller import ATTEMPTS, EMPTY, GATES, Caller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import ModelServer
    from simulator import Account

pytestmark = pytest.mark.upkeep
IN_TIME = pytest.mark.timed
"""For tests in which models answer within the hook's own deadline, which a busy machine does not keep."""
NAMES = ["summarization", "code_analysis", "similarity"]
PROMPT = "the invoice of a checkout in shop.py is wrong, please fix it"
NARRATIVE = "The shop keeps a basket of items. Its checkout adds up their prices."
STRUCTURE = "- `Basket(dict)`: the items\n- `checkout(basket)`: the sum of the prices"
PATIENT_MS = 20_000
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SHOP = f'''"""The basket of the shop. It knows prices."""
import json

TOKEN = "{SECRET}"


class Basket(dict):
    def add(self, item, price):
        self[item] = price


def checkout(basket):
    return sum(basket.values())
'''
MAIL = '''def send_invoice(checkout):
    """Send the invoice of a checkout by mail."""
    return checkout


def greet(name):
    return "hello"
'''


class Developer(Caller):
    """A caller whose prompt names a file of the project."""

    def ask(self, prompt: object = PROMPT, *, given: bytes | None = None) -> dict[str, Any]:
        """Return the answer to one prompt."""
        return super().ask(prompt, given=given)

    def statuses(self) -> dict[str, str]:
        """Return how the three channels fared with the last prompt."""
        return {one["channel"]: one["status"] for one in self.account.trace()["channels"] if one["channel"] in NAMES}


def reply(text: str, _body: dict[str, Any]) -> str:
    return hybrid(f"Here it is:\n{STRUCTURE}" if "Markdown list" in text else NARRATIVE)


def hybrid(content: str) -> str:
    """Return an answer in the form that the prompts ask for."""
    return f'<METADATA>\n{{"is_relevant": true}}\n</METADATA>\n<CONTENT>\n{content}\n</CONTENT>'


@pytest.fixture
def caller(account: Account, model_server: ModelServer) -> Iterator[Caller]:
    """A caller in a small project with an index, whose gates are open and whose endpoints are the loopback server."""
    account.write("project/shop.py", SHOP)
    account.write("project/mail.py", MAIL)
    subprocess.run(["git", "init", "-q", str(account.project)], check=True)
    model_server.key, model_server.models, model_server.reply = "", (), reply
    account.env |= dict.fromkeys(GATES, "true")
    account.env |= {"LLM_CODER_FAST_URL": model_server.url, "LLM_EMBEDDING_URL": f"{model_server.url}/v1/embeddings"}
    account.env["LLM_CODER_FAST_MODEL"] = "coder"
    account.compile()
    ensure(str(account.project), str(account.state))
    yield Developer(account)
    account.rest()


ASK = """
import json, os, sys
root, cwd, prompt, patient_ms, *names = sys.argv[1:]
sys.path.append(root)
from enricher.classify.verdict import classify
from enricher.context import Request
from enricher.context.gathering import gather
from enricher.home import state_dir
from enricher.prompt.conversation import Conversation
from enricher.prompt.event import PromptEvent
from enricher.prompt.project import identify
from enricher.rules import cache
from enricher.settings import with_environment

rules, _layers = cache.load(cwd)
settings, _problems = with_environment(rules.body["settings"], os.environ)
settings |= {"budgets.channel_ms": int(patient_ms), "budgets.gather_ms": int(patient_ms)}
event = PromptEvent(prompt, host="claude", session_id="", cwd=cwd)
judged = classify(prompt, rules.table)
request = Request(
    event, judged, project=identify(cwd), conversation=Conversation(), state=state_dir(), settings=settings
)
declared = [{**rule, "deadline_ms": int(patient_ms)} for rule in rules.body["channels"] if rule["name"] in names]
found = gather(declared, request, settings)
print(json.dumps([one.to_json() | {"model": one.model, "fallback": one.fallback} for one in found]))
"""


def gathered(caller: Caller, prompt: str = PROMPT, *, patient_ms: int = PATIENT_MS) -> dict[str, ChannelResult]:
    """Ask the channels as the hook does, but with a deadline that a busy machine keeps."""
    account = caller.account
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ASK, str(ROOT), str(account.project), prompt, str(patient_ms), *NAMES],
        env=account.env,
        capture_output=True,
        check=True,
    )
    found = {}
    for told in json.loads(ended.stdout):
        one = found[told["name"]] = ChannelResult.from_json(told)
        one.model, one.fallback = told["model"], told["fallback"]
    return found


def text_of(found: ChannelResult) -> str:
    return "\n".join(item.text for item in found.candidates)


def asked(server: ModelServer) -> set[str]:
    return {call.path for call in server.calls}


@pytest.mark.conformance("P39", "P40", "P44")
def test_each_channel_gives_content_of_its_kind(caller: Caller) -> None:
    found = gathered(caller)

    assert list(found) == NAMES
    assert {one.status for one in found.values()} == {"ok"}
    assert text_of(found["summarization"]) == NARRATIVE
    assert text_of(found["code_analysis"]) == STRUCTURE
    assert found["similarity"].candidates[0].text.startswith("```\ndef send_invoice(checkout):\n")
    assert found["similarity"].candidates[0].label == "similar: mail.py:1"
    assert "def greet" not in text_of(found["similarity"])
    assert [(one.model, one.fallback) for one in found.values()] == [
        ("coder", False), ("coder", False), ("default", False),
    ]  # fmt: skip


@pytest.mark.conformance("P39", "P40", "P44")
@IN_TIME
def test_the_hook_shows_what_the_models_said_in_the_order_of_the_document(caller: Caller) -> None:
    caller.account.env["ENRICHER_EVENTS_FILE"] = "events.jsonl"

    def events() -> list[dict[str, Any]]:
        return [one for one in caller.events() if one["correlation_id"] == caller.account.trace()["id"]]

    def is_whole(_answer: dict[str, Any]) -> bool:
        end_pauses(caller)
        return [one["fallback_used"] for one in events()] == [False] * 3

    answer = caller.ask_until(is_whole)
    blocks = answer["enrichment_context"].split("\n\n")

    assert [block.partition("\nSource: ")[0] for block in blocks[:3]] == ["## Enrichments", NARRATIVE, STRUCTURE]
    assert blocks[3].startswith("```\ndef send_invoice(checkout):")
    assert {one["channel"]: (one["model_name"], one["fallback_used"]) for one in events()} == {
        "summarization": ("coder", False), "code_analysis": ("coder", False), "similarity": ("default", False),
    }  # fmt: skip


@pytest.mark.conformance("P39", "P40")
@pytest.mark.parametrize(
    ("variable", "names", "path"),
    [
        ("LLM_CODER_FAST_URL", NAMES[2:], "/v1/embeddings"),
        ("LLM_EMBEDDING_URL", NAMES[:2], "/v1/chat/completions"),
    ],
)
def test_a_channel_without_an_endpoint_takes_no_part(
    caller: Caller, model_server: ModelServer, variable: str, names: list[str], path: str
) -> None:
    del caller.account.env[variable]
    caller.ask()
    found = gathered(caller)

    assert set(caller.statuses()) == set(names) == set(found)
    assert {one.status for one in found.values()} == {"ok"}
    assert asked(model_server) == {path}


@pytest.mark.conformance("P05", "P40")
@pytest.mark.parametrize("gate", GATES)
def test_a_gate_that_is_unset_changes_nothing(caller: Caller, model_server: ModelServer, gate: str) -> None:
    account = caller.account
    account.env = {name: value for name, value in account.env.items() if not name.startswith("LLM_")}
    without, before = account.ask_patiently(PROMPT).context, account.trace()
    account.env |= {"LLM_CODER_FAST_URL": model_server.url, "LLM_EMBEDDING_URL": model_server.url}
    del account.env[gate]
    after = account.ask_patiently(PROMPT).context

    assert caller.ask() == EMPTY
    assert after == without
    assert model_server.calls == []
    channels = [[one["channel"] for one in trace["channels"]] for trace in (before, account.trace())]
    assert channels[0] == channels[1]
    assert not set(NAMES) & set(channels[0])


FAULTS = {
    "refused": {"status": 500},
    "late": {"delay_s": 60.0},
    "no json": {"malformed": "not json"},
    "cut": {"half_close": "within the body"},
    "nonsense": {"malformed": b'{"data": [], "choices": [{"message": {"content": "  "}}]}'},
}


@pytest.mark.conformance("P44")
@pytest.mark.parametrize("fault", FAULTS)
@IN_TIME
def test_a_model_that_fails_leaves_what_the_files_tell(caller: Caller, model_server: ModelServer, fault: str) -> None:
    for name, value in FAULTS[fault].items():
        setattr(model_server, name, value)
    # A late model is waited for until the deadline; a busy machine needs a longer one for what the files tell.
    for patient_ms in (2_500, PATIENT_MS) if fault == "late" else (PATIENT_MS,):
        found = gathered(caller, patient_ms=patient_ms)
        if all(map(text_of, found.values())):
            break

    assert text_of(found["summarization"]) == "shop.py: The basket of the shop."
    assert "- `class Basket(dict)` (line 7)\n  - `def add(self, item, price)` (line 8)" in text_of(
        found["code_analysis"]
    )
    assert "def send_invoice(checkout):" in text_of(found["similarity"])
    assert {(one.status, one.fallback) for one in found.values()} == {("ok", True)}


@pytest.mark.conformance("P44")
def test_an_answer_of_the_wrong_kind_is_not_shown(caller: Caller, model_server: ModelServer) -> None:
    model_server.reply = lambda text, _body: hybrid(NARRATIVE if "Markdown list" in text else STRUCTURE)
    found = gathered(caller)

    assert text_of(found["summarization"]) == "shop.py: The basket of the shop."
    assert NARRATIVE not in text_of(found["code_analysis"])
    assert [one.fallback for one in found.values()] == [True, True, False]


def test_a_prompt_that_names_nothing_of_the_project_asks_no_model(caller: Caller, model_server: ModelServer) -> None:
    found = gathered(caller, "please write a poem")

    assert [found[name].status for name in NAMES[:2]] == ["empty", "empty"]
    assert "/v1/chat/completions" not in asked(model_server)


def test_code_in_the_prompt_is_analysed(caller: Caller, model_server: ModelServer) -> None:
    found = gathered(caller, "what is wrong here?\n```python\nclass Till(Basket):\n    pass\n```\n")

    assert text_of(found["code_analysis"]) == STRUCTURE
    assert any("class Till(Basket):" in call.prompt_text for call in model_server.calls if call.body.get("messages"))


def test_no_secret_of_a_file_leaves_the_machine(caller: Caller, model_server: ModelServer) -> None:
    gathered(caller)
    sent = json.dumps([call.body for call in model_server.calls])

    assert "class Basket" in sent
    assert "[redacted:" in sent
    assert SECRET not in sent


def test_a_text_is_sent_once_for_its_vector(caller: Caller, model_server: ModelServer) -> None:
    del caller.account.env["LLM_CODER_FAST_URL"]
    first = gathered(caller)["similarity"]
    sent = [text for call in model_server.calls for text in call.body["input"]]
    again = _until_kept(caller, model_server, [])

    assert PROMPT in sent
    assert len(sent) == len(set(sent)) == 6
    assert [item.to_json() for item in again.candidates] == [item.to_json() for item in first.candidates]
    assert not again.fallback


def test_the_vector_of_a_prompt_is_not_kept_where_prompts_are_not(caller: Caller, model_server: ModelServer) -> None:
    del caller.account.env["LLM_CODER_FAST_URL"]
    caller.account.env["ENRICHER_LOG"] = "hash"
    gathered(caller)
    again = _until_kept(caller, model_server, [[PROMPT]])

    assert again.status == "ok"
    assert [call.body["input"] for call in model_server.calls] == [[PROMPT]]


def _until_kept(caller: Caller, server: ModelServer, wanted: list[list[str]]) -> ChannelResult:
    """Ask again until only ``wanted`` is sent: a program that is ended while it writes keeps nothing."""
    for _attempt in range(8):
        server.calls.clear()
        found = gathered(caller)["similarity"]
        if [call.body["input"] for call in server.calls] == wanted:
            break
    assert [call.body["input"] for call in server.calls] == wanted
    return found


def test_a_rule_without_a_command_tunes_the_channel_and_one_with_a_command_replaces_it(
    caller: Caller, model_server: ModelServer
) -> None:
    rules = "# Context\n\n## Channel: code_analysis\n\n```yaml\nmodel: false\n```\n"
    caller.account.instruct(f"{rules}\n## Channel: similarity\n\n```yaml\ndisabled: true\n```\n")
    caller.says("summarization", "my own summary")
    caller.account.compile()
    found = gathered(caller)
    del caller.account.env[GATES[0]]

    assert set(found) == {"summarization", "code_analysis"}
    assert text_of(found["summarization"]) == "my own summary"
    assert text_of(found["code_analysis"]) == STRUCTURE
    assert len(model_server.calls) == 1
    assert {one.status for one in gathered(caller).values()} == {"off"}


def test_doctor_tells_why_a_channel_with_an_endpoint_is_off(caller: Caller) -> None:
    del caller.account.env[GATES[1]]
    with_endpoints = caller.account.cli("doctor", "--json")
    del caller.account.env["LLM_CODER_FAST_URL"], caller.account.env["LLM_EMBEDDING_URL"]
    without = caller.account.cli("doctor", "--json")

    assert all(f"channel {name}" in with_endpoints for name in NAMES)
    assert not any(f"channel {name}" in without for name in NAMES)


def test_an_endpoint_may_end_in_its_method_and_have_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_EMBEDDING_URL", "http://localhost:8080/v1/embeddings/")
    monkeypatch.setenv("LLM_EMBEDDING_API_KEY", "secret")
    endpoint = endpoint_of("LLM_EMBEDDING_URL")

    assert (endpoint.host, endpoint.port, endpoint.path("embeddings")) == ("localhost", 8080, "/v1/embeddings")
    assert (endpoint.name, endpoint.key) == ("default", "secret")


def end_pauses(caller: Caller) -> None:
    """Let the pauses after failures be over, as they are after some minutes."""
    file = caller.account.state / allowance.FILE
    if file.exists():
        kept = json.loads(file.read_text())
        file.write_text(json.dumps(kept | {"pauses": {}}))


def is_left_alone(caller: Caller, server: ModelServer, purpose: str, reason: str) -> bool:
    """Ask until no call may be made for the purpose any more; return whether the next prompt makes none either."""
    limits = with_environment({}, caller.account.env)[0]
    for _attempt in range(2 * ATTEMPTS):
        refusal = allowance.read(str(caller.account.state)).refusal_for(purpose, limits)
        if refusal == reason:
            break
        if refusal.startswith("paused"):  # the machine was too busy for the answers of three prompts
            end_pauses(caller)
        caller.ask()
    calls = len(server.calls)
    caller.ask()
    refusal = allowance.read(str(caller.account.state)).refusal_for(purpose, limits)
    return (refusal, len(server.calls)) == (reason, calls)


@pytest.mark.parametrize("left", [1, 2])
@IN_TIME
def test_the_calls_of_all_channels_count_towards_the_limit_of_the_day(
    caller: Caller, model_server: ModelServer, left: int
) -> None:
    """Three channels ask at the same time."""
    caller.account.env["ENRICHER_MODEL_CALLS_PER_DAY"] = str(left)

    assert is_left_alone(caller, model_server, NAMES[0], f"budget: {left} calls today")
    assert len(model_server.calls) <= left
    assert gathered(caller)[NAMES[0]].fallback


@pytest.mark.parametrize("other", ["LLM_CODER_FAST_URL", "LLM_EMBEDDING_URL"])
@IN_TIME
def test_the_cost_of_channels_and_vectors_counts_towards_the_limit_of_the_day(
    caller: Caller, model_server: ModelServer, other: str
) -> None:
    del caller.account.env[other]
    caller.account.env |= {"ENRICHER_MODEL_USD_PER_MILLION_INPUT": "5", "ENRICHER_MODEL_USD_PER_DAY": "0.0001"}

    assert is_left_alone(caller, model_server, NAMES[0], "budget: 0.00 USD today")
    assert allowance.read(str(caller.account.state)).today()[1] > 0.0001


@pytest.mark.parametrize("fault", [{"status": 500}, {"delay_s": 5.0}], ids=["refused", "late"])
@pytest.mark.parametrize(("other", "name"), [("LLM_CODER_FAST_URL", NAMES[2]), ("LLM_EMBEDDING_URL", NAMES[1])])
@IN_TIME
def test_after_three_failures_a_channel_leaves_its_model_alone_for_a_while(
    caller: Caller, model_server: ModelServer, other: str, name: str, fault: dict[str, Any]
) -> None:
    """The search by meaning and the second opinion go on: they have other endpoints, or more time."""
    del caller.account.env[other]
    for key, value in fault.items():
        setattr(model_server, key, value)
    caller.account.instruct(f"# Context\n\n## Channel: {NAMES[0]}\n\n```yaml\ndisabled: true\n```\n")
    caller.account.compile()
    assert is_left_alone(caller, model_server, name, "paused after 3 failures in a row")
    assert len(model_server.calls) <= 3 + 1  # on a busy machine a channel may end before it has noted its failure
    known = allowance.read(str(caller.account.state))
    assert {known.refusal_for(purpose, DEFAULTS) for purpose in ("", allowance.VECTORS)} == {""}
    assert gathered(caller)[name].fallback


@IN_TIME
def test_an_answer_ends_the_count_of_failures(caller: Caller, model_server: ModelServer) -> None:
    del caller.account.env["LLM_EMBEDDING_URL"]
    for status in (500, 500, 200, 500, 500, 200):
        model_server.status = status
        found = gathered(caller)

    assert len(model_server.calls) == 12
    assert {one.fallback for one in found.values()} == {False}
