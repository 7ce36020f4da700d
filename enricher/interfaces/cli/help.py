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
    "comparison": "what speaks for redis over memcached here?",
    "troubleshoot": "why does the export fail with KeyError 'total'?",
    "general": "what do we know about the importer?",
}


@click.command("help")
@click.argument("topic", required=False, type=click.Choice(["intent"]))
def help_command(topic: str | None) -> None:
    """Explain a TOPIC: intent (what a prompt would have us look up, and where the answers stand)."""
    click.echo("\n".join(_intent()) if topic == "intent" else "enricher help intent\nenricher COMMAND --help")


def _intent() -> Iterator[str]:
    from enricher.interfaces.compat.intent import SearchIntentType
    from enricher.interfaces.compat.recall import namespace_weights
    from enricher.interfaces.library.resources import RESOURCES

    yield "Search intent: what kind of information would help before acting on a prompt."
    yield "It decides which memories are looked up first and how many; a plain order has none."
    yield ""
    for intent in SearchIntentType:
        raised = sorted(namespace_weights(intent.value).items(), key=lambda pair: -pair[1])
        first = ", ".join(f"{name} x{weight:g}" for name, weight in raised if weight > 1)
        yield f"{intent.value:<13} {intent.description}"
        yield f"{'':<13} for example: {EXAMPLES[intent.value]}"
        yield f"{'':<13} first come: {first}"
    yield ""
    yield "What was found is injected by the hook (enricher explain PROMPT shows it) and can be read:"
    for one in RESOURCES:
        yield f"  {one.uri:<28} {one.description}"
    yield ""
    yield "  enricher resources read enricher://search/session%20cookie"
    yield "  enricher prompts get recall_context --arg query='session cookie' --arg intent=howto"
