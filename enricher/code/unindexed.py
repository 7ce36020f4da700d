"""Find files by their names alone, before a project's first index is built.

From git's own ``index`` file, searched as bytes so that two hundred thousand names cost no more than reading
them, else from a look into the folders that stops after a fixed number of entries. On the hook's path; loaded
for the first prompt in a project only.
"""

from __future__ import annotations

import os

from enricher.code.words import pieces, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context.query import Query
    from enricher.project import Project

MOST_BYTES = 24_000_000
MOST_SCANNED = 48_000_000
"""Bytes of names that are looked through, over all words."""
MOST_NEEDLES = 8
MOST_HITS = 200
MOST_ENTRIES = 6_000
SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "dist", "build", "target"))
SHORTEST = 4
"""Letters of a word that is looked for; shorter ones are everywhere."""


def find(project: Project, query: Query, *, limit: int) -> list[tuple[str, float, str]]:
    """Return (path, score, why) of the files whose names fit the prompt best."""
    needles = _needles(query)
    if not needles:
        return []
    names = _from_git(project, needles)
    if names is None:
        names = _from_folders(project.root)
    scored = [(-score, path, why) for path in names for score, why in [_judged(path, query)] if score >= 0.3]
    return [(path, -score, why) for score, path, why in sorted(scored)[:limit]]


def _needles(query: Query) -> list[str]:
    places = [path for path, _line, _where in query.paths] + [path for path, _line in query.frames]
    named = [path.rpartition("/")[2] for path in places]
    names = sorted(query.names, key=lambda name: -query.names[name])
    words = sorted((word for word in query.weights if len(word) >= SHORTEST), key=lambda word: -query.weights[word])
    pieced = [piece for name in names[:4] for piece in pieces(name) if len(piece) >= SHORTEST]
    return list(dict.fromkeys(needle for needle in [*named, *words, *pieced] if needle))[:MOST_NEEDLES]


def _from_git(project: Project, needles: list[str]) -> list[str] | None:
    """The names in git's index that hold one of the words; None where there is no index that can be read so."""
    marker = f"{project.root}/.git"
    try:
        if os.path.isfile(marker):
            with open(marker, "rb") as file:
                own = file.read(4096).decode(errors="surrogateescape").partition(":")[2].strip()
            marker = os.path.join(project.root, own)
        with open(f"{marker}/index", "rb", buffering=0) as file:
            data = file.read(MOST_BYTES) or b""
    except (OSError, ValueError):
        return None
    if data[:4] != b"DIRC" or int.from_bytes(data[4:8], "big") not in (2, 3):
        return None
    found: dict[str, None] = {}
    budget = MOST_SCANNED
    for needle in needles:
        sought = needle.encode(errors="surrogateescape")
        for form in dict.fromkeys((sought, sought.lower(), sought.capitalize())):
            budget -= len(data)
            if budget < 0:
                return list(found)
            at = data.find(form)
            hits = 0
            while at >= 0 and hits < MOST_HITS:
                name, end = _name_around(data, at)
                if name:
                    found[name] = None
                hits += 1
                at = data.find(form, max(end, at + 1))
    return list(found)


def _name_around(data: bytes, at: int) -> tuple[str, int]:
    """The name of the entry around a hit: it ends with a NUL, and two bytes before it hold its length."""
    end = data.find(b"\0", at)
    if end < 0:
        return "", len(data)
    for start in range(at, max(at - 1024, 13), -1):
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
        folder = waiting.pop(0)
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


def _judged(path: str, query: Query) -> tuple[float, str]:
    """How well a path alone fits: named, or its own name and folders are the prompt's words."""
    parts = path.split("/")
    for asked, _line, _where in query.paths:
        wanted = asked.split("/")
        if parts[-len(wanted) :] == wanted:
            return 0.9 if len(wanted) > 1 else 0.85, "named in the prompt"
    for asked, _line in query.frames:
        wanted = [part for part in asked.split("/") if part][-2:]
        if parts[-len(wanted) :] == wanted:
            return 0.8, "in the pasted trace"
    own = {stem(piece) for piece in pieces(parts[-1].partition(".")[0])}
    above = {stem(piece) for part in parts[:-1] for piece in pieces(part)}
    matched = own & query.weights.keys()
    others = (above & query.weights.keys()) - own
    if not matched:
        return 0.0, ""
    share = len(matched) / len(own)
    total = sum(sorted(query.weights.values(), reverse=True)[:4]) or 1.0
    told = sum(query.weights[term] for term in matched) + 0.5 * sum(query.weights[term] for term in others)
    return min(
        0.75, 0.25 + 0.35 * share * min(1.0, told / total) + 0.15 * bool(others)
    ), "its name is what the prompt says"
