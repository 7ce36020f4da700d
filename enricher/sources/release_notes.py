"""Store the lines of a project's release notes in its code index, each with the version that it belongs to.

This runs in the background after prompts, if such a file has changed; ``enricher.context.past_things`` reads the lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from enricher.sources.code import meta
from enricher.sources.code.indexing import read_text, set_meta
from enricher.sources.code.indexing.listing import uppermost

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from enricher.sources.code.indexing.listing import ListedFile

SCHEMA = """
create table release_notes (path text not null, line integer not null, version text not null, section text not null,
    said text not null);
"""
MOST_FILES, MOST_BYTES, MOST_LINES, DEEPEST = 150, 600_000, 6_000, 3
LONGEST, LONGEST_HEADING = 240, 90
_FILE = re.compile(
    r"(?:^|/)(?:CHANGE[-_]?LOGS?|CHANGES|HISTORY|NEWS|RELEASE[-_]?NOTES?|RELEASES|WHATS[-_]?NEW)(?:\.(?:md|rst|txt|adoc))?$"
    r"|(?:^|/)(?:releases|release[-_]?notes|changelogs?|whatsnew)/v?\d+\.\d[^/]*\.(?:md|rst|txt|adoc)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:^|/)(?:node_modules|fixtures?|examples?|samples?|testdata|tests?|vendor)/", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d[\w.+-]*")
_NEXT = re.compile(r"^\W*(?:unreleased|unpublished|next|main branch|master|upcoming)\b", re.IGNORECASE)
_MARKED = re.compile(r"^(?:#{1,6}|={1,4}) +(.+?)\s*[#=]*$")
_PLAIN = re.compile(r"^(?:[A-Za-z]+ ){0,4}\[?v?\d+\.\d[^:;]{0,40}(?<![.,])$")
"""A heading without markup: "Version 2.1 (2026-03-02)", "CHANGES FROM 3.4 TO 3.5"."""
_UNDERLINE = re.compile(r"^([=\-~^*+])\1{2,}\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+(.*)$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|:[a-z][\w:+-]*:`~?([^`<]+?)(?: *<[^`>]*>)?`|`([^`<]+?) *<[^`>]*>`_+")
_MARKS = re.compile(r"\*\*|``|\[(?=[^\]]*\])|(?<=\w)\](?!\()|https?://\S+")


def write(db: sqlite3.Connection, root: str, files: list[ListedFile]) -> bool:
    """Store the lines of the release notes among ``files``, unless they are the same as at the last call."""
    concerned = [one for one in files if one.path.count("/") <= DEEPEST and _FILE.search(one.path)]
    concerned = uppermost([one for one in concerned if not _ASIDE.search(one.path)])[:MOST_FILES]
    mark = "\n".join(f"{one.path} {one.mtime_ns} {one.size}" for one in concerned)
    if meta(db, "release_notes") == mark:
        return False
    rows = [row for one in concerned for row in _rows_of(root, one.path)]
    db.execute("delete from release_notes")
    db.executemany("insert into release_notes values (?, ?, ?, ?, ?)", rows[:MOST_LINES])
    set_meta(db, release_notes=mark)
    return True


def _rows_of(root: str, path: str) -> list[tuple[str, int, str, str, str]]:
    text = read_text(root, path, MOST_BYTES)
    name = path.rpartition("/")[2].rpartition(".")[0]
    named = _VERSION.match(name)
    rows = [(path, 1, name, "", "")] if named else []
    return rows + [(path, *row[:3], redact(row[3])[0]) for row in lines(text, name if named else "")]


def lines(text: str, version: str = "") -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, version, section, text) for each entry of release notes; the text is empty for a version's heading.

    Text above the first version is left out.
    """
    section, start, entry = "", 0, ""
    all_lines = [*text.splitlines(), ""]
    for number, line in enumerate(all_lines, 1):
        below = all_lines[number] if number < len(all_lines) else ""
        title = _title(line, below, is_free=not entry)
        item = _ITEM.match(line)
        if entry and (title or item or not line.strip() or _UNDERLINE.match(line)):
            yield start, version, section, _cut(entry)
            entry = ""
        if title and (_VERSION.search(title) or _NEXT.match(title)):
            version, section = _cut(title, LONGEST_HEADING), ""
            yield number, version, "", ""
        elif title:
            section = _cut(title, LONGEST_HEADING)
        elif item and version:
            start, entry = number, item[1]
        elif entry:
            entry += f" {line.strip()}"
        elif version and line.strip() and not line.startswith((".. ", "<", "|")) and not _UNDERLINE.match(line):
            start, entry = number, line.strip()


def _title(line: str, below: str, *, is_free: bool) -> str:
    """Return the text of a line that is a heading, else nothing; ``is_free`` says that the line above it is empty."""
    marked = _MARKED.match(line)
    if marked:
        return _plain(marked[1])
    if not is_free or not line.strip() or line[0].isspace() or _ITEM.match(line) or len(line) > LONGEST_HEADING:
        return ""
    return _plain(line) if _UNDERLINE.match(below) or _PLAIN.match(line) else ""


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", _LINK.sub(lambda link: link[1] or link[2] or link[3] or "", text)).split())


def _cut(text: str, most: int = LONGEST) -> str:
    plain = _plain(text)
    return plain if len(plain) <= most else f"{plain[: most - 1].rpartition(' ')[0]}…"
