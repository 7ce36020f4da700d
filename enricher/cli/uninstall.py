"""``enricher uninstall``: take the registration out again and leave the rest of each file alone."""

from __future__ import annotations

import os

import click

from enricher import hosts
from enricher.installation import installer, mcp, registration
from enricher.installation.registration import InstallationError, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.installation.files import Change


@click.command()
@click.option("--host", "named", multiple=True, type=click.Choice([*hosts.NAMES, "all"]), help="Client; repeatable.")
@click.option("--scope", type=click.Choice(registration.SCOPES), help="Only this scope; default: both.")
@click.option("--dry-run", is_flag=True, help="Print the changes as a diff and make none.")
def uninstall(named: tuple[str, ...], scope: str | None, *, dry_run: bool) -> None:
    """Remove the hook, and our MCP server, from agent clients (without --host: from all); traces and settings stay."""
    names = hosts.NAMES if not named or "all" in named else named
    changes, faults = _plan(names, [scope] if scope else list(registration.SCOPES))
    if dry_run:
        click.echo("".join(change.diff() for change in changes) or "Nothing to change.\n", nl=False)
    elif changes:
        _carry_out(changes)
    elif not faults:
        click.echo("The hook is not registered there.")
    if faults:
        raise click.ClickException("\n".join(faults))


def _plan(names: Iterable[str], scopes: list[str]) -> tuple[list[Change], list[str]]:
    """Return the changes, and the files that could not be read: one broken file must not keep the others."""
    hooks = [where for host in names for where in registration.all_places(host, os.getcwd()) if where.scope in scopes]
    servers = [mcp.place(host, scope, os.getcwd()) for host in names for scope in scopes]
    changes: list[Change] = []
    faults: list[str] = []
    for remove, places in ((_remove_hook, hooks), (mcp.remove, servers)):
        for where in places:
            try:
                change = remove(where, changes)
            except InstallationError as error:
                faults.append(str(error))
            else:
                changes += [] if change in changes else [change]
    return [change for change in changes if change.is_needed], list(dict.fromkeys(faults))


def _remove_hook(where: Place, _earlier: list[Change]) -> Change:
    return registration.remove(where)


def _carry_out(changes: list[Change]) -> None:
    try:
        backups = installer.carry_out(changes)
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    for change in changes:
        click.echo(f"Removed from {change.path}")
    for backup in backups:
        click.echo(f"Backup: {backup}")
