"""``enricher trace prune``: delete the oldest prompts now; with the settings ``retention.*`` this happens daily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli.deletion import MOST_SHOWN, Deletion, deletion_options, is_wanted, said_in_words
from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import progress_bar
from enricher.interfaces.cli.trace.trace import opened
from enricher.interfaces.cli.trace.trace_forget import described, report

if TYPE_CHECKING:
    import sqlite3

    from storage.erasure import retention


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
@deletion_options
@as_json
def command(days: float | None, rows: int | None, mb: float | None, is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Delete the oldest prompts, and the versions of the instructions that no prompt refers to any more.

    The options say how much to keep; without any, the settings retention.days, retention.rows and retention.mb do.
    """
    from enricher.erasure import forgetting
    from storage.erasure import retention

    given = retention.Bounds(days or 0, rows or 0, mb or 0)
    with opened() as db, said_in_words():
        bounds = given or forgetting.bounds_of(forgetting.settings_of_the_account())
        if not bounds:
            raise click.UsageError(
                "it is not set how much to keep: give --days, --rows or --mb, or set retention.* in config.toml"
            )
        if not is_wanted(lambda: _deletion(db, bounds), is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
        with progress_bar("pruning", is_json=is_json) as advance:
            outcome = forgetting.prune(db, state_dir(), bounds, with_snapshots=True, advance=advance)
    report(outcome, is_json=is_json, more={"kept": bounds.in_words()})


def _deletion(db: sqlite3.Connection, bounds: retention.Bounds) -> Deletion:
    """Describe the prompts to delete; list the newest of them, which show where the cut-off is."""
    from enricher.erasure import forgetting

    what = forgetting.plan_pruning(db, state_dir(), bounds)
    count = len(what.ids)
    prompts = f"{count:,} {'prompt' if count == 1 else 'prompts'} to delete"
    summary = f"{prompts}, and {what.versions:,} versions of the instructions that no prompt refers to"
    remarks = [f"{path} is deleted, too: it contains older prompts" for path in what.files]
    fields = {"traces": count, "versions": what.versions, "files": what.files}
    return Deletion(summary, count, described(db, what.ids[-MOST_SHOWN:]), remarks, fields)
