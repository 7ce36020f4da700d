"""``enricher hydrate``: print the plan in a file that the mode ``hydrate-file`` wrote."""

from __future__ import annotations

import click

from enricher.respond.hydration.sheet import plan_in


@click.command("hydrate", epilog="Example: enricher hydrate --context hydrate_example.md")
@click.option("--context", "file", required=True, metavar="FILE", help="The file that the hook's text names.")
def hydrate(file: str) -> None:
    """Print the drafted plan of a context file, for agents that have no subagents."""
    try:
        with open(file, encoding="utf-8", newline="") as opened:
            text = opened.read()
    except (OSError, UnicodeDecodeError) as failure:
        reason = f"{file} cannot be read ({failure}); files are removed after one hour"
        raise click.ClickException(f"{reason}. The work can go on without a plan") from failure
    plan = plan_in(text)
    if not plan:
        raise click.ClickException(f"{file} is no context file of the mode hydrate-file; it holds no plan")
    click.echo(plan)
