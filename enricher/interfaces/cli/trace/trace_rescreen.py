"""``enricher trace rescreen``: screen stored data again for secrets."""

from __future__ import annotations

import click

from enricher.home import state_dir
from enricher.interfaces.cli.deletion import Deletion, deletion_options, is_wanted, said_in_words
from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import print_json, printable, progress_bar
from enricher.interfaces.cli.trace.trace import opened

WHAT_GOES = "all secrets in the history, and the files from which a secret cannot be cut out (--dry-run lists them)"


@click.command("rescreen", epilog="Example: enricher trace rescreen --dry-run")
@deletion_options
@as_json
def command(is_dry: bool, is_sure: bool, is_json: bool) -> None:
    """Search the whole history again for secrets, and remove those that earlier versions did not recognise.

    Recorded prompts, memories, stored replays, experiments and labels are kept without the secret. Lines of the log
    and of the events, golden cases, refused records, databases that were set aside and snapshots are deleted if they
    contain one.
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
        click.echo("no row contains a secret that this version recognises")
    for line in outcome.done:
        click.echo(printable(line))
    for remark in outcome.remarks:
        click.echo(printable(remark), err=True)
