"""``enricher off``: stay registered, add nothing."""

from __future__ import annotations

import click

from enricher.install import installer
from enricher.install.registration import InstallationError


@click.command(epilog="Example: enricher off")
def off() -> None:
    """Switch enrichment off; the hook stays registered, and "enricher on" switches it on again."""
    try:
        path = installer.set_switches({"enabled": False})
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Enrichment is off from the next prompt ({path}).")
