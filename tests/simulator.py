"""A person's account and an agent client that runs the hook in it, as bare and as forgetful as the real ones.

Every prompt is a process of its own, started the way the launcher starts it; what
it left behind is read through the public doors (the trace database, the log).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import warm

from enricher.context import CHANNELS
from enricher.prompt.project import identify
from enricher.record import after_answer
from enricher.rules import sources
from enricher.rules.compiling.compiler import refresh_layers
from enricher.rules.layers import find_layers
from storage.db import database
from storage.state import detached, sessions
from storage.traces import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BOOT = ROOT / "enricher" / "boot.py"
SHARED = ROOT.parent / "shared"
ENTRY = """\
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.argv[0] = "enricher"
from enricher.interfaces.cli import main
main()
"""
KEEP_MODULES = """\
import os, sys
sys.path.append(sys.argv[1])
import enricher.hook.process
from enricher import bundle
for name in (
    "classify", "context", "context.channels", "hosts", "prompt", "prompt.conversation", "prompt.redaction",
    "prompt.wording", "respond", "sources", "sources.code", "sources.transcripts",
):
    package = __import__("enricher." + name, fromlist=["__path__"])
    for module in os.listdir(package.__path__[0]):
        if module.endswith(".py") and module != "__init__.py":
            __import__(package.__name__ + "." + module[:-3])
import enricher.record.events, storage.base.log, storage.base.reader, storage.memory.memory_markers
import storage.memory.recall, storage.state.notices, storage.traces.intake
bundle.refresh()
"""
"""Every module that a prompt may load: a prompt that loads one more has them all compiled anew."""
HANG_S = 30
"""A hook that runs for so long hangs; its two seconds (ruling R2) are measured in ``test_deadlines.py``."""

HANDED_OVER_S = 1.8
"""A hook that ran for so long may have left the record to a process behind it (``hook.ANSWERED_BY_S``)."""

PATIENT_ATTEMPTS = 5
POSTPONED_S = 590
"""For how long upkeep counts as just done: a little less than the product believes (``POSTPONED_AT_MOST_S``)."""

_sessions = count(1)


def _is_alive(process: int) -> bool:
    """Say whether a process still has an environment; one that has ended and waits for its parent has none."""
    try:
        return bool(Path(f"/proc/{process}/environ").read_bytes())
    except OSError:
        return False


@cache
def used_state() -> Path:
    """Return a state folder as earlier prompts leave it, made once for this process.

    It has an empty database, the modules of the hook and the files of the packaged rules.
    """
    state = Path(tempfile.mkdtemp()) / "used"
    with closing(database.connect(str(state))):
        pass
    sources.store_packaged(str(state))
    env = {"ENRICHER_HOME": str(state)}
    subprocess.run([sys.executable, "-I", "-S", "-c", KEEP_MODULES, str(ROOT)], env=env, check=True)
    return state


@dataclass(frozen=True)
class Answer:
    """What the client saw of one run."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    wall_s: float

    @property
    def json(self) -> dict[str, Any] | None:
        """The one object on stdout, None for silence; anything else is a failed test."""
        if not self.stdout:
            return None
        assert self.stdout.isascii() and self.stdout.count(b"\n") == 1 and self.stdout.endswith(b"\n"), self.stdout
        value = json.loads(self.stdout)
        assert isinstance(value, dict), self.stdout
        return value

    @property
    def context(self) -> str:
        """What is added to the conversation."""
        return (self.json or {}).get("hookSpecificOutput", {}).get("additionalContext", "")

    @property
    def told(self) -> str:
        """What the person is shown."""
        return (self.json or {}).get("systemMessage", "")

    def is_late(self) -> bool:
        """Whether a channel of ours had no time to say anything."""
        missing = self.context.rpartition("\n_Partial: ")[2]
        return any(f"{name} (time)" in missing for name in CHANNELS)

    def is_harmless(self) -> bool:
        """Whether the prompt went on, with one object or nothing beside it."""
        assert self.json is None or set(self.json) <= {"hookSpecificOutput", "systemMessage"}, self.json
        return (self.exit_code, self.stderr) == (0, b"")


@dataclass
class Account:
    """A fresh home; ``env`` is all the environment there is.

    Its first command finds what the first prompt of any account makes: an empty database and the hook's modules. One
    that ``is_new`` has to make them itself, which costs a second of processor time.

    Only with ``has_upkeep``, or if it is new, do its prompts start the processes that import traces and update what is
    known of the project: these need five times the processor time of the prompt. Otherwise both count as just done;
    whoever reads the traces imports them.
    """

    home: Path
    env: dict[str, str] = field(default_factory=dict)
    is_new: bool = False
    has_upkeep: bool = False
    is_furnished: bool = False

    def __post_init__(self) -> None:
        self.state, self.config = self.home / "state", self.home / "config"
        self.project = self.home / "project"
        self.has_upkeep = self.has_upkeep or self.is_new
        self.project.mkdir(parents=True)
        (self.home / "tmp").mkdir()
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.home / "tmp"),
            "ENRICHER_HOME": str(self.state),
            "ENRICHER_CONFIG_HOME": str(self.config),
        }

    def event(self, prompt: object, **changed: object) -> dict[str, object]:
        """Return an event as Claude Code sends it, in a session of its own."""
        return {
            "session_id": f"session-{next(_sessions)}",
            "transcript_path": str(self.home / "no-transcript.jsonl"),
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        } | changed

    def ask(self, prompt: object, **changed: object) -> Answer:
        """Type one prompt and return what came of it."""
        return self.run(self.event(prompt, **changed))

    def ask_patiently(self, prompt: object, **changed: object) -> Answer:
        """Type one prompt, and again while the machine is too busy for the whole answer or to compile an edit in time.

        Each attempt leaves a trace. A late channel is no reason in a session, which is told a thing once.
        """
        for _attempt in range(PATIENT_ATTEMPTS):
            event = self.event(prompt, **changed)
            answer = self.run(event)
            trace = self._recorded(str(event["session_id"]))
            is_late = trace["error"] == "deadline" or trace["inputs"].get("rules_state") == "rules_stale"
            timed_out = {one["channel"] for one in trace["channels"] if one["status"] == "timeout"} & {*CHANNELS}
            is_late = is_late or ((answer.is_late() or bool(timed_out)) and "session_id" not in changed)
            if not is_late and trace["skip_reason"] != "settings_unknown":
                break
            self._wait_for_background()
            if "session_id" in changed:  # the same prompt again would be a duplicate
                time.sleep(sessions.DUPLICATE_WITHIN_NS / 1e9)
        return answer

    def was_cut_short(self) -> bool:
        """Say whether the machine was too busy for one of the prompts, or for a channel of one."""
        return any(
            trace["error"] == "deadline"
            or trace["skip_reason"] == "settings_unknown"
            or "timeout" in {channel["status"] for channel in trace["channels"]}
            for trace in self.traces()
        )

    def _recorded(self, session_id: str) -> dict[str, Any]:
        """Return the newest trace of a session; where the machine is busy, a process behind the hook writes it."""
        give_up_at = time.monotonic() + HANG_S
        while time.monotonic() < give_up_at:
            for trace in self._newest_first():
                if trace["session_id"] == session_id:
                    return trace
            time.sleep(0.02)
        raise AssertionError(f"no trace of {session_id}")

    def run(
        self,
        event: dict[str, object] | bytes,
        *,
        before: tuple[str, ...] = (),
        shell_line: str = "",
        env: dict[str, str] | None = None,
        **popen: Any,
    ) -> Answer:
        """Start the hook on one event; ``before`` starts it in turn, ``shell_line`` is a registered command."""
        self.prepare((isinstance(event, dict) and event.get("cwd")) or popen.get("cwd", self.project))
        given = event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
        begin = time.perf_counter()
        ended = subprocess.run(
            ["sh", "-c", shell_line] if shell_line else [*before, *self.command()],
            input=given,
            env=self.env if env is None else env,
            cwd=popen.pop("cwd", self.project),
            timeout=HANG_S,
            check=False,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | popen,
        )
        wall_s = time.perf_counter() - begin
        if wall_s >= HANDED_OVER_S:
            self._wait_for_background()
        return Answer(ended.stdout or b"", ended.stderr or b"", ended.returncode, wall_s)

    def prepare(self, cwd: object = "") -> None:
        """Put there what earlier prompts in this folder leave; a test that starts the hook by itself begins with it."""
        self._furnish()
        if not self.has_upkeep:
            self._postpone_upkeep(cwd or self.project)

    def _furnish(self) -> None:
        """Give the account, once, what its first prompt would make and no test has put there."""
        if self.is_new or self.is_furnished or (self.state.exists() and not self.state.is_dir()):
            return
        self.is_furnished = True
        for file in used_state().rglob("*"):
            own = self.state / file.relative_to(used_state())
            if file.is_file() and not os.path.lexists(own):
                for folder in (self.state, own.parent):
                    folder.mkdir(mode=0o700, exist_ok=True)
                shutil.copy2(file, own)

    def _postpone_upkeep(self, cwd: object) -> None:
        """Let the work that prompts in this folder start behind them count as just done."""
        state = str(self.state)
        if not os.path.isdir(state):
            return
        for stamp in (detached.MAINTENANCE, after_answer.upkeep_stamp(identify(str(cwd)))):
            with suppress(OSError):  # a test has spoiled the folder, or another process is at work
                os.close(detached.claim(state, stamp))
                detached.postpone(state, POSTPONED_S, stamp)

    @staticmethod
    def command(host: str = "claude") -> list[str]:
        """Return the command that the launcher runs."""
        return [sys.executable, "-I", "-S", str(BOOT), host]

    def cli(self, *words: str, exit_code: int = 0, cwd: Path | None = None, given: str | None = None) -> str:
        """Run ``enricher`` and return what it printed; anything but ``exit_code`` is a failed test.

        The process is warm (``warm.py``); ``tests/cli/test_commands.py`` starts each command cold.
        """
        self._furnish()
        ended = warm.run(words, env=self.env, cwd=cwd or self.project, given=given)
        assert ended.returncode == exit_code, (words, ended.stdout, ended.stderr)
        return ended.stdout if ended.stdout or not exit_code else ended.stderr

    def traces(self) -> list[dict[str, Any]]:
        """Return every trace with what lies beside it, oldest first."""
        return [*self._newest_first()][::-1]

    def trace(self) -> dict[str, Any]:
        """Return the newest trace."""
        for trace in self._newest_first():
            return trace
        raise AssertionError("nothing was traced")

    def _newest_first(self) -> Iterator[dict[str, Any]]:
        """Yield every trace; what lies beside one is read when its turn comes."""
        with closing(database.connect(str(self.state))) as db:
            yield from queries.export(db, with_children=True)

    def processes(self) -> list[str]:
        """Return the command lines of the processes that work for this account, or were left by its channels."""
        return list(self._processes().values())

    def _processes(self) -> dict[int, str]:
        mark, name = f"ENRICHER_HOME={self.state}".encode(), f"{warm.mark(self.state)}\n"
        found = {}
        for folder in Path("/proc").iterdir():
            try:
                if not folder.name.isdigit():
                    continue
                environment = (folder / "environ").read_bytes()
                if mark in environment.split(b"\0") or (folder / "comm").read_text() == name:
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(folder.name)] = line
            except OSError:
                continue
        return found

    def rest(self) -> None:
        """Wait until nothing works behind the prompts any more: late results and ends of turns, and any upkeep."""
        busy = self._wait_for_background()
        assert not busy, busy

    def _wait_for_background(self) -> list[str]:
        """Return the command lines of the processes that are still at work when nobody can wait for them longer."""
        give_up_at = time.monotonic() + HANG_S
        while (busy := self._processes()) and time.monotonic() < give_up_at:
            while any(map(_is_alive, busy)) and time.monotonic() < give_up_at:
                time.sleep(0.02)
        return list(busy.values())

    def log(self) -> list[dict[str, str]]:
        """Return the records of the log."""
        file = self.state / "log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def write(self, path: str | Path, text: str | bytes, *, mode: int = 0o644) -> Path:
        """Put a file below the home, with the folders that it needs."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)
        return file

    def instruct(self, text: str | bytes) -> Path:
        """Write the person's own instructions, a layer over the packaged ones."""
        return self.write("config/instructions.md", text)

    def give_aops(self, instructions: str | None = None, **catalogues: str) -> Path:
        """Set ``$AOPS`` to a folder with an instructions file; ``catalogues`` are the files beside it."""
        folder = self.home / "aops"
        if instructions is not None:
            self.write("aops/hooks/prompts/prompt-enricher-instructions.md", instructions)
        for name, text in catalogues.items():
            self.write(f"aops/hooks/prompts/{name}.md", text)
        folder.mkdir(exist_ok=True)
        self.env["AOPS"] = str(folder)
        return folder

    def compile(self, cwd: Path | None = None) -> None:
        """Compile the layers that speak in the folder as they stand, so that a prompt need not wait for it."""
        self._furnish()
        self.state.mkdir(mode=0o700, exist_ok=True)
        with patch.dict(os.environ, self.env, clear=True):
            refresh_layers(find_layers(str(cwd or self.project)))

    def channel(self, name: str, script: str, **settings: object) -> Path:
        """Declare an external channel: a shell script, and its rule in the person's instructions."""
        program = self.write(f"channels/{name}.sh", f"#!/bin/sh\n{script}\n", mode=0o755)
        rule = {"command": [str(program)], **settings}
        lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in rule.items())
        file = self.config / "instructions.md"
        above = file.read_text() if file.exists() else "# Context\n"
        self.instruct(f"{above}\n## Channel: {name}\n\n```yaml\n{lines}\n```\n")
        return program
