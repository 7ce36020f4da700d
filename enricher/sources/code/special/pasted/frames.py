"""Locate the file of a stack frame whose path is from another machine or from an installed copy of the project.

Runs in the hook, but is imported only for a prompt that contains a stack trace.
"""

from __future__ import annotations

import os

from enricher.prompt.wording import FRAME, Name
from enricher.sources.code import MOST_READ_BYTES, SOURCE
from enricher.sources.code.facts import ONLY, SEEN_IN_TRACE, Fact
from enricher.sources.code.lines import indentation
from enricher.sources.code.lookup import MOST_DEFINITIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

FAR = 40
"""Minimum lines between a function and the line that the trace of another version gives for it, to be worth telling."""
MOST_FOLDERS = 8
"""Maximum trailing components of a path from another machine that are compared with this project's paths."""


def place_of_frame(lookup: Lookup, name: Name) -> Fact | None:
    """Locate the file of a stack frame whose path is from another machine, by comparing the end of that path.

    The fact is marked as needless if the trace itself shows the place at once.
    """
    path = name.text.removeprefix(f"{lookup.root}/")
    if os.path.exists(f"{lookup.root}/{path}"):
        return None
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for start in range(max(0, len(parts) - MOST_FOLDERS), len(parts)):
        found = lookup.named("/".join(parts[start:]))
        if found and (len(found) > 1 or (start and start == len(parts) - 1)):  # only the file name agrees
            return None
        if found:
            own = found[0][0]
            if at := _of_another_version(lookup, own, name):
                return _innermost(own, at, name.owner, name, is_other=True)
            text = lookup.text(own)
            is_past_end = 0 < len(text) < MOST_READ_BYTES and text.count("\n") < name.line - 1  # of another version
            line = 0 if is_past_end else name.line
            around = _symbols_around(lookup, own, line)
            function = name.owner if name.owner in around else next(iter(around), "")
            return _innermost(own, line, function, name)
    return None


def _innermost(path: str, line: int, function: str, name: Name, *, is_other: bool = False) -> Fact:
    """Return the fact about a frame; it is needless if the trace shows the frame and nearly its present line.

    ``is_other`` means that the trace is of another copy or another version of the project.
    """
    reason = f"the trace's innermost frame{' in this project' * is_other}"
    is_seen = not name.is_buried and (not line or abs(line - name.line) < FAR)
    return Fact(FRAME, path, line, function, reason, ONLY, fault=SEEN_IN_TRACE if is_seen else "")


def _of_another_version(lookup: Lookup, path: str, name: Name) -> int:
    """Return the line of a frame's function in the file at ``path``, if the frame's own line is in another; else 0."""
    lines = lookup.lines_in(path, name.owner)
    # The innermost function may have ended already: in Python, statements may follow a nested function.
    return lines[0] if len(lines) == 1 and name.owner not in _symbols_around(lookup, path, name.line) else 0


def place_of_installed_frame(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a stack frame of an installed copy of this project, perhaps of another version."""
    own = [path for path, kind in lookup.named(name.text) if kind == SOURCE]
    if name.scope:  # a Go module: its paths begin at the root of the module
        is_this = name.text in own and f"module {name.scope}" in lookup.text("go.mod").split("\n")
        own = [name.text] if is_this else []
    elif "/" not in name.text:  # a single file, such as "six.py", may belong to any package
        return None
    if len(own) != 1:
        return None
    path = own[0]
    line = name.line if name.owner in _symbols_around(lookup, path, name.line) else 0
    line = line or next(iter(lookup.lines_in(path, name.owner)), 0)
    return _innermost(path, line, name.owner if line else "", name, is_other=True)


def _symbols_around(lookup: Lookup, path: str, line: int) -> list[str]:
    """Return the names of the definitions around a line, judged by indentation, the innermost first.

    A definition whose line ends with a semicolon has no body.
    """
    lines = lookup.text(path).split("\n")
    if not 0 < line <= len(lines):
        return []
    rows = lookup.db.execute(
        "select name, line from symbols join files on files.id = symbols.file where files.path = ? and line <= ?"
        " order by line desc limit ?",
        (path, line, MOST_DEFINITIONS),
    )
    depth = indentation(lines[line - 1])
    found: list[str] = []
    for name, at in rows:
        is_around = indentation(lines[at - 1]) < depth and not lines[at - 1].rstrip().endswith(";")
        if at == line or is_around:
            found.append(name)
            depth = indentation(lines[at - 1])
    return found
