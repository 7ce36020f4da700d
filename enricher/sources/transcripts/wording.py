"""Extract from transcript records the user's own words and an error's main line, and shorten and redact texts."""

from __future__ import annotations

from enricher.prompt import POINTING_WORDS
from enricher.prompt.redaction import redact
from enricher.prompt.text import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plain_status(status: object) -> str:
    """Return ``status``, a client's word for the status of a task, as ``completed``, ``in_progress`` or ``pending``."""
    word = status.lower().replace("-", "_").replace(" ", "_") if isinstance(status, str) else ""
    if word in ("completed", "done", "complete", "closed", "cancelled"):
        return "completed"
    return "in_progress" if word in ("in_progress", "inprogress", "active", "doing") else "pending"


def text_of(content: object) -> str:
    """Return the text of a message or of a tool's result, which is either a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in objects(content) if block.get("text"))


def objects(value: object) -> list[dict[str, Any]]:
    """Return the JSON objects in a list; empty if ``value`` is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def short(text: str, limit: int) -> str:
    """Return a text on one line, without secrets, and at most ``limit`` characters long."""
    # Cut roughly first, because a tool's output may have megabytes; much of it may be white space, which is then
    # removed.
    text = storable(" ".join(text[: 4 * limit + 4096].split()))
    # Redact before the final cut, because half a secret would not be recognised.
    text = redact(text[: 2 * limit + 512])[0]
    return shortened(text, limit)


def storable(text: str) -> str:
    """Return the text with characters that UTF-8 cannot encode (lone surrogates) replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def error_line(text: str) -> str:
    """Return the last line of a tool's output that looks like an error or, if none does, its last line."""
    lines = [line.strip() for line in text[-4096:].splitlines() if line.strip()]
    for line in reversed(lines):
        head = line[:80]
        if "Error" in head or "Exception" in head or "error:" in head.lower() or head.startswith(("FAILED", "fatal")):
            return line
    return lines[-1] if lines else ""


def is_offered(prompt: str, answers: list[tuple[int, str]]) -> bool:
    """Return whether the prompt is an option of the last answer."""
    words = prompt.lower().split(None, POINTING_WORDS)
    if not 1 < len(words) <= POINTING_WORDS:
        return False
    last = "\n".join(text for ago, text in reversed(answers) if ago == answers[0][0])
    if " ".join(words[-2:]).rstrip(" .!?") not in last.lower():  # spares most prompts the module that reads lists
        return False
    from enricher.prompt.conversation.enumerations import offers

    return offers(prompt, last)


_DROPPED = (
    "system-reminder", "system_reminder", "hook_context", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "command-name", "command-message", "command-contents", "bash-stdout", "bash-stderr",
    "current_datetime", "session_context", "environment_context", "user_instructions", "task-notification",
    "agent-notification",
)  # fmt: skip
"""Tags whose content was written by the client, not by the user."""
_NOTES = ("[Request interrupted", "Caveat: The messages below", "This session is being continued from a previous")
LONGEST_TAG = 80
CLEANED_CHARS = 8000
"""Maximum characters of a user record that are searched for tags; a prompt is later shortened to far fewer."""


def users_words(text: str) -> str:
    """Return the user's own text from a user record, without notifications, command wrappers and tags; may be empty.

    The arguments of a command count as the user's words, its name does not.
    """
    text = text[:CLEANED_CHARS].strip()
    if text.startswith(_NOTES):
        return ""
    if "<" in text:
        if "<command-name>" in text or "<command-args>" in text:
            text = text.partition("<command-args>")[2].partition("</command-args>")[0]
        text = _without_tags(text).strip()
    return "" if _is_command(text) else text


def _is_command(text: str) -> bool:
    # The first word of a path, such as /usr/bin, contains a second slash.
    name = text[1:65].split(None, 1)[:1] if text.startswith("/") and not text[1:2].isspace() else []
    return bool(name) and all(letter.isalnum() or letter in "-:_" for letter in name[0])


def _without_tags(text: str) -> str:
    """Remove the elements that the client added, with their content; of other elements, remove only the tags."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<", at)) >= 0:
        end = text.find(">", start + 1, start + LONGEST_TAG)
        inside = text[start + 1 : end] if end > 0 else ""
        name = inside.strip("/").split(None, 1)[0] if inside.strip("/ ") else ""
        if (
            not name
            or inside[0].isspace()  # "a < b and c > d"
            or not name[0].isalpha()
            or not name.replace("-", "").replace("_", "").replace(":", "").isalnum()
        ):
            kept.append(text[at : start + 1])
            at = start + 1
            continue
        kept.append(text[at:start])
        at = end + 1
        if inside[0] != "/" and (name in _DROPPED or name.startswith("ide_")):  # ide_opened_file, ide_selection
            close = text.find(f"</{name}>", at)
            at = close + len(name) + 3 if close >= 0 else len(text)
        elif inside[0] != "/" and _is_generic(text, start, f"</{name}>", end):
            kept.append(text[start : end + 1])
    return "".join(kept) + text[at:]


def _is_generic(text: str, start: int, closing: str, end: int) -> bool:
    """Return whether the ``<`` at ``start`` belongs to a generic type such as ``List<String>``, not to a tag."""
    return start > 0 and text[start - 1].isalnum() and closing not in text[end:]
