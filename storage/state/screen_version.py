"""Record which version of the search for secrets has checked all stored data, as a number in a small file.

If the file is missing, the data was checked with version 1.
"""

from __future__ import annotations

import os

from storage.base import private

NAME = "screened"
VERSION = 2
"""The present version of the search for secrets.

Raise it whenever ``enricher.prompt.redaction`` finds more secrets, so that ``enricher doctor`` offers to check the
stored data again.
"""


def version(state_dir: str) -> int:
    """Return the version of the search for secrets that has checked all stored data."""
    try:
        return int(private.read_file(f"{state_dir}/{NAME}", 16))
    except (OSError, ValueError):
        return 1


def note(state_dir: str) -> None:
    """Record that all stored data was checked with the present version of the search for secrets; raises OSError."""
    private.write_file(f"{state_dir}/{NAME}", f"{VERSION}\n".encode())


def note_a_new_account(state_dir: str) -> None:
    """Record the current version of the search for secrets for a database that was just created.

    Nothing changes if a version is already recorded. Raises OSError.
    """
    if not os.path.exists(f"{state_dir}/{NAME}"):
        note(state_dir)
