"""Files that other programs and users may read: written under a temporary name, renamed when they are complete."""

from __future__ import annotations

import contextlib
import os

from storage.base.abandoned_files import ENDING


def replace_file(path: str, content: bytes) -> None:
    """Replace the content of a file; it keeps its permissions, a new one gets the usual ones, a link stays a link.

    Raises OSError; the file then has its earlier content.
    """
    target = os.path.realpath(path)
    aside = f"{target}.{os.getpid():x}{os.urandom(4).hex()}{ENDING}"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(aside, os.stat(target).st_mode & 0o7777)
        os.replace(aside, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
