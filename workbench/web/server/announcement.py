"""Announce the address of the running server to programs of the same account, in a small locked file.

The lock is released when its holder dies: the address of a dead server is never returned.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from storage.base import private

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "published-url"
LIMIT_BYTES = 2048


@contextlib.contextmanager
def announced(state_dir: str, url: str) -> Iterator[None]:
    """Announce the address while the context is open; another server's announcement is left in place."""
    path = f"{state_dir}/{NAME}"
    descriptor = _locked(state_dir, path)
    if descriptor < 0:
        yield
        return
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{url}\n{os.getpid()}\n".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(descriptor)


def known(state_dir: str) -> str:
    """Return the address at which a server of this account shows the history, empty if there is none."""
    try:
        descriptor = os.open(f"{state_dir}/{NAME}", os.O_RDONLY | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return ""
    try:
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:  # the lock is held: the server runs
        return os.read(descriptor, LIMIT_BYTES).decode(errors="replace").partition("\n")[0]
    else:
        return ""
    finally:
        os.close(descriptor)


def _locked(state_dir: str, path: str) -> int:
    """Return a descriptor of the locked file, -1 if another process holds the lock or locking fails."""
    try:
        private.make_directory(state_dir)
        descriptor = private.open_file(path, os.O_RDWR)
    except OSError:
        return -1
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor
