"""Provide the entries of the command palette: keys, main screens, the tour, filters, themes, and traces by id.

The keys are read from the active bindings of the screen below the palette, so that no list has to be maintained by
hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Provider
from textual.markup import escape

from storage.db.database import StorageError
from workbench.tui import welcome
from workbench.tui.messages import FilterTraces, OpenTrace
from workbench.tui.screens import SCREENS
from workbench.tui.themes import THEMES
from workbench.tui.widgets.plain_text import one_line
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.command import Hits

    from workbench.tui.app import Workbench

ID_CHARS = 6
"""A search text of at least this many hexadecimal digits is also looked up as the beginning of a trace id."""
HOW_MANY_OF_EACH_TYPE = """
    select task_type, count(*) as prompts from (
        select task_type from traces where origin <> 'test' and status <> 'skipped' order by id desc limit 10000
    ) where task_type <> '' group by task_type order by prompts desc
"""
# "g" is the first letter after the hex digits, so this is a range of the primary key; LIKE would scan the table.
WHICH_BEGIN_SO = "select id, prompt from traces where id >= :id and id < :id || 'g' order by id limit 5"


class Menu(CommandPalette):
    """The command palette; unlike Textual's own, it bears keys that arrive before it is drawn or after it is closed."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the palette, unless it is closed already."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError):  # Textual asks for the line of an entry, but no lines are laid out yet
            super()._action_command_list(action)


class PaletteEntry(NamedTuple):
    """An entry of the command palette: its text, a note after it, and what happens when it is chosen."""

    text: str
    help: str
    run: Callable[[], Any]


class WorkbenchCommands(Provider):
    """Provides the entries of the command palette for the visible screen."""

    _types: list[tuple[str, int]] | None = None

    @property
    def _workbench(self) -> Workbench:
        return self.app  # type: ignore[return-value]

    async def discover(self) -> Hits:
        for command in await self._commands():
            yield DiscoveryHit(escape(command.text), command.run, text=command.text, help=escape(command.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in [*await self._commands(), *await asyncio.to_thread(self._traces, query)]:
            score = matcher.match(command.text)
            if score > 0:
                yield Hit(score, matcher.highlight(command.text), command.run, help=escape(command.help))

    async def _commands(self) -> list[PaletteEntry]:
        return [*self._bindings(), *self._places(), *self._welcome(), *await self._filters(), *self._themes()]

    def _bindings(self) -> list[PaletteEntry]:
        found: dict[str, PaletteEntry] = {}
        # First the keys that the footer shows; of several keys for one action, it has the best name.
        for active in sorted(self.screen.active_bindings.values(), key=lambda one: not one.binding.show):
            binding = active.binding
            # Main screens (places) have entries of their own, and the palette need not offer to open itself.
            if not binding.description or not active.enabled or binding.action.startswith(("go(", "command_palette")):
                continue
            run = partial(self.app.run_action, binding.action, active.node)
            key = self.app.get_key_display(binding)
            found.setdefault(binding.action, PaletteEntry(binding.tooltip or binding.description, f"key {key}", run))
        return list(found.values())

    def _places(self) -> list[PaletteEntry]:
        go = self._workbench.action_go
        return [PaletteEntry(f"Go to {one.title}", f"key {one.key}", partial(go, one.name)) for one in SCREENS]

    def _welcome(self) -> list[PaletteEntry]:
        app = self._workbench
        return [
            PaletteEntry("Take the tour", "the app in three steps", partial(welcome.start_tour, app)),
            PaletteEntry(
                "Import past conversations",
                "what you asked the installed clients",
                partial(welcome.import_conversations, app),
            ),
        ]

    def _themes(self) -> list[PaletteEntry]:
        return [PaletteEntry(f"Theme: {one.name}", "", partial(setattr, self.app, "theme", one.name)) for one in THEMES]

    async def _filters(self) -> list[PaletteEntry]:
        if self._types is None:  # not in startup(): a key pressed then would cancel it, and nothing would be found
            self._types = await asyncio.to_thread(_task_types, self._workbench.state_dir)
        post = self.app.post_message
        return [
            PaletteEntry(
                f"Filter type:{name}", f"{prompts:,} of the newest prompts", partial(post, FilterTraces(f"type:{name}"))
            )
            for name, prompts in self._types
        ]

    def _traces(self, query: str) -> list[PaletteEntry]:
        wanted = query.strip().lower()
        if len(wanted) < ID_CHARS or not all(char in "0123456789abcdef" for char in wanted):
            return []
        with contextlib.suppress(StorageError, OSError, sqlite3.Error):
            with open_database(self._workbench.state_dir, drain=False) as db:
                rows = db.execute(WHICH_BEGIN_SO, {"id": wanted}).fetchall()
            post = self.app.post_message
            return [
                PaletteEntry(
                    f"Go to trace {row['id']}",
                    one_line(row["prompt"])[:60],
                    partial(post, OpenTrace(row["id"])),
                )
                for row in rows
            ]
        return []


def _task_types(state_dir: str) -> list[tuple[str, int]]:
    with contextlib.suppress(StorageError, OSError, sqlite3.Error), open_database(state_dir, drain=False) as db:
        return [(row["task_type"], row["prompts"]) for row in db.execute(HOW_MANY_OF_EACH_TYPE)]
    return []
