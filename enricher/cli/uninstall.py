"""``enricher uninstall``: take the registration out again and leave the rest of each file alone."""

from __future__ import annotations

import os

import click

from enricher import hosts
from enricher.installation import installer, registration
from enricher.installation.registration import InstallationError, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.installation.files import Change


@click.command()
@click.option("--host", "named", multiple=True, type=click.Choice([*hosts.NAMES, "all"]), help="Client; repeatable.")
@click.option("--scope", type=click.Choice(registration.SCOPES), help="Only this scope; default: both.")
@click.option("--dry-run", is_flag=True, help="Print the changes as a diff and make none.")
def uninstall(named: tuple[str, ...], scope: str | None, *, dry_run: bool) -> None:
    """Remove the hook from agent clients (without --host: from all); traces and settings stay."""
    names = hosts.NAMES if not named or "all" in named else named
    places = [place for host in names for place in registration.all_places(host, os.getcwd())]
    changes, faults = _plan([place for place in places if scope in (None, place.scope)])
    if dry_run:
        click.echo("".join(change.diff() for change in changes) or "Nothing to change.\n", nl=False)
    elif changes:
        _carry_out(changes)
    elif not faults:
        click.echo("The hook is not registered there.")
    if faults:
        raise click.ClickException("\n".join(faults))


def _plan(places: list[Place]) -> tuple[list[Change], list[str]]:
    """Return the changes, and the files that could not be read: one broken file must not keep the others."""
    changes: list[Change] = []
    faults: list[str] = []
    for place in places:
        try:
            changes += installer.plan_removal([place])
        except InstallationError as error:
            faults.append(str(error))
    return changes, faults


def _carry_out(changes: list[Change]) -> None:
    try:
        backups = installer.carry_out(changes)
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    for change in changes:
        click.echo(f"Removed from {change.path}")
    for backup in backups:
        click.echo(f"Backup: {backup}")
