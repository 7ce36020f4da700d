"""Which late channels the agent is told about: programs that someone set up, not the channels of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enricher.classify.verdict import verdict
from enricher.context import Candidate, ChannelResult
from enricher.respond import Inputs
from enricher.respond.decision import decide

if TYPE_CHECKING:
    from enricher.classify import Rules

PROMPT = "where is the Limiter defined and who calls it?"
LATE = "_Partial: memory (time)_"


def recorded(rules: Rules, *, is_built_in: bool, profile: str = "quiet") -> Inputs:
    """Return the inputs as a trace holds them: one fact, and a channel that ran out of time."""
    fact = Candidate("", "src/limits.py", 0.9, label="src/limits.py:41 Limiter \N{EM DASH} defined here")
    late = ChannelResult("memory", "timeout")
    late.is_built_in = is_built_in
    settings = {**rules.body["settings"], "profile": profile}
    inputs = Inputs(PROMPT, settings=settings, channels=[ChannelResult("code", "ok", candidates=[fact]), late])
    return Inputs.from_json(PROMPT, inputs.to_json())


@pytest.mark.parametrize(
    ("is_built_in", "profile", "is_told"),
    [
        pytest.param(True, "quiet", False, id="a channel of the package"),
        pytest.param(False, "quiet", True, id="a program"),
        pytest.param(True, "as-specified", True, id="the form of the specification"),
    ],
)
def test_only_late_programs_are_mentioned(rules: Rules, is_built_in: bool, profile: str, is_told: bool) -> None:
    inputs = recorded(rules, is_built_in=is_built_in, profile=profile)

    found = decide(inputs, rules, verdict(PROMPT, rules))

    assert "src/limits.py:41" in found.text
    assert found.text.endswith(LATE) == is_told
    assert found.partial == ["memory (time)"]
