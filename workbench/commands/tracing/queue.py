"""``enricher trace queue``: list the prompts to label first, or label them one by one with one key each."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import new_console, new_list, opened, print_json, printable
from enricher.interfaces.cli.trace.trace import ID_CHARS, task_types

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from workbench.gate.queue import Queued

SHOWN_CHARS, SHOWN_LINES = 1_200, 16
KEYS = "y ok · x wrong · c another class · s skip · q quit"
VERDICTS = {"y": "ok", "x": "wrong", "s": "s", "q": "q", "\x04": "q"}


@click.command("queue", epilog="Example: enricher trace queue --limit 5")
@options.limit(30)
@click.option(
    "--label", "is_labelling", is_flag=True, help=f"Show one after another and label each with a key: {KEYS}."
)
@options.as_case
@options.as_json
def queue(limit: int, is_labelling: bool, is_case: bool, cases: str, is_json: bool) -> None:
    """List the prompts whose labels would help most, best first.

    These are prompts with a close decision that are similar to many others; similar ones are not listed in a row.
    --case and --cases take effect with --label.
    """
    from dataclasses import asdict

    from storage.traces import labels
    from workbench.gate.queue import MOST_PROMPTS, order

    if is_labelling and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--label needs a terminal; without one, use: enricher trace label ID ok|wrong|CLASS")
    with opened() as db:
        found = order(labels.candidates(db, limit=MOST_PROMPTS))[:limit]
        if is_labelling:
            _label(db, found, is_case=is_case or bool(cases), cases=os.path.abspath(cases) if cases else "")
            return
    if is_json:
        print_json([asdict(one) for one in found])
    elif found:
        _print(found)
    else:
        click.echo("there is no prompt without a label", err=True)


def _print(found: list[Queued]) -> None:
    table = new_list("id", "task_type", "confidence", "margin", "alike", "prompt")
    for one in found:
        prompt = " ".join(one.prompt[:SHOWN_CHARS].split())
        figures = (f"{one.confidence:.2f}", f"{one.margin:g}", one.cluster_size)
        table.add_row(*map(printable, (one.id[:ID_CHARS], one.task_type, *figures, prompt)))
    new_console().print(table)


def _label(db: sqlite3.Connection, found: list[Queued], *, is_case: bool, cases: str) -> None:
    """Ask for a key for each prompt, and store the label that it means at once."""
    from storage.traces import labels
    from workbench.commands.tracing.label import write_case

    known, given = task_types(), 0
    with _keys() as read_key:
        for number, one in enumerate(found, 1):
            _show(one, number, len(found))
            verdict = _verdict(known, read_key)
            if verdict == "q":
                break
            if verdict != "s":
                labels.add(db, one.id, verdict)
                given += 1
                click.echo(f"  {verdict}")
            if verdict != "s" and is_case:
                try:
                    write_case(db, one.id, verdict, cases=cases)
                except click.ClickException as error:
                    click.echo(f"  the case was not stored: {printable(error.message)}", err=True)
    click.echo(f"{given} label{'' if given == 1 else 's'} given")


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Yield a function that reads single keys, including those typed ahead, which ``click.getchar`` discards."""
    try:
        import termios
        import tty
    except ImportError:  # no POSIX terminal (Windows)
        yield click.getchar
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        yield lambda: os.read(terminal, 1).decode("ascii", "replace") or "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _show(one: Queued, number: int, count: int) -> None:
    lines = one.prompt[:SHOWN_CHARS].splitlines()
    is_cut = len(one.prompt) > SHOWN_CHARS or len(lines) > SHOWN_LINES
    click.echo(f"\n{number}/{count}  {one.id[:ID_CHARS]}  {printable(one.why)}\n")
    click.echo(printable("\n".join(lines[:SHOWN_LINES])) + ("\n…" if is_cut else ""))
    click.echo(f"\n→ {printable(one.task_type) or 'no class'} ({one.confidence:.2f})   {KEYS}")


def _verdict(known: list[str], read_key: Callable[[], str]) -> str:
    """Read keys until one is valid; return ok, wrong or a task type, or "s" (skip) or "q" (quit)."""
    while True:
        key = read_key().lower()
        if key in VERDICTS:
            return VERDICTS[key]
        if key == "c" and (chosen := _chosen(known, read_key)):
            return chosen


def _chosen(known: list[str], read_key: Callable[[], str]) -> str:
    """Read a key and return its task type; empty if the key has none, which cancels the choice."""
    from workbench.gate.queue import keys_for

    keys = keys_for(known)
    click.echo("  " + "  ".join(f"{key} {name}" for key, name in keys.items()))
    return keys.get(read_key().lower(), "")
