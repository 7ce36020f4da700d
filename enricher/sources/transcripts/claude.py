"""Read transcript records of Claude Code: JSON objects, the relevant types of which are user, assistant and system.

The client records its todos either as one list (``TodoWrite``) or as tasks that it creates and updates one by one.
"""

from __future__ import annotations

from enricher.sources.transcripts.wording import objects, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.sources.transcripts import Extract

MARKS = (  # with and without a space: JSON may be written either way
    b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"', b'"compact_boundary"',
)  # fmt: skip
TODO_MARKS = (b'"TodoWrite"', b'"newTodos"')
CHANGING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
PATHS = ("file_path", "notebook_path", "path")
WRITTEN = ("new_string", "content", "new_source")


def take(record: dict[str, Any], found: Extract) -> None:
    """Add what one record contains to ``found``; skip those that the client wrote for itself or for a subagent."""
    kind = record.get("type")
    if kind == "system" and record.get("subtype") == "compact_boundary":
        found.compacted(record.get("uuid"))
        return
    if record.get("isSidechain") or record.get("isMeta") or kind not in ("user", "assistant"):
        return
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if kind == "assistant":
        _answer(content, found, of=str(message.get("id") or record.get("uuid") or "") if message else "")
    elif record.get("isCompactSummary"):
        found.compacted(record.get("uuid"))
    else:
        _user(record, content, found)


def _user(record: dict[str, Any], content: object, found: Extract) -> None:
    blocks = _blocks(content)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        found.prompt("\n".join(text for text in texts if isinstance(text, str)))
        return
    rich = record.get("toolUseResult")
    if isinstance(rich, dict):
        _state(rich, found)
    for block in reversed(results):
        if block.get("is_error"):
            found.error(text_of(block.get("content")))


def _state(rich: dict[str, Any], found: Extract) -> None:
    """Add the todo list, or a task that was just created, from a tool's structured result."""
    if isinstance(rich.get("newTodos"), list):
        found.plan(_todos(rich["newTodos"]))
    task = rich.get("task")
    if isinstance(task, dict) and isinstance(task.get("subject"), str):
        found.tasks.setdefault(str(task.get("id", "")), ["pending", ""])[1] = task["subject"]


def _blocks(content: object) -> list[dict[str, Any]]:
    return objects(content) if isinstance(content, list) else [{"type": "text", "text": content}]


def _answer(content: object, found: Extract, *, of: str) -> None:
    for block in reversed(_blocks(content)):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            found.add_answer(block["text"], of=of)
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            _tool(str(block.get("name", "")), block["input"], found)


def _tool(name: str, given: dict[str, Any], found: Extract) -> None:
    if name == "TodoWrite" and isinstance(given.get("todos"), list):
        found.plan(_todos(given["todos"]))
    elif name == "TaskUpdate":
        _update(given, found)
    elif name == "Bash":
        found.command(given.get("command"))
    else:
        for key in PATHS:
            found.file(given.get(key), is_change=name in CHANGING, code=_written(given))


def _written(given: dict[str, Any]) -> str:
    pieces = [given, *objects(given.get("edits"))]
    return "\n".join(text for piece in pieces for key in WRITTEN if isinstance(text := piece.get(key), str))


def _update(given: dict[str, Any], found: Extract) -> None:
    """Set a task's status and subject from ``given``, the input of an update, unless a newer update has set them."""
    number = str(given.get("taskId", ""))
    is_first = number not in found.tasks
    task = found.tasks.setdefault(number, ["pending", ""])
    if is_first and isinstance(given.get("status"), str):
        task[0] = given["status"]
    if isinstance(given.get("subject"), str):
        task[1] = task[1] or given["subject"]


def _todos(items: object) -> list[tuple[object, object]]:
    return [(item.get("status"), item.get("content")) for item in objects(items)]
