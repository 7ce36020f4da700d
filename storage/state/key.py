"""Read or create the installation's secret key for hashing prompts: 32 random bytes that never leave this machine."""

from __future__ import annotations

import os

from storage.base import private

NAME = "key"
SIZE = 32
LARGEST = 64 * 1024
"""Size in bytes up to which a damaged key file is replaced; a larger file is no key and is left unchanged."""


def load(state_dir: str) -> bytes:
    """Return the key, created on the first call; processes that start at the same time get the same key.

    Never raises. If nothing can be written, the key is valid for this process only.
    """
    path = f"{state_dir}/{NAME}"
    try:
        content = _read(path)
        if content is None:
            return _create(state_dir, path)
        return content if len(content) == SIZE else _repair(path)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return os.urandom(SIZE)


def _read(path: str) -> bytes | None:
    """Return the content of the key file; None if it is missing.

    A file that another user may have written is removed.
    """
    try:
        return private.read_own_file(path, LARGEST)
    except FileNotFoundError:
        return None
    except private.ForeignFileError:
        os.unlink(path)
        return None


def _create(state_dir: str, path: str) -> bytes:
    private.make_directory(state_dir)
    aside = private.write_aside(path, os.urandom(SIZE))
    try:
        os.link(aside, path)  # unlike a rename, a link fails if another process was first
    except FileExistsError:
        pass
    finally:
        os.unlink(aside)
    content = _read(path)
    if content is None:
        raise FileNotFoundError(path)
    return content


def _repair(path: str) -> bytes:
    """Replace a key of the wrong length, which a full disk may leave; return the new key.

    The file is locked during this, so that one process replaces the key and all others return the same one.
    """
    descriptor = private.open_file(path, os.O_RDWR)
    try:
        os.lockf(descriptor, os.F_LOCK, 0)
        content = os.read(descriptor, SIZE + 1)  # one byte more shows that a key is too long
        if len(content) != SIZE:
            content = os.urandom(SIZE)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, content, 0)
        return content
    finally:
        os.close(descriptor)
