"""Read transcript records of Gemini CLI: messages of type user and gemini, and patches of the session (``$set``)."""

from __future__ import annotations

from enricher.sources.transcripts.wording import objects, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.sources.transcripts import Extract

MARKS = (b'"user"', b'"gemini"')
TODO_MARKS = (b'"write_todos"',)
CHANGING = ("replace", "write_file", "edit")
PATHS = ("file_path", "absolute_path", "path")
FAILED = ("error", "failed")


def take(record: dict[str, Any], found: Extract) -> None:
    """Add what a message contains to ``found``; for a patch, add what each of its messages contains.

    A patch repeats earlier messages of the session; each message is added only once.
    """
    patch = record.get("$set")
    if isinstance(patch, dict):
        for message in reversed(objects(patch.get("messages"))):
            take(message, found)
        return
    kind = record.get("type")
    if kind not in ("user", "gemini") or not found.is_new(record.get("id")):
        return
    if kind == "user":
        # ``content`` also contains what hooks added; only the displayed text is the user's own.
        found.prompt(text_of(record.get("displayContent")) or text_of(record.get("content")))
        return
    for call in reversed(objects(record.get("toolCalls"))):
        _call(call, found)
    found.add_answer(text_of(record.get("content")))


def _call(call: dict[str, Any], found: Extract) -> None:
    given, name = call.get("args"), call.get("name")
    given = given if isinstance(given, dict) else {}
    if name == "write_todos" and isinstance(given.get("todos"), list):
        items = objects(given["todos"])
        found.plan([(item.get("status"), item.get("description") or item.get("content")) for item in items])
    for key in PATHS:
        code = given.get("new_string") or given.get("content")
        found.file(given.get(key), is_change=name in CHANGING, code=code)
    if call.get("status") in FAILED:
        found.error(_result(call.get("result")) or text_of(call.get("resultDisplay")))


def _result(result: object) -> str:
    """Return the text of a tool's result: its error if there is one, else its output.

    A result is a string or a list of parts; a part has the text in ``functionResponse.response``.
    """
    if isinstance(result, str):
        return result
    for part in objects(result):
        answer = part.get("functionResponse")
        response = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(response, dict):
            return str(response.get("error") or response.get("output") or "")
    return ""
