"""Where the index of a project lies, and what of git a few small files tell. On the hook's path."""

from __future__ import annotations

import os

from storage.lean import keyed_hash

FORMAT = "1"


def database_file(state: str, project: str) -> str:
    """Return the file of the index of the project of that id."""
    return f"{state}/code/{keyed_hash(b'code', project.encode(errors='surrogateescape'))[:20]}.db"


def head_of(root: str) -> str:
    """Return what HEAD of the work tree at ``root`` says: a commit or a branch; empty without git."""
    try:
        marker = f"{root}/.git"
        if os.path.isfile(marker):
            with open(marker, "rb") as file:
                marker = os.path.join(root, file.read(4096).decode(errors="surrogateescape").partition(":")[2].strip())
        with open(f"{marker}/HEAD", "rb") as file:
            return file.read(4096).decode(errors="replace").strip()
    except (OSError, ValueError):
        return ""
