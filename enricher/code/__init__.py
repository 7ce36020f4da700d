"""The project's files as an index that answers a prompt in milliseconds: built off the hook's path, read on it.

This module gives the path of a project's index file.
"""

from __future__ import annotations

import os

from storage.lean import keyed_hash

FORMAT = "4"


def database_file(state: str, project: str) -> str:
    """Return the file of the index of the project of that id."""
    return f"{state}/code/{keyed_hash(b'code', project.encode(errors='surrogateescape'))[:20]}.db"


def clone(git_dir: str) -> str:
    """Return what tells one clone from another: they share an index, but not what is committed."""
    return keyed_hash(b"clone", git_dir.encode(errors="surrogateescape"))


def is_project(root: str, git_dir: str) -> bool:
    """Say whether a folder is one project: a repository, or at least none that holds everybody's files."""
    if git_dir:
        return True
    shared = {"", "/", "/tmp", "/var/tmp", "/home", "/root", "/Users", os.environ.get("TMPDIR", "").rstrip("/")}
    return root not in shared and root != os.path.realpath(os.path.expanduser("~"))
