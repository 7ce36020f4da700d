"""The Python files on which the validators are measured: those that agents edited, and the standard library."""

from __future__ import annotations

import json
import sysconfig
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

File = tuple[str, bytes]


def standard_library() -> list[File]:
    """Return the modules of this interpreter's standard library, without its own tests and what was installed."""
    root = Path(sysconfig.get_path("stdlib"))
    skipped = {"test", "tests", "idle_test", "site-packages", "dist-packages", "lib2to3", "__pycache__"}
    paths = [path for path in sorted(root.rglob("*.py")) if skipped.isdisjoint(path.relative_to(root).parts[:-1])]
    return [(str(path.relative_to(root)), path.read_bytes()) for path in paths]


def installed_packages() -> list[File]:
    """Return the modules of the packages that this environment has, without their tests and what they vendor."""
    root = Path(sysconfig.get_path("purelib"))
    skipped = {"test", "tests", "testing", "_vendor", "vendored", "__pycache__"}
    paths = [path for path in sorted(root.rglob("*.py")) if skipped.isdisjoint(path.relative_to(root).parts[:-1])]
    return [(str(path.relative_to(root)), path.read_bytes()) for path in paths]


def edited_by_agents(sessions: Path) -> list[File]:
    """Return the Python files that agents edited, each in the last tree of its session that has it."""
    trees = Trees(sessions / "trees")
    found: dict[tuple[str, str], File] = {}
    for line in (sessions / "sessions.jsonl").read_text(encoding="utf-8").splitlines():
        session = json.loads(line)
        known = list(dict.fromkeys([session["tree"], *(turn["tree"] for turn in session["turns"] if turn.get("tree"))]))
        for path in sorted(
            {one["path"] for turn in session["turns"] for one in turn["touched"] if one["how"] == "edit"}
        ):
            if path.endswith(".py"):
                content = next((text for tree in reversed(known) if (text := trees.read(tree, path)) is not None), None)
                if content is not None:
                    found[session["repo"], path] = (f"{session['repo']}/{path}", content)
    return list(found.values())


class Trees:
    """The recorded trees; most are kept as the difference to another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Any] = json.loads((folder / "trees.json").read_text(encoding="utf-8"))
        self._content = cache(self._read_archive)

    def read(self, tree: str, path: str) -> bytes | None:
        """Return a file of a tree, None if it has none of that name."""
        while tree:
            content = self._content(tree)
            if path in content:
                return content[path]
            if path in self.known[tree]["remove"]:
                return None
            tree = self.known[tree]["base"]
        return None

    def _read_archive(self, tree: str) -> dict[str, bytes]:
        with tarfile.open(self.folder / f"{tree}.tar.xz") as archive:
            members = [one for one in archive if one.isfile() and one.name.endswith(".py")]
            return {one.name.removeprefix("./"): _read(archive, one) for one in members}


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    opened = archive.extractfile(member)
    return opened.read() if opened else b""
