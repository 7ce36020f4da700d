"""``enricher install``: register the hook, then prove that it answers."""

from __future__ import annotations

import os

import click

from enricher import bundle, hosts
from enricher.installation import installer, launcher, registration, selftest
from enricher.installation.registration import InstallationError, Place


@click.command()
@click.option("--host", "named", multiple=True, type=click.Choice([*hosts.NAMES, "all"]), help="Client; repeatable.")
@click.option("--scope", type=click.Choice(registration.SCOPES), default="user", show_default=True)
@click.option("--shadow", is_flag=True, help="Record everything, add nothing; `enricher on` ends it.")
@click.option("--launcher-only", is_flag=True, help="For a plugin or extension, which registers itself.")
@click.option("--dry-run", is_flag=True, help="Print the changes as a diff and make none.")
def install(named: tuple[str, ...], scope: str, *, shadow: bool, launcher_only: bool, dry_run: bool) -> None:
    """Register the hook in agent clients (without --host: in every client found)."""
    try:
        names = [] if launcher_only else chosen_hosts(named)
        places = [registration.place(host, scope, os.getcwd()) for host in names]
        changes = installer.plan_installation(places, is_shadow=shadow)
        if dry_run:
            click.echo("".join(change.diff() for change in changes) or "Nothing to change.\n", nl=False)
            return
        backups = installer.carry_out(changes)
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    changed = {change.path for change in changes}
    click.echo(f"Launcher: {launcher.path()}")
    for place in places:
        state = "registered in" if place.file in changed else "already registered in"
        click.echo(f"{registration.facts(place.host).TITLE}: {state} {place.file}")
    for backup in backups:
        click.echo(f"Backup: {backup}")
    if shadow:
        installer.recompile()
        click.echo("Shadow mode: everything is recorded and nothing added until `enricher on`.")
    _finish(places)


def chosen_hosts(named: tuple[str, ...]) -> list[str]:
    """Return the clients that were named, else those found on this machine; raises a usage error for none."""
    found = installer.clients_found() if not named or "all" in named else list(dict.fromkeys(named))
    if not found:
        raise click.UsageError(f"no agent client found; name one with --host ({', '.join(hosts.NAMES)})")
    return found


def _finish(places: list[Place]) -> None:
    if (fault := bundle.fault()) and bundle.remove():
        click.echo(f"Removed {bundle.path()}: {fault}. It is written anew after the next prompt.")
    if not installer.byte_compile():
        click.echo("Note: the package folder is read-only, so each prompt pays for compiling it.")
    tested = [(place.host, place.command) for place in places] or [("claude", launcher.command("claude"))]
    faults = [fault for host, command in tested if (fault := _self_test(host, command))]
    for place in places:
        if advice := installer.advice(place):
            click.echo(advice)
    if faults:
        raise click.ClickException("; ".join(faults))


def _self_test(host: str, command: str) -> str:
    outcome = selftest.run(host, command)
    title = registration.facts(host).TITLE
    click.echo(f"{title}: self-test {outcome}")
    return f"the hook does not work for {title}: {outcome.fault}" if outcome.fault else ""
