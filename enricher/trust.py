"""A repository is not trusted because it was cloned: its ``.enricher/`` counts once a person said so.

Trust is given to content: any change under ``.enricher/`` takes it away until it
is given again.
"""

from __future__ import annotations

import os

from enricher.home import state_dir
from storage import private
from storage.lean import keyed_hash

MOST_BYTES = 1 << 20


def is_trusted(root: str) -> bool:
    """Say whether the ``.enricher`` folder of ``root`` has the content that was trusted."""
    try:
        with open(_mark(root), "rb") as file:
            return file.read() == fingerprint(root).encode()
    except (OSError, ValueError):
        return False


def fingerprint(root: str) -> str:
    """Return a hash of every name and byte below ``root/.enricher``; raises OSError if it cannot be read."""
    parts: list[bytes] = []
    for folder, folders, files in os.walk(os.path.join(root, ".enricher")):
        folders.sort()
        if linked := next((name for name in folders if os.path.islink(os.path.join(folder, name))), ""):
            raise OSError(f"{folder}/{linked} is a link to a folder, whose content cannot be vouched for")
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
                raise OSError(f"{path} is not a regular file")
            with open(path, "rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise OSError(f"{path} is larger than {MOST_BYTES} bytes")
            label = os.path.relpath(path, root).encode(errors="surrogateescape")
            parts.append(b"%d:%s%d:%s" % (len(label), label, len(content), content))
    return keyed_hash(b"trust", b"".join(parts))


def give(root: str) -> str:
    """Trust the present content of ``root/.enricher`` and return its fingerprint."""
    mark = _mark(root)
    content = fingerprint(root)
    private.make_directory(os.path.dirname(mark))
    private.write_file(mark, content.encode())
    return content


def _mark(root: str) -> str:
    return os.path.join(
        state_dir(), "trust", keyed_hash(b"root", os.path.realpath(root).encode(errors="surrogateescape"))
    )
