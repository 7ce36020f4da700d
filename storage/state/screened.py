"""The version of the secret screen that all stored data has passed, kept as a number in a file of the state folder.

An account that has no such file was recorded by version 1.
"""

from __future__ import annotations

import os

from storage.base import private

NAME = "screened"
VERSION = 2
"""Raise it whenever ``enricher.prompt.redaction`` finds more, so that ``enricher doctor`` offers a rescreen."""


def version(state_dir: str) -> int:
    """Return the lowest version that the stored texts went through."""
    try:
        return int(private.read_file(f"{state_dir}/{NAME}", 16))
    except (OSError, ValueError):
        return 1


def note(state_dir: str, number: int = VERSION) -> None:
    """Note that all that is stored went through this version; raises OSError."""
    private.write_file(f"{state_dir}/{NAME}", f"{number}\n".encode())


def note_a_new_account(state_dir: str) -> None:
    """Note the version where nothing has been stored yet; raises OSError."""
    if not os.path.exists(f"{state_dir}/{NAME}"):
        note(state_dir)
