"""Write and read files and directories that only their owner can read, whatever the umask.

A file is written under a temporary name and then renamed, so readers only ever see complete files.
"""

from __future__ import annotations

import os
import stat  # ``os`` has loaded it already, so it costs the hook nothing
import time

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
OTHERS_WRITE = 0o022  # the bits for group and others
NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not block until its other end is opened


class ForeignFileError(OSError):
    """Raised if another user may have created or changed a file, so that its content must not be used."""


def make_directory(path: str) -> None:
    """Create the directory and its missing parents with mode 0700; leave an existing one unchanged."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent in ("", path):
            raise
        make_directory(parent)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:  # another process was faster
            return
    os.chmod(path, 0o700)  # mkdir leaves out the bits of the umask, which may be the owner's


def open_file(path: str, flags: int) -> int:
    """Open ``path`` for writing and return the descriptor; a new file gets mode 0600."""
    descriptor = os.open(path, flags | os.O_CREAT | NOFOLLOW | NONBLOCK, 0o600)
    # An existing file keeps its mode when it is opened.
    if os.fstat(descriptor).st_mode & 0o777 != 0o600:
        os.fchmod(descriptor, 0o600)
    return descriptor


def aside_name(path: str) -> str:
    """Return a new temporary name in the folder of ``path``."""
    return f"{os.path.dirname(path)}/.{os.getpid():x}{os.urandom(4).hex()}.tmp"


def write_aside(path: str, content: bytes) -> str:
    """Write a private file under a temporary name in the folder of ``path``; return that name for a rename or link."""
    aside = aside_name(path)
    descriptor = open_file(aside, os.O_WRONLY | os.O_EXCL)
    try:
        _write_all(descriptor, content)
    except BaseException:  # an alarm may interrupt the write, too
        os.unlink(aside)
        raise
    finally:
        os.close(descriptor)
    return aside


def write_file(path: str, content: bytes) -> None:
    """Write a private file atomically, replacing any earlier file of that name."""
    aside = write_aside(path, content)
    try:
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def write_into(folder: str, name: str, content: bytes) -> None:
    """Write a private file as ``write_file`` does, and create the folder if it is missing."""
    try:
        write_file(f"{folder}/{name}", content)
    except FileNotFoundError:  # the folder is missing only the first time, so it is not looked for before every write
        make_directory(folder)
        write_file(f"{folder}/{name}", content)


def read_own_file(path: str, limit: int, *, follow: bool = False) -> bytes:
    """Return the content of a file that only this user or root can have written.

    With ``follow``, ``path`` may be a symbolic link; the checks then apply to its target. Raises ForeignFileError for
    any other file, OSError if the file is missing or longer than ``limit``.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | NONBLOCK | (0 if follow else NOFOLLOW))
    except OSError:
        if not follow and os.path.islink(path):
            raise ForeignFileError(f"{path} is a link") from None
        raise
    try:
        found = os.fstat(descriptor)
        if not is_own(found):
            raise ForeignFileError(f"{path} is not a regular file that nobody else can write")
        if found.st_size > limit:
            raise OSError(f"{path} is larger than {limit} bytes")
        return os.read(descriptor, found.st_size)
    finally:
        os.close(descriptor)


def is_own(found: os.stat_result) -> bool:
    """Return whether a stat result describes a regular file that only this user or root can write."""
    is_ours = not hasattr(os, "geteuid") or found.st_uid in (0, os.geteuid())
    return stat.S_ISREG(found.st_mode) and is_ours and not found.st_mode & OTHERS_WRITE


def read_file(path: str, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a regular file; raises OSError if it is missing or not a regular file."""
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        pieces = []
        while limit > 0 and (piece := os.read(descriptor, limit)):
            pieces.append(piece)
            limit -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def removed(path: str) -> bool:
    """Remove a file and return whether it existed; raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def unchanged_for(folder: str, seconds: float) -> list[str]:
    """Return the paths of the files in a folder that have not changed for so long; empty if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            before = time.time() - seconds
            return [one.path for one in entries if one.stat(follow_symlinks=False).st_mtime < before]
    except OSError:
        return []


def lock(descriptor: int, *, patience_s: float = 0.0) -> bool:
    """Lock an open file against other processes; return whether that succeeded within ``patience_s``.

    The file is unlocked when this process closes it, by any descriptor, or dies.
    """
    give_up_at, pause_s = time.monotonic() + patience_s, 0.0
    while True:
        try:
            os.lockf(descriptor, os.F_TLOCK, 0)
        except (PermissionError, BlockingIOError):  # POSIX allows both EACCES and EAGAIN
            if time.monotonic() >= give_up_at:
                return False
            pause_s = min(pause_s + 0.0005, 0.02)  # short at first, because most locks are held only for a moment
            time.sleep(pause_s)
        else:
            return True


def _write_all(descriptor: int, content: bytes) -> None:
    while content:  # a write may be incomplete, for example if a signal interrupts it
        content = content[os.write(descriptor, content) :]
