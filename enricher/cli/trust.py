"""``enricher trust``: let the ``.enricher`` folder of a project take part."""

from __future__ import annotations

import os

import click

from enricher.home import project_root


@click.command("trust")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
def trust(directory: str) -> None:
    """Trust the present content of every .enricher/ that speaks in DIRECTORY: its project's, its package's.

    Any later change takes the trust away again.
    """
    from enricher import trust as trusting
    from enricher.rules.layers import speaking_folders

    folders = speaking_folders(os.path.abspath(directory))
    if not folders:
        root = project_root(os.path.abspath(directory))
        raise click.ClickException(f"{root} has no .enricher folder; there is nothing to trust")
    for _name, folder in folders:
        try:
            content = trusting.give(folder)
        except OSError as error:
            raise click.ClickException(f"{folder}/.enricher cannot be trusted: {error}") from error
        click.echo(f"trusted {folder}/.enricher as it is now ({content})")
