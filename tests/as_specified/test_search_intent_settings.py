"""Each setting of the search intent changes the text that the agent receives, from a file and from the environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

HOWTO = "how do I rotate the signing certificate?"
CERTAIN_HOWTO = (
    "How do I rotate the signing certificate? I want to know how to rotate it. What is the right way to do that?"
)
TROUBLE = "why does the signing certificate fail to rotate?"
OFF = ("false", "0", "FALSE")
BOTH_PROFILES = pytest.mark.parametrize("profile", ["quiet", "as-specified"])
SHOWN_IN_QUIET = 1
"""Of notes that say the same of one matter, one is told there, however many the settings allow."""


def said(account: Account, prompt: str = HOWTO) -> list[str]:
    """Type a prompt and return the namespace of each memory in its text."""
    for _ in range(4):  # a machine under load may miss the channel's deadline
        answer = account.ask_patiently(prompt)
        if "timeout" not in {one["status"] for one in account.trace()["channels"]}:
            break
    return [line.split()[1] for line in answer.context.splitlines() if line.startswith("- ")]


def put(account: Account, source: str, **settings: object) -> None:
    """Set search-intent settings the way ``source`` says: in the file, or under either name in the environment."""
    if source == "file":
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
        account.write("config/config.toml", f"[search_intent]\n{lines}")
        account.compile()
    else:
        account.env |= {f"{source}_SEARCH_INTENT_{name.upper()}": str(value) for name, value in settings.items()}


@pytest.mark.conformance("S1-6.5d")
@pytest.mark.parametrize("source", ["file", "SUBCOG", "ENRICHER"])
@pytest.mark.parametrize(
    ("settings", "count"),
    [
        pytest.param({"min_confidence": 0.9, "base_count": 1}, 1, id="base_count below min_confidence"),
        pytest.param({"base_count": 0, "max_count": 2}, 2, id="max_count above it"),
        pytest.param({"max_tokens": 25}, 2, id="max_tokens"),
        pytest.param({"enabled": False}, 0, id="none where it is off"),
    ],
)
@BOTH_PROFILES
def test_a_setting_decides_how_many_memories_are_said(
    remembering: Account, profile: str, source: str, settings: dict[str, object], count: int
) -> None:
    remembering.env["ENRICHER_PROFILE"] = profile
    usual = len(said(remembering))
    put(remembering, source, **settings)

    most = SHOWN_IN_QUIET if profile == "quiet" else 10
    assert (len(said(remembering)), usual) == (min(count, most), most)


@pytest.mark.conformance("S1-2.2a", "S1-2.2b", "S1-2.2c", "S1-2.10a", "S1-2.10b", "S1-2.10c")
@pytest.mark.parametrize(
    ("prompt", "least", "count"),
    [
        pytest.param(HOWTO, "0.9", 5, id="an intent below min_confidence"),
        pytest.param(HOWTO, "0.5", 10, id="a medium one"),
        pytest.param(CERTAIN_HOWTO, "0.5", 15, id="a sure one"),
    ],
)
def test_as_specified_the_text_holds_as_many_memories_as_the_intent_is_worth(
    remembering: Account, prompt: str, least: str, count: int
) -> None:
    remembering.env |= {"ENRICHER_PROFILE": "as-specified", "SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE": least}

    assert len(said(remembering, prompt)) == count


@pytest.mark.conformance("S1-2.11a", "S1-2.11b", "S1-2.11c", "S1-6.14a")
@BOTH_PROFILES
def test_min_confidence_decides_whether_namespaces_are_weighted(remembering: Account, profile: str) -> None:
    remembering.env["ENRICHER_PROFILE"] = profile
    shown = SHOWN_IN_QUIET if profile == "quiet" else 3
    weighted = {prompt: said(remembering, prompt)[:shown] for prompt in (HOWTO, TROUBLE)}
    remembering.env["SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE"] = "0.9"
    unweighted = said(remembering, HOWTO)[:shown]

    assert weighted == {HOWTO: ["patterns"] * shown, TROUBLE: ["blockers"] * shown}
    assert unweighted != ["patterns"] * shown


@pytest.mark.conformance("S1-6.4b", "S1-6.4c", "S1-6.5b", "S1-6.5c", "S1-6.11a")
@pytest.mark.parametrize("source", ["file", "SUBCOG", "ENRICHER"])
@pytest.mark.parametrize("settings", [{"use_llm": True}, {"llm_timeout_ms": 75}])
def test_a_wish_for_a_model_is_taken_and_answered_once(
    account: Account, source: str, settings: dict[str, object]
) -> None:
    without = account.ask_patiently("What is the hydrator?").context
    put(account, source, **settings)
    first, second = account.ask_patiently("What is the hydrator?"), account.ask("What is the hydrator?")
    shown = json.loads(account.cli("config", "show", "--json"))
    records = [one["reason"] for one in account.log() if "no model is configured" in one["reason"]]

    assert {name.partition(".")[2]: value for name, value in shown["settings"].items()}.items() >= settings.items()
    assert "no model is configured" in first.told
    assert (second.told, len(records)) == ("", 1)
    assert first.context == second.context == without


@pytest.mark.conformance("S1-6.5a", "S1-6.5b", "S1-6.5c", "S1-6.5d")
@pytest.mark.parametrize(
    ("name", "given", "value", "is_refused"),
    [
        *(pytest.param("ENABLED", word, False, False, id=f"a switch: {word}") for word in OFF),
        pytest.param("ENABLED", "perhaps", True, True, id="no switch"),
        *(pytest.param("USE_LLM", word, False, False, id=f"another switch: {word}") for word in OFF),
        pytest.param("USE_LLM", "perhaps", True, True, id="no other switch"),
        pytest.param("LLM_TIMEOUT_MS", "75", 75, False, id="a number"),
        pytest.param("LLM_TIMEOUT_MS", "abc", 90, True, id="no number"),
        pytest.param("LLM_TIMEOUT_MS", "0", 90, True, id="no time at all"),
        pytest.param("MAX_COUNT", "900", 50, False, id="a number beyond its limit"),
    ],
)
def test_the_environment_wins_over_the_file_and_garbage_does_not(
    account: Account, name: str, given: str, value: object, *, is_refused: bool
) -> None:
    put(account, "file", enabled=True, use_llm=True, llm_timeout_ms=90, max_count=7)
    account.env[f"SUBCOG_SEARCH_INTENT_{name}"] = given
    shown = json.loads(account.cli("config", "show", "--json"))

    assert shown["settings"][f"search_intent.{name.lower()}"] == value
    assert bool(shown["warnings"]) is is_refused


def test_what_shaped_a_text_is_recorded_with_it(remembering: Account) -> None:
    put(remembering, "SUBCOG", base_count=2, max_count=4, max_tokens=300, min_confidence=0.6)
    remembering.env["ENRICHER_PROFILE"] = "as-specified"
    assert len(said(remembering)) == 2
    recorded = remembering.trace()["inputs"]["settings"]
    for name in [name for name in remembering.env if "SEARCH_INTENT" in name or name == "ENRICHER_PROFILE"]:
        del remembering.env[name]

    assert recorded["profile"] == "as-specified"
    assert [recorded[f"search_intent.{name}"] for name in ("base_count", "max_count", "max_tokens")] == [2, 4, 300]
    assert ", 0 did not" in remembering.cli("replay", "--verify")
