"""``enricher enrich``: show what is added to a prompt; ``hook``: run the hook; ``hydrate``: print a saved plan."""

from __future__ import annotations

import json
import sqlite3
import sys
from functools import partial
from typing import Any

import click

from enricher.hosts import NAMES
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import answer_lines, printable
from enricher.respond import formats
from enricher.respond.hydration.sheet import plan_in


@click.command("enrich", epilog='Example: enricher enrich "why does the login test fail?" --cwd .')
@click.argument("prompt", required=False)
@options.jsonl("id, prompt, and optionally cwd and session_id")
@options.as_json
@options.answer_format
@options.instructions_file(default="all layers that apply")
@options.typed_in
def enrich(prompt: str | None, jsonl: Any, is_json: bool, form: str, instructions: str | None, cwd: str | None) -> None:
    """Show what would be added to PROMPT; "-" reads it from stdin.

    Nothing is recorded. With --cwd, the index of the files of that project is updated first.
    """
    if jsonl is not None:
        answer = partial(_answer, form=form, instructions=instructions or "", cwd=cwd or "")
        sys.exit(answer_lines(jsonl, "prompt", answer))
    if prompt is None:
        raise click.UsageError("give a PROMPT, or - to read it from stdin, or --jsonl FILE")
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if prompt == "-" else prompt
    from enricher.interfaces.api import enrich as enrich_prompt

    _index(cwd or "")
    result = enrich_prompt(text, cwd=cwd or "", instructions=instructions or "", form=form)
    if form == formats.PIPELINE:
        click.echo(json.dumps(result.in_pipeline()))
    elif is_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    elif result.text():
        click.echo(result.text())


def _answer(asked: dict[str, Any], *, form: str, instructions: str, cwd: str) -> dict[str, Any]:
    from enricher.interfaces.api import enrich as enrich_prompt

    folder = str(asked.get("cwd") or cwd)
    _index(folder)
    result = enrich_prompt(
        asked["prompt"], cwd=folder, session_id=str(asked.get("session_id") or ""), instructions=instructions, form=form
    )
    return result.in_pipeline() if form == formats.PIPELINE else result.to_json()


def _index(cwd: str) -> None:
    """Update the code index of the project in ``cwd``, as the background work after an earlier prompt would do."""
    if not cwd:  # the prompt belongs to no project
        return
    from enricher.home import state_dir
    from enricher.sources.code.search import ensure

    try:
        ensure(cwd, state_dir())
    except (OSError, sqlite3.Error) as failure:
        click.echo(printable(f"warning: the files of {cwd} cannot be indexed: {failure}"), err=True)


@click.command("hydrate", epilog="Example: enricher hydrate --context hydrate_example.md")
@click.option("--context", "file", required=True, metavar="FILE", help="The file that the hook's text names.")
def hydrate(file: str) -> None:
    """Print the plan drafted in FILE by the hook, for agents that have no subagent to read FILE and finish the plan."""
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


@click.command("hook", epilog='Example: echo \'{"prompt": "why is the build red?"}\' | enricher hook --host claude')
@click.option(
    "--host", type=click.Choice(NAMES), default="claude", show_default=True, help="Answer in the format of this client."
)
@options.answer_format
def hook(host: str, form: str) -> None:
    """Read one event of a client from stdin and answer it with one JSON object or with nothing; exit with code 0."""
    from enricher.hook.process import main

    main([host, f"--format={form}"])
