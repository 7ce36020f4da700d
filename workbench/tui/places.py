"""The app's working folder, which may have been deleted since the start."""

from __future__ import annotations

import os


def here() -> str:
    """Return the folder whose project and layers count; the home folder where that folder was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")
