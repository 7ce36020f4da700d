"""Compare two versions of the instructions: edits file by file, and changes of the counts of prompts; pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.edits.progress import difference
from workbench.views.differences import Section, compared, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.web.reading.versions import Counted, Source


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file that differs: its lines in sections, the counts of added and removed lines, and the unified diff."""

    layer: str
    path: str
    sections: tuple[Section, ...]
    added: int
    cut: int
    unified: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A count of prompts under both versions; ``filter``, appended to the version's own filter, finds these prompts."""

    name: str
    before: int
    of_before: int
    after: int
    of_after: int
    filter: str = ""


def edits(before: Sequence[Source], after: Sequence[Source]) -> list[FileEdit]:
    """Return the files that differ, lowest layer first; an added or removed file is empty on the other side."""
    pairs: list[tuple[Source | None, Source | None]] = [(_counterpart(one, before), one) for one in after]
    used = [old for old, _new in pairs]
    pairs += [(old, None) for old in before if old not in used]
    return [_edit(old, new) for old, new in pairs if (old.text if old else None) != (new.text if new else None)]


def moved(before: Counted, after: Counted) -> list[Moved]:
    """Return the counts of silent prompts and of each task type under both versions, the most frequent type first."""
    found = [
        Moved("silent", before.silent, before.judged, after.silent, after.judged, "status:silent"),
    ]
    names = sorted({**before.task_types, **after.task_types}, key=lambda one: -after.task_types.get(one, 0))
    typed = sum(before.task_types.values()), sum(after.task_types.values())
    for name in names:
        counts = before.task_types.get(name, 0), after.task_types.get(name, 0)
        found.append(Moved(name, counts[0], typed[0], counts[1], typed[1], f"type:{name}"))
    return found


def _counterpart(one: Source, others: Sequence[Source]) -> Source | None:
    """Return the same file on the other side: by path, else a file of the same layer and name in another folder."""
    same = [other for other in others if other.path == one.path]
    named = [other for other in others if (other.layer, _name(other)) == (one.layer, _name(one))]
    return next(iter(same or named), None)


def _name(source: Source) -> str:
    return os.path.basename(source.path)


def _edit(old: Source | None, new: Source | None) -> FileEdit:
    texts = old.text if old else "", new.text if new else ""
    lines = compared(*texts)
    added, cut = (sum(line.mark == mark for line in lines) for mark in "+-")
    known = new or old
    layer, path = (known.layer, known.path) if known else ("", "")
    return FileEdit(layer, path, tuple(folded(lines)), added, cut, difference(*texts, path))
