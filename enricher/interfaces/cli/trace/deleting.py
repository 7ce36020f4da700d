"""``enricher trace forget``, ``prune`` and ``rescreen``: delete prompts, or secrets, wherever they are stored."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import (
    MOST_SHOWN,
    Deletion,
    counted,
    errors_as_messages,
    is_wanted,
    opened,
    print_json,
    printable,
    progress_bar,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from enricher.erasure.forgetting import DeletionPlan, ForgetReport
    from enricher.erasure.rescreening import RescreenReport
    from storage.erasure import retention

WHAT_GOES = "all secrets in the history, and the files from which a secret cannot be cut out (--dry-run lists them)"


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
@options.dry_run
@options.without_asking
@options.as_json
def forget(ids: tuple[str, ...], session_id: str, match: str, is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Delete prompts permanently, wherever the enricher has stored them.

    They are deleted from the database and its index, the log, the spool, the events, the golden cases, damaged
    databases that were set aside, and snapshots. The beginning of an ID is enough. Later prompts of the same session
    that quote a deleted one are deleted, too. The client's own transcripts and files that you exported are not changed.
    """
    from enricher.erasure import forgetting

    if not (ids or session_id or match):
        raise click.UsageError("name the prompts to delete: an ID, --session ID or --match TEXT")
    text = _read_text() if match == "-" else match
    if match and not text.strip():
        raise click.UsageError("the text of --match is empty, which would match every prompt")
    with opened() as db, errors_as_messages():
        # An interrupted deletion is completed first; ids that it deletes are not searched for again.
        is_interrupted = not is_dry and forgetting.is_unfinished(state_dir())
        known = forgetting.finish(db, state_dir()) if is_interrupted else None
        given = tuple(one for one in ids if not (known and any(own.startswith(one) for own in known.every_id())))
        if known and not given and (session_id in known.sessions or not session_id) and not text:
            click.echo("the deletion that was interrupted before is now complete", err=True)
            return
        what = forgetting.plan(db, ids=given, session=session_id, match=text)
        if not is_wanted(lambda: _forgetting(what, db), is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
        with progress_bar("forgetting", is_json=is_json) as advance:
            outcome = forgetting.forget(db, state_dir(), what, advance=advance)
    report(outcome, is_json=is_json, more={"ids": list(what.every_id()), "quoting": list(what.quoting)})


def _read_text() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("text", hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _forgetting(what: DeletionPlan, db: sqlite3.Connection) -> Deletion:
    """Describe the prompts in ``what``, which the user is about to delete, by id and time only, without their text."""
    from enricher.erasure.forgetting import remarks_on

    every = what.every_id()
    lines = described(db, every[:MOST_SHOWN], quoting=what.quoting)
    quoting = f", {len(what.quoting):,} of them because they quote the others" if what.quoting else ""
    summary = f"{counted(len(every), 'prompt')} to delete{quoting}"
    fields = {"traces": len(every), "ids": list(every), "quoting": list(what.quoting)}
    return Deletion(summary, len(every), lines, remarks_on(db, what), fields)


def described(db: sqlite3.Connection, ids: Iterable[str], *, quoting: Iterable[str] = ()) -> list[str]:
    """Return a line for each recorded prompt in ``ids``, newest first, without its text.

    Those in ``quoting`` are marked as quoting one of the others.
    """
    from storage.erasure import trace_rows

    return [
        f"{row['id']}  {row['at'][:19].replace('T', ' ')}  {row['status']}"
        + ("  (quotes one of the others)" if row["id"] in quoting else "")
        for row in trace_rows.described(db, ids)
    ]


def report(outcome: ForgetReport, *, is_json: bool, more: dict[str, Any]) -> None:
    """Print what was deleted, and the remarks for the user on stderr; ``more`` has further fields for the JSON form."""
    if is_json:
        fields = {"dry_run": False, "traces": outcome.traces, "versions": outcome.versions}
        print_json({**fields, **more, "done": outcome.done, "remarks": outcome.remarks})
        return
    versions = f", {counted(outcome.versions, 'version')} of the instructions that no prompt refers to"
    click.echo(f"deleted {counted(outcome.traces, 'prompt')}{versions if outcome.versions else ''}")
    _print_places(outcome)


def _print_places(outcome: ForgetReport | RescreenReport) -> None:
    for line in outcome.done:
        click.echo(printable(line))
    for remark in outcome.remarks:
        click.echo(printable(remark), err=True)


@click.command("prune", epilog="Example: enricher trace prune --days 90 --dry-run")
@click.option(
    "--days", type=click.FloatRange(0, min_open=True), default=None, help="Delete prompts older than this many days."
)
@click.option("--rows", type=click.IntRange(1), default=None, help="Keep only this many prompts, the newest.")
@click.option(
    "--mb",
    type=click.FloatRange(0, min_open=True),
    default=None,
    help="Delete the oldest prompts until the database is at most this large, in megabytes.",
)
@options.dry_run
@options.without_asking
@options.as_json
def prune(days: float | None, rows: int | None, mb: float | None, is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Delete the oldest prompts, and the versions of the instructions that no prompt refers to any more.

    The options say how much to keep; without any, the settings retention.days, retention.rows and retention.mb do.
    """
    from enricher.erasure import forgetting
    from storage.erasure import retention

    given = retention.Bounds(days or 0, rows or 0, mb or 0)
    with opened() as db, errors_as_messages():
        bounds = given or forgetting.bounds_of(forgetting.account_settings())
        if not bounds:
            raise click.UsageError(
                "it is not set how much to keep: give --days, --rows or --mb, or set retention.* in config.toml"
            )
        if not is_wanted(lambda: _pruning(db, bounds), is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
        with progress_bar("pruning", is_json=is_json) as advance:
            outcome = forgetting.prune(db, state_dir(), bounds, with_snapshots=True, advance=advance)
    report(outcome, is_json=is_json, more={"kept": bounds.in_words()})


def _pruning(db: sqlite3.Connection, bounds: retention.Bounds) -> Deletion:
    """Describe for the user the prompts that exceed ``bounds``; the newest of them are the examples."""
    from enricher.erasure import forgetting

    what = forgetting.plan_pruning(db, state_dir(), bounds)
    count = len(what.ids)
    summary = (
        f"{counted(count, 'prompt')} to delete, and {counted(what.versions, 'version')} of the instructions that no"
        " prompt refers to"
    )
    remarks = [f"{path} is deleted, too: it contains older prompts" for path in what.files]
    fields = {"traces": count, "versions": what.versions, "files": what.files}
    return Deletion(summary, count, described(db, what.ids[-MOST_SHOWN:]), remarks, fields)  # ids are oldest first


@click.command("rescreen", epilog="Example: enricher trace rescreen --dry-run")
@options.dry_run
@options.without_asking
@options.as_json
def rescreen(is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Search the whole history again for secrets, and remove those that earlier versions did not recognise.

    Recorded prompts, memories, stored replays, experiments and labels are kept without the secret. Lines of the log
    and of the events, golden cases, refused records, databases that were set aside and snapshots are deleted if they
    contain one.
    """
    from enricher.erasure import rescreening
    from storage.state import screen_version

    with opened() as db, errors_as_messages():
        if not is_dry:  # nothing is described: what contains a secret is known only after the search
            is_wanted(lambda: Deletion(WHAT_GOES, 0, ()), is_sure=is_sure, is_json=is_json)
        with progress_bar("rescreening", is_json=is_json) as advance:
            outcome = rescreening.rescreen(db, state_dir(), is_dry=is_dry, advance=advance)
    if is_json:
        fields = {"dry_run": is_dry, "screen": screen_version.VERSION, "rows": outcome.rows}
        print_json({**fields, "done": outcome.done, "remarks": outcome.remarks})
        return
    verb = "would lose" if is_dry else "lost"
    for table, count in sorted(outcome.rows.items()):
        click.echo(f"{table}: {counted(count, 'row')} {verb} a secret")
    if not outcome.rows:
        click.echo("no row contains a secret that this version recognises")
    _print_places(outcome)
