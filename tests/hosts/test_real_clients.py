"""With the real clients: the model gets the prompt as typed and the enrichment once, whatever happens to us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from delivered import Delivered
from installed_copy import InstalledCopy, broken_python, working_python
from real_clients import Client, client_or_skip

if TYPE_CHECKING:
    from stub_models import StubModels

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

TITLE = "## Prompt Enrichment"
PROMPT = (
    "revert your last changes in tests/test_login.py: the login test fails with KeyError: 'user'\n"
    '\t"quoted" `code` $HOME \\n <b>tag</b> & é 漢字 😀 --flag @file #1 !x\n'
    "Traceback (most recent call last):\n"
    '  File "tests/test_login.py", line 38, in test_login\n'
    "KeyError: 'user'"
)
NOTHING_TO_ADD = "yes, go on"
TELLS_THE_PERSON = {"claude", "gemini", "codex"}


def ask(client: Client, stub: StubModels, prompt: str) -> Delivered:
    stub.requests.clear()
    client.run(prompt)
    return Delivered.of(client.name, stub.requests, client.as_sent(prompt))


def assert_enriched_once(delivered: Delivered, copy: InstalledCopy) -> None:
    context = next(trace["output_text"] for trace in copy.traces() if trace["status"] == "ok")

    assert delivered.holds_prompt_untouched()
    assert delivered.count(TITLE) == 1
    assert delivered.count(context) == 1


def assert_untouched(delivered: Delivered) -> None:
    assert delivered.holds_prompt_untouched()
    assert delivered.count(TITLE) == 0


def assert_told(client: Client) -> None:
    if client.name in TELLS_THE_PERSON:
        assert client.shows("Prompt Enricher could not start", "fix it")


@pytest.mark.conformance("E01", "E02", "E25", "E27", "E28", "E57", "E61")
def test_the_prompt_arrives_byte_for_byte_and_the_enrichment_once(
    any_client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    prompt = f"{PROMPT}  "
    copy.enricher("install", "--host", any_client.name)
    copy.enricher("install", "--host", any_client.name)

    delivered = ask(any_client, stub, prompt)

    assert_enriched_once(delivered, copy)
    assert (copy.traces()[0]["host"], copy.traces()[0]["prompt"]) == (any_client.name, prompt)


@pytest.mark.conformance("E27")
def test_where_nothing_is_to_be_added_nothing_is(any_client: Client, copy: InstalledCopy, stub: StubModels) -> None:
    copy.enricher("install", "--host", any_client.name)

    delivered = ask(any_client, stub, NOTHING_TO_ADD)

    assert_untouched(delivered)
    assert copy.traces()[0]["status"] in ("silent", "skipped")


def test_two_registrations_add_the_enrichment_once(client: Client, copy: InstalledCopy, stub: StubModels) -> None:
    client.trust_project()
    copy.enricher("install", "--host", client.name, "--scope", "user")
    copy.enricher("install", "--host", client.name, "--scope", "project")

    delivered = ask(client, stub, PROMPT)

    assert_enriched_once(delivered, copy)
    assert "duplicate" in {trace["skip_reason"] for trace in copy.traces()}


def test_a_registration_of_the_project_works_from_its_folder(
    client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    client.trust_project()
    copy.enricher("install", "--host", client.name, "--scope", "project")

    delivered = ask(client, stub, PROMPT)

    assert_enriched_once(delivered, copy)


def test_an_upgrade_needs_no_new_registration(client: Client, copy: InstalledCopy, stub: StubModels) -> None:
    copy.enricher("install", "--host", client.name)
    before = registrations(copy)
    copy.delete_environment()
    copy.create_environment()

    delivered = ask(client, stub, PROMPT)

    assert_enriched_once(delivered, copy)
    assert registrations(copy) == before != []


def test_another_environment_takes_over_without_another_registration(
    client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    copy.enricher("install", "--host", client.name)
    before = registrations(copy)
    copy.delete_environment()
    copy.environment = copy.environment.with_name("venv-2")
    copy.create_environment()
    copy.enricher("install", "--host", client.name)

    delivered = ask(client, stub, PROMPT)

    assert_enriched_once(delivered, copy)
    assert registrations(copy) == before != []


def test_a_deleted_environment_costs_the_enrichment_only_and_the_person_is_told(
    any_client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    copy.enricher("install", "--host", any_client.name)
    copy.delete_environment()

    delivered = ask(any_client, stub, PROMPT)

    assert_untouched(delivered)
    assert_told(any_client)


def test_a_python_that_cannot_start_costs_the_enrichment_only_and_the_person_is_told(
    client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    copy.enricher("install", "--host", client.name)
    copy.exchange_python(broken_python(copy.home))

    delivered = ask(client, stub, PROMPT)

    assert_untouched(delivered)
    assert_told(client)


def test_a_python_exchanged_for_another_that_works_goes_on(
    client: Client, copy: InstalledCopy, stub: StubModels
) -> None:
    copy.enricher("install", "--host", client.name)
    copy.exchange_python(working_python())

    delivered = ask(client, stub, PROMPT)

    assert delivered.holds_prompt_untouched()
    assert delivered.count(TITLE) == 1


def test_after_uninstalling_nothing_is_left_to_run(client: Client, copy: InstalledCopy, stub: StubModels) -> None:
    copy.enricher("install", "--host", client.name)
    copy.enricher("uninstall", "--host", client.name)

    delivered = ask(client, stub, PROMPT)

    assert_untouched(delivered)
    assert copy.traces() == []


def test_copilot_gets_its_own_shape_from_a_hook_registered_for_claude(copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip("copilot", home=copy.home, project=copy.project, model_url=stub.url)
    client.trust_project()
    copy.enricher("install", "--host", "claude", "--scope", "project")

    delivered = ask(client, stub, PROMPT)

    assert_enriched_once(delivered, copy)
    assert copy.traces()[0]["host"] == "copilot"


def test_codex_trusts_the_hook_once_and_for_all_upgrades(copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip("codex", home=copy.home, project=copy.project, model_url=stub.url)
    assert "once you trust it" in copy.enricher("install", "--host", "codex")
    client.asks_for_trust = True
    assert_untouched(ask(client, stub, PROMPT))
    assert "until you trust it" in copy.enricher("doctor", code=1)

    client.trust_hooks()
    copy.delete_environment()
    copy.environment = copy.environment.with_name("venv-2")
    copy.create_environment()

    assert "once you trust it" not in copy.enricher("install", "--host", "codex")
    assert_enriched_once(ask(client, stub, PROMPT), copy)
    assert "Codex CLI (user)" in copy.enricher("doctor")


def registrations(copy: InstalledCopy) -> list[str]:
    """Return the lines in which clients hold our command; a client may rewrite the rest of its file."""
    patterns = (".claude/*.json", ".gemini/*.json", ".codex/*.json", ".copilot/hooks/*", ".config/opencode/plugins/*")
    texts = [path.read_text() for pattern in patterns for path in copy.home.glob(pattern)]
    return [line.strip() for text in texts for line in text.splitlines() if "/prompt-enricher/hook" in line]
