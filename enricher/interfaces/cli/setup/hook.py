"""``enricher hook``: run the same process that an agent client starts, for manual tests."""

from __future__ import annotations

import click

from enricher.hosts import NAMES
from enricher.interfaces.cli import options


@click.command("hook", epilog='Example: echo \'{"prompt": "why is the build red?"}\' | enricher hook --host claude')
@click.option(
    "--host", type=click.Choice(NAMES), default="claude", show_default=True, help="Answer in the format of this client."
)
@options.answer_format
def hook(host: str, form: str) -> None:
    """Read one event from stdin and answer it with one JSON object, or with nothing; the exit code is always 0."""
    from enricher.hook.process import main

    main([host, f"--format={form}"])
