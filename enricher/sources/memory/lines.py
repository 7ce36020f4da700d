"""Read memories from JSONL lines {"id"?, "namespace"?, "content", "tags"?, "created_at"?, "project"?, "source"?}."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.prompt.project import SHARED, identify, normalise
from enricher.sources.memory.reading import LONGEST, SourceReading, cleaned, dated, placed, tags_of
from storage.base import fast_stdlib
from storage.memory.memories import DEFAULT_NAMESPACE, LONGEST_ID, Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.project import Project

SHAPE = '{"id"?, "namespace"?, "content", "tags"?, "created_at"?, "project"?}'
LONGEST_LINE = 4 * 1024 * 1024


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


def _skip_rest(file: object) -> int:
    skipped = 0
    while piece := file.readline(LONGEST_LINE):  # type: ignore[attr-defined]
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
    elif content != memory.content:
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
        raise ValueError(f"no JSON object; a line is {SHAPE}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{type(value).__name__} instead of an object; a line is {SHAPE}")
    return value


def _identity(given: object) -> str:
    if given is None or isinstance(given, bool):
        return ""
    if not isinstance(given, str | int | float):
        raise ValueError(f"the id {given!r} is neither a text nor a number")
    name = cleaned(str(given))
    if len(name) > LONGEST_ID:
        raise ValueError(f"an id of {len(name)} characters; at most {LONGEST_ID}")
    return name


def _project(given: object, own: Project) -> str:
    """Return the id of a memory's project: this one, "shared" for all, or the project of the given remote or folder."""
    if not isinstance(given, str) or not given.strip():
        return own.id
    name = given.strip()
    if name == SHARED:
        return SHARED
    if os.path.isabs(name):
        return identify(name).id if os.path.isdir(name) else name
    return normalise(name) if "://" in name or name.startswith("git@") else name
