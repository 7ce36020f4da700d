"""``enricher topics``: list the topics of the project's memory."""

from __future__ import annotations

import json
from typing import Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.memory.resources import opened

MOST_SHOWN = 40
LONGEST_PREVIEW = 200


@click.command("topics", epilog="Example: enricher topics")
@click.argument("topic", required=False)
@options.in_folder
@options.as_json
def topics(topic: str | None, cwd: str, is_json: bool) -> None:
    """List the topics of the project's memory, or the memories of one TOPIC."""
    from enricher.interfaces.library.resources import read, topic_uri
    from enricher.sources.uris import TOPICS_URI

    with opened(cwd) as library:
        content = read(topic_uri(topic) if topic else TOPICS_URI, library)
    if is_json:
        click.echo(json.dumps(content))
    elif topic:
        _print_topic(content)
    else:
        _print_topics(content)


def _print_topics(content: dict[str, Any]) -> None:
    if not content["topics"]:
        click.echo("no topics: this project has no memories yet; add one with: enricher memory add TEXT")
    for one in content["topics"][:MOST_SHOWN]:
        click.echo(f"{one['memory_count']:>6}  {one['name']:<30} {', '.join(one['namespaces'])}")
    if content["total"] > MOST_SHOWN:
        click.echo(f"and {content['total'] - MOST_SHOWN} more; --json prints {content['count']} of them")


def _print_topic(content: dict[str, Any]) -> None:
    from enricher.prompt.text import harmless

    if not content["memories"]:
        click.echo(f"no memory has the topic {content['topic']}; to list the topics, run: enricher topics")
        return
    for one in content["memories"]:
        click.echo(f"{one['id']}  {one['namespace']}  {one['created_at'][:10]}  {harmless(one['source'], longest=80)}")
        click.echo(f"  {harmless(one['content'], longest=LONGEST_PREVIEW)}")
    related = ", ".join(one["name"] for one in content["related_topics"])
    click.echo(f"related topics: {related}" if related else "no related topics")
