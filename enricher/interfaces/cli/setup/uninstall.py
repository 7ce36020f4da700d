"""``enricher uninstall``: remove the registration and leave the rest of each file unchanged."""

from __future__ import annotations

import os

import click

from enricher import hosts
from enricher.install import installer, mcp, registration


@click.command()
@click.option("--host", "named", multiple=True, type=click.Choice([*hosts.NAMES, "all"]), help="Client; repeatable.")
@click.option("--scope", type=click.Choice(registration.SCOPES), help="Only this scope; default: both.")
@click.option("--dry-run", is_flag=True, help="Print the changes as a diff and make none.")
def uninstall(named: tuple[str, ...], scope: str | None, *, dry_run: bool) -> None:
    """Remove the hook, and our MCP server, from agent clients (without --host: from all); traces and settings stay."""
    names = hosts.NAMES if not named or "all" in named else named
    scopes = [scope] if scope else registration.SCOPES
    hooks = [place for host in names for place in registration.all_places(host, os.getcwd())]
    servers = [mcp.place(host, one, os.getcwd()) for host in names for one in scopes]
    plan = installer.Plan()
    plan.add([place for place in hooks if place.scope in scopes], lambda place, _: registration.remove(place))
    plan.add(servers, mcp.remove)
    if dry_run:
        click.echo("".join(change.diff() for change in plan.changes) or "Nothing to change.\n", nl=False)
    else:
        backups = plan.carry_out()
        for change in plan.changes:
            click.echo(f"Removed from {change.path}")
        for backup in backups:
            click.echo(f"Backup: {backup}")
        if not (plan.changes or plan.left_out):
            click.echo("The hook is not registered there.")
    if plan.left_out:
        raise click.ClickException("\n".join(plan.left_out))
