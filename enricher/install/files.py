"""Change the files of other programs safely: show the change first, back the file up, write it atomically.

If the file is a symbolic link, its target is changed. The mode and the owner of a file are kept. Only the user can read
new files, whatever the umask is. The paths of new files are recorded, because only these files may be deleted when the
entries of Prompt Enricher are removed.
"""

from __future__ import annotations

import difflib
import json
import os
import stat
import tempfile
import time
from dataclasses import dataclass

from enricher.home import state_dir
from storage.base import private
from storage.base.temporary_files import ABANDONED_S

ASIDE = ".enricher-"


@dataclass(eq=False, slots=True)
class FileChange:
    """A change of a file: its path, and its text before and after the change.

    ``before`` is None if the change creates the file, ``after`` is None if the change deletes it. ``is_ours`` marks the
    scripts of Prompt Enricher, which are executable and need no backup.
    """

    path: str
    before: str | None
    after: str | None
    is_ours: bool = False

    @property
    def is_needed(self) -> bool:
        """Return whether the change makes a difference: whether it alters, creates or deletes the file."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        names = ("/dev/null" if self.before is None else self.path, "/dev/null" if self.after is None else self.path)
        lines = difflib.unified_diff(old, new, *names)
        # The remark of diff and git, without which the next line would continue this one.
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def read_text(path: str) -> str | None:
    """Return the text of a file with its original line endings, or None if there is no file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a named pipe would wait for a writer
            raise OSError(f"{path} is no regular file")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):  # the folder of the state or of a client may be a file
        return None


def apply(change: FileChange) -> str:
    """Make the change, and return the path of the backup, or an empty string if there was nothing to back up.

    Raises OSError if the file cannot be written, or if its text is no longer ``change.before``.
    """
    target = os.path.realpath(change.path)
    # A client may write its settings between the plan and now; its write must not be lost.
    if not change.is_ours and read_text(target) != change.before:
        raise OSError("another program has just changed it")
    backup = "" if change.before is None or change.is_ours else _back_up(target, change.before)
    if change.after is None:
        os.unlink(target)
    else:
        _write(target, change)
    _record(change)
    return backup


def _back_up(path: str, content: str) -> str:
    folder = os.path.join(state_dir(), "backups")
    private.make_directory(folder)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    name = f"{stamp}-{path.strip(os.sep).replace(os.sep, '-')[-120:]}"  # file systems allow names of 255 bytes
    for attempt in range(1000):
        backup = os.path.join(folder, f"{name}.{attempt}" if attempt else name)
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        return backup
    raise FileExistsError(f"{folder} is full of backups of this second")


def _write(target: str, change: FileChange) -> None:
    folder = os.path.dirname(target)
    private.make_directory(folder)
    _sweep(folder)
    descriptor, aside = tempfile.mkstemp(dir=folder, prefix=ASIDE)  # mkstemp creates it with mode 0600
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(change.after or "")
            file.flush()
            os.fsync(file.fileno())
        _copy_mode(target, aside, change)
        os.replace(aside, target)
    except BaseException:
        os.unlink(aside)
        raise


def _sweep(folder: str) -> None:
    """Delete temporary files that a killed installation left in a folder, since they contain a client's settings."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(ASIDE) and os.path.isfile(path) and time.time() - os.lstat(path).st_mtime > ABANDONED_S:
            os.unlink(path)


def _copy_mode(target: str, aside: str, change: FileChange) -> None:
    if change.is_ours:
        os.chmod(aside, 0o700)
        return
    if change.before is None:
        return
    known = os.stat(target)
    os.chmod(aside, stat.S_IMODE(known.st_mode))
    if (known.st_uid, known.st_gid) != (os.getuid(), os.getgid()):  # as with sudo
        os.chown(aside, known.st_uid, known.st_gid)


def was_created(path: str) -> bool:
    """Return whether the installation created this file, according to its record."""
    return os.path.realpath(path) in _created()


def _record(change: FileChange) -> None:
    """Record that a client's file was created, or remove a deleted file from the record."""
    known, path = _created(), {os.path.realpath(change.path)}
    if change.after is None:
        now = known - path
    else:
        now = known | path if change.before is None and not change.is_ours else known
    if now != known:
        private.make_directory(state_dir())
        private.write_file(_record_file(), json.dumps(sorted(now), indent=0).encode())


def _record_file() -> str:
    return os.path.join(state_dir(), "created")


def _created() -> set[str]:
    try:
        with open(_record_file(), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):  # without the record, no file counts as ours and none is deleted
        return set()
    return {str(path) for path in known} if isinstance(known, list) else set()
