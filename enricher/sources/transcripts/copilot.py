"""Read transcript records of Copilot CLI: ``{type, data, id, timestamp, parentId}`` in its ``events.jsonl``."""

from __future__ import annotations

from enricher.sources.transcripts.wording import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.sources.transcripts import Extract

MARKS = (
    b'"user.message"', b'"assistant.message"', b'"tool.execution_start"', b'"tool.execution_complete"',
    b'"session.resume"', b'"session.compaction_complete"',
)  # fmt: skip
TODO_MARKS = (b'"update_todo"',)
CHANGING = ("edit", "create", "str_replace", "str_replace_editor", "write", "apply_patch")
PATHS = ("path", "file_path")


def take(record: dict[str, Any], found: Extract) -> None:
    """Add what one event contains to ``found``; skip events of a subagent, which contain its id."""
    kind, data = record.get("type"), record.get("data")
    if record.get("agentId") or not isinstance(data, dict):
        return
    if kind == "user.message" and isinstance(data.get("content"), str):
        if data.get("source", "user") in ("user", "", None):  # any other source is not the user
            found.prompt(data["content"])
    elif kind == "assistant.message":
        if isinstance(data.get("content"), str):
            found.add_answer(data["content"], of=str(data.get("messageId") or ""))
        for request in reversed(objects(data.get("toolRequests"))):
            _tool(request.get("name"), request.get("arguments"), found)
    elif kind == "tool.execution_start":
        _tool(data.get("toolName"), data.get("arguments"), found)
    elif kind == "tool.execution_complete" and data.get("success") is False:
        found.error(_message(data.get("error")) or _message(data.get("result")))
    elif kind == "session.resume" or (kind == "session.compaction_complete" and data.get("success", True)):
        found.compacted(record.get("id"))


def _tool(name: object, given: object, found: Extract) -> None:
    if not isinstance(given, dict):
        return
    if name == "update_todo" and isinstance(given.get("todos"), str):
        found.plan(_checklist(given["todos"]))
    for key in PATHS:
        found.file(given.get(key), is_change=name in CHANGING, code=given.get("new_str"))


def _checklist(text: str) -> list[tuple[object, object]]:
    steps: list[tuple[object, object]] = []
    for line in text.splitlines():
        bare = line.strip().lstrip("-* ")
        if bare[:1] == "[" and bare[2:3] == "]":
            status = {"x": "completed", "X": "completed", " ": "pending"}.get(bare[1], "in_progress")
            steps.append((status, bare[3:].strip()))
    return steps


def _message(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("message") or value.get("content")
    return value if isinstance(value, str) else ""
