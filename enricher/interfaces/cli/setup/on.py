"""``enricher on``: resume enrichment after ``off`` or shadow mode."""

from __future__ import annotations

import click

from enricher.install import installer
from enricher.install.registration import InstallationError


@click.command(epilog="Example: enricher on")
def on() -> None:
    """Switch enrichment on and end shadow mode."""
    try:
        path = installer.set_switches({"enabled": True, "shadow": False})
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Enrichment is on from the next prompt ({path}).")
