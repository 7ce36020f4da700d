"""With the real clients: an import stores what a person typed into them, and nothing that they wrote themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from real_clients import client_or_skip

if TYPE_CHECKING:
    from installed_copy import InstalledCopy
    from stub_models import StubModels

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

PROMPT = "add retries to app/client_a.py, and leave app/client_b.py for later"


@pytest.mark.parametrize("name", ["claude", "codex", "copilot", "gemini"])
def test_a_real_client_s_conversation_is_imported(name: str, copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip(name, home=copy.home, project=copy.project, model_url=stub.url)
    client.run(PROMPT)

    said = json.loads(copy.enricher("trace", "import", "--yes", "--json"))

    assert (said["stored"], said["problems"]) == (1, []), said
    assert [(trace["prompt"], trace["cwd"]) for trace in copy.traces()] == [(PROMPT, str(copy.project))]


@pytest.mark.parametrize("name", ["claude", "copilot", "gemini"])
def test_what_the_hook_saw_in_a_real_client_is_known_again(name: str, copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip(name, home=copy.home, project=copy.project, model_url=stub.url)
    copy.enricher("install", "--host", name)
    client.run(PROMPT)

    said = json.loads(copy.enricher("trace", "import", "--yes", "--json"))

    assert [group["not_again"] for group in said["groups"]] == [{"recorded by the hook": 1}], said
