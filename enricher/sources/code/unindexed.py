"""Find the files that a prompt names before a project's first index is built.

Searches the bytes of git's own ``index`` file without parsing it, because that is fast even with 200,000 paths. Without
git, walks the folders up to a fixed number of entries. Runs in the hook, but is imported only for the first prompt in a
project.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.project import Project

MOST_BYTES = 24_000_000
"""Maximum bytes of git's index file that are read; an entry takes about a hundred."""
MOST_SCANNED = 48_000_000
"""Maximum number of bytes searched, summed over all wanted names."""
MOST_NEEDLES = 8
MOST_HITS = 200
MOST_ENTRIES = 6_000
SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "dist", "build", "target"))


def files_named(project: Project, wanted: list[str]) -> dict[str, list[str]]:
    """Return for each name in ``wanted`` the files of the project whose paths end with this name."""
    wanted = wanted[:MOST_NEEDLES]
    names = _from_git(project.root, [path.rpartition("/")[2] for path in wanted])
    if names is None:
        names = _from_folders(project.root)
    return {path: [own for own in names if f"/{own}".endswith(f"/{path}")] for path in wanted}


def git_index(root: str) -> str:
    """Return the path of the index file that git keeps for a work tree; empty if there is none.

    A linked work tree has its own, in the folder that the file ``.git`` names.
    """
    marker = os.path.join(root, ".git")
    if os.path.isdir(marker):
        return os.path.join(marker, "index")
    try:
        with open(marker, "rb") as file:
            own = file.read(4096).decode(errors="surrogateescape").partition("gitdir:")[2].strip()
    except OSError:
        return ""
    return os.path.join(root, own, "index")


def _from_git(root: str, needles: list[str]) -> list[str] | None:
    """Return the paths in git's index that contain one of ``needles``.

    Returns None if the index is missing or has a format that cannot be searched.
    """
    try:
        with open(git_index(root), "rb", buffering=0) as file:
            data = file.read(MOST_BYTES) or b""
    except (OSError, ValueError):
        return None
    # Version 4 of the format stores only how a path differs from the one before.
    if data[:4] != b"DIRC" or int.from_bytes(data[4:8], "big") not in (2, 3):
        return None
    found: dict[str, None] = {}
    budget = MOST_SCANNED
    for needle in needles:
        sought = needle.encode(errors="surrogateescape")
        budget -= len(data)
        if budget < 0:
            return list(found)
        at = data.find(sought)
        hits = 0
        while at >= 0 and hits < MOST_HITS:
            name, end = _name_around(data, at)
            if name:
                found[name] = None
            hits += 1
            at = data.find(sought, max(end, at + 1))
    return list(found)


def _name_around(data: bytes, at: int) -> tuple[str, int]:
    """Return the path that contains the position ``at`` of git's index file ``data``, and the position of its end.

    The path is empty if the position is not inside one. A path in the index ends with a NUL byte, and its length is in
    the two bytes before its beginning.
    """
    end = data.find(b"\0", at)
    if end < 0:
        return "", len(data)
    for start in range(at, max(at - 1024, 13), -1):  # the file begins with 12 bytes that belong to no entry
        # Of the flags before a name, twelve bits are its length, and 0x40 would mark an extended entry.
        if int.from_bytes(data[start - 2 : start], "big") & 0xFFF == end - start and data[start - 2] < 0x40:
            name = data[start:end]
            if b"\n" not in name and all(byte >= 32 for byte in name):
                return name.decode(errors="replace"), end
    return "", end


def _from_folders(root: str) -> list[str]:
    names: list[str] = []
    waiting = [""]
    seen = 0
    while waiting and seen < MOST_ENTRIES:
        folder = waiting.pop(0)  # breadth first, so that one deep folder does not use up MOST_ENTRIES
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_ENTRIES:
                        break
                    if entry.name.startswith(".") or entry.name in SKIPPED:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{folder}{entry.name}/")
                    elif entry.is_file(follow_symlinks=False):
                        names.append(folder + entry.name)
        except OSError:
            continue
    return names
