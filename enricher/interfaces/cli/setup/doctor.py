"""``enricher doctor``: report what is wrong, with remedies."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import click

from enricher.install.doctor.doctor import BROKEN, NOTE, OK, examine, repair, try_model

_COLOURS = {OK: "green", NOTE: "yellow", BROKEN: "red"}


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--model", "tries_model", is_flag=True, help="Ask the configured model once (this costs one call).")
@click.option("--fix", "is_fix", is_flag=True, help="Turn copies of the packaged instructions into small layers.")
def doctor(*, is_json: bool, is_fix: bool, tries_model: bool) -> None:
    """Check every registered client, the instructions and the records; exit 1 if something is broken."""
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
