"""The agent clients we speak with: which one is calling, and what its adapter needs.

One file per client; a call loads only the one that is speaking. Every adapter has
``parse(payload)``, which takes whatever the client sent and never raises, and
``answer(context, notice)``, which puts two finished texts (``enricher.respond.render.finish``)
into the one object that client understands, or returns None for "print nothing".
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from enricher.prompt.event import PromptEvent

    class Adapter(Protocol):
        """What every module of this package offers."""

        def parse(self, payload: object) -> PromptEvent:
            """Return the prompt event that a decoded payload describes."""

        def answer(self, context: str, notice: str) -> dict[str, object] | None:
            """Return what to print, or None for nothing."""


BARE = ("codex",)
"""Clients that hand our text to the model as a message of its own, behind the prompt and without a word about it."""
NAMES = ("claude", "gemini", "codex", "copilot", "cursor", "opencode")
FALLBACK = "claude"

# Gemini and Cursor set CLAUDE_PROJECT_DIR too, so only names that one client alone sets are markers.
_MARKERS = (
    ("copilot", ("COPILOT_CLI",)),
    ("cursor", ("CURSOR_VERSION",)),
    ("gemini", ("GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR")),
    ("claude", ("CLAUDECODE",)),
)
# Keys that only this client sends, all of them in every event.
_SIGNATURES = (
    ("claude", ("prompt_id", "transcript_path")),
    ("codex", ("turn_id",)),
    ("cursor", ("conversation_id", "generation_id")),
    ("copilot", ("sessionId", "timestamp")),
)
_EVENT_NAMES = {
    "BeforeAgent": "gemini",
    "beforeSubmitPrompt": "cursor",
    "userPromptSubmitted": "copilot",
    "chat.message": "opencode",
}


def detect(environ: Mapping[str, str], payload: object, named: str) -> str:
    """Return the name of the client that is calling.

    Its environment decides, then the keys of its event, then ``named`` (under which
    name the hook was registered), then the shape most clients share. A client
    started from another's shell inherits that one's marker: an event that only one
    client can have sent overrules it.
    """
    fields = payload if isinstance(payload, dict) else {}
    return _by_event(fields) or _by_environment(environ) or (named if named in NAMES else FALLBACK)


def _by_environment(environ: Mapping[str, str]) -> str:
    for host, variables in _MARKERS:
        if any(environ.get(variable) for variable in variables):
            return host
    return ""


def _by_event(payload: dict[str, object]) -> str:
    named = payload.get("hook_event_name")
    if isinstance(named, str) and named in _EVENT_NAMES:
        return _EVENT_NAMES[named]
    for host, keys in _SIGNATURES:
        if all(key in payload for key in keys):
            return host
    return ""


def adapter(name: str) -> Adapter:
    """Return the adapter of a client, loading no other; an unknown name gets the shared shape."""
    known = name if name in NAMES else FALLBACK
    module: Adapter = __import__(f"enricher.hosts.{known}", fromlist=("parse", "answer"))
    return module


def text(payload: object, *path: str) -> str:
    """Return the string at ``path`` inside nested objects, empty where there is none."""
    value = payload
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def common_event(payload: object, host: str) -> PromptEvent:
    """Return the event of a client that uses the field names most of them share."""
    from enricher.prompt.event import PromptEvent

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
    """Return the answer that Claude Code, Gemini CLI and Codex CLI share, without any key one of them refuses."""
    shaped: dict[str, object] = {}
    if notice:
        shaped["systemMessage"] = notice
    if context:
        shaped["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return shaped or None
