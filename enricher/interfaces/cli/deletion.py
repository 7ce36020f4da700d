"""Confirmation of deletions, for every command: show what would be deleted, ask the user, refuse without a terminal."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli.options import dry_run, without_asking
from enricher.interfaces.cli.output import print_json, printable
from storage.db import database
from storage.traces import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MOST_SHOWN = 5
RUN_AGAIN = "run the same command again to delete the rest"
REFUSAL = (
    "nothing was deleted: there is no terminal to ask for confirmation; "
    "add --yes to delete, or --dry-run to see what would be deleted"
)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A planned deletion: a summary, the number of records, a line for each of the first records, and remarks."""

    summary: str
    count: int
    examples: Sequence[str]
    remarks: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The fields that ``--dry-run --json`` prints for this deletion."""


def deletion_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options ``--dry-run`` and ``--yes`` to a command that deletes."""
    return dry_run(without_asking(command))


def is_wanted(described: Callable[[], Deletion], *, is_dry: bool = False, is_sure: bool, is_json: bool) -> bool:
    """Show what would be deleted, ask the user, and return whether to delete; a dry run only shows, and returns False.

    A dry run prints to stdout, otherwise stderr is used. Raises click.ClickException if the user declines, or cannot
    be asked because there is no terminal.
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
    """Turn interruptions and errors of a deletion into messages with a remedy; completed steps are not undone."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.ClickException(f"interrupted; {RUN_AGAIN}") from None
    except (database.StorageError, queries.UnknownTraceError) as refusal:
        raise click.ClickException(printable(refusal)) from refusal
    except sqlite3.OperationalError as failure:
        if not database.is_busy(failure):
            raise
        raise click.ClickException(f"another program is using the database; {RUN_AGAIN}") from failure
    except OSError as failure:
        raise click.ClickException(printable(f"{failure}; {RUN_AGAIN}")) from failure
