"""Identify the project of a folder; clones and worktrees of a repository are one project (ruling R28).

Runs in the hook, so it only reads a few small files and starts no git process.
"""

from __future__ import annotations

import os

from enricher.home import project_root
from storage.base.fast_stdlib import keyed_hash
from storage.base.private import NONBLOCK

MOST_BYTES = 64 * 1024
SHARED = "shared"
"""The project id of memories that, by the user's decision, belong to every project."""


class Project:
    """A project: ``id`` is its key in the database, ``root`` its folder, ``git_dir`` its git directory or empty."""

    __slots__ = ("git_dir", "id", "name", "root")

    def __init__(self, identity: str, *, root: str, git_dir: str) -> None:
        self.id = identity
        self.root, self.git_dir = root, git_dir
        self.name = os.path.basename(identity.rstrip("/")) if "/" in identity else os.path.basename(root)


def identify(cwd: str) -> Project:
    """Return the project that contains the folder ``cwd``.

    It is identified by the address of its git remote; without a remote, by its git directory; without git, by its
    folder. Its ``root`` is empty if ``cwd`` is not a valid path.
    """
    try:
        root = os.path.realpath(project_root(cwd))
    except (OSError, ValueError):
        return Project(_hashed(cwd), root="", git_dir="")
    git_dir = _common_git_dir(os.path.join(root, ".git"))
    remote = _remote(os.path.join(git_dir, "config")) if git_dir else ""
    return Project(remote or _hashed(git_dir or root), root=root, git_dir=git_dir)


def _hashed(path: str) -> str:
    # A path may contain bytes that are not valid UTF-8; Python represents them as surrogates.
    return "local-" + keyed_hash(b"project", path.encode(errors="backslashreplace"))[:16]


def _common_git_dir(marker: str) -> str:
    """Return the git directory that all worktrees of a repository share; ``marker`` is the path of its ``.git``.

    It is empty if there is no valid ``.git``, which may be a folder or a file.
    """
    if os.path.isdir(marker):
        return os.path.realpath(marker)
    own = _read(marker).partition("gitdir:")[2].strip()
    if not own:
        return ""
    own = os.path.join(os.path.dirname(marker), own)
    common = _read(os.path.join(own, "commondir")).strip()
    try:
        return os.path.realpath(os.path.join(own, common) if common else own)
    except (OSError, ValueError):  # a NUL in the path
        return ""


def current_branch(root: str) -> str:
    """Return the branch that is checked out in the folder ``root``; empty if there is none."""
    marker = os.path.join(root, ".git")
    own = _read(marker).partition("gitdir:")[2].strip()
    head = _read(os.path.join(root, own, "HEAD") if own else os.path.join(marker, "HEAD"))
    return head.partition("ref: refs/heads/")[2].strip()


def _remote(config: str) -> str:
    """Return the normalised address of the remote ``origin`` or, if it does not exist, of the first remote.

    ``config`` is the path of git's configuration file. The address is empty if there is no remote.
    """
    found: dict[str, str] = {}
    section = ""
    for line in _read(config).splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.partition("]")[0][1:]
        key, equals, value = stripped.partition("=")
        if equals and key.strip() == "url" and section.startswith("remote "):
            found.setdefault(section[len("remote ") :].strip().strip('"'), value.strip())
    return normalise(found.get("origin") or next(iter(found.values()), ""))


def normalise(address: str) -> str:
    """Return the address of a remote as ``host/owner/repository``, or as a hash if it is a local folder.

    ``https://user:secret@Host:443/o/r.git``, ``git@host:o/r`` and ``ssh://git@host/o/r/`` give the same result.
    """
    scheme, found, rest = address.partition("://")
    if not address or scheme == "file" or (not found and _is_local(address)):
        return _hashed(os.path.realpath((rest if found else address).removesuffix("/"))) if address else ""
    host, _, path = rest.partition("/") if found else address.partition(":")
    name = host.rpartition("@")[2].lower()
    if found:
        name = name.partition(":")[0]
    return f"{name}/{path.strip('/').removesuffix('.git')}"


def _is_local(address: str) -> bool:
    before = address.partition(":")[0]
    return before == address or "/" in before or len(before) == 1  # one letter: a drive of Windows, "C:\\project"


def _read(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | NONBLOCK)  # the path may be a named pipe
    except (OSError, ValueError):
        return ""
    try:
        return os.read(descriptor, MOST_BYTES).decode(errors="surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
