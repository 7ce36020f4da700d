"""The installation's secret, with which prompts are hashed: 32 random bytes that never leave this machine."""

from __future__ import annotations

import os

NAME = "key"
SIZE = 32


def load(state_dir: str) -> bytes:
    """Return the key, made at the first call; processes that start together agree on one.

    Never raises. Where nothing can be written, the key is good for this process only.
    """
    path = f"{state_dir}/{NAME}"
    try:
        return _read(path) or _create(state_dir, path)
    except (OSError, ValueError):
        return os.urandom(SIZE)


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return b""
    content = os.read(descriptor, SIZE + 1)
    os.close(descriptor)
    return content if len(content) == SIZE else b""


def _create(state_dir: str, path: str) -> bytes:
    from storage import private

    private.make_directory(state_dir)
    if os.path.exists(path):  # of a wrong length: cut off by a full disk
        os.unlink(path)
    aside = private.write_aside(path, os.urandom(SIZE))
    try:
        os.link(aside, path)  # unlike a rename, fails where another process was first
    except FileExistsError:
        pass
    finally:
        os.unlink(aside)
    return _read(path)
