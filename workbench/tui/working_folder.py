"""The app's working folder, which may have been deleted since the start."""

from __future__ import annotations

import os


def here() -> str:
    """Return the working folder, whose project and layers apply; the home folder if the working folder was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")
