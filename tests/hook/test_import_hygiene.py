"""What a prompt pays for: the modules that the hook loads beyond a bare interpreter are these and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT
from test_answer_form import TRACE

from enricher.context import CHANNELS as OURS

if TYPE_CHECKING:
    from simulator import Account

PROGRAM = """
import os, sys
bare = set(sys.modules)
def leave(code):
    os.write(2, "\\n".join(sorted(set(sys.modules) - bare)).encode())
    leave_now(code)
leave_now, os._exit = os._exit, leave
sys.path.append(sys.argv[1])
from enricher.hook import main
main(["claude"])
"""
ALWAYS = set(
    """
    __future__ _blake2 _json enricher enricher.classify enricher.classify.matching enricher.classify.reading
    enricher.classify.structure enricher.classify.table enricher.classify.topics enricher.context
    enricher.context.conversation enricher.decision enricher.event enricher.guidance enricher.guidance.facts
    enricher.guidance.frames enricher.home enricher.hook enricher.hosts enricher.hosts.claude enricher.pipeline
    enricher.project enricher.recording enricher.redaction enricher.redaction.assignments
    enricher.redaction.values enricher.render enricher.rules enricher.rules.cache enricher.rules.layers
    enricher.settings enricher.upkeep storage storage.state.detached storage.state.key storage.base.lean storage.base.private
    storage.state.sessions storage.traces.spool storage.traces
    """.split()
)
CHANNELS = set(
    """
    enricher.code enricher.code.words enricher.context.action_words enricher.context.actions enricher.context.channels
    enricher.context.names enricher.uris storage.memory.presence
    """.split()
) | {f"enricher.context.{name}" for name in OURS if name != "session"}
"""To ask the channels where the project has an index and nothing was said before."""
INDEX = {"_functools", "_sqlite3", "storage.base.reader"}
INDEX |= {f"enricher.code.{name}" for name in ("lookup", "past", "testfiles", "whereabouts")}
MEMORIES = {"storage.memory.recall", "storage.memory.stemming", "storage.memory.words"}
CLAUDE_TRANSCRIPT = {"enricher.transcripts", "enricher.transcripts.claude", "enricher.transcripts.wording"}
FORBIDDEN = set(
    """
    re json typing dataclasses logging argparse threading asyncio subprocess pathlib enum contextlib hashlib shutil
    tempfile collections functools inspect importlib datetime random sqlite3
    """.split()
)
FOREIGN = {
    "click",
    "rich",
    "yaml",
    "pydantic",
    "markdown_it",
    "sqlite_utils",
    "platformdirs",
    "workbench",
    "numpy",
    "httpx",
}


def loaded(account: Account, event: dict[str, object] | bytes) -> set[str]:
    """Return the modules of one hook process that a bare interpreter lacks."""
    given = event if isinstance(event, bytes) else json.dumps(event).encode()
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT)]
    ended = subprocess.run(command, input=given, env=account.env, cwd=account.project, capture_output=True, check=True)
    return set(ended.stderr.decode().split())


@pytest.fixture
def warm(account: Account) -> Account:
    """An account that has answered before: key and folders are there, the trace taken in, the project indexed."""
    account.write("project/app.py", "def main():\n    return 0\n")
    account.ask("What is the hydrator?")
    account.traces()
    account.rest()
    return account


def test_a_prompt_loads_these_modules_and_no_others(warm: Account) -> None:
    assert loaded(warm, warm.event(TRACE)) == ALWAYS | CHANNELS | INDEX


def test_small_talk_asks_no_channel(warm: Account) -> None:
    record = {"enricher.context.memory", "enricher.uris", "storage.memory.presence"}
    assert loaded(warm, warm.event("thanks")) <= ALWAYS | record


def test_memories_and_a_transcript_load_what_reads_them_and_nothing_slow(warm: Account) -> None:
    warm.cli("memory", "add", "the session middleware drops the user key on logout")
    transcript = warm.write("t.jsonl", '{"type":"user","message":{"role":"user","content":"look at the cache"}}\n')

    modules = loaded(warm, warm.event(TRACE, transcript_path=str(transcript)))

    assert modules >= MEMORIES | CLAUDE_TRANSCRIPT
    assert not modules & (FORBIDDEN | FOREIGN)


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks",
        ". list files",
        "/help",
        "",
        "the test is not working " * 5000,
        "sk-ant-api03-" + "aB3dE5gH7jK9" * 8,
        "why was load_rates removed, and what did we change yesterday?",
    ],
)
def test_no_prompt_loads_what_is_slow(warm: Account, prompt: str) -> None:
    assert not loaded(warm, warm.event(prompt)) & (FORBIDDEN | FOREIGN)


def test_the_profile_as_specified_looks_for_our_server_and_loads_nothing_slow(warm: Account) -> None:
    warm.env["ENRICHER_PROFILE"] = "as-specified"
    warm.write(".claude.json", '{"mcpServers": {"memory": {"command": "enricher", "args": ["mcp"]}}}')
    modules = loaded(warm, warm.event("how do I rotate the signing certificate?"))

    assert modules - (ALWAYS | CHANNELS | INDEX) == {"enricher.hosts.servers"}


def test_not_even_the_first_prompt_or_a_failure_loads_what_is_slow(new_account: Account) -> None:
    assert not loaded(new_account, new_account.event(TRACE)) & (FORBIDDEN | FOREIGN)
    assert not loaded(new_account, b"not json") & (FORBIDDEN | FOREIGN)


def test_the_upkeep_behind_a_prompt_loads_no_compiler_once_the_packaged_files_were_left(new_account: Account) -> None:
    program = """
import sys
sys.path.append(sys.argv[1])
from enricher import upkeep
from enricher.project import identify
upkeep.refresh(sys.argv[2], identify(sys.argv[3]))
print(*sys.modules)
"""
    new_account.state.mkdir()
    words = [sys.executable, "-I", "-S", "-c", program, str(ROOT), str(new_account.state), str(new_account.project)]
    first, second = (
        subprocess.run(words, env=new_account.env, capture_output=True, text=True, check=True).stdout.split()
        for _turn in range(2)
    )

    assert list((new_account.state / "versions").glob("*.sources"))
    assert {"pydantic", "enricher.rules.compiler"} <= set(first)
    assert "enricher.code.index" in second
    assert not {"pydantic", "yaml", "markdown_it", "enricher.rules.compiler"} & set(second)


@pytest.mark.parametrize("host", ["gemini", "codex", "copilot", "cursor", "opencode"])
def test_a_client_loads_its_own_adapter_only(warm: Account, host: str) -> None:
    program = PROGRAM.replace('"claude"', f'"{host}"')
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT)],
        input=b'{"prompt": "the test is not working"}',
        env=warm.env,
        capture_output=True,
        check=True,
    )

    adapters = {name for name in ended.stderr.decode().split() if name.startswith("enricher.hosts.")}
    assert adapters == {f"enricher.hosts.{host}"}


def test_a_channel_loads_what_talks_to_programs_and_nothing_slow(account: Account) -> None:
    account.channel("notes", "echo '{\"items\": []}'")
    account.compile()
    account.ask("What is the hydrator?")

    modules = loaded(account, account.event(TRACE))

    assert "select" in modules
    assert not modules & (FORBIDDEN | FOREIGN)


def test_help_loads_no_command() -> None:
    code = "import sys; sys.argv = ['enricher', '--help']\nfrom enricher.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "print(sorted(name for name in sys.modules if name.startswith('enricher.cli.')), file=sys.stderr)"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert ended.stderr.strip() == "[]"
