"""Output of the commands: JSON for programs, tables for users, no control characters for the terminal."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import LONGEST_HELP, commands_from_above

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.table import Table

CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


class Group(click.Group):
    """A group of commands whose help shows their whole first sentences; the workbench adds commands by entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *commands_from_above(str(self.name))])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        entry = None if own else commands_from_above(str(self.name)).get(cmd_name)
        return entry.load() if entry else own

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(LONGEST_HELP)) for name, one in found if one])


def print_json(value: object) -> None:
    """Print a value as JSON, indented for readability."""
    click.echo(json.dumps(value, indent=2))


def new_console(*, stderr: bool = False) -> Console:
    """Return a console that prints text literally, without interpreting markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)


@contextlib.contextmanager
def progress_bar(title: str, *, is_json: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar and yield its update function (done, total); yield None if there is no terminal."""
    console = new_console(stderr=True)
    if is_json or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    longest = max(10, console.width // 3)  # a long path must leave room for the bar
    title = title if len(title) <= longest else "…" + title[1 - longest :]
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def printable(value: object) -> str:
    """Return the text of ``value`` without control characters, which could manipulate the terminal."""
    return str(value).translate(CONTROLS)


def new_table(*columns: str, numbers: int = 0) -> Table:
    """Return an empty table whose last ``numbers`` columns are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    result = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for position, column in enumerate(columns):
        result.add_column(column, justify="right" if position >= len(columns) - numbers else "left", overflow="fold")
    return result
