"""Offer to import past conversations: count their prompts, ask the user, and store them while showing the progress.

``count_prompts`` and ``store_prompts`` run in threads and touch no widget. They stop between two lines of a file once
``should_stop`` returns true; what was stored until then remains, and the next import stores the rest.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from enricher.home import from_home
from enricher.install.registration import facts
from storage.db.database import StorageError
from workbench.importing.survey import ImportFilter, Sieve, Stored, store, survey
from workbench.importing.tracing import Tracer
from workbench.tui.messages import DataChanged
from workbench.tui.widgets.dialogs import Dialog
from workbench.tui.workers.connection import open_database
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from workbench.importing import Advance, ConversationFile
    from workbench.importing.survey import ImportSurvey
    from workbench.tui.app import Workbench

    Post = Callable[[Message], object]

BAR_WIDTH = 30
ASKED = "Import the prompts of conversations that you had with these programs?"
FIRST = f"No prompts are recorded yet. {ASKED}"
PROMISE = "The prompts that you typed are read from them. Secrets are removed before anything is stored in {folder}."
ASKED_EARLY = "y  import them      n  not now"
LATER = 'ctrl+p, "Import past conversations" offers it again.'
POST_EVERY_S = 0.1


class StoppedError(Exception):
    """Raised to stop reading because the user stopped the import, or the app ends."""


@dataclass
class Progress(Message):
    """Sent from time to time while the conversation files are read.

    ``share`` (0 to 1) is how much of them has been read, ``stored`` the number of prompts stored so far.
    """

    share: float
    stored: int = 0


@dataclass
class PromptsCounted(Message):
    """Sent when the prompts have been counted; ``found`` is what an import with the filter ``wanted`` would store."""

    found: ImportSurvey
    wanted: ImportFilter


@dataclass
class Imported(Message):
    """Sent when the import has ended; ``is_whole`` is false if the user stopped it before all files were read."""

    stored: Stored
    is_whole: bool


class ImportOffer(Dialog[None], inherit_bindings=False):
    """A dialog that counts the prompts in past conversations, asks whether to import them, and shows the progress."""

    DEFAULT_CSS = """
    ImportOffer {
        align: center middle; background: $background 60%;
        #offer {
            width: 76; max-width: 96%; height: auto; max-height: 92%; padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $foreground;
        }
        #programs { margin: 1 0; }
        #state { margin: 1 0; text-style: bold; }
        #answers { color: $text-muted; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "accept", "Import", id="import.yes"),
        Binding("n,escape,q", "leave", "Not now, stop, or close", id="import.no"),
        Binding("enter", "close", "Close when done", id="import.close", show=False),
    ]
    app: Workbench

    def __init__(self, sources: list[ConversationFile], *, is_first: bool) -> None:
        super().__init__()
        self._sources = sources
        self._is_first = is_first
        self._counted: PromptsCounted | None = None
        self._is_accepted = self._is_storing = self._is_over = False
        self._stop = threading.Event()

    def compose(self) -> ComposeResult:
        with Vertical(id="offer") as box:
            box.border_title = "Import past conversations"
            yield Static(FIRST if self._is_first else ASKED, id="reason", markup=False)
            yield Static(_list_programs(self._sources), id="programs", markup=False)
            yield Static(PROMISE.format(folder=from_home(self.app.state_dir)), markup=False)
            yield Static("", id="state", markup=False)
            yield Static("", id="answers", markup=False)

    def on_mount(self) -> None:
        self._show("Counting the prompts…", ASKED_EARLY)
        self.count()

    def _show(self, state: str, answers: str) -> None:
        self.query_one("#state", Static).update(state)
        self.query_one("#answers", Static).update(answers)

    @work(thread=True, exclusive=True, group="app.import", exit_on_error=False)
    def count(self) -> None:
        """Read all conversation files in a thread, and count the prompts that an import would store."""
        worker = get_current_worker()
        try:
            count_prompts(self.app.state_dir, self._sources, self.post_message, should_stop=lambda: worker.is_cancelled)
        except StoppedError:  # the dialog was closed, or the app ends
            pass
        except (StorageError, OSError, sqlite3.Error) as failure:
            self.app.call_from_thread(self._failed, str(failure))

    @work(thread=True, exclusive=True, group="app.import", exit_on_error=False)
    def import_prompts(self, known: PromptsCounted) -> None:
        """Store the counted prompts in the database, in a thread."""
        worker = get_current_worker()
        try:
            store_prompts(
                self.app.state_dir,
                self._sources,
                known,
                self.post_message,
                should_stop=lambda: self._stop.is_set() or worker.is_cancelled,
            )
        except (StorageError, OSError, sqlite3.Error) as failure:
            self.app.call_from_thread(self._failed, str(failure))

    def _failed(self, reason: str) -> None:
        self._is_over = True
        self._show(f"That did not work: {reason}", f"esc closes. {LATER}")

    @on(Progress)
    def _progressed(self, message: Progress) -> None:
        if self._is_over:  # the message is late: the result is already shown
            return
        done = round(message.share * BAR_WIDTH)
        bar = f"{'━' * done}{'─' * (BAR_WIDTH - done)} {message.share:4.0%}"
        if self._is_storing:
            found = self._counted.found.prompts if self._counted else 0
            self._show(f"{bar}  {message.stored:,} of {found:,} prompts", "esc  stop; what is stored stays")
        else:
            asked = "It begins as soon as they are counted." if self._is_accepted else ASKED_EARLY
            self._show(f"{bar}  counting the prompts", asked)

    @on(PromptsCounted)
    def _have_counted(self, message: PromptsCounted) -> None:
        self._counted = message
        count, problems = message.found.prompts, message.found.problem_count
        if not count:
            self._is_over = True
            self._show("None of their prompts is missing here.", "enter  go on")
        elif self._is_accepted:
            self._store(message)
        else:
            plural = "lines or files" if problems > 1 else "line or file"
            unread = f" {problems:,} {plural} could not be read." if problems else ""
            answers = f"y  import {counted(count, 'prompt')}      n  not now\n{LATER}"
            self._show(f"{counted(count, 'prompt')} can be imported.{unread}", answers)

    def _store(self, known: PromptsCounted) -> None:
        self._is_storing = True
        self._progressed(Progress(0.0))
        self.import_prompts(known)

    @on(Imported)
    def _have_imported(self, message: Imported) -> None:
        self._is_over = True
        self.query_one("#reason").display = False
        refused = f" The database refused {message.stored.refused:,}." if message.stored.refused else ""
        rest = "" if message.is_whole else f"\n{LATER.replace('it again', 'the rest')}"
        self._show(f"{counted(message.stored.prompts, 'prompt')} imported.{refused}", f"enter  go on{rest}")
        self.app.post_message(DataChanged())

    def action_accept(self) -> None:
        """Accept the import: store the prompts as soon as they are counted."""
        if self._is_over or self._is_accepted:
            return
        self._is_accepted = True
        if self._counted is not None:
            self._store(self._counted)

    def action_leave(self) -> None:
        """Stop an import that is running, otherwise close the dialog."""
        if self._is_storing and not self._is_over:
            self._stop.set()  # not by cancelling the worker: before its thread begins, it would never report the end
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close the dialog if the import has ended or failed, or if there was nothing to import."""
        if self._is_over:
            self.dismiss(None)


def _list_programs(sources: list[ConversationFile]) -> str:
    """Return a text with one line for each agent program: its name, and the number and total size of its files."""
    files, sizes = Counter(one.host for one in sources), Counter[str]()
    for one in sources:
        sizes[one.host] += one.size
    names = {host: "llm" if host == "llm" else str(facts(host).TITLE) for host in files}
    width = max(map(len, names.values()))
    return "\n".join(
        f"  {names[host].ljust(width)}  {number:>6,} file{'s' * (number != 1):<1}  {sizes[host] / 1e6:>8,.1f} MB"
        for host, number in files.most_common()
    )


def count_prompts(
    state_dir: str, sources: list[ConversationFile], post: Post, *, should_stop: Callable[[], bool]
) -> None:
    """Count the prompts that an import would store, and post the result.

    Raises StoppedError once ``should_stop`` returns true, and StorageError, OSError or sqlite3.Error if the database
    cannot be read.
    """
    # Until now, so that the import stores no more than was counted; prompts typed meanwhile are recorded by the hook.
    wanted = ImportFilter(since=0, until=int(time.time() * 1_000_000))
    with open_database(state_dir) as db:
        sieve = Sieve(db, Tracer(state_dir), wanted)
        found = survey(sources, sieve, _advance(sources, lambda share: post(Progress(share)), should_stop))
    post(PromptsCounted(found, wanted))


def store_prompts(
    state_dir: str,
    sources: list[ConversationFile],
    known: PromptsCounted,
    post: Post,
    *,
    should_stop: Callable[[], bool],
) -> None:
    """Store the prompts that were counted, until ``should_stop`` returns true, and post the result.

    Raises StorageError, OSError or sqlite3.Error if the database cannot be written.
    """
    stored, tracer, is_whole = Stored(), Tracer(state_dir), True
    tracer.prepare()
    with open_database(state_dir) as db:
        sieve = Sieve(db, tracer, known.wanted)
        advance = _advance(sources, lambda share: post(Progress(share, stored.prompts)), should_stop)
        try:
            store(db, sources, found=known.found, sieve=sieve, tracer=tracer, stored=stored, advance=advance)
        except StoppedError:
            is_whole = False
    post(Imported(stored, is_whole))


def _advance(
    sources: list[ConversationFile], report: Callable[[float], object], should_stop: Callable[[], bool]
) -> Advance:
    """Return a function for a reader to call with the size in bytes of each piece of the files that it has read.

    From time to time, the function passes the share of all bytes read so far to ``report``. It raises StoppedError once
    ``should_stop`` returns true.
    """
    total, done, reported_at = max(1, sum(source.size for source in sources)), 0, 0.0

    def advance(size: int) -> None:
        nonlocal done, reported_at
        if should_stop():
            raise StoppedError
        done += size
        if time.monotonic() - reported_at > POST_EVERY_S:
            reported_at = time.monotonic()
            report(min(1.0, done / total))  # a file may have grown since its size was read

    return advance
