"""Keep results of the hook that came only after it had answered a prompt, until the agent client can fetch them.

At most one result per session waits. A session has up to two private files in the folder ``late``: the id of the trace
(record) of its latest prompt (``.turn``), and the waiting result. The next event for which the client calls the hook,
such as the end of a tool call, takes the result; if the user's next prompt comes first, the result is dropped.
"""

from __future__ import annotations

import os

from storage.base import fast_stdlib, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "late"
TURN = ".turn"
LIMIT_BYTES = 256 * 1024
UNCLAIMED_AFTER_S = 3600.0
"""Age in seconds at which a file is removed, because its session seems to have ended without another prompt."""


def path(state_dir: str, session_id: str) -> str:
    """Return the path of the file in which a result for the session waits."""
    return f"{state_dir}/{FOLDER}/{_name(session_id)}"


def begin_turn(state_dir: str, session_id: str, trace_id: str) -> None:
    """Record which trace belongs to the session's latest prompt; raises OSError if that fails."""
    content = fast_stdlib.dumps({"trace": trace_id}).encode()
    private.write_into(f"{state_dir}/{FOLDER}", f"{_name(session_id)}{TURN}", content)


def store(state_dir: str, session_id: str, value: dict[str, Any]) -> bool:
    """Store a result for the session; return False, and store nothing, if it is not about the session's latest prompt.

    ``value["trace"]`` is the id of the trace of its prompt. Raises OSError.
    """
    if not is_due(state_dir, session_id, value):
        return False
    private.write_into(f"{state_dir}/{FOLDER}", _name(session_id), fast_stdlib.dumps(value).encode())
    return True


def take(state_dir: str, session_id: str) -> dict[str, Any]:
    """Remove and return the session's waiting result, empty if there is none; of several processes only one gets it."""
    return _claimed(path(state_dir, session_id))


def is_due(state_dir: str, session_id: str, value: dict[str, Any]) -> bool:
    """Return whether a result is about the session's latest prompt.

    A result that ``take`` returned can be about an earlier prompt, if the process that stored it was interrupted
    between its check and its write.
    """
    latest = _read(f"{path(state_dir, session_id)}{TURN}").get("trace")
    return bool(latest == value["trace"])


def take_unclaimed(state_dir: str) -> list[dict[str, Any]]:
    """Remove all files older than an hour, whose sessions seem to have ended; return the results found in them."""
    old = private.unchanged_for(f"{state_dir}/{FOLDER}", UNCLAIMED_AFTER_S)
    return [value for file in old if "model" in (value := _claimed(file))]  # a file ``.turn`` has only a trace


def _name(session_id: str) -> str:
    return fast_stdlib.keyed_hash(b"session", session_id.encode(errors="replace"))


def _claimed(file: str) -> dict[str, Any]:
    aside = private.aside_name(file)
    try:
        os.rename(file, aside)  # the process whose rename succeeds has it
    except OSError:
        return {}
    value = _read(aside)
    private.removed(aside)
    return value


def _read(file: str) -> dict[str, Any]:
    """Return the JSON object in a file; empty if it is missing or damaged, or if another user could have written it."""
    try:
        value = fast_stdlib.loads(private.read_own_file(file, LIMIT_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and isinstance(value.get("trace"), str) else {}
