"""``enricher trace prune``: the oldest prompts deleted at once; the settings ``retention.*`` do it daily."""

from __future__ import annotations

import click

from enricher.cli.output import as_json, print_json
from enricher.cli.trace import opened
from enricher.cli.trace_forget import progress, report, said_in_words
from enricher.home import state_dir


@click.command("prune")
@click.option("--days", type=click.FloatRange(0, min_open=True), default=None, help="Delete what is older.")
@click.option("--rows", type=click.IntRange(1), default=None, help="Keep so many, the newest.")
@click.option("--mb", type=click.FloatRange(0, min_open=True), default=None, help="Keep the database within so much.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Say how many would go; delete nothing.")
@as_json
def command(days: float | None, rows: int | None, mb: float | None, is_dry: bool, is_json: bool) -> None:
    """Delete the oldest prompts beyond the bounds, and versions of the instructions that none names any more.

    Without an option the bounds are those of the settings retention.days, retention.rows and retention.mb.
    """
    from enricher import forgetting
    from storage import retention

    given = retention.Bounds(days or 0, rows or 0, mb or 0)
    with opened() as db, said_in_words():
        bounds = given or forgetting.bounds_of(forgetting.settings_of_the_account())
        if not bounds:
            raise click.UsageError("no bound is set: say --days, --rows or --mb, or set retention.* in config.toml")
        if is_dry:
            count = len(retention.surplus(db, bounds))
            in_use = forgetting.versions_in_use(state_dir())
            versions = retention.prune_versions(db, state_dir(), in_use=in_use, is_dry=True)
            _say(count, versions, is_json=is_json)
            return
        with progress("pruning", is_json=is_json) as advance:
            outcome = forgetting.prune(db, state_dir(), bounds, with_snapshots=True, advance=advance)
    report(outcome, is_json=is_json, more={"kept": bounds.in_words()})


def _say(count: int, versions: int, *, is_json: bool) -> None:
    if is_json:
        print_json({"dry_run": True, "traces": count, "versions": versions})
        return
    click.echo(f"{count:,} prompts would go, and {versions:,} versions of the instructions that none names")
