"""Find and remove the files in which plans are handed over to an agent; ``enricher.pipeline`` writes them.

They are in a folder below the system's temporary folder that belongs to the user; a folder or file that another user
put there is never used.
"""

from __future__ import annotations

import os
import stat

from storage.base import private

FOLDER = "claude-hydrator"
PREFIX, SUFFIX = "hydrate_", ".md"
LONGEST_AGE_S = 3600
MOST_CHECKED = 500  # files per prompt, so that a full folder does not delay one


class UnsafeFolderError(OSError):
    """Raised if the folder for plan files exists, but belongs to another user or is a link."""


def own_folder() -> str:
    """Return the user's folder for plan files, created with mode 0700 if missing; raises OSError if it is not safe."""
    for path in _places():
        private.make_directory(path)
        if _is_own(path):
            if os.lstat(path).st_mode & 0o777 != 0o700:
                os.chmod(path, 0o700)
            return path
    raise UnsafeFolderError(f"{path} belongs to somebody else or is a link")


def remove_old(folder: str, *, now: float) -> None:
    """Remove the plan files in ``folder`` that are over an hour old at ``now``.

    Links, folders and files with other names stay. A call checks at most MOST_CHECKED files.
    """
    _remove(folder, os.listdir(folder)[:MOST_CHECKED], before=now - LONGEST_AGE_S)


def _remove(folder: str, names: list[str], *, before: float) -> None:
    for name in names:
        if not (name.startswith(PREFIX) and name.endswith(SUFFIX)):
            continue
        path = f"{folder}/{name}"
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and found.st_mtime < before:
                os.unlink(path)
        except OSError:  # another prompt removed it
            continue


def remove_all() -> None:
    """Remove all plan files, which may contain prompts that a user wants forgotten; agents need them only briefly."""
    for path in _places():
        if os.path.lexists(path) and _is_own(path):
            _remove(path, os.listdir(path), before=float("inf"))


def pattern() -> str:
    """Return a glob pattern for the paths of plan files, for the permission that lets an agent client read them."""
    return f"{_base()}/{FOLDER}*/**"


def _base() -> str:
    return os.path.abspath(os.environ.get("TMPDIR") or "/tmp")


def _places() -> list[str]:
    """Return the two possible paths of the folder; the second is used if the first belongs to another user."""
    base = _base()
    return [os.path.join(base, FOLDER), os.path.join(base, f"{FOLDER}-{os.geteuid()}")]


def _is_own(path: str) -> bool:
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
