"""Where the app works; the folder that it was started in may be gone by now."""

from __future__ import annotations

import os


def here() -> str:
    """Return the folder whose project and layers count; the home where it was deleted under the app."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")
