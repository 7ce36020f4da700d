"""Read files as they were in a git revision."""

from __future__ import annotations

import os
from dataclasses import dataclass

from enricher.sources.git import GitError, ask


class RevisionError(Exception):
    """The revision cannot be read; the message describes the remedy."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of the work tree ``root``; ``name`` is the user's name for it."""

    root: str
    name: str
    commit: str

    def holds(self, path: str) -> bool:
        """Return whether ``path`` lies in the work tree and the commit has a file there."""
        name = self._name(path)
        return bool(name and _ask(self.root, "ls-tree", "-z", "--name-only", self.commit, "--", name))

    def content(self, path: str) -> bytes:
        """Return the contents of the file; raises RevisionError if the commit has none there."""
        return _ask(self.root, "show", f"{self.commit}:{self._name(path)}")

    def _name(self, path: str) -> str:
        """Return the path relative to the root, as git uses it; empty if it lies outside."""
        name = os.path.relpath(os.path.realpath(path), self.root)
        return "" if name.startswith(os.pardir) else name.replace(os.sep, "/")


def find(folder: str, name: str) -> Revision:
    """Return the revision ``name`` of the work tree around ``folder``; raises RevisionError."""
    root = os.path.realpath(_ask(folder, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").rstrip("\n"))
    try:
        found = ask(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitError as error:
        message = f"{name} is no revision of {root}; fetch it first (in CI: fetch-depth: 0), or name another"
        raise RevisionError(message) from error
    return Revision(root, name, found.decode("ascii").strip())


def _ask(folder: str, *arguments: str) -> bytes:
    try:
        return ask(folder, *arguments)
    except GitError as error:
        raise RevisionError(str(error)) from error
