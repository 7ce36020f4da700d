"""Build the list of versions of the instructions, and the page of one version: its files, figures, and edits."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from datasette.utils.asgi import Response

from workbench.edits.progress import difference
from workbench.views.differences import DiffSection, compared, folded
from workbench.web.page import refusal, render
from workbench.web.reading import versions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History
    from workbench.web.reading.versions import Version, VersionFile


@dataclass(frozen=True, slots=True)
class VersionPage:
    """The data for the page of one version of the instructions, and its comparison with the version ``against``.

    ``against`` is None if there is no version to compare with; ``had_files`` says whether the files of ``against`` are
    stored. ``changes`` are the files that differ.
    """

    version: versions.Version
    known: Sequence[versions.Version]
    files: list[versions.VersionFile]
    against: versions.Version | None
    had_files: bool
    changes: list[FileEdit]


async def view(history: History, request: Request) -> Response:
    """Return the list of versions of the instructions under which prompts were recorded, the last used one first."""
    known = await history.read(versions.versions)
    if request.url_vars.get("format"):
        return Response.json({"versions": [as_object(one, before=versions.before(known, one)) for one in known]})
    rows = [(one, versions.before(known, one)) for one in known]
    return await render(history, request, "instructions.html", place="instructions", rows=rows)


async def version(history: History, request: Request) -> Response:
    """Return the page of a version of the instructions, compared with the requested or the preceding version."""
    wanted, against = request.url_vars["version"], request.args.get("against") or ""
    try:
        found = await history.read(lambda db: look_up(db, wanted, against=against))
    except versions.UnknownVersionError as error:
        why = "The prompts that it judged may have been deleted, or are not part of what is served here."
        return await refusal(history, request, what=str(error), why=f"{why} All versions are under Instructions.")
    if request.url_vars.get("format"):
        return Response.json(_whole(found))
    return await render(history, request, "version.html", place="instructions", found=found)


def look_up(db: sqlite3.Connection, wanted: str, *, against: str) -> VersionPage:
    """Read the version ``wanted`` of the instructions, and compare it with the version ``against``.

    Each argument is the beginning of a version's hash; if ``against`` is empty, it is the version before ``wanted``.
    Raises UnknownVersionError if no version, or more than one, has a hash with the given beginning.
    """
    known = versions.versions(db)
    one = versions.find(known, wanted)
    other = versions.find(known, against) if against else versions.before(known, one)
    files = versions.sources(db, one.hash)
    before = versions.sources(db, other.hash) if other else []
    edited = file_edits(before, files) if other and before and files else []
    return VersionPage(one, known, files, other, bool(before), edited)


def as_object(one: Version, *, before: Version | None) -> dict[str, Any]:
    """Return a version of the instructions as values for JSON; ``before`` is the version before it, if any."""
    return {
        "hash": one.hash, "first_seen_at": one.first_at or None, "last_used_at": one.last_at or None,
        "prompts": one.counted.prompts, "silent": one.counted.silent, "silent_share": one.counted.silent_share,
        "before": before.hash if before else None,
        "files": [{"layer": layer, "path": path} for layer, path in one.files],
    }  # fmt: skip


def _whole(found: VersionPage) -> dict[str, Any]:
    fields = as_object(found.version, before=versions.before(found.known, found.version))
    return {
        **fields,
        "files": [asdict(one) for one in found.files],
        "against": as_object(found.against, before=None) if found.against else None,
        "edits": [
            {"layer": one.layer, "path": one.path, "added": one.added, "cut": one.cut, "difference": one.unified}
            for one in found.changes
        ],
    }


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file that differs between two versions of the instructions: its lines in sections, and a unified diff.

    ``added`` and ``cut`` are the numbers of lines that were added and removed.
    """

    layer: str
    path: str
    sections: tuple[DiffSection, ...]
    added: int
    cut: int
    unified: str


def file_edits(before: Sequence[VersionFile], after: Sequence[VersionFile]) -> list[FileEdit]:
    """Return the files that differ between two versions of the instructions, lowest layer first.

    A file that only one of them has is compared with an empty one.
    """
    pairs: list[tuple[VersionFile | None, VersionFile | None]] = [(_counterpart(one, before), one) for one in after]
    used = [old for old, _new in pairs]
    pairs += [(old, None) for old in before if old not in used]
    return [_edit(old, new) for old, new in pairs if (old.text if old else None) != (new.text if new else None)]


def _counterpart(one: VersionFile, others: Sequence[VersionFile]) -> VersionFile | None:
    """Return the file among ``others``, those of another version, that corresponds to the file ``one``.

    It is the file with the same path or, failing that, a file in another folder with the same layer and file name;
    None if there is no such file.
    """
    same = [other for other in others if other.path == one.path]
    named = [other for other in others if (other.layer, _name(other)) == (one.layer, _name(one))]
    return next(iter(same or named), None)


def _name(source: VersionFile) -> str:
    return os.path.basename(source.path)


def _edit(old: VersionFile | None, new: VersionFile | None) -> FileEdit:
    texts = old.text if old else "", new.text if new else ""
    lines = compared(*texts)
    added, cut = (sum(line.mark == mark for line in lines) for mark in "+-")
    known = new or old
    layer, path = (known.layer, known.path) if known else ("", "")
    return FileEdit(layer, path, tuple(folded(lines)), added, cut, difference(*texts, path))
