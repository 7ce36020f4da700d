"""``enricher trace forget``: delete prompts from every place where the product has written them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli.deletion import MOST_SHOWN, Deletion, deletion_options, is_wanted, said_in_words
from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import print_json, printable, progress_bar
from enricher.interfaces.cli.trace.trace import opened

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from enricher.erasure.forgetting import ForgetReport, Plan


@click.command("forget", epilog='Example: enricher trace forget --match "customer name" --dry-run')
@click.argument("ids", metavar="[ID]…", nargs=-1)
@click.option(
    "--session", "session_id", default="", help="All prompts of this session, and the record of what was added to it."
)
@click.option(
    "--match",
    default="",
    metavar="TEXT",
    help="All prompts that contain TEXT, in upper or lower case; - asks for it, or reads it from stdin.",
)
@deletion_options
@as_json
def command(ids: tuple[str, ...], session_id: str, match: str, is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Delete prompts permanently, wherever the enricher has stored them.

    That is: the database and its index, the log, the spool, the events, the golden cases, damaged databases that were
    set aside, and snapshots. The beginning of an ID is enough. Later prompts of the same session that quote a deleted
    one are deleted, too. Not deleted: the client's own transcripts, and files that you exported.
    """
    from enricher.erasure import forgetting

    if not (ids or session_id or match):
        raise click.UsageError("name the prompts to delete: an ID, --session ID or --match TEXT")
    text = _read_text() if match == "-" else match
    if match and not text.strip():
        raise click.UsageError("the text of --match is empty, which would match every prompt")
    with opened() as db, said_in_words():
        known = _ended_before(db) if not is_dry else None
        given = tuple(one for one in ids if not (known and any(own.startswith(one) for own in known.every_id())))
        if known and not given and (session_id in known.sessions or not session_id) and not text:
            click.echo("the deletion that was interrupted before is now complete", err=True)
            return
        what = forgetting.plan(db, ids=given, session=session_id, match=text)
        if not is_wanted(lambda: _deletion(what, db), is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
        with progress_bar("forgetting", is_json=is_json) as advance:
            outcome = forgetting.forget(db, state_dir(), what, advance=advance)
    report(outcome, is_json=is_json, more={"ids": list(what.every_id()), "quoting": list(what.quoting)})


def _read_text() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("text", hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _ended_before(db: sqlite3.Connection) -> Plan | None:
    from enricher.erasure import forgetting

    return forgetting.finish(db, state_dir()) if forgetting.is_unfinished(state_dir()) else None


def _deletion(what: Plan, db: sqlite3.Connection) -> Deletion:
    """Describe the prompts to delete by id and time only, because the user wants their text to disappear."""
    from enricher.erasure.forgetting import remarks_on

    every = what.every_id()
    lines = described(db, every[:MOST_SHOWN], quoting=what.quoting)
    quoting = f", {len(what.quoting):,} of them because they quote the others" if what.quoting else ""
    summary = f"{len(every):,} {'prompt' if len(every) == 1 else 'prompts'} to delete{quoting}"
    fields = {"traces": len(every), "ids": list(every), "quoting": list(what.quoting)}
    return Deletion(summary, len(every), lines, remarks_on(db, what), fields)


def described(db: sqlite3.Connection, ids: Iterable[str], *, quoting: Iterable[str] = ()) -> list[str]:
    """Return a line for each of these traces, newest first, without any of the prompt's text."""
    from storage.erasure import forgetting

    return [
        f"{row['id']}  {row['at'][:19].replace('T', ' ')}  {row['status']}"
        + ("  (quotes one of the others)" if row["id"] in quoting else "")
        for row in forgetting.described(db, ids)
    ]


def report(outcome: ForgetReport, *, is_json: bool, more: dict[str, Any]) -> None:
    """Print what was deleted, and remarks for the user on stderr."""
    if is_json:
        fields = {"dry_run": False, "traces": outcome.traces, "versions": outcome.versions}
        print_json({**fields, **more, "done": outcome.done, "remarks": outcome.remarks})
        return
    versions = (
        f", {outcome.versions:,} versions of the instructions that no prompt refers to" if outcome.versions else ""
    )
    click.echo(f"deleted {outcome.traces:,} {'prompt' if outcome.traces == 1 else 'prompts'}{versions}")
    for line in outcome.done:
        click.echo(printable(line))
    for remark in outcome.remarks:
        click.echo(printable(remark), err=True)
