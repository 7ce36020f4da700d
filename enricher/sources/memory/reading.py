"""Define the result of reading memories from a source, and parse what all sources contain: dates, namespaces, tags.

The simplest source is read here, too: a JSONL file of {"id"?, "namespace"?, "content", "tags"?, "created_at"?,
"project"?, "source"?}.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from enricher.prompt.project import SHARED, identify, normalise
from enricher.prompt.redaction import redact
from storage.base import fast_stdlib
from storage.memory.memories import DEFAULT_NAMESPACE, LONGEST_ID, NAMESPACES, Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from enricher.prompt.project import Project

LONGEST = 100_000
"""Maximum characters of one memory; a longer text is a document, not a memory."""
MOST_REPORTED = 20

_WORDS = {
    "decisions": "decision decisions decided adr adrs rationale",
    "patterns": """pattern patterns convention conventions style standard standards guideline guidelines rule rules
        practice practices workflow workflows idioms naming formatting""",
    "learnings": """learning learnings lesson lessons learned postmortem postmortems incident incidents retro
        retrospective gotcha gotchas pitfall pitfalls troubleshooting faq""",
    "tech-debt": "debt todo todos cleanup workarounds",
    "blockers": "blocker blockers blocked",
    "progress": "progress status changelog roadmap milestones",
    "apis": "api apis endpoint endpoints interface interfaces",
    "config": """config configs configuration setup install installation environment environments build building
        command commands deploy deployment release ci settings""",
    "security": "security auth authentication authorization secrets permissions",
    "performance": "performance perf benchmark benchmarks latency",
    "testing": "test tests testing qa fixtures",
    "context": "architecture overview context background structure domain glossary",
}
_NAMESPACE_OF = {word: name for name, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[a-z]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
SHAPE = '{"id"?, "namespace"?, "content", "tags"?, "created_at"?, "project"?}'
LONGEST_LINE = 4 * 1024 * 1024


@dataclass(slots=True)
class SourceReading:
    """The memories that were read from a source, and messages to the user about it.

    ``problems`` say what could not be imported, and ``remarks`` what was altered on import; both cite file and line.
    ``unread`` are files and folders that could not be read; the memories imported from them earlier are kept.
    """

    memories: list[Memory] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, other: SourceReading) -> None:
        self.memories += other.memories
        self.problems += other.problems
        self.remarks += other.remarks
        self.unread += other.unread


def cleaned(text: str) -> str:
    """Return ``text`` in a form that may be stored: without NUL characters and with secrets redacted."""
    return redact(text.replace("\0", " ").replace("\r\n", "\n"))[0].strip()


def headed(heading: str) -> str:
    """Return ``heading`` with final punctuation, because it may be shown on one line with the note's text."""
    return heading if heading.endswith((".", ":", "?", "!", "…")) else f"{heading}:"


def namespace_named(name: str) -> str:
    """Return the namespace (kind of memory) that a name like "Decision" or "tech_debt" stands for; empty if unknown."""
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    return plain if plain in NAMESPACES else _NAMESPACE_OF.get(plain, "")


def namespace_in(*texts: str) -> str:
    """Return the namespace (kind of memory) that a heading or path suggests by its words; empty if it suggests none."""
    for text in texts:
        for word in _WORD.findall(text.lower()):
            if found := _NAMESPACE_OF.get(word):
                return found
    return ""


def placed(name: str, *, where: str) -> tuple[str, list[str], list[str]]:
    """Return the namespace called ``name``, the tags to add to the memory, and remarks for the user.

    An unknown name results in the default namespace. The name is then kept as a tag, and a remark, which begins with
    the place ``where``, says so. For a known name, there are no tags and remarks.
    """
    if found := namespace_named(name):
        return found, [], []
    known = ", ".join(NAMESPACES)
    remark = f"{where}: no namespace {name!r}; kept under {DEFAULT_NAMESPACE} with that tag (known: {known})"
    return DEFAULT_NAMESPACE, [name.strip()], [remark]


def dated(value: object, *, where: str) -> tuple[str, list[str]]:
    """Return ``value`` as an ISO date or time (empty if it is neither), and remarks about it.

    A date in the future becomes today, since nothing can have been decided later.
    """
    if isinstance(value, date):  # YAML parses dates and times by itself; a datetime is a date, too
        text = value.isoformat()
    elif isinstance(value, str) and _DATE.fullmatch(value.strip()):
        text = value.strip().replace(" ", "T")
    else:
        return "", [f"{where}: {value!r} is not a date; write it as 2026-03-31"] if value not in (None, "") else []
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return "", [f"{where}: there is no day {text!r}; write it as 2026-03-31"]
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    now = datetime.now(UTC)
    if moment.date() > now.date():
        return now.date().isoformat(), [f"{where}: {text} is in the future; replaced by today's date"]
    return (text if len(text) == len("2026-03-31") else f"{moment:%Y-%m-%dT%H:%M:%S}Z"), []


def tags_of(value: object) -> list[str]:
    """Return the tags in ``value``, which may be a list or comma-separated text; empty for anything else."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return []
    return [tag for one in value if isinstance(one, str | int | float) and (tag := str(one).strip().lstrip("#"))]


def read_lines(path: str, project: Project, *, tick: Callable[[int, int], None] | None = None) -> SourceReading:
    """Return the memories in a JSONL file; raises OSError if it cannot be read.

    An invalid line is reported, and the other lines are imported.
    """
    reading = SourceReading()
    seen: dict[tuple[str, str], tuple[int, str]] = {}
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        number = done = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            done += len(line)
            where = f"{path}:{number}"
            if len(line) > LONGEST_LINE:
                done += _skip_rest(file)
                reading.problems.append(f"{where}: longer than {LONGEST_LINE >> 20} MB; split it")
            elif line.strip():
                _take(line, where, project=project, reading=reading, seen=seen, number=number)
            if tick and number % 200 == 0:
                tick(done, size)
    if tick:
        tick(size, size)
    return reading


def _skip_rest(file: IO[bytes]) -> int:
    skipped = 0
    while piece := file.readline(LONGEST_LINE):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _take(
    line: bytes,
    where: str,
    *,
    project: Project,
    reading: SourceReading,
    seen: dict[tuple[str, str], tuple[int, str]],
    number: int,
) -> None:
    try:
        memory = _memory(line, where, project=project, reading=reading)
    except (ValueError, RecursionError) as fault:
        reading.problems.append(f"{where}: {fault}")
        return
    name = (memory.project, memory.key)
    earlier, content = seen.setdefault(name, (number, memory.content))
    if earlier == number:
        reading.memories.append(memory)
    elif content != memory.content:  # the same memory twice is no reason to complain
        reading.problems.append(f"{where}: the id {memory.key!r} is that of line {earlier} already; give it another")


def _memory(line: bytes, where: str, *, project: Project, reading: SourceReading) -> Memory:
    value = _value(line)
    content = value.get("content")
    if not isinstance(content, str) or not content.strip():
        raise ValueError(f"no content; a line is {SHAPE}")
    if len(content) > LONGEST:
        raise ValueError(f"a content of {len(content):,} characters; at most {LONGEST:,}, so split it or import a note")
    given = _identity(value.get("id"))
    namespace = DEFAULT_NAMESPACE
    extra_tags: list[str] = []
    if isinstance(value.get("namespace"), str) and value["namespace"]:
        namespace, extra_tags, remarks = placed(cleaned(str(value["namespace"])), where=where)
        reading.remarks += remarks
    created_at, remarks = dated(value.get("created_at"), where=where)
    reading.remarks += remarks
    source = value.get("source")
    return Memory(
        cleaned(content),
        project=_project(value.get("project"), project),
        namespace=namespace,
        tags=[cleaned(tag) for tag in tags_of(value.get("tags"))] + extra_tags,
        source=cleaned(source) if isinstance(source, str) else "",
        origin="import:jsonl",
        key=given,
        created_at=created_at,
        id=given,
    )


def _value(line: bytes) -> dict[str, object]:
    try:
        text = line.decode()
    except UnicodeDecodeError as fault:
        raise ValueError(f"not UTF-8 at byte {fault.start + 1}; convert the file, for instance with iconv") from None
    try:
        value = fast_stdlib.loads(text.strip().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise ValueError(f"not a JSON object; a line is {SHAPE}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{type(value).__name__} instead of an object; a line is {SHAPE}")
    return value


def _identity(given: object) -> str:
    if given is None or isinstance(given, bool):  # for Python, a bool is an int
        return ""
    if not isinstance(given, str | int | float):
        raise ValueError(f"the id {given!r} is neither a text nor a number")
    name = cleaned(str(given))
    if len(name) > LONGEST_ID:
        raise ValueError(f"an id of {len(name)} characters; at most {LONGEST_ID}")
    return name


def _project(given: object, own: Project) -> str:
    """Return the id of the project to which a source assigns a memory.

    ``given`` is what the source says: "shared" (for all projects), or another project's id, remote URL or folder. If it
    is empty, the memory belongs to the project ``own``.
    """
    if not isinstance(given, str) or not given.strip():
        return own.id
    name = given.strip()
    if name == SHARED:
        return SHARED
    if os.path.isabs(name):
        return identify(name).id if os.path.isdir(name) else name
    return normalise(name) if "://" in name or name.startswith("git@") else name
