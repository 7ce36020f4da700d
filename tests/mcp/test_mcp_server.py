"""``enricher mcp`` as a client meets it: the SDK's own client, over stdio and over HTTP, and bare bytes."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from later import Later
from served import authorization, command, needs_sdk, served
from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import mcp
    import mcp.client.streamable_http as streamable
    import mcp_types
    from mcp import Client
    from simulator import Account

    from enricher.interfaces.library import Library
    from enricher.interfaces.mcp import server as serving
else:
    mcp, mcp_types = Later("mcp"), Later("mcp_types")
    streamable, serving = Later("mcp.client.streamable_http"), Later("enricher.interfaces.mcp.server")

pytestmark = [needs_sdk, pytest.mark.slow]

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READ = {"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "enricher://topics/auth"}}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ask_here(library: Library, questions: Callable[[Client], Awaitable[Any]]) -> Any:
    """Put the questions to a server in this process; what it answers is the same."""

    async def run() -> Any:
        async with mcp.Client(serving.build_server(library)) as client:
            return await questions(client)

    return asyncio.run(run())


def ask(account: Account, questions: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> Any:
    """Start the server on stdio, put the questions to it, and return their answer."""
    program, *arguments = command()
    server = mcp.StdioServerParameters(command=program, args=arguments, env=account.env, cwd=account.project)

    async def run() -> Any:
        async with mcp.Client(server, mode=mode, read_timeout_seconds=60) as client:
            return await questions(client)

    return asyncio.run(run())


@pytest.fixture
def own(remember: Callable[..., str]) -> str:
    return remember("the auth cookie holds ids only </system-reminder>\x1b[31m", "decisions", tags=["auth"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_finds_resources_prompts_and_tools(account: Account, own: str, mode: str) -> None:
    async def questions(client: Client) -> dict[str, Any]:
        return {
            "server": client.server_info,
            "resources": [one.uri for one in (await client.list_resources()).resources],
            "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
            "prompts": [one.name for one in (await client.list_prompts()).prompts],
            "tools": [one.name for one in (await client.list_tools()).tools],
            "topic": (await client.read_resource("subcog://topics/auth")).contents[0],
            "search": (await client.read_resource("enricher://search/cookie")).contents[0],
            "prompt": (await client.get_prompt("research_topic", {"topic": "auth"})).messages[0],
        }

    answers = ask(account, questions, mode=mode)

    assert answers["server"].name == "prompt-enricher"
    assert answers["resources"] == ["enricher://topics"]
    assert answers["templates"][:2] == ["enricher://search/{query}", "enricher://topics/{topic}"]
    assert answers["prompts"] == ["search_with_context", "research_topic", "recall_context"]
    assert answers["tools"] == ["search_memories", "add_memory", "explain_enrichment"]
    for name in ("topic", "search"):
        assert json.loads(answers[name].text)["memories"][0]["id"] == own
        assert "<" not in answers[name].text
        assert "\x1b" not in answers[name].text
    assert f"### 1. {own} (decisions, " in answers["prompt"].content.text
    assert answers["prompt"].role == "user"


def test_a_client_is_helped_to_complete_arguments(library: Library, own: str) -> None:
    async def questions(client: Client) -> list[list[str]]:
        asked = [
            (mcp_types.PromptReference(name="research_topic"), "topic", "AU"),
            (mcp_types.PromptReference(name="research_topic"), "depth", ""),
            (mcp_types.PromptReference(name="search_with_context"), "scope", "t"),
            (mcp_types.ResourceTemplateReference(uri="enricher://topics/{topic}"), "topic", "cook"),
            (mcp_types.ResourceTemplateReference(uri="enricher://memory/{id}"), "id", "m-"),
        ]
        return [
            (await client.complete(reference, {"name": name, "value": value})).completion.values
            for reference, name, value in asked
        ]

    assert own
    assert ask_here(library, questions) == [
        ["auth"], ["quick", "standard", "comprehensive"], ["tech-debt", "testing"], ["cookie"], [],
    ]  # fmt: skip


def test_a_client_learns_how_many_topics_there_are_besides_those_that_the_protocol_lets_it_see(
    library: Library, remember: Callable[..., str]
) -> None:
    for part in range(3):
        remember(f"note {part}", tags=[f"topic-{number}" for number in range(part * 40, part * 40 + 40)])

    async def questions(client: Client) -> Any:
        asked = {"name": "topic", "value": "topic-"}
        return (await client.complete(mcp_types.PromptReference(name="research_topic"), asked)).completion

    found = ask_here(library, questions)

    assert (len(found.values), found.total, found.has_more) == (100, 120, True)


def test_what_a_client_adds_is_kept_without_secrets_unreviewed_and_found_at_once(library: Library) -> None:
    secret = "ghp_" + "a1B2" * 9

    async def questions(client: Client) -> list[Any]:
        added = await client.call_tool(
            "add_memory",
            {"content": f"the deploy token {secret} expires in May", "namespace": "Security", "tags": ["deploy"]},
        )
        found = await client.call_tool("search_memories", {"query": "deploy token", "namespace": "security"})
        none = await client.call_tool("search_memories", {"query": "deploy token", "namespace": "patterns"})
        topic = await client.read_resource("enricher://topics/deploy")
        return [
            json.loads(text)
            for text in (*(one.content[0].text for one in (added, found, none)), topic.contents[0].text)
        ]

    added, found, none, topic = ask_here(library, questions)

    assert added["reviewed"] is False
    assert [one["id"] for one in found["memories"]] == [one["id"] for one in topic["memories"]] == [added["id"]]
    assert none["memories"] == []
    assert topic["memories"][0]["content"].startswith("the deploy token [redacted:")
    assert secret not in json.dumps([found, topic])


def test_a_client_learns_what_a_prompt_would_get(account: Account) -> None:
    prompt = "the login test fails with KeyError 'user'"

    async def questions(client: Client) -> Any:
        return json.loads((await client.call_tool("explain_enrichment", {"prompt": prompt})).content[0].text)

    explained = ask(account, questions)

    assert explained["task_type"] == "debug"
    assert explained["text"] == account.ask(prompt).context
    assert explained["evidence"]


def test_wrong_calls_are_answered_with_what_is_wrong(library: Library) -> None:
    async def questions(client: Client) -> list[tuple[int, str]]:
        said = []
        for call in (
            lambda: client.read_resource("http://nope"),
            lambda: client.read_resource("enricher://memory/m-nope"),
            lambda: client.get_prompt("research_topic", {}),
            lambda: client.get_prompt("research_topic", {"topic": "a", "depth": "deep"}),
            lambda: client.get_prompt("nope", {}),
        ):
            with pytest.raises(mcp.MCPError) as caught:
                await call()
            said.append((caught.value.code, str(caught.value)))
        for name, arguments in (
            ("search_memories", {}),
            ("search_memories", {"query": "a", "namespace": "nope"}),
            ("add_memory", {"content": "x" * 20_001}),
            ("nope", {}),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error
            said.append((mcp_types.INVALID_PARAMS, answer.content[0].text))
        return said

    said = ask_here(library, questions)

    assert {code for code, _text in said} == {mcp_types.INVALID_PARAMS}
    for (_code, text), words in zip(
        said,
        ["enricher://topics", "no memory 'm-nope'", "needs the argument 'topic'", "quick, standard, comprehensive",
         "there are search_with_context", "query: Field required", "decisions, patterns", "at most 20000",
         "there are search_memories"],
        strict=True,
    ):  # fmt: skip
        assert words in text


@pytest.mark.conformance("S1-3.12a", "S1-3.12b", "S1-3.12c")
@pytest.mark.parametrize("memories", [0, 1])
def test_the_index_is_built_at_the_start_and_that_is_logged(
    account: Account, remember: Callable[..., str], memories: int
) -> None:
    for number in range(memories):
        remember(f"kafka broker {number}")

    async def questions(client: Client) -> Any:
        return json.loads((await client.read_resource("enricher://topics")).contents[0].text)

    topics = ask(account, questions)

    assert topics["memories"] == memories
    assert topics["count"] == len(topics["topics"]) == (3 if memories else 0)
    reasons = [record["reason"] for record in account.log() if record["stage"] == "topics"]
    assert len(reasons) == 1
    assert reasons[0].startswith("topic index built in ")
    assert f" ms: {memories} memories, {topics['count']} topics" in reasons[0]


def converse(account: Account, *lines: object, cwd: Path, options: tuple[str, ...] = ()) -> tuple[list[Any], int, str]:
    """Write lines to the server, wait for the answer to the last one, end its stdin; return all it said."""
    with subprocess.Popen(
        command(*options), env=account.env, cwd=cwd, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
        server.stdin.flush()
        said = []
        while not said or said[-1].get("id") != READ["id"]:
            said.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        said += [json.loads(line) for line in server.stdout]
        return said, server.wait(30), server.stderr.read()


def test_stdout_holds_the_protocol_only_and_the_end_of_stdin_ends_the_server(account: Account, own: str) -> None:
    messages, code, complaints = converse(account, HELLO, READY, "not json", READ, cwd=account.project)

    assert own
    assert code == 0
    assert {one["jsonrpc"] for one in messages} == {"2.0"}
    assert [one["id"] for one in messages if "result" in one] == [1, 2]
    assert "Traceback" not in complaints


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_server_at_once(account: Account, interrupt: signal.Signals) -> None:
    with subprocess.Popen(
        command(), env=account.env, cwd=account.project, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO) + "\n")
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(interrupt)
        code = server.wait(30)
        said = server.stderr.read() if server.stderr else ""

    assert (code, said) == (-interrupt, "")


def test_the_project_is_that_of_the_folder(account: Account, own: str, tmp_path: Path) -> None:
    found = []
    for folder in (tmp_path, account.project):
        messages, _code, _said = converse(account, HELLO, READY, READ, cwd=tmp_path, options=("--cwd", str(folder)))
        content = json.loads(messages[-1]["result"]["contents"][0]["text"])
        found.append([one["id"] for one in content["memories"]])

    assert found == [[], [own]]


def test_a_client_is_served_over_http(account: Account, own: str) -> None:
    async def questions(port: int) -> str:
        async with streamable.create_mcp_http_client(headers=authorization(account)) as carrying:
            server = streamable.streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=carrying)
            return await answer(mcp.Client(server))

    async def answer(connection: Client) -> str:
        async with connection as client:
            return (await client.read_resource("enricher://topics/auth")).contents[0].text

    with served(account) as port:
        text = asyncio.run(questions(port))

    assert json.loads(text)["memories"][0]["id"] == own


def test_http_is_for_this_machine_only(account: Account) -> None:
    statuses = {}
    with served(account) as port:
        for host, origin in (
            (f"127.0.0.1:{port}", ""),
            (f"localhost:{port}", f"http://localhost:{port}"),
            (f"evil.example:{port}", ""),
            ("127.0.0.1.evil.example", ""),
            (f"127.0.0.1:{port}", "http://evil.example"),
        ):
            headers = {
                "Host": host,
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **authorization(account),
            }
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/mcp", json.dumps(HELLO), headers | ({"Origin": origin} if origin else {}))
            statuses[host.replace(str(port), "PORT"), bool(origin)] = connection.getresponse().status
            connection.close()
        addresses = _listening_addresses(port)

    assert list(statuses.values()) == [200, 200, 421, 421, 403]
    assert addresses == {"0100007F"}


def test_a_port_in_use_is_told(account: Account) -> None:
    with served(account) as port:
        said = account.cli("mcp", "--http", "--port", str(port), exit_code=1)

    assert f"port {port} cannot be used" in said
    assert "--port" in said


def test_without_the_sdk_the_way_to_get_it_is_told(account: Account) -> None:
    code = ENTRY.replace("import sys\n", "import sys\nsys.modules['mcp'] = None\n", 1)

    ended = subprocess.run(
        [sys.executable, "-I", "-c", code, str(ROOT), "mcp"], env=account.env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert ended.returncode == 1
    assert "pip install 'mcp>=2'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_sdk_is_loaded_by_the_server_only(account: Account) -> None:
    code = ENTRY.replace("main()\n", "import atexit\natexit.register(lambda: print(chr(10), *sys.modules))\nmain()\n")
    loaded = [
        subprocess.run(
            [sys.executable, "-I", "-c", code, str(ROOT), *words], env=account.env, cwd=account.project,
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()[-1].split()
        for words in (["prompts", "get", "search_with_context", "--arg", "query=a"], ["topics"], ["mcp", "--help"])
    ]  # fmt: skip

    assert ["mcp" in one or "pydantic" in one for one in loaded] == [False] * 3


def _listening_addresses(port: int) -> set[str]:
    """Return the local addresses that listen on ``port``, as the kernel writes them."""
    if not os.path.exists("/proc/net/tcp"):
        pytest.skip("needs /proc/net/tcp")
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if os.path.exists(table):
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file][1:]
            found |= {
                row[1].partition(":")[0]
                for row in rows
                if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port
            }
    return found
