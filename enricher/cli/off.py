"""``enricher off``: stay registered, add nothing."""

from __future__ import annotations

import click

from enricher.installation import installer
from enricher.installation.registration import InstallationError


@click.command()
def off() -> None:
    """Switch enrichment off; `enricher on` brings it back."""
    try:
        change = installer.switch("enabled", value=False)
        installer.carry_out([change] if change.is_needed else [])
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Enrichment is off from the next prompt ({change.path}).")
