"""``enricher hook``: run the same process that a host starts, for manual tests."""

from __future__ import annotations

import click

from enricher.hosts import NAMES
from enricher.respond import formats


@click.command("hook")
@click.option("--host", type=click.Choice(NAMES), default="claude", help="Answer in this host's form.")
@click.option(
    "--format",
    "form",
    type=click.Choice(formats.NAMES),
    default=formats.ENRICHMENT,
    help="pipeline: the four keys success, enrichment_context, tokens_used, enrichment_count.",
)
def hook(host: str, form: str) -> None:
    """Answer one event on stdin with one JSON object, or nothing, on stdout; the exit code is always 0."""
    from enricher.hook.process import main

    main([host, f"--format={form}"])
