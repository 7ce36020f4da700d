"""Store drafts (unsaved edits of instructions files) on disk, so that the workbench can offer them after a crash.

A running workbench holds a lock as long as it has a draft, and the system releases the lock however the workbench ends.
So a draft without a lock was left behind by a crash.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass
from datetime import datetime

from storage.base import private

FOLDER = "workbench-drafts"
LARGEST = 16 << 20  # room for two texts of the largest size that the editor opens, 4 MiB
SHORT = 48  # maximum characters of the line, which a dialog shows after the time


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved edit of the instructions file at ``path``, stored in the file ``file``.

    ``disk`` is the text of the instructions file on which the edit is based, ``text`` is the edited text, and ``at`` is
    the time at which the draft was stored.
    """

    file: str
    path: str
    disk: str
    text: str
    at: float


class Drafts:
    """The draft of this running workbench (app), and the drafts that earlier apps left behind when they ended."""

    def __init__(self, state_dir: str) -> None:
        self._folder = os.path.join(state_dir, FOLDER)
        self._name = os.urandom(8).hex()
        self._lock = -1

    @property
    def _file(self) -> str:
        return os.path.join(self._folder, f"{self._name}.json")

    def keep(self, path: str, disk: str, text: str) -> None:
        """Store this app's draft, readable by this user only; errors, such as those of a full disk, are ignored."""
        with contextlib.suppress(OSError):
            private.make_directory(self._folder)
            self._hold_lock()
            private.write_file(self._file, json.dumps({"path": path, "disk": disk, "text": text}).encode())

    def forget(self) -> None:
        """Remove this app's draft, because the edit was saved or discarded."""
        with contextlib.suppress(OSError):
            os.unlink(self._file)
        self.close()

    def close(self) -> None:
        """Release the lock, so that the next app offers the draft if there is one."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
            with contextlib.suppress(OSError):
                os.unlink(_lock_of(self._file))

    def abandoned(self, path: str) -> list[Draft]:
        """Return the drafts of the instructions file at ``path`` whose apps have ended, newest first."""
        with contextlib.suppress(OSError):
            names = [name for name in os.listdir(self._folder) if name.endswith(".json")]
            files = {os.path.join(self._folder, name) for name in names} - {self._file}
            drafts = filter(None, map(_read, files))
            found = [draft for draft in drafts if draft.path == path and not _is_locked(_lock_of(draft.file))]
            return sorted(found, key=lambda draft: draft.at, reverse=True)
        return []  # no draft was ever stored

    def _hold_lock(self) -> None:
        """Create and lock a lock file under a temporary name, then rename it, so that it never exists unlocked."""
        if self._lock >= 0:
            return
        lock = _lock_of(self._file)
        self._lock = private.open_file(f"{lock}.new", os.O_RDWR)
        with contextlib.suppress(OSError):  # on a file system without locks, keep the draft anyway
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(f"{lock}.new", lock)


def remove(draft: Draft) -> None:
    """Remove a draft that the user has restored or declined."""
    for file in (draft.file, _lock_of(draft.file)):
        with contextlib.suppress(OSError):
            os.unlink(file)


def describe(draft: Draft, disk: str) -> tuple[str, str]:
    """Return the time of a draft and its first line that is not in ``disk``, so that users can tell drafts apart."""
    at = datetime.fromtimestamp(draft.at).astimezone().strftime("%Y-%m-%d %H:%M")
    known = set(disk.splitlines())
    new = [line.strip() for line in draft.text.splitlines() if line not in known and line.strip()]
    since = "" if draft.disk == disk else "the file was written since; "
    return at, f"{since}{new[0][:SHORT] if new else 'lines removed'}"


def _read(file: str) -> Draft | None:
    try:
        at = os.stat(file).st_mtime
        found = json.loads(private.read_file(file, LARGEST))
        return Draft(file, str(found["path"]), str(found["disk"]), str(found["text"]), at)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lock_of(file: str) -> str:
    return f"{file.removesuffix('.json')}.lock"


def _is_locked(lock: str) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return False
    try:
        # Shared, so that another app that looks is not taken for the owner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False
