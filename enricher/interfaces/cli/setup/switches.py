"""``enricher on`` and ``enricher off`` switch enrichment on and off; clients keep the hook registered either way."""

from __future__ import annotations

import click

from enricher.install import installer
from enricher.install.registration import InstallationError


@click.command(epilog="Example: enricher on")
def on() -> None:
    """Switch enrichment on and end shadow mode."""
    click.echo(f"Enrichment is on from the next prompt ({_switched(enabled=True, shadow=False)}).")


@click.command(epilog="Example: enricher off")
def off() -> None:
    """Switch enrichment off; the hook stays registered, and "enricher on" switches it on again."""
    click.echo(f"Enrichment is off from the next prompt ({_switched(enabled=False)}).")


def _switched(**settings: bool) -> str:
    """Write the settings and return the path of their file."""
    try:
        return installer.set_switches(settings)
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
