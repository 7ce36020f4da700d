"""The Memories screen: a list of memories (notes that the hook may add to prompts), each to be approved or deleted.

Approving and forgetting have the same effect as in ``enricher memory``; a forgotten memory is deleted, not just marked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from enricher.erasure import forgetting
from enricher.prompt.project import SHARED, identify
from storage.erasure.trace_rows import StillReadError
from storage.memory import memories
from workbench.tui.messages import OpenTrace
from workbench.tui.panes import memory_text
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.state import here
from workbench.tui.widgets.choice import Alternative, Choice
from workbench.tui.widgets.dialogs import Question
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import SearchBar
from workbench.tui.workers.memory_queries import MemoryFilter, MemoryList, memory_list
from workbench.wording import counted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from storage.memory.memories import Memory, MemoryUse, Shelf

VIEWS = (Alternative("all", "v", "all"), Alternative("unreviewed", "u", "to review"))
ROOMY = 140
"""On screens of at least this many columns, namespaces are to the left of the list, and the memory to its right."""
SETTLED_S = 0.15
"""Seconds that the cursor must rest on a memory before the prompts that it was added to are looked up."""
NOTHING_YET = """\
Nothing is remembered yet.

  enricher memory import       reads the notes, decisions and commits of this project
  enricher memory add "…"      keeps a sentence
  remember: …                  at the beginning of a prompt keeps what follows; it waits here to be approved"""
NOTHING_HERE = """\
This project remembers nothing yet; other projects have {elsewhere:,} memories.

  p                            shows those of all projects
  enricher memory import       reads the notes, decisions and commits of this project
  remember: …                  at the beginning of a prompt keeps what follows; it waits here to be approved"""
NOTHING_MATCHES = """\
No memory matches.

  /         look for other words
  escape    take search and filters away"""
NOTHING_TO_REVIEW = "Nothing waits to be reviewed.\n\n  v         all memories"


class MemoriesScreen(WorkbenchScreen):
    """A screen with a list of the memories of this project or of all projects, and the full text of one."""

    PLACE = "memories"
    HELP = """\
The memories of this project and those that all projects share: first those that nobody has approved yet (`?`), then
the newest. `/` searches as the hook does, best match first.

`a` approves: the memory then ranks like one that you added. `d` deletes it for good, from the search index, too; the
traces of prompts that it was added to stay as they are. Next to the list, or below it, is the full memory, and the
prompts that it was added to: `enter` goes there, a second `enter` opens the trace.
"""
    DEFAULT_CSS = """
    MemoriesScreen {
        #all { height: 1fr; layout: vertical; }
        &.-roomy #all { layout: horizontal; }
        #shelves { display: none; width: 33; border-right: vkey $panel; }
        &.-roomy #shelves { display: block; }
        #entries { height: 1fr; }
        #list { height: 1fr; width: 1fr; }
        #detail { height: 11; border-top: solid $panel; }
        &.-roomy #detail { height: 1fr; width: 42%; max-width: 84; border-top: none; border-left: vkey $panel; }
        #text { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
        &.-roomy #text { height: auto; max-height: 60%; }
        #text Static { height: auto; }
        #prompts-title { height: 1; padding: 0 1; color: $text-muted; background: $surface; }
        #prompts { height: auto; max-height: 4; }
        &.-roomy #prompts { max-height: 40%; }
        &.-empty #entries, &.-empty #detail { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", id="memories.search", key_display="/"),
        Binding("a", "approve", "Approve", id="memories.approve"),
        Binding("d", "forget", "Forget", id="memories.forget", tooltip="Forget: delete it for good"),
        Binding("u", "view('unreviewed')", "To review", id="memories.unreviewed", show=False),
        Binding("v", "view('all')", "All memories, reviewed or not", id="memories.all", show=False),
        Binding("p", "projects", "Projects", id="memories.projects", tooltip="This project, or all projects"),
        Binding("R", "reload", "Read the list again", id="memories.reload", show=False),
        Binding("escape", "back", "Back, or take search and filters away", id="memories.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._wanted = MemoryFilter()
        self._listed: MemoryList | None = None
        self._project = ""
        self._prompts_of = ""  # the id of the memory whose prompts are shown or looked up
        self._has_changed = False

    def compose_body(self) -> ComposeResult:
        yield SearchBar()
        yield Choice(VIEWS)
        with Container(id="all"):
            yield FiguresTable(memory_text.SHELF_HEADINGS, id="shelves")
            with Vertical(id="list"):
                yield FiguresTable(memory_text.HEADINGS, id="entries")
                yield Static(NOTHING_YET, id="empty", markup=False)
            with Vertical(id="detail"):
                with VerticalScroll(id="text", can_focus=False):
                    yield Static("", id="about", markup=False)
                yield Static("", id="prompts-title", markup=False)
                yield FiguresTable(memory_text.USE_HEADINGS, id="prompts")

    def on_mount(self) -> None:
        self._project = identify(here()).id
        everywhere = self.recall("everywhere", False)
        self._wanted = MemoryFilter(
            projects=() if everywhere else (self._project, SHARED),
            words=self.recall("words", ""),
            namespace=self.recall_choice("namespace", ("", *memories.NAMESPACES)),
            is_unreviewed=self.recall("view", "all") == "unreviewed",
        )
        self.bar.show(self._wanted.words)
        self.table.focus()
        self.action_reload()

    @property
    def table(self) -> FiguresTable:
        """Return the table of memories."""
        return self.query_one("#entries", FiguresTable)

    @property
    def bar(self) -> SearchBar:
        """Return the search bar."""
        return self.query_one(SearchBar)

    @property
    def current(self) -> Memory | None:
        """Return the memory under the cursor; None if there is none."""
        listed = self._listed.memories if self._listed else ()
        return next((one for one in listed if one.id == self.table.chosen), None)

    def want(self, **changed: Any) -> None:
        """Change fields of the filter (a ``MemoryFilter``), remember it, and read the list of memories again."""
        self._wanted = replace(self._wanted, **changed)
        self.remember(
            everywhere=not self._wanted.projects,
            words=self._wanted.words,
            namespace=self._wanted.namespace,
            view="unreviewed" if self._wanted.is_unreviewed else "all",
        )
        self.action_reload()

    def action_reload(self) -> None:
        """Read the list of memories again."""
        wanted = self._wanted
        self.read("load", lambda db: memory_list(db, wanted), self._list_came, drain=True)

    def data_changed(self) -> None:
        if self._listed is not None and not self.app.trouble:
            self.in_turn("load", self.action_reload)

    @work(thread=True, group="memories.write", exit_on_error=False)
    def apply_verdict(self, one: Memory, *, is_right: bool) -> None:
        """Approve a memory if ``is_right`` is true, otherwise delete it, unless another process has already done so."""
        with self.database() as db:
            if is_right:
                memories.approve(db, one.id)
            else:
                self._forget(db, one)
        self.app.call_from_thread(self._verdict_applied, one, is_right=is_right)

    def _forget(self, db: sqlite3.Connection, one: Memory) -> None:
        try:
            forgetting.forget_memories(db, self.app.state_dir, [one.id])
        except StillReadError as failure:  # the memory is deleted, so the screen can go on
            self.notify(str(failure), severity="warning", markup=False)

    def _verdict_applied(self, one: Memory, *, is_right: bool) -> None:
        self._has_changed = True  # the next unreviewed memory moves under the cursor
        done = "Approved" if is_right else "Forgotten"
        self.notify(memory_text.preview(one, 60), title=done, timeout=3, markup=False)
        self.action_reload()

    def _list_came(self, listed: MemoryList) -> None:
        self._listed = listed
        self._show()

    def _show(self) -> None:
        listed = self._listed
        if listed is None:
            return
        self.show_empty("" if listed.memories else _nothing(listed))
        rows = [memory_text.row(one) for one in listed.memories]
        self.table.show(rows, follows_row=not self._has_changed)
        self._has_changed = False
        self.query_one("#shelves", FiguresTable).show(memory_text.shelf_rows(listed.shelves, listed.wanted.namespace))
        self._show_counts(listed)
        self._show_detail()
        if self.focused is None:
            self.table.focus()

    def _show_counts(self, listed: MemoryList) -> None:
        wanted, shelves, is_wide = listed.wanted, listed.shelves, self.has_class("-roomy")
        choice = self.query_one(Choice)
        every, waiting = sum(one.memories for one in shelves), sum(one.unreviewed for one in shelves)
        choice.show_counts({"all": every, "unreviewed": waiting})
        choice.choose("unreviewed" if wanted.is_unreviewed else "all")
        where = "all projects" if not wanted.projects else "this project and shared" if is_wide else "this project"
        choice.show_note(" · ".join(filter(None, [wanted.namespace, where])))
        total, shown = _total(shelves, wanted), len(listed.memories)
        order = "best first" if wanted.words else "to review first"
        how_many = f"{shown:,} of {total:,}" if shown < total else counted(shown, "memory")
        self.bar.show_result(f"{how_many}, {order}")

    def on_resize(self) -> None:
        self.set_class(self.size.width >= ROOMY, "-roomy")
        self.call_after_refresh(self._show)

    @on(FiguresTable.Moved, "#entries")
    def _show_detail(self) -> None:
        one = self.current
        self.query_one("#about", Static).update(memory_text.about(one) if one else "")
        self.query_one("#text").scroll_home(animate=False)
        if one is None or one.id != self._prompts_of:
            self._prompts_of = ""
            self._show_prompts(())
            self.query_one("#prompts-title", Static).update("")
        self.debounce("prompts", SETTLED_S, self._want_prompts)

    def _want_prompts(self) -> None:
        one = self.current
        if one is not None and one.id != self._prompts_of:
            self._prompts_of = one.id
            self.read("prompts", lambda db: (one.id, memories.uses(db, one.id)), self._prompts_came)

    def _prompts_came(self, found: tuple[str, list[MemoryUse]]) -> None:
        memory_id, prompts = found
        if self.current is None or self.current.id != memory_id:
            return
        self._show_prompts(prompts)
        self.query_one("#prompts-title", Static).update(memory_text.uses_title(len(prompts)))

    def _show_prompts(self, prompts: Sequence[MemoryUse]) -> None:
        table = self.query_one("#prompts", FiguresTable)
        table.display = bool(prompts)
        table.show([memory_text.use_row(one) for one in prompts])

    @on(FiguresTable.Chosen, "#entries")
    def _memory_opened(self) -> None:
        prompts = self.query_one("#prompts", FiguresTable)
        if prompts.row_count:
            prompts.focus()
        else:
            self.notify("This memory has not been added to any prompt yet.", timeout=3)

    @on(FiguresTable.Chosen, "#prompts")
    def _prompt_opened(self) -> None:
        self.post_message(OpenTrace(self.query_one("#prompts", FiguresTable).chosen))

    @on(FiguresTable.Chosen, "#shelves")
    def _shelf_opened(self) -> None:
        self.want(namespace=self.query_one("#shelves", FiguresTable).chosen.removeprefix(memory_text.SHELF))
        self.table.focus()

    @on(SearchBar.Typed)
    def _words_typed(self, message: SearchBar.Typed) -> None:
        if message.text.strip() != self._wanted.words:
            self.want(words=message.text.strip())

    @on(SearchBar.Left)
    def _search_left(self) -> None:
        self.table.focus()

    def action_view(self, name: str) -> None:
        """Show all memories, or only unapproved ones if ``name`` is ``unreviewed``."""
        self.want(is_unreviewed=name == "unreviewed")

    def action_search(self) -> None:
        """Move the focus to the input for search words."""
        self.bar.input.focus()

    def action_projects(self) -> None:
        """Switch between the memories of this project and those of all projects."""
        self.want(projects=() if self._wanted.projects else (self._project, SHARED))

    def action_approve(self) -> None:
        """Approve the memory under the cursor."""
        one = self.current
        if one is None:
            return
        if one.reviewed:
            self.notify("This memory is approved already.", timeout=3)
            self.table.action_move(1)
            return
        self.apply_verdict(one, is_right=True)

    def action_forget(self) -> None:
        """Ask for confirmation, then delete the memory under the cursor."""
        one = self.current
        if one is None:
            return

        def answered(is_yes: bool | None) -> None:
            if is_yes:
                self.apply_verdict(one, is_right=False)

        self.app.push_screen(
            Question("Forget this memory?", memory_text.deletion_warning(one), yes="forget it"), answered
        )

    def action_back(self) -> None:
        """Move the focus back to the list; if it is there already, clear the search and the filters."""
        if self.focused not in (None, self.table) and not self.has_class("-empty"):
            self.table.focus()
        elif self._wanted != MemoryFilter(projects=self._wanted.projects):
            self.bar.show("")
            self.want(words="", namespace="", is_unreviewed=False)


def _nothing(listed: MemoryList) -> str:
    wanted = listed.wanted
    if wanted.words or wanted.namespace:
        return NOTHING_MATCHES
    if wanted.is_unreviewed and listed.shelves:
        return NOTHING_TO_REVIEW
    return NOTHING_HERE.format(elsewhere=listed.other_projects) if listed.other_projects else NOTHING_YET


def _total(shelves: list[Shelf], wanted: MemoryFilter) -> int:
    """Return the number of memories in the displayed namespace, or in all if none is chosen.

    The filter by search words is ignored; that for unapproved memories is not.
    """
    return sum(
        one.unreviewed if wanted.is_unreviewed else one.memories
        for one in shelves
        if wanted.namespace in ("", one.namespace)
    )
