"""Read untrusted files from start to end: only regular files, in pieces of bounded size, whatever their bytes."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from storage.base.fast_stdlib import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_LINE = 16 << 20
"""Maximum length of a line in bytes; it is large, because a prompt's line also contains images that the user pasted."""
PIECE = 1 << 20  # bytes of the rest of a longer line that are read and dropped at a time
LARGEST_DOCUMENT = 64 << 20  # bytes of a file that is a single JSON object
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
TOO_LONG = f"a line of more than {LONGEST_LINE >> 20} MB is passed over"
NO_OBJECT = "no JSON object"


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a regular file; raises OSError for any other kind, such as a pipe, which would make the caller wait."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        yield file


def numbered(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number; a line longer than LONGEST_LINE is cut there and has no line break."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if _is_cut(line):
            while (piece := file.readline(PIECE)) and not piece.endswith(b"\n"):
                pass
        yield number, line


def decoded(content: bytes) -> dict[str, Any] | None:
    """Return the JSON object on a line; None if there is none. Invalid UTF-8 is replaced."""
    try:
        value = loads(content.decode("utf-8", "replace").lstrip("\ufeff"))  # a byte order mark at the start of the file
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def record_on(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Parse a line that ``numbered`` yielded; return its JSON object, or None and the reason why it has none."""
    if _is_cut(line):
        return None, TOO_LONG
    found = decoded(line)
    return found, "" if found is not None else NO_OBJECT


def _is_cut(line: bytes) -> bool:
    return len(line) == LONGEST_LINE and not line.endswith(b"\n")


def moment(value: object) -> int | None:
    """Convert a time that a client recorded to microseconds since 1970.

    ``value`` may be a string in ISO 8601 (in UTC if it names no zone), or a number of seconds or milliseconds since
    1970. Return None if it is neither, or not between the year 2000 and tomorrow.
    """
    try:
        found = _parsed(value)
    except (ValueError, OverflowError, OSError):
        return None
    if found is None or not EARLIEST.timestamp() <= found <= datetime.now(UTC).timestamp() + 86_400:
        return None
    return round(found * 1_000_000)


def _parsed(value: object) -> float | None:
    if isinstance(value, str):
        time = datetime.fromisoformat(value.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool):
        # As seconds, so large a number would be in the year 5138; as milliseconds, a smaller one would be before 1973.
        return float(value) / 1000 if value > 100_000_000_000 else float(value)
    return None


def text_at(record: object, *path: str) -> str:
    """Return the string at ``path`` inside nested objects; empty if there is none."""
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, str) else ""


def json_objects(
    path: str | Path, error: Callable[[str], Exception], *, remedy: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and the JSON object of each non-empty line of a user's file.

    Raises ``error`` if the file cannot be read or such a line has no JSON object; in the latter case, the message ends
    with ``remedy``.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror}") from failure
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError as failure:
            raise error(f"{place}: this is no UTF-8 text; {remedy}") from failure
        except (ValueError, RecursionError) as failure:
            raise error(f"{place}: the line is not JSON ({failure}); {remedy}") from failure
        if not isinstance(value, dict):
            raise error(f"{place}: the line is not a JSON object; {remedy}")
        yield place, value
