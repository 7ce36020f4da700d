"""``enricher trace queue``: list the prompts to label first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import new_console, new_list, opened, print_json, printable
from enricher.interfaces.cli.trace.trace import ID_CHARS

if TYPE_CHECKING:
    from workbench.gate.queue import Queued

SHOWN_CHARS = 1_200


@click.command("queue", epilog="Example: enricher trace queue --limit 5")
@options.limit(30)
@options.as_json
def queue(limit: int, is_json: bool) -> None:
    """List the prompts whose labels would help most, best first.

    These are prompts with a close decision that are similar to many others; similar ones are not listed in a row.
    """
    from dataclasses import asdict

    from storage.traces import labels
    from workbench.gate.queue import MOST_PROMPTS, order

    with opened() as db:
        found = order(labels.candidates(db, limit=MOST_PROMPTS))[:limit]
    if is_json:
        print_json([asdict(one) for one in found])
    elif found:
        _print(found)
    else:
        click.echo("there is no prompt without a label", err=True)


def _print(found: list[Queued]) -> None:
    table = new_list("id", "task_type", "confidence", "margin", "alike", "prompt")
    for one in found:
        prompt = " ".join(one.prompt[:SHOWN_CHARS].split())
        figures = (f"{one.confidence:.2f}", f"{one.margin:g}", one.cluster_size)
        table.add_row(*map(printable, (one.id[:ID_CHARS], one.task_type, *figures, prompt)))
    new_console().print(table)
