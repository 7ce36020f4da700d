"""``enricher help``: explanations that are too long for a command's ``--help``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = {
    "howto": "how do I add a migration?",
    "location": "where is the session cookie set?",
    "explanation": "why do we hash the tokens twice?",
    "comparison": "should we use redis or memcached here?",
    "troubleshoot": "why does the export fail with KeyError 'total'?",
    "general": "what do we know about the importer?",
}


@click.command("help", epilog="Example: enricher help intent")
@click.argument("topic", required=False, type=click.Choice(["intent"]))
def help_command(topic: str | None) -> None:
    """Explain TOPIC; the only one is "intent": what the hook searches for, and where the results can be read."""
    click.echo("\n".join(_intent()) if topic == "intent" else "enricher help intent\nenricher COMMAND --help")


def _intent() -> Iterator[str]:
    from enricher.interfaces.compat.intent import SearchIntentType
    from enricher.interfaces.compat.recall import namespace_weights
    from enricher.interfaces.library.resources import RESOURCES

    yield "Search intent: what kind of information would help before acting on a prompt."
    yield "It decides which memories rank first and how many are added; a plain order has no intent."
    yield ""
    for intent in SearchIntentType:
        raised = sorted(namespace_weights(intent.value).items(), key=lambda pair: -pair[1])
        first = ", ".join(f"{name} x{weight:g}" for name, weight in raised if weight > 1)
        yield f"{intent.value:<13} {intent.description}"
        yield f"{'':<13} for example: {EXAMPLES[intent.value]}"
        yield f"{'':<13} ranks first: {first}"
    yield ""
    yield "The hook adds what was found to the prompt (enricher explain PROMPT shows it). It can also be read at:"
    for one in RESOURCES:
        yield f"  {one.uri:<28} {one.description}"
    yield ""
    yield "  enricher resources read enricher://search/session%20cookie"
    yield "  enricher prompts get recall_context --arg query='session cookie' --arg intent=howto"
