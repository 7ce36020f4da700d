"""``enricher trust``: let the ``.enricher`` folder of a project take part."""

from __future__ import annotations

import os

import click

from enricher.home import project_root


@click.command("trust")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
def trust(directory: str) -> None:
    """Trust the present content of DIRECTORY's .enricher/; any later change takes the trust away again."""
    from enricher import trust as trusting

    root = project_root(os.path.abspath(directory))
    if not os.path.isdir(os.path.join(root, ".enricher")):
        raise click.ClickException(f"{root} has no .enricher folder; there is nothing to trust")
    try:
        content = trusting.give(root)
    except OSError as error:
        raise click.ClickException(f"{root}/.enricher cannot be trusted: {error}") from error
    click.echo(f"trusted {root}/.enricher as it is now ({content})")
