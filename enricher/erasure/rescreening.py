"""Search all stored data for secrets again, in every place that ``forgetting`` covers.

A row of the database is kept without the secret. Lines of the log and of event files, and whole copies of the database,
are deleted if they contain one. The search may be interrupted at any point: running it again completes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.erasure import golden
from enricher.erasure.forgetting import event_files, exclusive_deletion, finish
from enricher.prompt.redaction import found_in, redact
from storage.erasure import sidecar_files, stored_secrets, trace_rows
from storage.erasure.mentions import Mentions
from storage.erasure.target import ErasureTarget
from storage.state import screen_version

if TYPE_CHECKING:
    import os
    import sqlite3
    from collections.abc import Callable

    Advance = Callable[[int, int], None]

SHORTEST_SOUGHT = 8  # characters of a secret that is also searched for in files; a shorter one may be a word
PIECE_CHARACTERS = 1 << 20  # copies of a database are too large to read at once
IN_WHICH_FOLDERS = "select distinct cwd from traces"


@dataclass(slots=True)
class RescreenReport:
    """The outcome of a search for secrets; ``rows`` maps each table to the number of its rows that contained one.

    ``done`` contains messages about what was done to files, and ``remarks`` other messages for the user.
    """

    rows: dict[str, int] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class _Secrets(Mentions):
    """The secrets that were found in the database; in a file, any other text that looks like a secret is found, too."""

    __slots__ = ()

    def in_bytes(self, content: bytes) -> bool:
        return super().in_bytes(content) or bool(redact(content.decode("utf-8", "replace"))[1])

    def in_file(self, path: str | os.PathLike[str], *, is_database: bool = False) -> bool:
        if super().in_file(path, is_database=is_database):
            return True
        with open(path, encoding="utf-8", errors="replace") as file:
            while piece := file.read(PIECE_CHARACTERS):
                if redact(_printable(piece) if is_database else piece)[1]:
                    return True
        return False


def _printable(piece: str) -> str:
    """Return the readable texts within the content of a database file, separated by line breaks."""
    return "".join(character if character.isprintable() and character != "\ufffd" else "\n" for character in piece)


def rescreen(
    db: sqlite3.Connection, state: str, *, is_dry: bool = False, advance: Advance | None = None
) -> RescreenReport:
    """Remove every secret that this version recognizes from stored data.

    With ``is_dry``, only count the rows of the database that contain one. ``advance`` is called with the progress.
    Raises the same errors as ``forgetting.forget``; after an error, calling it again completes the work.
    """
    secrets: set[str] = set()

    def redacted(text: str) -> str:
        redacted, kinds = redact(text)
        if kinds:
            secrets.update(one for one in found_in(text) if len(one) >= SHORTEST_SOUGHT)
        return redacted

    if is_dry:
        return RescreenReport(stored_secrets.redact_rows(db, redacted, is_dry=True, advance=advance))
    finish(db, state)  # takes and releases the lock of the next line
    with exclusive_deletion(state):
        folders = {cwd for (cwd,) in db.execute(IN_WHICH_FOLDERS)}
        outcome = RescreenReport(stored_secrets.redact_rows(db, redacted, advance=advance))
        gone = ErasureTarget(frozenset(), _Secrets(sorted(secrets)))
        outcome.done = sidecar_files.clean(state, gone, event_files=event_files(db, state))
        done, outcome.remarks = golden.forget(folders, gone)
        outcome.done += done
        trace_rows.scrub(db)
        screen_version.note(state)
    return outcome
