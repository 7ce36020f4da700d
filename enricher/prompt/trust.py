"""A repository is not trusted because it was cloned: its ``.enricher/`` counts once a person said so.

Trust is given to content: any change under ``.enricher/`` takes it away until it
is given again. Its ``memories/`` are vouched for separately: they may be many, and
only what runs after a prompt reads them. Trust given to a remote's reviewed branch
(``enricher.sources.memory.branch``) follows that branch.
"""

from __future__ import annotations

import os

from enricher.home import state_dir
from storage.base import private
from storage.base.lean import keyed_hash

MOST_BYTES = 1 << 20
FOLDER, MEMORIES = ".enricher", "memories"
UNREAD = ("cases.jsonl", ".gitattributes")
"""What only the workbench and git read: golden cases come with every label, and take no trust away."""
BRANCH_SUFFIX = ".branch"
"""Ends the name of the file beside a mark that says which branch its trust follows."""


def is_trusted(root: str) -> bool:
    """Say whether the ``.enricher`` folder of ``root`` has the content that was trusted, its memories aside."""
    given = _given(root)
    try:
        return bool(given) and given[0] == fingerprint(root)
    except (OSError, ValueError):
        return False


def are_memories_trusted(root: str) -> bool:
    """Say whether the memories in the ``.enricher`` folder of ``root`` are those that were trusted."""
    given = _given(root)
    try:
        return len(given) > 1 and given[1] == fingerprint(root, memories=True)
    except (OSError, ValueError):
        return False


def fingerprint(root: str, *, memories: bool = False) -> str:
    """Return a hash of every name and byte below ``root/.enricher``: all but the memories, or these alone.

    Raises OSError if it cannot be read.
    """
    base = os.path.join(root, FOLDER)
    top = os.path.join(base, MEMORIES) if memories else base
    if memories and os.path.islink(top):
        raise OSError(f"{top} is a link to a folder, whose content cannot be vouched for")
    parts: list[bytes] = []
    for folder, folders, files in os.walk(top):
        if folder == base and MEMORIES in folders:
            folders.remove(MEMORIES)
        folders.sort()
        if linked := next((name for name in folders if os.path.islink(os.path.join(folder, name))), ""):
            raise OSError(f"{folder}/{linked} is a link to a folder, whose content cannot be vouched for")
        for name in sorted(files):
            if folder == base and name in UNREAD:
                continue
            path = os.path.join(folder, name)
            label = os.path.relpath(path, root).encode(errors="surrogateescape")
            content = _content(path)
            parts.append(b"%d:%s%d:%s" % (len(label), label, len(content), content))
    return keyed_hash(b"memories" if memories else b"trust", b"".join(parts))


def _content(path: str) -> bytes:
    if not os.path.isfile(path):
        raise OSError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(f"{path} is larger than {MOST_BYTES} bytes")
    return content


def content_of(root: str) -> tuple[str, str]:
    """Return the fingerprints that trust is given to: of all but the memories, and of these; raises OSError."""
    return fingerprint(root), fingerprint(root, memories=True)


def give(root: str, content: tuple[str, str] | None = None) -> str:
    """Trust the present content of ``root/.enricher``, or the one that was looked at, and return its fingerprint."""
    rules, memories = content or content_of(root)
    path = mark(root)
    private.make_directory(os.path.dirname(path))
    private.write_file(path, f"{rules}\n{memories}".encode())
    return rules


def follows_branch(root: str) -> bool:
    """Say whether trust in ``root`` follows a branch, so that it may come back by itself after a pull."""
    return os.path.exists(mark(root) + BRANCH_SUFFIX)


def _given(root: str) -> list[str]:
    try:
        return private.read_own_file(mark(root), MOST_BYTES).decode("ascii", "replace").split("\n")
    except (OSError, ValueError):
        return []


def mark(root: str) -> str:
    """Return the file that says what was trusted in ``root``."""
    return os.path.join(
        state_dir(), "trust", keyed_hash(b"root", os.path.realpath(root).encode(errors="surrogateescape"))
    )
