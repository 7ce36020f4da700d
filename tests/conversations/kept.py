"""Conversations as the clients keep them, put into a home, and what an import says of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parents[1] / "session"))

from host_files import Claude, Codex, Copilot, Gemini

if TYPE_CHECKING:
    from host_files import Transcript
    from simulator import Account

FIRST = "look at shop/cart.py first"
FAILURE = "the nightly export died again, can you find out why?\nKeyError: 'total'"
OTHER = "do the same for the other one"
LONG_AGO = "2025-01-02T03:04:05Z"
PLACES = {
    "claude": ".claude/projects/-p/s-1.jsonl",
    "codex": ".codex/sessions/2026/11/21/rollout-2025-11-21-thread.jsonl",
    "gemini": ".gemini/tmp/shop/chats/session-1.jsonl",
    "copilot": ".copilot/session-state/c-1/events.jsonl",
}


def told(host: str) -> Any:
    """Return one and the same session in the form of ``host``, with the times a minute apart."""
    session: Any = {"claude": Claude, "codex": Codex, "gemini": Gemini, "copilot": Copilot}[host]()
    session.asks(FIRST)
    session.uses("Read", file_path="/p/shop/cart.py", path="/p/shop/cart.py")
    session.answers("It adds up floats.")
    session.asks(FAILURE)
    session.uses("shell", "Traceback\nKeyError: total", is_error=True, command=["pytest"])
    session.answers("Rounded. Shall I do the same in shop/order.py?")
    session.asks(OTHER)
    dated(session)
    return session


def dated(session: Transcript, *, day: str = "2025-11-20", session_id: str = "") -> Transcript:
    """Give every record a time of its own, and a session where the client names it so."""
    for number, record in enumerate(session.records):
        record["timestamp"] = f"{day}T{number // 60 % 24:02d}:{number % 60:02d}:00.250Z"
        if session_id:
            record["sessionId"] = session_id
    return session


def save(session: Transcript, account: Account, place: str) -> Path:
    file: Path = session.save(account.home / place)
    return file


def listed(account: Account, *words: str, exit_code: int = 0) -> Any:
    """Return what ``trace import --json`` says."""
    return json.loads(account.cli("trace", "import", "--json", *words, exit_code=exit_code))


def jsonl(account: Account, *rows: object, name: str = "prompts.jsonl") -> Path:
    return account.write(name, "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))


def prompts(account: Account) -> list[str]:
    return [trace["prompt"] for trace in account.traces()]
