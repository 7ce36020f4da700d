"""With the real clients: what they write down of a first turn is understood in the second one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from delivered import Delivered
from real_clients import client_or_skip

from enricher.prompt.event import PromptEvent
from enricher.sources.transcripts import read_conversation

if TYPE_CHECKING:
    from installed_copy import InstalledCopy
    from stub_models import StubModels

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

FIRST = "add retries to app/client_a.py, and leave app/client_b.py for later"
SECOND = "do the same for the other one"
GOES_ON = {"claude": ["--continue"], "gemini": ["--resume", "latest"], "copilot": ["--continue"]}
FILES = {
    "claude": ".claude/projects/*/*.jsonl",
    "gemini": ".gemini/tmp/*/chats/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "copilot": ".copilot/session-state/*/events.jsonl",
}


@pytest.mark.parametrize("name", FILES)
def test_the_file_that_a_client_writes_is_read(name: str, copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip(name, home=copy.home, project=copy.project, model_url=stub.url)
    client.run(FIRST)
    (file,) = copy.home.glob(FILES[name])

    conversation = read_conversation(PromptEvent(SECOND, host=name, transcript_path=str(file)))

    assert (conversation.prompts, conversation.answer) == ([FIRST], "OK")


@pytest.mark.conformance("E04")
@pytest.mark.parametrize("name", GOES_ON)
def test_in_a_second_turn_the_first_is_known(name: str, copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip(name, home=copy.home, project=copy.project, model_url=stub.url)
    copy.enricher("install", "--host", name)
    client.run(FIRST)
    client.options = GOES_ON[name]
    stub.requests.clear()
    client.run(SECOND)

    delivered = Delivered.of(name, stub.requests, SECOND)

    assert delivered.holds_prompt_untouched()
    assert copy.traces()[0]["prompt"] == SECOND
    assert copy.traces()[0]["inputs"]["conversation"]["prompts"] == [FIRST]
    if name == "claude":  # the only one that tells its hooks of a resumed session, which makes the first turn news
        assert FIRST in copy.traces()[0]["output_text"]
        assert delivered.count(copy.traces()[0]["output_text"]) == 1
