"""Print the output of commands, as JSON for programs or tables for users, and ask before deleting.

Control characters are escaped, so that stored text cannot manipulate the terminal.
"""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import click

from enricher.interfaces.cli import LONGEST_HELP, commands_from_above

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from rich.console import Console
    from rich.table import Table

    Asked = dict[str, Any]

    class Advance(Protocol):
        """A function that updates a progress bar to show ``done`` of ``total`` steps (0: the total is unknown).

        ``title`` replaces the text beside the bar.
        """

        def __call__(self, done: int, total: int, title: str = ...) -> None: ...


# All control characters but tab (9) and line feed (10): those below the space, DEL, and the C1 set after it.
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
MOST_SHOWN = 5
RUN_AGAIN = "run the same command again to delete the rest"
REFUSAL = (
    "nothing was deleted: there is no terminal to ask for confirmation; "
    "add --yes to delete, or --dry-run to see what would be deleted"
)


class CommandGroup(click.Group):
    """A group of commands, including those that the workbench adds; its help shows the first sentence of each in full.

    ``lazy`` maps the name of a command to "module:function"; the module is imported only when the command is needed.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self._entries()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        entry = None if own else self._entries().get(cmd_name)
        return entry.load() if entry else own

    def _entries(self) -> dict[str, EntryPoint]:
        from importlib.metadata import EntryPoint

        ours = {name: EntryPoint(name, f"{__package__}.{place}", "") for name, place in self.lazy.items()}
        return ours | commands_from_above(str(self.name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(LONGEST_HELP)) for name, one in found if one])


def print_json(value: object) -> None:
    """Print a value as JSON, indented for readability."""
    click.echo(json.dumps(value, indent=2))


@contextlib.contextmanager
def opened(*refusals: type[Exception]) -> Iterator[sqlite3.Connection]:
    """Open the user's database, and yield the connection; show database errors as messages instead of tracebacks.

    ``refusals`` are further exceptions to show in this way.
    """
    from enricher.home import state_dir
    from storage.db import database
    from storage.traces.queries import UnknownTraceError

    caught: tuple[type[Exception], ...] = (database.StorageError, UnknownTraceError, *refusals)
    try:
        with database.opened(state_dir()) as db:
            yield db
    except caught as refusal:
        raise click.ClickException(printable(refusal)) from refusal


def new_console(*, stderr: bool = False) -> Console:
    """Return a console that prints text literally, without interpreting markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)


@contextlib.contextmanager
def progress_bar(title: str, *, is_json: bool = False) -> Iterator[Advance | None]:
    """Show a progress bar and yield its update function (done, total, title); yield None if there is no terminal."""
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

        def advance(done: int, total: int, title: str = title) -> None:
            bar.update(task, completed=done, total=total or None, description=title)

        yield advance


def printable(value: object) -> str:
    """Return the text of ``value`` with control characters, which could manipulate the terminal, escaped."""
    return str(value).translate(CONTROLS)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 prompt" or "2,000 prompts"; the plural usually has an "s" more."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def new_list(*columns: str) -> Table:
    """Return an empty table as wide as the terminal, one line per row; the last column gets the remaining width."""
    result = new_table(*columns)
    result.expand = True
    for column in result.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    result.columns[-1].ratio = 1
    return result


def facts_table() -> Table:
    """Return an empty table of names and values, without a header."""
    result = new_table("", "")
    result.show_header = False
    return result


def new_table(*columns: str, numbers: int = 0, title: str = "") -> Table:
    """Return an empty table whose last ``numbers`` columns are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    result = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for position, column in enumerate(columns):
        result.add_column(column, justify="right" if position >= len(columns) - numbers else "left", overflow="fold")
    return result


def answer_lines(lines: Iterable[bytes], key: str, answer: Callable[[Asked], Asked]) -> int:
    """Call ``answer`` with the JSON object on each line, and print what it returns as JSON, with the object's id.

    ``key`` is the text field that each object must have. For an invalid line, or if ``answer`` raises ValueError or
    RecursionError, an error is printed instead. Returns the exit code: 1 if there was an error, else 0.
    """
    failed = False
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _answered(line, number, key, answer)
            failed = failed or "error" in row
            click.echo(json.dumps(row))
    return 1 if failed else 0


def _answered(line: bytes, number: int, key: str, answer: Callable[[Asked], Asked]) -> Asked:
    identity: object = None
    try:
        asked = json.loads(line)
        identity = asked.get("id") if isinstance(asked, dict) else None
        if not isinstance(asked, dict) or not isinstance(asked.get(key), str):
            raise ValueError(f'this is not an object such as {{"id": 1, "{key}": "…"}}')
        return {"id": identity, **answer(asked)}
    except (ValueError, RecursionError) as failure:  # RecursionError: JSON that is nested too deeply
        return {"id": identity, "error": f"line {number}: {failure}"}


@dataclass(frozen=True, slots=True)
class Deletion:
    """A description of what a command would delete, which is shown to the user before the deletion.

    ``summary`` says it in one line, ``count`` is the number of records, and ``examples`` has a line for some of them.
    """

    summary: str
    count: int
    examples: Sequence[str]
    remarks: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The fields that ``--dry-run --json`` prints for this deletion."""


def is_wanted(described: Callable[[], Deletion], *, is_dry: bool = False, is_sure: bool, is_json: bool) -> bool:
    """Show what would be deleted, ask the user, and return whether to delete it.

    A dry run only shows it, on stdout instead of stderr, and returns False. With ``is_sure``, it does not ask.
    Raises click.ClickException if the user declines, or cannot be asked because there is no terminal.
    """
    if is_sure and not is_dry:
        return True
    what = described()
    if is_dry and is_json:
        print_json({"dry_run": True, **what.fields, "remarks": list(what.remarks)})
    else:
        _show(what, is_err=not is_dry)
    if is_dry:
        return False
    if not sys.stdin.isatty():
        raise click.ClickException(REFUSAL)
    if not click.confirm("Delete for good?", default=False, err=True):
        raise click.ClickException("nothing was deleted, because you did not confirm")
    return True


def _show(what: Deletion, *, is_err: bool) -> None:
    for line in what.examples[:MOST_SHOWN]:
        click.echo(printable(line), err=is_err)
    if what.count > MOST_SHOWN:
        click.echo(f"… and {what.count - MOST_SHOWN:,} more", err=is_err)
    click.echo(what.summary, err=is_err)
    for remark in what.remarks:
        click.echo(printable(remark), err=True)


@contextlib.contextmanager
def errors_as_messages() -> Iterator[None]:
    """Turn interruptions and errors of a deletion into messages with a remedy; completed steps are not undone.

    Those errors that ``opened`` shows are left to it.
    """
    import sqlite3

    from storage.db import database

    try:
        yield
    except KeyboardInterrupt:
        raise click.ClickException(f"interrupted; {RUN_AGAIN}") from None
    except sqlite3.OperationalError as failure:
        if not database.is_busy(failure):
            raise
        raise click.ClickException(f"another program is using the database; {RUN_AGAIN}") from failure
    except OSError as failure:
        raise click.ClickException(printable(f"{failure}; {RUN_AGAIN}")) from failure
