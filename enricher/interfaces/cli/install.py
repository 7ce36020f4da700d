"""``enricher install``: register the hook and test that it answers; ``uninstall``: remove what was registered.

``enricher doctor`` reports what is wrong with an installation, with remedies.
``enricher on`` and ``off`` switch enrichment on and off; the hook stays registered.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import click

from enricher import bundle, hosts
from enricher.install import installer, launcher, mcp, registration, subagent
from enricher.install.doctor import BROKEN, NOTE, OK, examine, repair, try_model
from enricher.install.registration import ConfigurationFile, InstallationError
from enricher.interfaces.cli import options
from enricher.interfaces.cli.memory.library import MISSING, is_sdk_installed

_COLOURS = {OK: "green", NOTE: "yellow", BROKEN: "red"}


@click.command(epilog="Example: enricher install --host claude --dry-run")
@options.clients
@click.option(
    "--scope",
    type=click.Choice(registration.SCOPES),
    default="user",
    show_default=True,
    help="Register for all your projects, or in this project only.",
)
@click.option("--shadow", is_flag=True, help="Record prompts, but add nothing until you run: enricher on.")
@click.option("--mcp", "with_mcp", is_flag=True, help="Also add `enricher mcp` to the MCP servers of the client.")
@click.option("--late-results", is_flag=True, help="Also fetch a model's opinion that came after the prompt's answer.")
@click.option("--hydrate", is_flag=True, help="Also write the subagent that finishes plans (mode hydrate-file).")
@click.option(
    "--validate", "is_checked", is_flag=True, help="Also check the Python code that the agent wrote in a turn."
)
@click.option(
    "--launcher-only", is_flag=True, help="Write only the launcher, for a plugin or extension that registers itself."
)
@options.dry_run
def install(
    named: tuple[str, ...],
    scope: str,
    *,
    shadow: bool,
    with_mcp: bool,
    late_results: bool,
    hydrate: bool,
    is_checked: bool,
    launcher_only: bool,
    is_dry: bool,
) -> None:
    """Register the hook in the clients that --host names; without --host, in every client on this machine."""
    names = [] if launcher_only else chosen_hosts(named)
    if with_mcp and names and not is_sdk_installed():
        raise click.ClickException(f"{MISSING}; then run this again")
    plan = installer.InstallPlan()
    hooks = [registration.place(host, scope, os.getcwd()) for host in names]
    planned = plan.add(hooks, lambda place, _: registration.add(place, is_late=late_results, is_checked=is_checked))
    if names and not planned:
        raise click.ClickException("\n".join(plan.left_out))
    servers = [mcp.place(place.host, scope, os.getcwd()) for place in planned] if with_mcp else []
    servers = plan.add(servers, mcp.add)
    settings = [place for place in planned if place.host in subagent.HAVE_SUBAGENTS and hydrate]
    agents = plan.add([subagent.place(one.host, scope, os.getcwd()) for one in settings], subagent.add)
    plan.add(settings, subagent.permit)
    backups = _carry_out(plan, is_shadow=shadow, is_dry=is_dry)
    faults = []
    if not is_dry:
        faults = _finish(plan, servers, agents, backups, is_shadow=shadow)
        advice = installer.advice_on_late_results(planned) if late_results else []
        for line in advice + (installer.advice_on_checks(planned) if is_checked else []):
            click.echo(line)
    if faults or plan.left_out:
        raise click.ClickException("\n".join([*faults, *plan.left_out]))


def chosen_hosts(named: tuple[str, ...]) -> list[str]:
    """Return the clients to register: those in ``named``, or every client on this machine if it is empty or has "all".

    Raises a usage error if there are none.
    """
    found = installer.clients_found() if not named or "all" in named else list(dict.fromkeys(named))
    if not found:
        raise click.UsageError(
            f"no agent client was found on this machine; name one with --host ({', '.join(hosts.NAMES)})"
        )
    return found


def _carry_out(plan: installer.InstallPlan, *, is_shadow: bool, is_dry: bool) -> list[str]:
    """Make the planned changes, and return the paths of the backups; with ``is_dry``, only print the changes."""
    try:
        preparations = installer.preparations(is_shadow=is_shadow)
        if not is_dry:
            return [*installer.carry_out(preparations), *plan.carry_out()]
    except InstallationError as error:
        raise click.ClickException(str(error)) from None
    changes = [*preparations, *plan.changes]
    click.echo("".join(change.diff() for change in changes) or "Nothing to change.\n", nl=False)
    return []


def _finish(
    plan: installer.InstallPlan,
    servers: list[ConfigurationFile],
    agents: list[ConfigurationFile],
    backups: list[str],
    *,
    is_shadow: bool,
) -> list[str]:
    """Print what the installation changed, test the hook of each client, and return a message for each fault."""
    click.echo(f"Launcher: {launcher.path()}")
    edits = dict.fromkeys(plan.edits)  # a file may be edited twice: for the hook and for the subagent's permission
    for place, change in edits:
        _print_edit(place, servers, agents, is_needed=change.is_needed)
    for backup in backups:
        click.echo(f"Backup: {backup}")
    if is_shadow:
        installer.recompile()
        click.echo("Shadow mode: prompts are recorded, but nothing is added until you run: enricher on")
    if (fault := bundle.fault()) and bundle.remove():
        click.echo(f"Removed {bundle.path()}: {fault}. It is written again after the next prompt.")
    if not installer.byte_compile():
        click.echo("Note: the package folder is read-only, so Python compiles it again for each prompt.")
    places = [place for place, _change in edits if place not in (*servers, *agents)]
    tested = [(place.host, place.command) for place in places]
    if not (places or plan.left_out):  # --launcher-only: a plugin will run this command
        tested = [("claude", launcher.command("claude"))]
    faults = [fault for host, command in tested if (fault := _self_test(host, command))]
    for place in places:
        if advice := installer.advice(place):
            click.echo(advice)
    return faults


def _print_edit(
    place: ConfigurationFile, servers: list[ConfigurationFile], agents: list[ConfigurationFile], *, is_needed: bool
) -> None:
    title, already = registration.facts(place.host).TITLE, "" if is_needed else "already "
    if place in servers:
        click.echo(f"{title}: MCP server {already}listed in {place.file}; restart the client")
    elif place in agents:
        click.echo(f"{title}: subagent {already}defined in {place.file}")
    else:
        click.echo(f"{title}: {already}registered in {place.file}")


def _self_test(host: str, command: str) -> str:
    outcome = installer.self_test(host, command)
    title = registration.facts(host).TITLE
    click.echo(f"{title}: self-test {outcome}")
    return f"the hook does not work for {title}: {outcome.fault}" if outcome.fault else ""


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
    plan = installer.InstallPlan()
    hooks = [place for place in hooks if place.scope in scopes]
    # Before the hook: only its removal decides whether the settings file is bare enough to be deleted.
    plan.add([place for place in hooks if place.host in subagent.HAVE_SUBAGENTS], subagent.withdraw)
    plan.add(hooks, registration.remove)
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


@click.command(epilog="Example: enricher on")
def on() -> None:
    """Switch enrichment on; this also ends shadow mode, in which prompts are recorded but nothing is added."""
    click.echo(f"Enrichment is on from the next prompt ({_switched(enabled=True, shadow=False)}).")


@click.command(epilog="Example: enricher off")
def off() -> None:
    """Switch enrichment off; the hook stays registered, and "enricher on" switches it on again."""
    click.echo(f"Enrichment is off from the next prompt ({_switched(enabled=False)}).")


def _switched(**settings: bool) -> str:
    try:
        return installer.set_switches(settings)
    except InstallationError as error:
        raise click.ClickException(str(error)) from None


@click.command(epilog="Example: enricher doctor")
@options.as_json
@click.option(
    "--fix",
    "is_fix",
    is_flag=True,
    help="Reduce each copy of the packaged instructions to a layer that holds only your changes.",
)
@click.option("--model", "tries_model", is_flag=True, help="Also ask the configured model once, which costs one call.")
def doctor(*, is_json: bool, is_fix: bool, tries_model: bool) -> None:
    """Check the registered clients, the instructions and the history; exit 1 if something is broken."""
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
