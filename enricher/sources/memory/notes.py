"""Read memories from Markdown: a folder of notes or decision records, one note, or a file of agent instructions.

If a file cannot be read, its earlier memories stay until it can be read again or is deleted.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from enricher.home import ancestors
from enricher.prompt.redaction import redact
from enricher.sources import git
from enricher.sources.memory import sections
from enricher.sources.memory.reading import (
    SourceReading,
    cleaned,
    dated,
    headed,
    namespace_in,
    namespace_named,
    placed,
    tags_of,
)
from storage.memory.memories import DEFAULT_NAMESPACE, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from enricher.prompt.project import Project

ENDINGS = (".md", ".markdown")
MOST_FILES = 100_000
LARGEST_FILE = 8 * 1024 * 1024
SKIPPED_FOLDERS = frozenset(("node_modules", "vendor", "__pycache__", "site-packages"))
AGENT_FILES = ("CLAUDE.md", "AGENTS.md")

_STATUS = re.compile(
    r"^[\s>*_#-]{0,9}status[\s*_:-]{0,9}(superseded|deprecated|rejected|obsolete)\b(.*)$", re.IGNORECASE | re.MULTILINE
)
_DATE_LINE = re.compile(
    r"^[\s>*_-]{0,9}(?:date|decided)[\s*_]{0,9}:[\s*_]{0,9}(\d{4}-\d\d-\d\d)", re.IGNORECASE | re.MULTILINE
)
_DATED_NAME = re.compile(r"(\d{4}-\d\d-\d\d)(?!\d)")
# The note that replaced another one: a link to it, or its number, as in "superseded by ADR-0012".
_TARGET = re.compile(r"\]\(([^)#\s]+\.(?:md|markdown))[)#]|\b(?:adr[- ]?)?0*(\d{1,5})\b", re.IGNORECASE)
_NUMBERED = re.compile(r"0*(\d{1,5})[-_ .]")


def read_folder(
    folder: str, project: Project, *, origin: str = "", tick: Callable[[int, int], None] | None = None
) -> SourceReading:
    """Return the memories in the notes below ``folder``; links that lead out of it are reported, not followed.

    ``origin`` is stored as the memories' origin; if it is empty, files of agent instructions are skipped. ``tick`` is
    called after each note with the number of notes read so far and the total.
    """
    reading = SourceReading()
    paths = list(_notes_below(folder, reading))
    dates = first_dates(folder, project)
    for number, path in enumerate(paths):
        if not origin and os.path.basename(path) in AGENT_FILES:
            reading.remarks.append(f"{path}: an agent's instructions, which are no notes; import it by its name")
            continue
        reading.add(read_note(path, project, dates=dates, origin=origin))
        if tick:
            tick(number + 1, len(paths))
    _supersede(reading.memories)
    return reading


def read_note(path: str, project: Project, *, dates: dict[str, str] | None, origin: str = "") -> SourceReading:
    """Return the memories in one Markdown file; in a file of agent instructions, every section is a memory.

    ``dates`` are the days on which the project's files were first committed. ``origin`` is stored as the memories'
    origin; if it is empty, it depends on the kind of file.
    """
    source = named(path, project)
    is_for_agents = os.path.basename(path) in AGENT_FILES
    text, problem = _text_of(path)
    if problem:
        return SourceReading(problems=[f"{source}:{problem}"], unread=[source])
    reading = SourceReading()
    if "\ufffd" in text:
        line = text[: text.index("\ufffd")].count("\n") + 1
        reading.remarks.append(f"{source}:{line}: not UTF-8; the bytes in question became \ufffd (remedy: iconv)")
    # Redact the whole text first: headings and front matter also end up in memories.
    fields, body, fault = sections.frontmatter(redact(text)[0])
    if fault:
        reading.problems.append(f"{source}:{fault}; the text below it was imported")
    note = _Note(source, body, fields, project=project, reading=reading)
    note.date(path, dates or {})
    note.place(is_for_agents=is_for_agents)
    origin = origin or ("import:agents" if is_for_agents else "import:notes")
    for section in sections.sections(body, cut_short_ones=is_for_agents):
        note.add(section, origin=origin)
    return reading


def named(path: str, project: Project) -> str:
    """Return the name of a memory's source file: its path, relative to the project if the file is inside."""
    real = os.path.realpath(path)
    inside = real.startswith(project.root + os.sep)
    name = os.path.relpath(real, project.root).replace(os.sep, "/") if inside else real
    return name.encode(errors="backslashreplace").decode()  # file names need not be valid UTF-8


def leads_out(path: str, project: Project) -> bool:
    """Return whether a path in the project leads out of it through a symbolic link.

    A repository must not decide which other files of this machine are read. A path outside of the project is accepted,
    because the user chose it.
    """
    real = os.path.realpath(path)
    is_inside = real == project.root or real.startswith(os.path.join(project.root, ""))
    return not is_inside and any(os.path.realpath(one) == project.root for one in ancestors(os.path.abspath(path)))


def refusal(path: str) -> str:
    """Return the message for a link that is not followed because it leads out of its project."""
    return f"{path}: a link out of the project, not followed; import its target by name: {os.path.realpath(path)}"


def first_dates(folder: str, project: Project) -> dict[str, str]:
    """Return the day on which each file below ``folder`` was first committed, by the file's path in the project."""
    if not project.git_dir:
        return {}
    folder = folder if os.path.isdir(folder) else os.path.dirname(folder)
    try:
        listed = git.ask(folder, "log", "--format=%x00%cs", "--name-only", "-n", "20000", "--", ".")
        top = os.path.realpath(
            git.ask(folder, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").rstrip("\n")
        )
    except git.GitError:
        return {}
    found: dict[str, str] = {}
    for commit in listed.decode(errors="surrogateescape").split("\0")[1:]:
        day, _, names = commit.partition("\n")
        for name in names.strip().split("\n"):
            # git lists the newest commit first, so the last one that is stored for a file is its first.
            found[named(os.path.join(top, name), project) if top != project.root else name] = day
    return found


class _Note:
    """A note being converted to memories, with the fields that all of its sections share."""

    def __init__(
        self, source: str, body: str, fields: dict[str, Any], *, project: Project, reading: SourceReading
    ) -> None:
        self.source, self.body, self.fields = source, body, fields
        self.project, self.reading = project, reading
        title = fields.get("title")
        self.title = title.strip() if isinstance(title, str) else sections.title_of(body)
        self.tags = tags_of(fields.get("tags", fields.get("tag")))
        self.created_at = self.namespace = ""
        self.superseded = _superseded(body, fields)
        paths = fields.get("paths", fields.get("path"))
        given = paths if isinstance(paths, list) else [paths] if isinstance(paths, str) and paths.strip() else []
        self.prefixes = [prefix for one in given if isinstance(one, str) and (prefix := _prefix(one))] or [""]

    def date(self, path: str, dates: dict[str, str]) -> None:
        for name in ("date", "created", "created_at", "decided"):
            if not self.created_at and self.fields.get(name) is not None:
                self.created_at, remarks = dated(self.fields[name], where=f"{self.source}:1")
                self.reading.remarks += remarks
        dated_line = _DATE_LINE.search(self.body[:4000])  # further down, a date belongs to the content
        dated_name = _DATED_NAME.search(os.path.basename(path))
        for found in (dated_line, dated_name):
            if not self.created_at and found:
                self.created_at = dated(found[1], where=self.source)[0]
        self.created_at = self.created_at or dates.get(self.source, "") or _day_of_file(path)

    def place(self, *, is_for_agents: bool) -> None:
        given = next((self.fields[name] for name in ("namespace", "type", "category") if self.fields.get(name)), None)
        if isinstance(given, str):
            self.namespace, tags, remarks = placed(given, where=f"{self.source}:1")
            self.tags += tags
            self.reading.remarks += remarks
        elif not is_for_agents:
            *folders, name = self.source.split("/")[-3:]
            # A folder of decisions outweighs the topic in the file name.
            is_record = any(namespace_named(folder) == "decisions" for folder in folders)
            self.namespace = "decisions" if is_record else namespace_in(name, *reversed(folders))

    def add(self, section: sections.NoteSection, *, origin: str) -> None:
        heading = cleaned(" / ".join(dict.fromkeys(filter(None, (self.title, section.heading)))))
        content = cleaned(section.text)
        if heading and not content.startswith(heading):
            content = f"{headed(heading)}\n{content}"
        innermost = section.heading.rpartition(" / ")[2]
        for prefix in self.prefixes:
            anchor = f"#{section.anchor}" if section.anchor else ""
            memory = Memory(
                content,
                project=self.project.id,
                namespace=self.namespace or namespace_in(innermost, section.heading) or DEFAULT_NAMESPACE,
                tags=self.tags,
                path_prefix=prefix,
                source=self.source,
                origin=origin,
                key=f"{self.source}{anchor}" + (f"@{prefix}" if len(self.prefixes) > 1 else ""),
                created_at=self.created_at,
                superseded_by=self.superseded,
            )
            self.reading.memories.append(memory)


def _notes_below(folder: str, reading: SourceReading) -> Iterator[str]:
    """Yield the paths of the notes in a fixed order; skip hidden folders and those of third-party packages."""
    real = os.path.realpath(folder)
    count = 0
    for here, folders, files in os.walk(folder, onerror=lambda failure: _unreadable(failure, reading)):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.lower().endswith(ENDINGS):
                continue
            if os.path.islink(path) and not os.path.realpath(path).startswith(real + os.sep):
                reading.remarks.append(f"{path}: a link out of the folder, not followed; import its target by name")
                continue
            if count == MOST_FILES:
                reading.problems.append(f"{folder}: more than {MOST_FILES:,} notes; import its folders one by one")
                return
            count += 1
            yield path


def _unreadable(failure: OSError, reading: SourceReading) -> None:
    reading.problems.append(f"{failure.filename}: {failure.strerror}")


def _text_of(path: str) -> tuple[str, str]:
    """Return a file's text and the problem in reading it, as "line: message; remedy"; one of the two is empty."""
    try:
        # Opening a FIFO must not wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not os.path.isfile(path):
                return "", "1: not a regular file; skipped"
            content = file.read(LARGEST_FILE + 1)
    except OSError as failure:
        return "", f"1: {failure.strerror or failure}"
    if len(content) > LARGEST_FILE:
        return "", f"1: larger than {LARGEST_FILE >> 20} MB, so not a note; split it"
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        return "", f"{line}: a NUL byte, so not a text; rename it if it is none, save it as UTF-8 if it is one"
    return content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n"), ""


def _prefix(path: str) -> str:
    """Return the folder that a note says it applies to, normalized and relative to the project.

    Returns an empty string for the project itself and for a path that leads out of it.
    """
    clean = os.path.normpath(path.strip().rstrip("*").strip("/") or ".").replace(os.sep, "/")  # "shop/**" is shop
    return "" if clean in (".", "..") or clean.startswith("../") else clean


def _day_of_file(path: str) -> str:
    try:
        return time.strftime("%Y-%m-%d", time.gmtime(min(os.stat(path).st_mtime, time.time())))  # not in the future
    except (OSError, ValueError):
        return ""


def _superseded(body: str, fields: dict[str, Any]) -> str:
    """Return why a note is outdated: the note that replaced it, or its status; empty if it is not outdated."""
    if fields.get("superseded_by"):
        return f"superseded {fields['superseded_by']}"[:200]
    status = str(fields.get("status") or "").lower()
    if any(word in status for word in ("superseded", "deprecated", "rejected", "obsolete")):
        return f"superseded ({status[:200]})"
    found = _STATUS.search(body[:4000])
    return f"superseded ({found[1].lower()}{found[2].rstrip(' *_.')[:150]})" if found else ""


def _supersede(memories: list[Memory]) -> None:
    """Set ``superseded_by`` of each outdated memory to the path of the note that replaced it.

    Before the call, it is the name or number by which the outdated note refers to the other; it stays so if the other
    note is not among ``memories``.
    """
    by_number: dict[str, str] = {}
    sources = {os.path.basename(memory.source): memory.source for memory in memories}
    for name, source in sources.items():
        if numbered := _NUMBERED.match(name):
            by_number[numbered[1]] = source
    for memory in memories:
        if memory.superseded_by and (target := _TARGET.search(memory.superseded_by)):
            name, number = target[1] or "", target[2] or ""
            memory.superseded_by = sources.get(os.path.basename(name)) or by_number.get(number) or memory.superseded_by
