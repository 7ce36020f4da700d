"""``enricher doctor``: report what is wrong, with remedies."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import click

from enricher.install.doctor import BROKEN, NOTE, OK, examine, repair, try_model
from enricher.interfaces.cli import options

_COLOURS = {OK: "green", NOTE: "yellow", BROKEN: "red"}


@click.command(epilog="Example: enricher doctor")
@options.as_json
@click.option(
    "--fix",
    "is_fix",
    is_flag=True,
    help="Reduce each copy of the packaged instructions to a layer that holds only your changes.",
)
@click.option("--model", "tries_model", is_flag=True, help="Also ask the configured model once, which costs one call.")
def doctor(*, is_json: bool, is_fix: bool, tries_model: bool) -> None:
    """Check the registered clients, the instructions and the history; exit 1 if something is broken."""
    repaired = repair(os.getcwd()) if is_fix else []
    found = [*repaired, *examine(os.getcwd())]
    found += [try_model(os.getcwd())] if tries_model else []
    is_well = all(finding.status != BROKEN for finding in found)
    if is_json:
        click.echo(json.dumps({"ok": is_well, "findings": [asdict(finding) for finding in found]}, indent=2))
    else:
        for finding in found:
            click.echo(
                f"{click.style(f'{finding.status:6}', fg=_COLOURS[finding.status])} {finding.subject}: {finding.detail}"
            )
            if finding.remedy:
                click.echo(f"       → {finding.remedy}")
    raise SystemExit(0 if is_well else 1)
