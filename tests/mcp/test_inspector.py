"""A client that we did not write: the MCP Inspector from the npm registry, in its command-line mode."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served import authorization, needs_sdk, served
from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account

pytestmark = [needs_sdk, pytest.mark.slow]

PACKAGE, VERSION = "@modelcontextprotocol/inspector", "1.0.3"
"""The last line that runs on Node 20; its successor wants 22."""
CACHE = Path(os.environ.get("ENRICHER_TEST_CLIENTS") or ROOT / ".cache" / "clients")
PROGRAM = CACHE / "node_modules" / PACKAGE / "cli" / "build" / "cli.js"
SECONDS_TO_FETCH, SECONDS_TO_ANSWER = 300, 120


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """Return what starts the Inspector, fetched once; skip with the reason where it cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node.js with npm is not installed")
    manifest = PROGRAM.parents[2] / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text())["version"] != VERSION:
        CACHE.mkdir(parents=True, exist_ok=True)
        if not (CACHE / "package.json").exists():
            (CACHE / "package.json").write_text('{"name": "clients", "private": true, "version": "0.0.0"}')
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--fetch-retries=1"]
        try:
            fetched = subprocess.run(
                [npm, "install", *flags, f"{PACKAGE}@{VERSION}"], cwd=CACHE, capture_output=True, text=True,
                timeout=SECONDS_TO_FETCH, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not fetch {PACKAGE}@{VERSION} within {SECONDS_TO_FETCH} s")
        if fetched.returncode or not PROGRAM.exists():
            pytest.skip(f"npm could not fetch {PACKAGE}@{VERSION}: {fetched.stderr[-200:]}")
    return [node, str(PROGRAM), "--cli"]


@pytest.fixture
def inspect(inspector: list[str], account: Account) -> Callable[..., dict[str, Any]]:
    """Return what puts one request through the Inspector and returns the result as it prints it."""
    variables = [word for pair in account.env.items() if pair[0] != "PATH" for word in ("-e", "=".join(pair))]
    launcher = account.write(
        "server",
        f"#!/bin/sh\nexec '{sys.executable}' -I -c '{ENTRY}' '{ROOT}' mcp --cwd '{account.project}'\n",
        mode=0o755,
    )

    def ask(method: str, *arguments: str) -> dict[str, Any]:
        ended = subprocess.run(
            [*inspector, *variables, str(launcher), "--method", method, *arguments],
            env=account.env, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, (ended.stdout, ended.stderr)
        answer = json.loads(ended.stdout)
        assert isinstance(answer, dict)
        return answer

    return ask


@pytest.mark.long
@pytest.mark.conformance("S1-3.12a", "S1-3.16a")
def test_the_inspector_reads_the_resources(
    inspect: Callable[..., dict[str, Any]], remember: Callable[..., str]
) -> None:
    own = remember("the auth cookie holds ids only", "decisions", tags=["auth"])

    templates = inspect("resources/templates/list")["resourceTemplates"]
    pages = [
        json.loads(inspect("resources/read", "--uri", uri)["contents"][0]["text"])
        for uri in ("enricher://search/auth%20cookie", "enricher://topics", "enricher://topics/auth")
    ]

    assert [one["uriTemplate"] for one in templates][:2] == ["enricher://search/{query}", "enricher://topics/{topic}"]
    assert [pages[0]["memories"][0]["id"], pages[2]["memories"][0]["id"]] == [own, own]
    assert "auth" in {one["name"] for one in pages[1]["topics"]}


@pytest.mark.conformance("S1-4.1a", "S1-4.2a", "S1-4.3a", "S1-4.4a")
def test_the_inspector_gets_the_prompts(inspect: Callable[..., dict[str, Any]], remember: Callable[..., str]) -> None:
    own = remember("the auth cookie holds ids only", "decisions", tags=["auth"])

    listed = inspect("prompts/list")["prompts"]
    text = inspect("prompts/get", "--prompt-name", "search_with_context", "--prompt-args", "query=auth cookie")

    assert {one["name"]: [arg.get("required", False) for arg in one["arguments"]] for one in listed} == {
        "search_with_context": [True, False],
        "research_topic": [True, False],
        "recall_context": [True, False],
    }
    assert f"### 1. {own} (decisions, " in text["messages"][0]["content"]["text"]


def test_the_inspector_is_served_over_http(
    inspector: list[str], account: Account, remember: Callable[..., str]
) -> None:
    own = remember("the auth cookie holds ids only", "decisions", tags=["auth"])

    with served(account) as port:
        header = ": ".join(*authorization(account).items())
        ended = subprocess.run(
            [*inspector, f"http://127.0.0.1:{port}/mcp", "--transport", "http", "--header", header,
             "--method", "resources/read", "--uri", "enricher://topics/auth"],
            env=account.env, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, check=True,
        )  # fmt: skip

    content = json.loads(ended.stdout)["contents"][0]["text"]
    assert [one["id"] for one in json.loads(content)["memories"]] == [own]


def test_the_inspector_calls_the_tools(inspect: Callable[..., dict[str, Any]], account: Account) -> None:
    names = [one["name"] for one in inspect("tools/list")["tools"]]
    added = inspect("tools/call", "--tool-name", "add_memory", "--tool-arg", "content=the broker drops big messages")
    found = inspect("tools/call", "--tool-name", "search_memories", "--tool-arg", "query=broker messages")

    identity = json.loads(added["content"][0]["text"])["id"]
    assert names == ["search_memories", "add_memory", "explain_enrichment"]
    assert json.loads(found["content"][0]["text"])["memories"][0]["id"] == identity
    assert json.loads(account.cli("topics", "broker", "--json"))["memories"][0]["id"] == identity
