"""The thread of the import dialog: count the prompts of past conversations, then store them.

Nothing here touches a widget. The work ends between two lines of a file once ``should_stop`` is true; what was
stored until then stays, and the next import stores the rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.importing.survey import ImportFilter, Sieve, Stored, store, survey
from workbench.importing.tracing import Tracer
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.importing import Advance, ConversationFile
    from workbench.importing.survey import ImportSurvey

    Post = Callable[[Message], object]

POST_EVERY_S = 0.1


class StoppedError(Exception):
    """The user has stopped the import."""


@dataclass
class Progress(Message):
    """The share of the files' bytes that was read, from 0 to 1, and the number of prompts stored so far."""

    share: float
    stored: int = 0


@dataclass
class Counted(Message):
    """All files were read; ``wanted`` repeats the selection that was counted."""

    found: ImportSurvey
    wanted: ImportFilter


@dataclass
class Imported(Message):
    """The import has ended; ``is_whole`` is false if it was stopped."""

    stored: Stored
    is_whole: bool


def count(state_dir: str, sources: list[ConversationFile], post: Post, *, should_stop: Callable[[], bool]) -> None:
    """Post how many prompts an import would store. Raises StoppedError, StorageError, OSError, sqlite3.Error."""
    wanted = ImportFilter(since=0, until=int(time.time() * 1_000_000))
    with open_database(state_dir) as db:
        sieve = Sieve(db, Tracer(state_dir), wanted)
        found = survey(sources, sieve, _advance(sources, lambda share: post(Progress(share)), should_stop))
    post(Counted(found, wanted))


def import_prompts(
    state_dir: str, sources: list[ConversationFile], counted: Counted, post: Post, *, should_stop: Callable[[], bool]
) -> None:
    """Store the prompts that were counted, and post the result. Raises StorageError, OSError, sqlite3.Error."""
    stored, tracer, is_whole = Stored(), Tracer(state_dir), True
    tracer.prepare()
    with open_database(state_dir) as db:
        sieve = Sieve(db, tracer, counted.wanted)
        advance = _advance(sources, lambda share: post(Progress(share, stored.prompts)), should_stop)
        try:
            store(db, sources, found=counted.found, sieve=sieve, tracer=tracer, stored=stored, advance=advance)
        except StoppedError:
            is_whole = False
    post(Imported(stored, is_whole))


def _advance(
    sources: list[ConversationFile], report: Callable[[float], object], should_stop: Callable[[], bool]
) -> Advance:
    """Return a function that is called with the bytes of each further piece, and reports their share at times."""
    total, done, told_at = max(1, sum(source.size for source in sources)), 0, 0.0

    def advance(size: int) -> None:
        nonlocal done, told_at
        if should_stop():
            raise StoppedError
        done += size
        if time.monotonic() - told_at > POST_EVERY_S:
            told_at = time.monotonic()
            report(min(1.0, done / total))

    return advance
