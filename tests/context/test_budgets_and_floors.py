"""Large sources give short texts: shares of each channel, of the prompt and of the session; floors; said once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from enricher.prompt.text import estimate_tokens

if TYPE_CHECKING:
    from simulator import Account

PROMPT = "the login test fails with a KeyError, please fix it"
SHARES = {"code": 150, "session": 100, "tasks": 60, "memory": 200}
TENTH = 1.1
ATTEMPTS = 8
HUGE = "sessions expire in the middleware before the store is asked for the user and then some more of that "


def supply(account: Account, name: str, count: int, *, repeated: int = 10, score: float = 0.9, **rule: object) -> None:
    """Let a program stand for a channel, also for one of ours: the rest of its rule stays as it is shipped."""
    items = [
        {"text": f"{name} {number}: {HUGE * repeated}", "ref": f"{name}/{number}.md", "score": score}
        for number in range(count)
    ]
    file = account.write(f"channels/{name}.json", json.dumps({"items": items}))
    own = {"extend": True} if name in SHARES else {}
    account.channel(name, f"cat {file}", **own, **rule)


def ask(account: Account, *names: str, prompt: str = PROMPT) -> str:
    """Ask until all the named programs answered in time."""
    for _attempt in range(ATTEMPTS):
        context = account.ask(prompt).context
        fates = {one["channel"]: one["status"] for one in account.trace()["channels"]}
        if all(fates[name] == "ok" for name in names):
            break
    assert {name: fates[name] for name in names} == dict.fromkeys(names, "ok")
    return context


def section(context: str, name: str) -> str:
    return "\n".join(line for line in context.splitlines() if line.startswith(f"- {name}/"))


@pytest.mark.parametrize(
    ("name", "share"),
    [
        pytest.param("memory", 200, marks=pytest.mark.conformance("Y13")),
        pytest.param("code", 150, marks=pytest.mark.conformance("Y14")),
        pytest.param("session", 100),
        pytest.param("tasks", 60),
    ],
)
def test_a_channel_has_no_more_than_its_share(account: Account, name: str, share: int) -> None:
    supply(account, name, 15, most=15)
    account.compile()

    said = section(ask(account, name), name)

    assert share / 3 < estimate_tokens(said) <= share * TENTH


@pytest.mark.conformance("Y16", "E59")
def test_all_together_have_no_more_than_the_prompt_s_budget(account: Account) -> None:
    for name in (*SHARES, "notes", "wiki"):
        supply(account, name, 15, most=15)
    account.compile()

    context = ask(account, *SHARES, "notes", "wiki")

    assert 300 < estimate_tokens(context) <= 450 * TENTH
    assert len(context) < 10_000
    assert section(context, "code")
    assert section(context, "memory")


@pytest.mark.conformance("E59")
@pytest.mark.parametrize("tokens", [80, 2000])
def test_the_budget_is_the_person_s(account: Account, tokens: int) -> None:
    supply(account, "notes", 15, most=15, tokens=2000)
    supply(account, "wiki", 15, most=15, tokens=2000)
    account.write("config/config.toml", f"[budgets]\ntokens = {tokens}\nitems = 15\nsession_tokens = 9000\n")
    account.compile()

    context = ask(account, "notes", "wiki")

    assert 0 < estimate_tokens(context) <= tokens
    assert len(context) < 10_000


@pytest.mark.conformance("E59")
def test_the_most_important_item_is_cut_and_not_dropped(account: Account) -> None:
    supply(account, "notes", 1, repeated=100)
    account.write("config/config.toml", "[budgets]\ntokens = 90\n")
    account.compile()

    context = ask(account, "notes", prompt="where does the billing export keep its files, please look it up")

    assert "notes/0.md" in context
    assert "…" in context
    assert estimate_tokens(context) <= 90


@pytest.mark.conformance("E41")
def test_however_many_channels_offer_there_are_only_so_many_items(account: Account) -> None:
    names = [f"notes{number}" for number in range(5)]
    for name in names:
        supply(account, name, 15, repeated=0, most=15)
    account.compile()

    context = ask(account, *names)

    items = [line for line in context.splitlines() if line.startswith("- ")]
    assert 0 < len(items) <= 8
    assert {one["why"] for one in account.trace()["items"] if not one["kept"]} <= {
        "more relevant ones fill the text", "more relevant ones fill the channel", "no room",
    }  # fmt: skip


def test_below_the_floor_the_trace_says_so(account: Account) -> None:
    supply(account, "notes", 2, score=0.3, min_score=0.4)
    account.compile()

    context = ask(account, "notes")
    explained = account.cli("explain", "--trace", account.trace()["id"])

    assert "notes/" not in context
    assert {one["why"] for one in account.trace()["items"]} == {"below the floor"}
    assert "channel notes: searched, nothing above the floor (0.3 of 0.4)" in " ".join(explained.split())


def test_an_item_is_said_once_in_a_session_and_once_by_two_channels(account: Account) -> None:
    supply(account, "notes", 1, repeated=1)
    account.channel("wiki", f"cat {account.home}/channels/notes.json", priority=1)
    account.compile()
    prompts = iter([PROMPT, *(f"{PROMPT} {number}" for number in range(9))])
    said, whys = [], []
    for prompt in prompts:
        said.append("notes/0.md" in account.ask(prompt, session_id="one").context)
        whys.append({one["channel"]: one["why"] for one in account.trace()["items"]})
        if said.count(True) and len(whys[-1]) == 2 and not said[-1]:
            break

    assert said.count(True) == 1
    assert whys[-1] == dict.fromkeys(("notes", "wiki"), "said before in this session")
    assert {"notes": "", "wiki": "told by another channel"} in whys


@pytest.mark.parametrize("place", ["project/CLAUDE.md", "project/.claude/CLAUDE.md", ".claude/CLAUDE.md"])
def test_what_the_host_reads_itself_is_not_told(account: Account, place: str) -> None:
    account.write(place, "# House rules\n\n- **Sessions hold ids\n  only**, never names.\n")
    text = {"items": [{"text": "Sessions hold ids only, never names.", "ref": "adr/7", "score": 1}]}
    file = account.write("channels/notes.json", json.dumps(text))
    account.channel("notes", f"cat {file}")
    account.compile()

    assert "adr/7" not in ask(account, "notes")
    (item,) = account.trace()["items"]
    assert item["why"].startswith("the host has it in ")
    assert "byte for byte" in account.cli("replay", "--verify")


@pytest.mark.conformance("Y30")
@pytest.mark.parametrize("script", ["exit 1", "sleep 10"], ids=["fails", "hangs"])
def test_without_the_memory_the_other_sources_speak(account: Account, script: str) -> None:
    supply(account, "code", 1)
    supply(account, "session", 1)
    account.channel("memory", script, extend=True)
    account.compile()

    context = ask(account, "code", "session")

    assert section(context, "code")
    assert section(context, "session")
    assert [one["reason"].partition(":")[0] for one in account.log()][-1] == "memory"


@pytest.mark.upkeep
@pytest.mark.conformance("Y13", "Y14", "Y16")
def test_our_own_stores_overflow_into_no_more_than_their_shares(account: Account) -> None:
    """The real memory and the real project instead of programs in their place."""
    long = "the login session middleware keeps a KeyError when the user store is asked for the login session"
    memories = [{"namespace": "decisions", "content": f"Decision {n}: {long}. " * 12} for n in range(30)]
    file = account.write("memories.jsonl", "\n".join(map(json.dumps, memories)))
    for number in range(30):
        name = f"project/app/{'long_folder_name/' * 6}login_session_middleware_{number}.py"
        account.write(name, f"def login_session_{number}(user_store):\n    raise KeyError(user_store)\n" * 40)
    account.cli("memory", "import", str(file))
    account.ask(f"{PROMPT} in the login session middleware of the user store")
    account.rest()

    context = account.ask_patiently(f"{PROMPT}: login session middleware, user store, login_session_3").context

    kept = {one["channel"]: one["kept"] for one in account.trace()["channels"]}
    lines = [line for line in context.splitlines() if line.startswith("- ")]
    of_code = [line for line in lines if "login_session_middleware" in line.partition(": ")[0]]
    of_memory = [line for line in lines if "Decision" in line]
    assert kept["code"] + kept["memory"] > 0
    assert estimate_tokens("\n".join(of_code)) <= SHARES["code"] * TENTH
    assert estimate_tokens("\n".join(of_memory)) <= SHARES["memory"] * TENTH
    assert estimate_tokens(context) <= 450 * TENTH
