"""Read transcript records of Codex CLI, ``{timestamp, type, payload}``; most have the type "response_item"."""

from __future__ import annotations

from enricher.sources.transcripts.wording import objects, text_of
from storage.base.fast_stdlib import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.sources.transcripts import Extract

MARKS = (b'"response_item"', b'"event_msg"', b'"compacted"')
TODO_MARKS = (b'"update_plan"',)
METADATA = "internal_chat_message_metadata_passthrough"
USERS_KIND = "user.text"
HOSTS_WORDS = ("<environment_context", "<user_instructions", "<permissions", "# AGENTS.md", "<INSTRUCTIONS", "<turn_")
PATCH_LINES = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
LONGEST_PATCH = 32 * 1024


def take(record: dict[str, Any], found: Extract) -> None:
    """Add what one record contains to ``found``."""
    kind, payload = record.get("type"), record.get("payload")
    if kind == "compacted":
        found.compacted(record.get("timestamp"))
        return
    if not isinstance(payload, dict):
        return
    form = payload.get("type")
    if kind == "event_msg":
        _event(form, payload, found)
    elif kind == "response_item" and form == "message":
        _message(payload, found)
    elif kind == "response_item" and form in ("function_call", "custom_tool_call", "local_shell_call"):
        _call(payload, found)
    elif kind == "response_item" and form in ("function_call_output", "custom_tool_call_output"):
        _output(payload.get("output"), found)


def _event(form: object, payload: dict[str, Any], found: Extract) -> None:
    if form == "context_compacted":
        found.compacted("context_compacted")
    elif form == "user_message" and isinstance(payload.get("message"), str):
        found.prompt(payload["message"])
    elif form == "item_completed" and isinstance(payload.get("item"), dict):
        item = payload["item"]
        if item.get("type") == "UserMessage":
            found.prompt(text_of(item.get("content")))


def _message(payload: dict[str, Any], found: Extract) -> None:
    text = text_of(payload.get("content"))
    if payload.get("role") == "assistant":
        found.add_answer(text, of=str(payload.get("id") or ""))
    elif payload.get("role") == "user" and _is_users(payload.get(METADATA), text):
        found.prompt(text)


def _is_users(metadata: object, text: str) -> bool:
    """Return whether the user wrote a message, judged by its metadata, or by its beginning if it has none."""
    kinds = metadata.get("content_item_kinds") if isinstance(metadata, dict) else None
    if isinstance(kinds, list):
        return USERS_KIND in kinds
    return not text.lstrip().startswith(HOSTS_WORDS)


def _call(payload: dict[str, Any], found: Extract) -> None:
    name = payload.get("name")
    given = payload.get("arguments", payload.get("input"))
    arguments = _arguments(given)
    if name == "update_plan" and isinstance(arguments.get("plan"), list):
        found.plan([(step.get("status"), step.get("step")) for step in objects(arguments["plan"])])
        return
    words = arguments.get("command", arguments.get("cmd", arguments.get("input", given)))
    text = "\n".join(str(word) for word in words) if isinstance(words, list) else str(words or "")
    if "*** Begin Patch" in text:
        _patched(text[:LONGEST_PATCH], found)
    elif words is not given:  # otherwise, the tool has no command
        # The last word of ["bash", "-lc", "make test"] is the command.
        found.command(str(words[-1]) if isinstance(words, list) and words else text)
    for key in ("file_path", "path"):
        found.file(arguments.get(key), is_change=False)


def _arguments(given: object) -> dict[str, Any]:
    if isinstance(given, str) and given.startswith("{"):
        try:
            given = loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, dict) else {}


def _patched(patch: str, found: Extract) -> None:
    code: list[str] = []
    for line in reversed(patch.split("\n")):
        for start in PATCH_LINES:
            if line.startswith(start):
                found.file(line[len(start) :].strip(), is_change=True, code="\n".join(reversed(code)))
                code.clear()
        code += [line.removeprefix("@@")[1:]] if line.startswith(("+", " ", "@@ ")) else []


def _output(output: object, found: Extract) -> None:
    """Add the error of a command that failed, judged by its exit code (a field or text) or the field ``success``."""
    if isinstance(output, str) and output.startswith("{"):
        given = _arguments(output)
        metadata = given.get("metadata")
        if isinstance(metadata, dict) and metadata.get("exit_code"):
            found.error(given.get("output"))
    elif isinstance(output, str):
        _, mark, behind = output[:400].partition("xited with code ")  # "Process exited …", "Exited …"
        if mark and behind[:1].isdigit() and behind[:1] != "0":
            found.error(output)
    elif isinstance(output, dict) and output.get("success") is False:
        found.error(output.get("content"))
