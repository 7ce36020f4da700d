"""The caller of seed 004: one prompt in, four keys out; and channels that say exactly what a test needs."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.context import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account

PROMPT = "the login test fails with a KeyError, please fix it"
KEYS = {"success", "enrichment_context", "tokens_used", "enrichment_count"}
EMPTY = {"success": False, "enrichment_context": "", "tokens_used": 0, "enrichment_count": 0}
GATES = ("ENABLE_LOCAL_INFERENCE_PIPELINE", "ENABLE_LOCAL_ENRICHMENT")
ATTEMPTS = 24


@dataclass
class Caller:
    """Who asks in the format ``pipeline``; ``answer`` is the last one."""

    account: Account
    answer: dict[str, Any] = field(default_factory=dict)

    def open_gates(self) -> None:
        self.account.env |= {**dict.fromkeys(GATES, "true"), "LLM_EMBEDDING_URL": "http://127.0.0.1:9/v1"}

    def says(self, name: str, *items: str | dict[str, Any], before: str = "", after: str = "", **rule: object) -> None:
        """Declare a channel that answers with these items; ``before`` and ``after`` are what its script does else."""
        offered = [{"text": item, "score": 0.9} if isinstance(item, str) else item for item in items]
        file = self.account.write(f"channels/{name}.json", json.dumps({"items": offered}))
        self.account.channel(name, f"{before}\ncat {file}\n{after}", **rule)

    def ask(self, prompt: object = PROMPT, *, given: bytes | None = None) -> dict[str, Any]:
        """Return the one object on stdout; anything else than that and exit code 0 is a failed test."""
        event = {
            "prompt": prompt,
            "session_id": self.account.event("")["session_id"],
            "project_path": str(self.account.project),
        }
        self.account.prepare()
        ended = subprocess.run(
            [*self.account.command(), "--format=pipeline"],
            input=json.dumps(event).encode() if given is None else given,
            env=self.account.env,
            cwd=self.account.project,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, b""), ended
        assert ended.stdout.isascii() and ended.stdout.count(b"\n") == 1, ended.stdout
        self.answer = json.loads(ended.stdout)
        assert set(self.answer) == KEYS
        return self.answer

    def ask_until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Ask again where the machine was too busy for a program to answer in its 150 ms."""
        for _attempt in range(ATTEMPTS):
            if holds(self.ask()):
                break
        return self.answer

    def events(self) -> list[dict[str, Any]]:
        """Return what the declared channels' results were told as; our own channels are left out."""
        file = self.account.state / "events.jsonl"
        told = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [one for one in told if one["channel"] not in CHANNELS]

    def statuses(self) -> dict[str, str]:
        """Return how the channels fared with the last prompt that the person's instructions declare."""
        file = self.account.config / "instructions.md"
        declared = file.read_text() if file.exists() else ""
        channels = self.account.trace()["channels"]
        return {one["channel"]: one["status"] for one in channels if f"## Channel: {one['channel']}\n" in declared}

    def log(self) -> list[dict[str, str]]:
        """Return what was logged beside our own channels."""
        return [one for one in self.account.log() if one["reason"].partition(":")[0] not in CHANNELS]

    def gather_ms(self) -> float:
        return next(one["latency_ms"] for one in self.account.trace()["stages"] if one["stage"] == "gather")


def text_of(tokens: int, name: str = "") -> str:
    """Return text that is estimated at exactly this many tokens (four characters each), beginning with ``name``."""
    return f"{name} {'abcdefg ' * tokens}".lstrip()[: 4 * tokens - 1] + "x"
