"""The version of the search for secrets that all stored data has passed: a number in a file of the state folder.

If the file is missing, the data was recorded with version 1.
"""

from __future__ import annotations

import os

from storage.base import private

NAME = "screened"
VERSION = 2
"""Raise this whenever ``enricher.prompt.redaction`` finds more, so that ``enricher doctor`` offers a rescreen."""


def version(state_dir: str) -> int:
    """Return the version of the search for secrets that all stored text has passed."""
    try:
        return int(private.read_file(f"{state_dir}/{NAME}", 16))
    except (OSError, ValueError):
        return 1


def note(state_dir: str, number: int = VERSION) -> None:
    """Record that all stored data has passed the version ``number``; raises OSError."""
    private.write_file(f"{state_dir}/{NAME}", f"{number}\n".encode())


def note_a_new_account(state_dir: str) -> None:
    """Record the current version if no version was recorded yet; raises OSError."""
    if not os.path.exists(f"{state_dir}/{NAME}"):
        note(state_dir)
