"""``enricher uninstall``: remove the registration and leave the rest of each file unchanged."""

from __future__ import annotations

import os

import click

from enricher import hosts
from enricher.install import installer, mcp, registration, subagent
from enricher.interfaces.cli import options


@click.command(epilog="Example: enricher uninstall --host claude --dry-run")
@options.clients
@click.option(
    "--scope",
    type=click.Choice(registration.SCOPES),
    help="Remove it only for all your projects, or only in this project; default: both.",
)
@options.dry_run
def uninstall(named: tuple[str, ...], scope: str | None, *, is_dry: bool) -> None:
    """Remove the hook and the MCP server from agent clients; the history and the settings stay."""
    names = hosts.NAMES if not named or "all" in named else named
    scopes = [scope] if scope else registration.SCOPES
    hooks = [place for host in names for place in registration.all_places(host, os.getcwd())]
    servers = [mcp.place(host, one, os.getcwd()) for host in names for one in scopes]
    plan = installer.Plan()
    plan.add([place for place in hooks if place.scope in scopes], lambda place, _: registration.remove(place))
    plan.add(servers, mcp.remove)
    agents = [subagent.place(host, one, os.getcwd()) for host in names for one in scopes]
    plan.add([place for place in agents if place.host in subagent.HAVE_SUBAGENTS], subagent.remove)
    if is_dry:
        click.echo("".join(change.diff() for change in plan.changes) or "Nothing to change.\n", nl=False)
    else:
        backups = plan.carry_out()
        for change in plan.changes:
            click.echo(f"Removed from {change.path}")
        for backup in backups:
            click.echo(f"Backup: {backup}")
        if not (plan.changes or plan.left_out):
            click.echo("The hook is not registered, so there is nothing to remove.")
    if plan.left_out:
        raise click.ClickException("\n".join(plan.left_out))
