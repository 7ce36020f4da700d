"""``enricher config show``: every setting with its source; ``enricher trust``: use a project's ``.enricher`` folder."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

import click

from enricher.home import config_dir, project_root, state_dir
from enricher.hosts import NAMES
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup
from enricher.settings import GATES, named_in, with_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.layers import Layers
    from enricher.settings import Value


@click.group("config", cls=CommandGroup, epilog="Example: enricher config show")
def config() -> None:
    """Show the settings and where each comes from."""


@config.command("show", epilog="Example: enricher config show")
@options.as_json
@options.in_folder
def show(is_json: bool, cwd: str) -> None:
    """Print every setting with its value and the file or variable that sets it; warn of invalid values."""
    from enricher.rules.compiling.compiler import compile_layers
    from enricher.rules.layers import find_layers

    layers = find_layers(os.path.abspath(cwd))
    compiled = compile_layers(layers.instructions, layers.configuration)
    in_files: dict[str, Value] = compiled.body["settings"]
    settings, refused = with_environment(in_files, os.environ)
    unread = {name for name, _message in refused}
    sources = _file_sources(layers, compiled)
    sources |= {key: f"${name}" for name, key in named_in(os.environ) if name not in unread}
    every = {**_switches(compiled), **settings}
    warnings = [str(problem) for problem in compiled.problems if problem.file.endswith(".toml")]
    warnings += [f"${name}: {message}" for name, message in refused]
    if layers.untrusted:
        remedy = "to trust it, run: enricher trust"
        warnings.append(f"{layers.untrusted}/.enricher is not trusted, so it sets nothing; {remedy}")
    folders = {"config": config_dir(), "state": state_dir()}
    if is_json:
        found = {"folders": folders, "settings": every, "sources": sources, "warnings": warnings}
        click.echo(json.dumps(found, sort_keys=True))
        return
    for name, folder in folders.items():
        click.echo(f"{name} folder: {folder}")
    for key in sorted(every):
        value = "not set" if every[key] is None else json.dumps(every[key])
        click.echo(f"{key} = {value}  ({sources.get(key, 'default')})")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def _switches(compiled: Compiled) -> dict[str, Value | None]:
    """Return the defaults of the switches: True for each channel and client, None (not set) for those in ``GATES``."""
    channels = [rule["name"] for rule in compiled.body.get("channels", [])]
    named = [f"channels.{name}" for name in channels] + [f"hosts.{name}" for name in NAMES]
    return {**dict.fromkeys(GATES), **dict.fromkeys(named, True)}


def _file_sources(layers: Layers, compiled: Compiled) -> dict[str, str]:
    """Return the path of the file that sets each setting, keyed by the setting's name.

    Budgets may also be set in an instructions file; for those, the line number follows the path.
    """
    from enricher.rules.compiling.compiler import read_configuration
    from enricher.rules.layers import USER, packaged_file

    sources: dict[str, str] = {}
    for block in _source_blocks(compiled.rules.get("budgets")):
        if block.file != packaged_file():  # what the package sets counts as the default
            keys = [key for key in ("tokens", "session_tokens", "items") if (key,) in block.lines]
            sources |= {f"budgets.{key}": f"{block.file}:{block.line_of(key)}" for key in keys}
    for layer in layers.configuration:  # in rising order: a project's file overrides the user's
        found, _problems = read_configuration(layer.path, is_user=layer.name == USER)
        sources |= dict.fromkeys(found, layer.path)
    return sources


def _source_blocks(rule: RuleBlock | None) -> Iterator[RuleBlock]:
    """Yield the definitions, one per instructions file, that were merged into ``rule``; overridden ones come first."""
    if rule:
        yield from _source_blocks(rule.below)
        yield rule


@click.command("trust", epilog="Example: enricher trust .")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--branch", "by_branch", is_flag=True, help="Trust what is on the remote's default branch, now and after each pull."
)
def trust(directory: str, by_branch: bool) -> None:
    """Trust the .enricher folders that apply in DIRECTORY (default: the current folder), as they are now.

    These are the .enricher folder of the project and that of the nearest package inside it. After any later change they
    are no longer trusted. With --branch, content that was merged into the remote's default branch stays trusted; a
    local edit is not.
    """
    from enricher.rules.layers import layer_folders

    folders = [folder for _name, folder in layer_folders(os.path.abspath(directory))]
    if not folders:
        root = project_root(os.path.abspath(directory))
        raise click.ClickException(f"nothing to trust: {root}/.enricher has no instructions, settings or memories")
    for folder in folders:
        click.echo(_follow(folder) if by_branch else _trust(folder))
    _take_memories(directory)


def _trust(folder: str) -> str:
    from enricher.prompt import trust as trusting
    from enricher.sources.memory import branch

    try:
        content = trusting.give(folder)
        branch.stop_following(folder)
    except OSError as error:
        raise click.ClickException(f"{folder}/.enricher cannot be trusted: {error}") from error
    return f"trusted {folder}/.enricher as it is now ({content})"


def _follow(folder: str) -> str:
    from enricher.sources.memory import branch

    try:
        followed = branch.follow(folder)
    except branch.BranchError as error:
        raise click.ClickException(str(error)) from error
    return f"trusted {folder}/.enricher as it is on {followed.name()} of {followed.url}"


def _take_memories(directory: str) -> None:
    """Import the memories in the project's ``.enricher`` folder now instead of after the next prompt."""
    from enricher.prompt.project import identify
    from enricher.sources.memory.refreshing import refresh
    from storage.db.database import StorageError

    with contextlib.suppress(OSError, StorageError):  # the next command that needs the database reports the fault
        refresh(identify(directory), state_dir(), at_once=True)
