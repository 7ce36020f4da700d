"""Remove what a user wants forgotten from the files beside the database, such as the log and the files of sessions.

Lines are overwritten in place with the same number of bytes, so that lines appended meanwhile are not lost, and
interrupted work can simply be repeated.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from storage.base import fast_stdlib, log, private, temporary_files
from storage.erasure import copies
from storage.erasure.target import record_of
from storage.state import late, notices, sessions
from storage.traces import spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from storage.erasure.target import ErasureTarget

    Record = dict[str, Any]


def clean(state_dir: str, gone: ErasureTarget, *, event_files: Iterable[str] = ()) -> list[str]:
    """Remove what ``gone`` describes from all files beside the database; return messages on what was removed.

    ``event_files`` are the paths of files to which the hook appended its events, if a user configured any. Raises
    OSError.
    """
    holds = partial(copies.holds, gone=gone, is_database=False)
    mentions = partial(copies.mentions, gone=gone)
    counts = {
        "lines of the log": _clean_log(state_dir, gone),
        "events": sum(_clean_events(path, gone) for path in event_files),
        "session files": _clean_sessions(state_dir, gone),
        "refused records": _clean_spool(state_dir, gone),
        "half-written files": temporary_files.erase(state_dir),
        "late results": _remove_files(f"{state_dir}/{late.FOLDER}", holds),
        "notices": sum(_remove_files(f"{state_dir}/{name}", mentions) for name in (notices.NAME, notices.SHOWN)),
    }
    _clean_claims(state_dir)
    messages = [f"{count:,} {name}" for name, count in counts.items() if count]
    return [*messages, *copies.clean(state_dir, gone)]


def _overwrite_lines(path: str, replacement: Callable[[bytes], object]) -> int:
    """Overwrite lines of a file in place; return how many lines changed.

    ``replacement`` returns the JSON value to write in place of a line, or None if the line stays. The value is padded
    with blanks to the length of the line; if it is longer, only blanks are written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return 0
    count = 0
    with open(descriptor, "rb+", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return 0
        for start, line in _lines(descriptor):
            value = replacement(line) if line.strip() else None
            if value is None:
                continue
            short = fast_stdlib.dumps(value).encode()
            short = short if len(short) <= len(line) else b""
            if short.ljust(len(line)) != line:  # not overwritten already by a run that was interrupted
                os.pwrite(descriptor, short.ljust(len(line)), start)
                count += 1
        if count:
            os.fsync(file.fileno())
    return count


def _lines(descriptor: int) -> Iterator[tuple[int, bytes]]:
    with open(os.dup(descriptor), "rb") as file:
        file.seek(0)  # a duplicated descriptor shares the position of the original
        start = 0
        for line in file:
            yield start, line.removesuffix(b"\n")
            start += len(line)


def _clean_log(state_dir: str, gone: ErasureTarget) -> int:
    def replacement(line: bytes) -> Record | None:
        if not gone.is_logged_in(line):
            return None
        at = str(record_of(line).get("at", ""))
        return {"at": at, "level": log.DEBUG, "stage": "", "session_id": "", "reason": ""}

    return sum(_overwrite_lines(f"{state_dir}/{name}", replacement) for name in (log.NAME, f"{log.NAME}.1"))


def _clean_events(path: str, gone: ErasureTarget) -> int:
    def replacement(line: bytes) -> Record | None:
        if not gone.is_in_line(line):
            return None
        return {"topic": str(record_of(line).get("topic", "")), "outcome": "forgotten"}

    return sum(_overwrite_lines(name, replacement) for name in (path, f"{path}.1"))


def _clean_sessions(state_dir: str, gone: ErasureTarget) -> int:
    count = sum(sessions.reset_session(state_dir, session) for session in gone.sessions)
    for session, names in gone.injected.items():
        count += _forget_injected(sessions.path_of(state_dir, session), names)
    return count + _remove_files(f"{state_dir}/{sessions.FOLDER}", partial(copies.mentions, gone=gone))


def _forget_injected(path: str, names: set[str]) -> bool:
    """Remove the facts ``names``, which were added to forgotten prompts, from the session file ``path``.

    The file lists what was already added to the session; what it does not list can be added again. Return whether the
    file changed.
    """

    def replacement(line: bytes) -> list[object] | None:
        try:
            tokens, injected = json.loads(line)
            left = [name for name in injected if name not in names]
        except (ValueError, TypeError):
            return None
        return [tokens, left] if len(left) < len(injected) else None

    return _overwrite_lines(path, replacement) > 0


def _clean_spool(state_dir: str, gone: ErasureTarget) -> int:
    def is_meant(path: str) -> bool:
        # A file that cannot be read may still be known by its name, which begins with the id of its trace.
        is_named = os.path.basename(path).partition(".")[0] in gone.ids
        return is_named or copies.holds(path, gone, is_database=False)

    folders = (f"{state_dir}/{spool.NAME}", f"{state_dir}/{spool.NAME}/{spool.REFUSED}")
    return sum(_remove_files(folder, is_meant) for folder in folders)


def _remove_files(folder: str, is_meant: Callable[[str], bool]) -> int:
    return sum(private.removed(path) for path in copies.files(folder) if is_meant(path))


def _clean_claims(state_dir: str) -> None:
    """Empty the file of prompt hashes if all of them have expired.

    A hash tells the hook that it has been called twice for the same prompt, and expires after 2 s.
    """
    path = f"{state_dir}/{sessions.CLAIMS}"
    with contextlib.suppress(FileNotFoundError):
        if time.time() - os.stat(path).st_mtime > sessions.DUPLICATE_WITHIN_NS / 1e9:
            os.truncate(path, 0)
