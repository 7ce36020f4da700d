"""The examples work in the clients they are for."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from delivered import Delivered
from real_clients import REPOSITORY, Client, client_or_skip, run_group

from enricher.install import launcher, registration

if TYPE_CHECKING:
    from pathlib import Path

    from installed_copy import InstalledCopy
    from stub_models import StubModels

EXAMPLES = REPOSITORY / "examples"
PLUGIN = EXAMPLES / "claude-code-plugin"
EXTENSION = EXAMPLES / "gemini-extension"
TITLE = "## Prompt Enrichment"
PROMPT = "revert your last changes in tests/test_login.py: the login test fails with KeyError: 'user'"


@pytest.mark.parametrize(
    ("file", "event", "host"),
    [
        (PLUGIN / "hooks/hooks.json", "UserPromptSubmit", "claude"),
        (EXTENSION / "hooks/hooks.json", "BeforeAgent", "gemini"),
    ],
)
def test_an_example_registers_what_install_would_for_a_project(file: Path, event: str, host: str) -> None:
    [group] = json.loads(file.read_text())["hooks"][event]
    [handler] = group["hooks"]

    assert handler["command"] == launcher.command(host, is_portable=True)


def test_the_versions_of_the_examples_are_the_version_of_the_product() -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    manifests = (PLUGIN / ".claude-plugin/plugin.json", EXTENSION / "gemini-extension.json")

    assert {json.loads(file.read_text())["version"] for file in manifests} == {version}


def test_the_opencode_example_is_the_plugin_that_install_writes() -> None:
    assert (EXAMPLES / "opencode/prompt-enricher.js").read_text() == registration.opencode_plugin("")


def claude_with_plugin(copy: InstalledCopy, stub: StubModels) -> Client:
    client = client_or_skip("claude", home=copy.home, project=copy.project, model_url=stub.url)
    client.options = ["--plugin-dir", str(PLUGIN)]
    client.variables["PATH"] = f"{copy.console_script().parent}:/usr/bin:/bin"
    copy.enricher("install", "--launcher-only")
    return client


def sent(stub: StubModels) -> str:
    return json.dumps([body for _, body in stub.requests], ensure_ascii=False)


@pytest.mark.hosts
def test_the_plugin_is_valid_for_claude_code(copy: InstalledCopy, stub: StubModels) -> None:
    client = claude_with_plugin(copy, stub)
    done = run_group([*client.binary, "plugin", "validate", str(PLUGIN)], cwd=copy.project, env=client.environment())

    assert done.code == 0, done.stdout
    assert "Validation passed" in done.stdout


@pytest.mark.hosts
def test_the_plugin_enriches_and_its_commands_act_on_the_last_prompt_of_the_session(
    copy: InstalledCopy, stub: StubModels
) -> None:
    client = claude_with_plugin(copy, stub)
    client.run(PROMPT)
    assert Delivered.of("claude", stub.requests, PROMPT).count(TITLE) == 1
    [trace] = copy.traces()
    client.options += ["--resume", trace["session_id"]]

    stub.requests.clear()
    client.run("/enricher last")
    assert trace["id"][:14] in sent(stub)

    stub.requests.clear()
    client.run("/enricher why")
    assert "Traceback" not in sent(stub)
    assert "KeyError" in sent(stub)

    client.run("/enricher wrong research")
    assert json.loads(copy.enricher("trace", "show", trace["id"], "--json"))["label"]["task_type"] == "research"

    stub.requests.clear()
    client.run("/enricher lines")
    assert "  1 " in sent(stub)
    client.run("/enricher wrong 1")
    wrong = json.loads(copy.enricher("trace", "list", "--where", "line:wrong", "--json"))
    assert [one["id"] for one in wrong] == [trace["id"]]

    client.run("/enricher off")
    assert "enabled = false" in (copy.home / ".config/prompt-enricher/config.toml").read_text()


@pytest.mark.hosts
def test_the_gemini_extension_enriches_once(copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip("gemini", home=copy.home, project=copy.project, model_url=stub.url)
    copy.enricher("install", "--launcher-only")
    shutil.copytree(EXTENSION, copy.home / ".gemini" / "extensions" / "prompt-enricher")

    client.run(PROMPT)
    delivered = Delivered.of("gemini", stub.requests, PROMPT)

    assert delivered.holds_prompt_untouched()
    assert delivered.count(TITLE) == 1


DRIVER = """
import { PromptEnricher } from %s
const shown = []
const client = {
  session: { get: async () => ({ data: %s }) },
  tui: { showToast: async (toast) => shown.push(toast.body.message) },
}
const hooks = await PromptEnricher({ client, directory: process.cwd() })
const parts = [{ type: "text", text: %s }, { type: "text", text: "from a file", synthetic: true }]
const output = { message: { id: "msg_1" }, parts }
await hooks["chat.message"]({ sessionID: "ses_1", agent: "build" }, output)
console.log(JSON.stringify({ parts: output.parts, shown }))
"""


def call_opencode_plugin(copy: InstalledCopy, *, prompt: str = PROMPT, session: str = "{}") -> dict[str, Any]:
    """Run the installed plugin as OpenCode does and return the parts of the message afterwards."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    plugin = copy.home / ".config" / "opencode" / "plugins" / "prompt-enricher.js"
    module = plugin.with_suffix(".mjs")
    shutil.copy(plugin, module)
    driver = copy.home / "driver.mjs"
    driver.write_text(DRIVER % (json.dumps(str(module)), session, json.dumps(prompt)))
    done = subprocess.run(
        [node, str(driver)],
        cwd=copy.project,
        env={"HOME": str(copy.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.hosts
def test_the_opencode_plugin_adds_a_part_beside_the_prompt(copy: InstalledCopy) -> None:
    copy.enricher("install", "--host", "opencode")

    parts = call_opencode_plugin(copy)["parts"]

    assert [part["text"] for part in parts[:2]] == [PROMPT, "from a file"]
    assert parts[2]["synthetic"] is True
    assert parts[2]["text"].startswith(TITLE)
    assert [(trace["host"], trace["prompt"]) for trace in copy.traces()] == [("opencode", PROMPT)]


@pytest.mark.hosts
def test_the_opencode_plugin_leaves_a_subagent_alone(copy: InstalledCopy) -> None:
    copy.enricher("install", "--host", "opencode")

    assert len(call_opencode_plugin(copy, session='{"parentID": "ses_0"}')["parts"]) == 2
    assert copy.traces()[0]["skip_reason"] == "subagent"


@pytest.mark.hosts
def test_the_opencode_plugin_shows_why_it_has_nothing_to_say(copy: InstalledCopy) -> None:
    copy.enricher("install", "--host", "opencode")
    copy.delete_environment()

    result = call_opencode_plugin(copy)

    assert len(result["parts"]) == 2
    assert "could not start" in result["shown"][0]
