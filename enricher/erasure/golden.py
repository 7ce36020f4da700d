"""Remove deleted prompts from the golden cases, which are lines of a file in each repository.

A golden case is a labelled prompt with which rules are tested. ``workbench.gate.cases`` writes these files; both
modules take the same lock.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

from enricher.home import project_root
from storage.base import private, temporary_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from storage.erasure.target import ErasureTarget

CASES = os.path.join(".enricher", "cases.jsonl")
LARGEST_CASES = 32 << 20


def forget(folders: set[str], gone: ErasureTarget) -> tuple[list[str], list[str]]:
    """Remove the golden cases of the deleted prompts (``gone``) in these folders' repositories.

    Return messages about what was done, and remarks for the user.
    """
    done: list[str] = []
    remarks: list[str] = []
    if lost := sorted(one for one in folders if one and not os.path.isdir(one)):
        more = f" and {len(lost) - 1:,} more folders are" if len(lost) > 1 else " is"
        remarks.append(f"{lost[0]}{more} not there any more; golden cases in a copy are not removed")
    for path in sorted({os.path.join(project_root(one), CASES) for one in folders if one and os.path.isdir(one)}):
        try:
            count = _drop_cases(path, gone)
        except OSError as failure:
            remarks.append(f"{path}: golden cases of it are not removed: {failure.strerror or failure}")
            continue
        if count:
            done.append(f"{count:,} golden {'case' if count == 1 else 'cases'} removed from {path}")
            remarks.append(f"{path}: what git has of it, git keeps")  # earlier commits contain the cases
    return done, remarks


def _drop_cases(path: str, gone: ErasureTarget) -> int:
    """Remove the cases of deleted prompts from a file, under the lock of its folder; return how many there were."""
    if not os.path.isfile(path):
        return 0
    target = os.path.realpath(path)  # a link stays; the file that it points to is rewritten
    with locked_folder(os.path.dirname(target)):
        _remove_half_written(target)
        lines = private.read_file(target, LARGEST_CASES).splitlines(keepends=True)
        left = [line for line in lines if not (_case_id(line) in gone.ids or gone.mentions.in_bytes(line))]
        if len(left) < len(lines):
            temporary_files.replace_file(target, b"".join(left))
    return len(lines) - len(left)


def _remove_half_written(target: str) -> None:
    """Delete what killed processes left beside ``target``; the caller's lock ensures that no process is writing now."""
    folder, file = os.path.split(target)
    for name in os.listdir(folder):
        # ``temporary_files.replace_file`` appends a dot, hexadecimal digits and its ending to the name of the file.
        middle = name.removeprefix(file).removesuffix(temporary_files.ENDING).removeprefix(".")
        is_ours = name.endswith(temporary_files.ENDING) and middle != "" and not set(middle) - set("0123456789abcdef")
        if is_ours and not os.path.islink(path := os.path.join(folder, name)):
            os.unlink(path)


@contextlib.contextmanager
def locked_folder(folder: str) -> Iterator[None]:
    """Lock a folder, so that only one process at a time changes the golden cases in it; raises OSError.

    There is no lock file, because it would show up in the repository.
    """
    try:
        import fcntl
    except ImportError:  # no POSIX locks (Windows)
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)  # a folder can be locked, but not opened for writing
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _case_id(line: bytes) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return ""
    return str(value.get("id", "")) if isinstance(value, dict) else ""
