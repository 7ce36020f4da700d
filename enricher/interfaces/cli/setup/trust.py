"""``enricher trust``: use the ``.enricher`` folder of a project."""

from __future__ import annotations

import contextlib
import os

import click

from enricher.home import project_root, state_dir


@click.command("trust", epilog="Example: enricher trust .")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--branch", "by_branch", is_flag=True, help="Trust what is on the remote's default branch, now and after each pull."
)
def trust(directory: str, by_branch: bool) -> None:
    """Trust the .enricher folders that apply in DIRECTORY (default: the current folder), as they are now.

    These are the folder of the project and that of its nearest package. After any later change they are no longer
    trusted. With --branch, content that was merged into the remote's default branch stays trusted; a local edit is
    not.
    """
    from enricher.rules.layers import layer_folders

    folders = [folder for _name, folder in layer_folders(os.path.abspath(directory))]
    if not folders:
        root = project_root(os.path.abspath(directory))
        raise click.ClickException(f"{root} has no .enricher folder, so there is nothing to trust")
    for folder in folders:
        click.echo(_follow(folder) if by_branch else _trust(folder))
    with contextlib.suppress(OSError):
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
    """Import the project's team memories now instead of after the next prompt."""
    from enricher.prompt.project import identify
    from enricher.sources.memory import refresh
    from storage.db.database import StorageError

    with contextlib.suppress(StorageError):  # the next command that needs the database reports the fault
        refresh(identify(directory), state_dir(), at_once=True)
