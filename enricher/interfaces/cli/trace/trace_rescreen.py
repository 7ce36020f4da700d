"""``enricher trace rescreen``: screen stored data again for secrets."""

from __future__ import annotations

import click

from enricher.home import state_dir
from enricher.interfaces.cli.deletion import Deletion, is_wanted, options, said_in_words
from enricher.interfaces.cli.output import as_json, print_json, printable, progress_bar
from enricher.interfaces.cli.trace.trace import opened

WHAT_GOES = "the secrets in the whole history, and the files that cannot lose them otherwise (see --dry-run)"


@click.command("rescreen")
@options
@as_json
def command(is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Take secrets out of the whole history that an earlier version of the screen let pass.

    Traces, memories, kept replays, experiments and labels lose the secret and stay; lines of the log and of events,
    golden cases, refused records, moved-aside databases and snapshots that hold one are removed.
    """
    from enricher.erasure.rescreening import rescreen
    from storage.state import screened

    with opened() as db, said_in_words():
        if not is_dry:
            is_wanted(lambda: Deletion(WHAT_GOES, 0, ()), is_sure=is_sure, is_json=is_json)
        with progress_bar("rescreening", is_json=is_json) as advance:
            outcome = rescreen(db, state_dir(), is_dry=is_dry, advance=advance)
    if is_json:
        fields = {"dry_run": is_dry, "screen": screened.VERSION, "rows": outcome.rows}
        print_json({**fields, "done": outcome.done, "remarks": outcome.remarks})
        return
    verb = "would lose" if is_dry else "lost"
    for table, count in sorted(outcome.rows.items()):
        click.echo(f"{table}: {count:,} {'row' if count == 1 else 'rows'} {verb} a secret")
    if not outcome.rows:
        click.echo("no row holds a secret that this version knows")
    for line in outcome.done:
        click.echo(printable(line))
    for remark in outcome.remarks:
        click.echo(printable(remark), err=True)
