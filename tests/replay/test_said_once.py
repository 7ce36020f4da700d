"""What a session was told already is not told again: the same fact, not another one about the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enricher.classify.verdict import verdict
from enricher.context import Candidate, ChannelResult
from enricher.prompt.conversation import Conversation
from enricher.respond import Inputs
from enricher.respond.decision import decide
from enricher.respond.ranking import shown_refs

if TYPE_CHECKING:
    from enricher.classify import Rules

PROMPT = "where is the Limiter defined and who calls it?"


def why(rules: Rules, label: str, told: list[str], *, resumed: str = "") -> str:
    """Return why a fact about ``src/limits.py`` is left out, where the session was told ``told``."""
    conversation = Conversation()
    conversation.prompts, conversation.resumed = ["look at the limits"], resumed
    fact = Candidate("", "src/limits.py", 0.9, label=label)
    inputs = Inputs(
        PROMPT,
        settings=rules.body["settings"],
        injected=told,
        channels=[ChannelResult("code", "ok", candidates=[fact])],
        conversation=conversation,
    )
    (item,) = decide(inputs, rules, verdict(PROMPT, rules, conversation)).items
    return item.why


BARE, WITH_LINE = "src/limits.py \N{EM DASH} named", "src/limits.py:41 Limiter \N{EM DASH} defined here"


@pytest.mark.parametrize(
    ("label", "told", "is_told_again"),
    [
        (WITH_LINE, "item:src/limits.py", True),
        (WITH_LINE, "item:src/limits.py:41", False),
        (WITH_LINE, "item:src/limits.py:7", True),
        (BARE, "item:src/limits.py", False),
        (BARE, "item:src/limits.py:41", False),
        (BARE, "item:src/other.py", True),
    ],
)
def test_a_file_is_named_again_with_its_line_only(rules: Rules, label: str, told: str, is_told_again: bool) -> None:
    assert bool(why(rules, label, [told])) != is_told_again


def test_after_a_compaction_it_may_be_said_again(rules: Rules) -> None:
    assert why(rules, BARE, ["item:src/limits.py"], resumed="6f2c") == ""


def test_what_is_remembered_is_the_place(rules: Rules) -> None:
    inputs = Inputs(
        PROMPT,
        settings=rules.body["settings"],
        channels=[ChannelResult("code", "ok", candidates=[Candidate("", "src/limits.py", 0.9, label=WITH_LINE)])],
    )

    assert ("item", "src/limits.py:41") in shown_refs(decide(inputs, rules, verdict(PROMPT, rules, Conversation())))
