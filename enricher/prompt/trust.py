"""Record which repositories the user trusts; the folder ``.enricher/`` of any other repository is not used.

Trust applies to content: a change under ``.enricher/``, except in files that the hook never reads (``UNREAD``),
revokes it until the user trusts the folder again. The subfolder ``memories/`` is trusted separately: it may have many
files, and only code that runs after a prompt reads them. If the user trusts the reviewed branch of a remote
(``enricher.sources.memory.branch``), content that equals the content of this branch is trusted, too.
"""

from __future__ import annotations

import os

from enricher.home import state_dir
from storage.base import private
from storage.base.fast_stdlib import keyed_hash

MOST_BYTES = 1 << 20
FOLDER, MEMORIES = ".enricher", "memories"
UNREAD = ("cases.jsonl", ".gitattributes")
"""Files whose changes do not revoke trust: the hook never reads them, only the workbench and git do.

``cases.jsonl`` changes whenever the user labels a prompt.
"""
BRANCH_SUFFIX = ".branch"
"""Suffix of the file that names the branch whose content is trusted; it is next to the file that records trust."""


def is_trusted(root: str, *, memories: bool = False) -> bool:
    """Return whether the content of ``root/.enricher`` is what the user trusted.

    This is about all content except the memories or, with ``memories``, about these alone.
    """
    given, line = _read_mark(root), int(memories)
    try:
        return len(given) > line and given[line] == fingerprint(root, memories=memories)
    except (OSError, ValueError):
        return False


def fingerprint(root: str, *, memories: bool = False) -> str:
    """Return a hash of the names and contents of the files below ``root/.enricher``.

    It covers all files except the memories and those in ``UNREAD``, which the hook never reads; with ``memories``, it
    covers only the memories. Raises OSError for an unreadable, too large or irregular file, or a folder that is a link.
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
            # The lengths ensure that no other names and contents give the same bytes.
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
    """Return two fingerprints: of ``root/.enricher`` without its memories, and of the memories alone.

    Raises OSError if a file cannot be read.
    """
    return fingerprint(root), fingerprint(root, memories=True)


def give(root: str, content: tuple[str, str] | None = None) -> str:
    """Record that the user trusts ``root/.enricher``, and return the fingerprint of its content without the memories.

    ``content`` has the two fingerprints of the trusted content (see ``content_of``); the default is the current
    content.
    """
    rules, memories = content or content_of(root)
    path = mark(root)
    private.make_directory(os.path.dirname(path))
    private.write_file(path, f"{rules}\n{memories}".encode())
    return rules


def follows_branch(root: str) -> bool:
    """Return whether the user trusts a branch of ``root``, so that a pull may restore trust that a change revoked."""
    return os.path.exists(mark(root) + BRANCH_SUFFIX)


def _read_mark(root: str) -> list[str]:
    try:
        return private.read_own_file(mark(root), MOST_BYTES).decode("ascii", "replace").split("\n")
    except (OSError, ValueError):
        return []


def mark(root: str) -> str:
    """Return the path of the file that records the trusted content of ``root``."""
    return os.path.join(
        state_dir(), "trust", keyed_hash(b"root", os.path.realpath(root).encode(errors="surrogateescape"))
    )
