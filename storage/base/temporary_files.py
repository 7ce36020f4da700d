"""Replace files by renaming temporary files (``.tmp``), and remove temporary files that were never completed.

A killed process leaves a half-written file, which may contain prompt text and which no process will complete. Files
that only their owner may read are written by ``storage.base.private`` instead.
"""

from __future__ import annotations

import contextlib
import os
import time

ENDING = ".tmp"
ABANDONED_S = 60.0
"""Age in seconds above which a temporary file counts as abandoned: no write takes a minute."""
LONGEST_WRITE_S = 2.0
LOOK_AGAIN_S = 0.05
RANDOM_DIGITS = 8  # of the name of a temporary file, behind the process id


def sweep(folder: str) -> int:
    """Remove the temporary files in a folder and its subfolders that no process can still be writing.

    Returns how many files were removed. They are recognized by their age, which is above ABANDONED_S.
    """
    return sum(_removed(path) for path in _found(folder) if _age(path) > ABANDONED_S)


def erase(folder: str) -> int:
    """Remove every temporary file in a folder and its subfolders; return how many were removed.

    Files that were written very recently are left alone for up to two seconds, so that they can be completed. Call this
    when a user wants data deleted: afterwards, no half-written file contains it.
    """
    found = _found(folder)
    until = time.monotonic() + LONGEST_WRITE_S
    while any(_age(path) < LONGEST_WRITE_S for path in found) and time.monotonic() < until:
        time.sleep(LOOK_AGAIN_S)
        found = [path for path in found if os.path.lexists(path)]
    return sum(map(_removed, found))


def _found(top: str) -> list[str]:
    return [
        f"{folder}/{name}"
        for folder, _folders, names in os.walk(top)
        for name in names
        if name.endswith(ENDING) and not os.path.islink(f"{folder}/{name}")
    ]


def _age(path: str) -> float:
    """Return the seconds between now and a file's modification time, be it past or future; 0 if the file is gone."""
    try:
        return abs(time.time() - os.lstat(path).st_mtime)
    except OSError:
        return 0.0


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def replace_file(path: str, content: bytes) -> None:
    """Replace the content of a file in one step, so that readers see either the earlier or the new content.

    The file keeps its permissions; a new file gets mode 0644 less the umask. If ``path`` is a symbolic link, its target
    is replaced. Temporary files that killed processes left for this file are removed. Raises OSError; the file then has
    its earlier content.
    """
    target = os.path.realpath(path)
    aside = f"{target}.{os.getpid():x}{os.urandom(RANDOM_DIGITS // 2).hex()}{ENDING}"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # otherwise, a power failure after the rename could leave an empty file
        if os.path.exists(target):
            os.chmod(aside, os.stat(target).st_mode & 0o7777)
        os.replace(aside, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    _remove_left_by_killed(target)


def _remove_left_by_killed(target: str) -> None:
    """Remove the temporary files that ``replace_file`` made for this target in processes that have ended."""
    folder, name = os.path.split(target)
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            middle = other.removeprefix(f"{name}.").removesuffix(ENDING)
            if other == f"{name}.{middle}{ENDING}" and _has_ended(middle[:-RANDOM_DIGITS]):
                _removed(f"{folder}/{other}")


def _has_ended(pid: str) -> bool:
    """Return whether no process with this id (in hexadecimal) is running; False if that cannot be found out."""
    if os.name != "posix" or not pid or set(pid) - set("0123456789abcdef"):
        return False  # elsewhere, ``os.kill`` would end the process
    try:
        os.kill(int(pid, 16), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it belongs to another user
        return False
    return False
