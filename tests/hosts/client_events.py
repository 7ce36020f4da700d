"""One event of each client as the client sends it, and where each finds the context in an answer."""

from __future__ import annotations

from typing import Any

from enricher import hosts

EVENTS: dict[str, dict[str, Any]] = {
    "claude": {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": "/w",
        "prompt_id": "1",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "p",
    },
    "gemini": {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": "/w",
        "hook_event_name": "BeforeAgent",
        "timestamp": "2026-11-21T03:43:30.384Z",
        "prompt": "p",
    },
    "codex": {
        "session_id": "s",
        "turn_id": "1",
        "transcript_path": "/t.jsonl",
        "cwd": "/w",
        "hook_event_name": "UserPromptSubmit",
        "model": "m",
        "permission_mode": "default",
        "prompt": "p",
    },
    "copilot": {"sessionId": "s", "timestamp": 1795232614546, "cwd": "/w", "prompt": "p"},
    "cursor": {
        "conversation_id": "s",
        "generation_id": "1",
        "hook_event_name": "beforeSubmitPrompt",
        "cursor_version": "3.20.17",
        "workspace_roots": ["/w"],
        "transcript_path": "/t.jsonl",
        "prompt": "p",
        "attachments": [],
    },
    "opencode": {"hook_event_name": "chat.message", "session_id": "s", "cwd": "/w", "prompt": "p"},
}

CONTEXT_AT = {
    "claude": ("hookSpecificOutput", "additionalContext"),
    "gemini": ("hookSpecificOutput", "additionalContext"),
    "codex": ("hookSpecificOutput", "additionalContext"),
    "copilot": ("additionalContext",),
    "cursor": ("additional_context",),
    "opencode": ("additionalContext",),
}


def context_in(host: str, answer: dict[str, Any]) -> str:
    return hosts.text(answer, *CONTEXT_AT[host])
