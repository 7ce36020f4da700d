"""What a channel would have said is unknown only where it would really have been asked something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from enricher.context import ChannelInput
from workbench.replay.channel_inputs import channels_with_changed_input
from workbench.replay.compare import kinds
from workbench.replay.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

ON = {"search_intent.enabled": True, "search_intent.min_confidence": 0.5}
OFF = {**ON, "search_intent.enabled": False}
HOWTO = ChannelInput("debug", search_intent="howto", intent_confidence=0.9)
PLAIN = ChannelInput("debug", search_intent="none")
SILENT = ChannelInput("chat", is_silent=True)


def channel(name: str, **other: Any) -> dict[str, Any]:
    declared = {"command": [], "model": False, "endpoint": "", "deadline_ms": 150, "min_score": 0.5, "most": 2}
    return {"name": name, **declared, "priority": 5, "tokens": 100, **other}


@pytest.mark.parametrize(
    ("was", "now", "settings"),
    [
        pytest.param(channel("code"), channel("code", min_score=0.9, most=9), ON, id="a weight of files"),
        pytest.param(channel("tasks"), channel("tasks", most=3), ON, id="fewer tasks than are offered anyway"),
        pytest.param(channel("memory"), channel("memory", most=9), ON, id="how many memories are told"),
        pytest.param(channel("memory"), channel("memory", min_score=0.1), OFF, id="a memory that is switched off"),
        pytest.param(
            channel("notes", command=["n"]), channel("notes", command=["n"], most=9), ON, id="what no program is told"
        ),
    ],
)
def test_what_no_channel_goes_by_leaves_its_answer_known(
    was: dict[str, Any], now: dict[str, Any], settings: Mapping[str, Any]
) -> None:
    assert channels_with_changed_input((PLAIN, [was]), (PLAIN, [now]), settings=settings) == ()


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param(channel("session"), channel("session", tokens=50), id="the room of a summary"),
        pytest.param(channel("tasks"), channel("tasks", most=9), id="more tasks than are offered anyway"),
        pytest.param(channel("memory"), channel("memory", min_score=0.1), id="a floor of memories"),
        pytest.param(channel("notes", command=["n"]), channel("notes", command=["m"]), id="another program"),
        pytest.param(channel("memory"), channel("memory", command=["m"]), id="a program in place of ours"),
    ],
)
def test_what_a_channel_goes_by_leaves_its_answer_unknown(was: dict[str, Any], now: dict[str, Any]) -> None:
    assert channels_with_changed_input((PLAIN, [was]), (PLAIN, [now]), settings=ON) == (now["name"],)


def test_a_search_intent_asks_the_memory_otherwise_unless_intents_are_switched_off() -> None:
    memory = [channel("memory")]

    assert channels_with_changed_input((PLAIN, memory), (HOWTO, memory), settings=ON) == ("memory",)
    assert channels_with_changed_input((PLAIN, memory), (HOWTO, memory), settings=OFF) == ()


def test_a_channel_that_was_switched_off_is_so_under_other_rules() -> None:
    before, after = [channel("memory")], [channel("memory", min_score=0.1)]
    unlocked = [channel("memory", min_score=0.1, endpoint="EMBEDDINGS")]

    assert channels_with_changed_input((PLAIN, before), (PLAIN, after), settings=ON, off=["memory"]) == ()
    assert channels_with_changed_input((PLAIN, before), (PLAIN, unlocked), settings=ON, off=["memory"]) == ("memory",)


def test_without_a_conversation_there_is_nothing_to_sum_up() -> None:
    before, after = [channel("session")], [channel("session", tokens=50)]

    assert channels_with_changed_input((PLAIN, before), (PLAIN, after), settings=ON, has_past=False) == ()


def test_where_nothing_was_asked_everything_is_unknown() -> None:
    both = [channel("code"), channel("memory")]

    assert channels_with_changed_input((SILENT, both), (PLAIN, both), settings=ON) == ("code", "memory")
    assert channels_with_changed_input((PLAIN, both), (SILENT, both), settings=ON) == ()


def test_a_base_that_would_have_asked_otherwise_is_no_mere_wording() -> None:
    def said(*items: tuple[str, str], unknown: tuple[str, ...] = ()) -> Outcome:
        return Outcome("debug", True, "none", "debugging", (), "", items, "text", 1, unknown)

    assert kinds(said(("memory", "m1"), unknown=("memory",)), said()) == ("context unknown",)
