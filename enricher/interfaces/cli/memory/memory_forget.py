"""``enricher memory forget``: delete memories permanently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.deletion import deletion_options, errors_as_messages
from enricher.interfaces.cli.memory.memory import find, is_forgotten, namespaces, preview
from enricher.interfaces.cli.output import opened, print_json
from enricher.prompt.project import identify
from storage.memory import memories

if TYPE_CHECKING:
    import sqlite3

    from enricher.prompt.project import Project
    from storage.memory.memories import Memory


@click.command("forget", epilog='Example: enricher memory forget --match "old importer" --dry-run')
@click.argument("memory_ids", metavar="[ID]…", nargs=-1)
@click.option(
    "--match", "words", default="", metavar="WORDS", help="All memories of this project that contain all these words."
)
@namespaces
@options.in_folder
@deletion_options
@options.as_json
def command(
    memory_ids: tuple[str, ...],
    words: str,
    namespace: str | None,
    cwd: str,
    is_dry: bool,
    is_sure: bool,
    is_json: bool,
) -> None:
    """Delete memories permanently, also from the search index, and list what was deleted."""
    from enricher.erasure import forgetting

    if not memory_ids and not words and not namespace:
        raise click.UsageError("name the memories to delete: an ID, --match WORDS or --namespace NAME")
    with opened() as db, errors_as_messages():
        doomed = _named(db, memory_ids, begun=forgetting.unfinished_memories(state_dir()))
        if words or namespace:
            doomed += _matching(db, identify(cwd), words=words, namespace=namespace or "")
        doomed = list({one.id: one for one in doomed}.values())
        if not doomed and not is_dry and forgetting.is_unfinished(state_dir()):
            forgetting.finish(db, state_dir())
            click.echo("the deletion that was interrupted before is now complete", err=True)
            return
        if not is_forgotten(db, doomed, is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
    if is_json:
        print_json([one.to_json() for one in doomed])
        return
    for one in doomed:
        click.echo(f"deleted {one.id}: {preview(one.content)}")
    if not doomed:
        click.echo("no memories match", err=True)


def _named(db: sqlite3.Connection, ids: tuple[str, ...], *, begun: tuple[str, ...]) -> list[Memory]:
    """Return the memories whose ids begin so; skip missing ones whose deletion had already ``begun``."""
    found = []
    for name in ids:
        try:
            found.append(find(db, name))
        except click.ClickException:
            if not any(own.startswith(name) for own in begun):
                raise
    return found


def _matching(db: sqlite3.Connection, project: Project, *, words: str, namespace: str) -> list[Memory]:
    """Return the project's memories of the namespace that contain every word."""
    wanted = words.lower().split()
    found = memories.listing(db, project=project.id, namespace=namespace, limit=-1)
    return [one for one in found if all(word in one.content.lower() for word in wanted)]
