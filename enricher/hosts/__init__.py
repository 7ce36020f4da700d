"""Detect which of the supported agent clients is calling, and load its adapter.

Each client has a module here; a call loads only the module that it needs. Every adapter has
``parse(payload)``, which accepts anything the client sent and never raises, and
``answer(context, notice)``, which puts two finished texts (``enricher.respond.render.finish``)
into the JSON object that the client expects, or returns None for "print nothing".
"""

from __future__ import annotations

from enricher.prompt.event import PromptEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Adapter(Protocol):
        """A module of this package, which reads the events of one client and forms the answers that it expects."""

        def parse(self, payload: object) -> PromptEvent:
            """Return the prompt event that a decoded payload describes."""

        def answer(self, context: str, notice: str) -> dict[str, object] | None:
            """Return the object to print: ``context`` for the model, ``notice`` for the user; None to print nothing."""


BARE = ("codex",)
"""Clients that pass our text to the model as a separate message after the prompt, without naming its source."""
NAMES = ("claude", "gemini", "codex", "copilot", "cursor", "opencode")
FALLBACK = "claude"
LATE_EVENTS = {"claude": "PostToolUse", "gemini": "AfterTool"}
"""For each client that accepts further text within a turn: the event at which it does (``enricher.record.late``)."""
TURN_ENDS = {"claude": "Stop", "gemini": "AfterAgent"}
"""For some clients, the event at a turn's end, when the agent's code is checked (``enricher.validation.files``)."""

_MARKERS = (
    ("copilot", ("COPILOT_CLI",)),
    ("cursor", ("CURSOR_VERSION",)),
    ("gemini", ("GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR")),
    ("claude", ("CLAUDECODE",)),
)
"""Environment variables that only one client sets; not CLAUDE_PROJECT_DIR, which Gemini and Cursor set, too."""
_SIGNATURES = (
    ("claude", ("prompt_id", "transcript_path")),
    ("codex", ("turn_id",)),
    ("cursor", ("conversation_id", "generation_id")),
    ("copilot", ("sessionId", "timestamp")),
)
"""For each client, keys that occur together in all of its events and in no event of another client."""
_EVENT_NAMES = {
    "BeforeAgent": "gemini",
    "beforeSubmitPrompt": "cursor",
    "userPromptSubmitted": "copilot",
    "chat.message": "opencode",
}


def detect(environ: Mapping[str, str], payload: object, named: str) -> str:
    """Return the name of the client that is calling.

    The event is examined first (for what only one client sends), then the environment, and then ``named``, the name
    under which the hook was registered. If none of them identifies a client, Claude Code is assumed, whose event format
    is the most common. The environment comes second because a client that was started from the shell of another client
    inherits its variables.
    """
    fields = payload if isinstance(payload, dict) else {}
    return _by_event(fields) or _by_environment(environ) or (named if named in NAMES else FALLBACK)


def _by_environment(environ: Mapping[str, str]) -> str:
    return next((host for host, variables in _MARKERS if any(map(environ.get, variables))), "")


def _by_event(payload: dict[str, object]) -> str:
    named = payload.get("hook_event_name")
    if isinstance(named, str) and named in _EVENT_NAMES:
        return _EVENT_NAMES[named]
    return next((host for host, keys in _SIGNATURES if all(key in payload for key in keys)), "")


def adapter(name: str) -> Adapter:
    """Load and return the adapter of the client ``name``; an unknown name yields the adapter of Claude Code."""
    known = name if name in NAMES else FALLBACK
    module: Adapter = __import__(f"enricher.hosts.{known}", fromlist=("parse", "answer"))
    return module


def text(payload: object, *path: str) -> str:
    """Return the string at ``path`` inside nested objects, or an empty string if there is none."""
    value = payload
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def common_event(payload: object, host: str) -> PromptEvent:
    """Return the prompt event in a payload that uses the field names that most clients share."""
    return PromptEvent(
        text(payload, "prompt"),
        host=host,
        session_id=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        transcript_path=text(payload, "transcript_path"),
        source=text(payload, "source"),
        agent=text(payload, "agent_id"),
    )


def nested(event: str, context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print in the format that Claude Code, Gemini CLI and Codex CLI share.

    ``event`` is the client's name for the event that is answered. Returns None if ``context`` and ``notice`` are empty.
    """
    shaped: dict[str, object] = {}
    if notice:
        shaped["systemMessage"] = notice
    if context:
        shaped["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return shaped or None
