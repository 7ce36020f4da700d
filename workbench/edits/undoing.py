"""Undo a save: restore the text that it replaced, and keep what another program has written since."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from difflib import SequenceMatcher

from enricher.home import from_home
from enricher.prompt.text import shortened
from workbench.edits import instructions_file as files
from workbench.wording import counted

LONGEST_LINE = 60
MERGED = (
    "Another program has written the file since. The editor has its text without your save: ctrl+s saves that, "
    "ctrl+r goes to what is on the disk."
)
OVERLAPS = (
    "Another program has changed the same lines since, so nothing was written. The editor has the text before your "
    "save: ctrl+s asks whose text stays, ctrl+r goes to what is on the disk."
)
Hunk = tuple[int, int, list[str]]
"""A changed range of lines: the index of its first line, the index after its last line, and the new lines."""


@dataclass(frozen=True, slots=True)
class Save:
    """A save of a file, with the text before and after it.

    ``is_new`` means that the file did not exist before.
    """

    path: str
    before: str
    after: str
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class ChangedSince:
    """The reason why a save was not undone: since then, another program has written the text ``disk`` into the file.

    ``merged`` is that text without the changes of the save; None if both changed the same lines.
    """

    save: Save
    disk: str
    merged: str | None

    @property
    def proposal(self) -> str:
        """Return the text to put into the editor; saving it undoes the earlier save."""
        return self.save.before if self.merged is None else self.merged

    @property
    def note(self) -> str:
        """Return the message that explains to the user what was put into the editor."""
        return OVERLAPS if self.merged is None else MERGED


def describe_undo(save: Save) -> str:
    """Return a text that names the file of a save, and says how many lines undoing it writes and removes.

    The first of these lines is quoted.
    """
    if save.is_new:
        return f"{from_home(save.path)} is removed, because that save had made it"
    return describe(Save(save.path, save.after, save.before))


def describe(save: Save) -> str:
    """Return a text that names the file of a save, and says how many lines it wrote and removed.

    The first of these lines is quoted.
    """
    lines = save.before.splitlines(keepends=True)
    hunks = _hunks(lines, save.after)
    written = [line.strip() for *_, new in hunks for line in new]
    removed = [line.strip() for start, end, _ in hunks for line in lines[start:end]]
    first = next(filter(None, [*written, *removed]), "")
    numbers = ((len(written), "written"), (len(removed), "removed"))
    counts = ", ".join(f"{counted(number, 'line')} {what}" for number, what in numbers if number) or "no line differs"
    return f"{from_home(save.path)} ({counts}{f', first «{shortened(first, LONGEST_LINE)}»' if first else ''})"


def take_back(save: Save, cwd: str) -> ChangedSince | None:
    """Undo a save; if another program has written the file since, return a proposal instead of writing.

    Raises FileError. A project's layer that was trusted stays trusted.
    """
    with contextlib.suppress(files.ChangedMeanwhileError), files.trust_kept(save.path, cwd):
        if save.is_new and files.read(save.path) == save.after:
            _remove(save.path)
        else:
            files.save(save.path, save.before, over=save.after)
        return None
    disk = files.read(save.path)
    return ChangedSince(save, disk, without(save, disk))


def without(save: Save, text: str) -> str | None:
    """Return ``text``, which another program wrote after the save, without the changes of the save.

    Return None if the save and the other program changed the same lines.
    """
    after = save.after.splitlines(keepends=True)
    undone = _hunks(after, save.before)
    others = [hunk for hunk in _hunks(after, text) if hunk not in undone]  # the other program may have undone some
    # Adjacent changes count as overlapping, too, because their order would be arbitrary if both insert lines.
    if any(one[0] <= other[1] and other[0] <= one[1] for one in undone for other in others):
        return None
    # From the end of the text to its beginning, so that the earlier line numbers stay valid.
    for start, end, lines in sorted([*undone, *others], key=lambda hunk: hunk[:2], reverse=True):
        after[start:end] = lines
    return "".join(after)


def _hunks(base: list[str], text: str) -> list[Hunk]:
    lines = text.splitlines(keepends=True)
    # With autojunk, difflib would ignore the lines that are frequent in a long text, and find larger changes.
    codes = SequenceMatcher(None, base, lines, autojunk=False).get_opcodes()
    return [(i1, i2, lines[j1:j2]) for kind, i1, i2, j1, j2 in codes if kind != "equal"]


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise files.FileError(f"{path} cannot be removed: {error.strerror or error}") from error
