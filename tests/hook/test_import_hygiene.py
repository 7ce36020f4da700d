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

pytestmark = pytest.mark.upkeep
PROGRAM = """
import os, sys
bare = set(sys.modules)
def leave(code):
    os.write(2, "\\n".join(sorted(set(sys.modules) - bare)).encode())
    leave_now(code)
leave_now, os._exit = os._exit, leave
sys.path.append(sys.argv[1])
from enricher.hook.process import main
main(["claude"])
"""
ALWAYS = set(
    """
    __future__ _blake2 _json enricher enricher.classify enricher.classify enricher.classify
    enricher.classify.matching enricher.classify.reading enricher.classify.table enricher.classify.verdict
    enricher.context enricher.home enricher.hook enricher.hook.process enricher.hosts enricher.hosts.claude
    enricher.pipeline enricher.prompt enricher.prompt.conversation enricher.prompt.conversation
    enricher.prompt.event enricher.prompt.project enricher.prompt.redaction enricher.prompt.redaction.assignments
    enricher.prompt.redaction.screen enricher.prompt.redaction.values enricher.prompt.text enricher.prompt.wording
    enricher.prompt.wording.frames enricher.prompt.wording.structure enricher.record enricher.record.after_answer
    enricher.respond enricher.respond.decision enricher.respond enricher.respond.guidance enricher.respond.ranking
    enricher.respond.render enricher.rules enricher.record enricher.rules.cache enricher.rules.layers
    enricher.settings storage storage.base storage.base.fast_stdlib storage.base.private storage.state
    storage.state.detached storage.state.key storage.state.sessions storage.traces storage.traces.spool
    """.split()
)
CHANNELS = set(
    """
    enricher enricher.context enricher.context.channels enricher.context.gathering enricher.context.prompt_names
    enricher.prompt enricher.respond.memory_context
    enricher.prompt.wording enricher.prompt.wording.actions enricher.prompt.wording.actions.words
    enricher.prompt.wording.creation enricher.prompt.wording.names enricher.prompt.wording.pasted
    enricher.prompt.wording.pasted.errors enricher.prompt.wording.pasted.lint_reports
    enricher.prompt.wording.pasted.printed_lines
    enricher.prompt.wording.pasted.lines enricher.prompt.wording.place_questions enricher.prompt.wording.quotations
    enricher.prompt.wording.words
    enricher.sources enricher.sources.code
    enricher.sources.uris storage storage.memory storage.memory.memory_markers
    """.split()
) | {f"enricher.context.channels.{name}" for name in OURS if name != "session"}
"""To ask the channels where the project has an index and nothing was said before."""
INDEX = {"_functools", "_sqlite3", "storage.base.reader"}
CODE_MODULES = ("facts", "lines", "lookup", "name_history", "places", "testfiles")
CODE_MODULES += tuple(f"places.{name}" for name in ("definitions", "texts", "undefined"))
CODE_MODULES += ("special", "special.change_notes", "special.messages", "special.messages.formats")
CODE_MODULES += ("special.pasted", "special.pasted.frames", "testfiles.matching")
CODE_MODULES += ("special.spoken",)
INDEX |= {f"enricher.sources.code.{name}" for name in CODE_MODULES}
MEMORIES = {"storage.memory.question", "storage.memory.recall", "storage.memory.stemming", "storage.memory.words"}
CLAUDE_TRANSCRIPT = {
    "enricher.sources.transcripts",
    "enricher.sources.transcripts.claude",
    "enricher.sources.transcripts.wording",
}
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
    record = {
            "enricher.context.channels.memory", "enricher.respond.memory_context", "enricher.sources.uris",
            "storage.memory.memory_markers",
        }  # fmt: skip
    record |= {name.rpartition(".")[0] for name in record}
    assert loaded(warm, warm.event("thanks")) <= ALWAYS | record


def test_memories_and_a_transcript_load_what_reads_them_and_nothing_slow(warm: Account) -> None:
    warm.cli("memory", "add", "the session middleware drops the user key on logout")
    transcript = warm.write("t.jsonl", '{"type":"user","message":{"role":"user","content":"look at the cache"}}\n')

    for _attempt in range(8):  # a busy machine may not grant each channel its time
        modules = loaded(warm, warm.event(TRACE, transcript_path=str(transcript)))
        if modules >= MEMORIES | CLAUDE_TRANSCRIPT:
            break
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

    assert modules - (ALWAYS | CHANNELS | INDEX) == {"enricher.hosts.servers", "enricher.respond.facts"}


@pytest.mark.parametrize("mode", ["hydrate", "hydrate-file"])
def test_a_plan_loads_nothing_slow(warm: Account, mode: str) -> None:
    warm.env["ENRICHER_MODE"] = mode
    modules = loaded(warm, warm.event(TRACE))

    assert "enricher.respond.hydration.writing" in modules
    assert not modules & (FORBIDDEN | FOREIGN)


def test_not_even_the_first_prompt_or_a_failure_loads_what_is_slow(new_account: Account) -> None:
    assert not loaded(new_account, new_account.event(TRACE)) & (FORBIDDEN | FOREIGN)
    assert not loaded(new_account, b"not json") & (FORBIDDEN | FOREIGN)


def test_the_upkeep_behind_a_prompt_loads_no_compiler_once_the_packaged_files_were_left(new_account: Account) -> None:
    program = """
import sys
sys.path.append(sys.argv[1])
from enricher.record import after_answer
from enricher.prompt.project import identify
after_answer.refresh_project(sys.argv[2], identify(sys.argv[3]), has_index=True)
print(*sys.modules)
"""
    new_account.state.mkdir()
    words = [sys.executable, "-I", "-S", "-c", program, str(ROOT), str(new_account.state), str(new_account.project)]
    first, second = (
        subprocess.run(words, env=new_account.env, capture_output=True, text=True, check=True).stdout.split()
        for _turn in range(2)
    )

    assert list((new_account.state / "versions").glob("*.sources"))
    assert {"pydantic", "enricher.rules.compiling.named_files"} <= set(first)
    assert "enricher.sources.code.indexing.index" in second
    assert not {"pydantic", "yaml", "markdown_it", "enricher.rules.compiling.named_files"} & set(second)


@pytest.mark.parametrize("host", ["gemini", "codex", "copilot", "cursor", "opencode"])
def test_a_client_loads_its_own_adapter_only(warm: Account, host: str) -> None:
    program = PROGRAM.replace('"claude"', f'"{host}"')
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT)],
        input=b'{"prompt": "the test is not working"}',
        env=warm.env,
        cwd=warm.project,
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
    code = "import sys; sys.argv = ['enricher', '--help']\nfrom enricher.interfaces.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += (
        "print(sorted(name for name in sys.modules if name.startswith('enricher.interfaces.cli.')), file=sys.stderr)"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert ended.stderr.strip() == "[]"
