"""``enricher enrich``: show the enrichment that a prompt would get."""

from __future__ import annotations

import json
import sqlite3
import sys
from functools import partial
from typing import Any

import click

from enricher.interfaces.cli.jsonl import answer_lines
from enricher.interfaces.cli.output import printable
from enricher.respond import formats


@click.command("enrich")
@click.argument("prompt", required=False)
@click.option(
    "--jsonl", type=click.File("rb"), help='Many prompts: a line each, {"id", "prompt", "cwd"?, "session_id"?}.'
)
@click.option("--json", "as_json", is_flag=True, help="The whole record instead of the text.")
@click.option(
    "--format",
    "form",
    type=click.Choice(formats.NAMES),
    default=formats.ENRICHMENT,
    help="pipeline: one object with success, enrichment_context, tokens_used, enrichment_count.",
)
@click.option("--instructions", type=click.Path(exists=True), help="Use this file in place of all layers.")
@click.option("--cwd", type=click.Path(file_okay=False), help="The folder the prompt is typed in.")
def enrich(prompt: str | None, jsonl: Any, as_json: bool, form: str, instructions: str | None, cwd: str | None) -> None:
    """Show what PROMPT would get; "-" reads it from stdin.

    Nothing is recorded; the index of the files around --cwd is brought up to date before.
    """
    if jsonl is not None:
        answer = partial(_answer, form=form, instructions=instructions or "", cwd=cwd or "")
        sys.exit(answer_lines(jsonl, "prompt", answer))
    if prompt is None:
        raise click.UsageError("give a PROMPT, '-' for stdin, or --jsonl FILE")
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if prompt == "-" else prompt
    from enricher.interfaces.api import enrich as enrich_prompt

    _index(cwd or "")
    result = enrich_prompt(text, cwd=cwd or "", instructions=instructions or "", form=form)
    if form == formats.PIPELINE:
        click.echo(json.dumps(result.in_pipeline()))
    elif as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    elif result.text():
        click.echo(result.text())


def _answer(asked: dict[str, Any], *, form: str, instructions: str, cwd: str) -> dict[str, Any]:
    from enricher.interfaces.api import enrich as enrich_prompt

    folder = str(asked.get("cwd") or cwd)
    _index(folder)
    result = enrich_prompt(
        asked["prompt"],
        cwd=folder,
        session_id=str(asked.get("session_id") or ""),
        instructions=instructions,
        form=form,
    )
    return result.in_pipeline() if form == formats.PIPELINE else result.to_json()


def _index(cwd: str) -> None:
    """Update the index of a folder's project, as the background work of an earlier prompt would have done."""
    if not cwd:
        return
    from enricher.home import state_dir
    from enricher.sources.code.search import ensure

    try:
        ensure(cwd, state_dir())
    except (OSError, sqlite3.Error) as failure:
        click.echo(printable(f"warning: the files are not indexed: {failure}"), err=True)
