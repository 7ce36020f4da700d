"""``enricher bench``: the figures of the README, each by one command."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.output import Group

if TYPE_CHECKING:
    from enricher.interfaces.bench import Row

as_json = click.option("--json", "is_json", is_flag=True, help="Rows as JSON.")
asserting = click.option("--assert", "asserts", is_flag=True, help="Exit 1 where a target is missed.")


@click.group("bench", cls=Group)
def bench() -> None:
    """Measure the hook against the bare interpreter, in paired runs."""


@bench.command("hook")
@click.option("--runs", "-n", default=100, type=click.IntRange(10, 10_000), help="Rounds of the paired run.")
@as_json
@asserting
def hook(runs: int, is_json: bool, asserts: bool) -> None:
    """Time the whole process, trace written, as a ratio to `python -I -S -c pass` of the same interpreter."""
    from enricher.interfaces.bench.hook import hook_rows
    from enricher.interfaces.bench.targets import missed

    rows = hook_rows(runs)
    print_rows(rows, is_json=is_json)
    finish(missed("hook", rows), asserts=asserts)


@bench.command("intent")
@as_json
@asserting
def intent(is_json: bool, asserts: bool) -> None:
    """Classification alone (task type, search intent, guardrail signals) by prompt size, in one process."""
    from enricher.interfaces.bench.hook import classification_rows
    from enricher.interfaces.bench.targets import missed

    rows = classification_rows()
    print_rows(rows, is_json=is_json)
    finish(missed("intent", rows), asserts=asserts)


@bench.command("burst")
@click.option("--at-once", default=16, type=click.IntRange(1, 64))
@as_json
@asserting
def burst(at_once: int, is_json: bool, asserts: bool) -> None:
    """Many hooks at the same moment: how many answered, how many traces arrived."""
    from enricher.interfaces.bench.hook import burst as run_burst

    outcome = run_burst(at_once)
    click.echo(json.dumps(outcome) if is_json else ", ".join(f"{name} {value:g}" for name, value in outcome.items()))
    finish([name for name in ("answered", "traces") if outcome[name] != at_once], asserts=asserts)


@bench.command("topics")
@click.option("--n", "sizes", default="100,1000,10000", help="Numbers of memories, with commas.")
@as_json
@asserting
def topics(sizes: str, is_json: bool, asserts: bool) -> None:
    """The index of topics on real stores; the ratio is to counting the words of the same memories."""
    from enricher.interfaces.bench.targets import missed
    from enricher.interfaces.bench.topics import topic_rows

    if not all(size.strip().isdecimal() and int(size) for size in sizes.split(",")):
        raise click.UsageError(f"--n is {sizes!r}; write numbers above 0, such as 100,1000")
    rows = topic_rows([int(size) for size in sizes.split(",")])
    print_rows(rows, is_json=is_json)
    finish(missed("topics", rows), asserts=asserts)


@bench.command("session")
@click.option("--runs", "-n", default=50, type=click.IntRange(5, 10_000), help="Rounds of the paired run.")
@as_json
@asserting
def session(runs: int, is_json: bool, asserts: bool) -> None:
    """The whole hook with a transcript of 200 MB beside the hook without one; it may cost 20 ms more."""
    from enricher.interfaces.bench import missed, session_rows

    rows = session_rows(runs)
    print_rows(rows, is_json=is_json)
    finish(missed(rows), asserts=asserts)


@bench.command("context")
@click.option("--memories", "sizes", default="1000,10000,100000", help="Numbers of memories, with commas.")
@click.option("--runs", "-n", default=40, type=click.IntRange(0, 10_000), help="Rounds of the whole hook; 0: none.")
@as_json
@asserting
def context(sizes: str, runs: int, is_json: bool, asserts: bool) -> None:
    """Searching the memory by its size beside the plain FTS5 query, and the whole cold hook with 10,000 and more."""
    from enricher.interfaces.bench import context as bench_context

    found = bench_context.search_rows(_numbers(sizes, "--memories"))
    hooks = bench_context.hook_rows(runs) if runs else []
    if is_json:
        click.echo(json.dumps({"search": [asdict(row) for row in found], "hook": [asdict(row) for row in hooks]}))
    else:
        click.echo("\n".join(bench_context.lines(found)))
    if hooks and not is_json:
        click.echo("")
        print_rows(hooks, is_json=False)
    finish(bench_context.missed(found, hooks), asserts=asserts)


@bench.command("recall")
@click.option("--n", "sizes", default="100,1000,10000", help="Numbers of memories, with commas.")
@as_json
@asserting
def recall(sizes: str, is_json: bool, asserts: bool) -> None:
    """Retrieval alone, with and without the weights of a search intent (the search part of `bench context`)."""
    from enricher.interfaces.bench import context as bench_context

    found = bench_context.search_rows(_numbers(sizes, "--n"))
    click.echo(json.dumps([asdict(row) for row in found]) if is_json else "\n".join(bench_context.lines(found)))
    finish(bench_context.missed(found, []), asserts=asserts)


def _numbers(text: str, option: str) -> list[int]:
    if not all(part.strip().isdecimal() and int(part) for part in text.split(",")):
        raise click.UsageError(f"{option} is {text!r}; write numbers above 0, such as 100,1000")
    return [int(part) for part in text.split(",")]


@bench.command("code")
@click.option("--files", default=5000, type=click.IntRange(10, 200_000), help="Files of the invented project.")
@click.option("--runs", "-n", default=40, type=click.IntRange(0, 10_000), help="Rounds of the whole hook; 0: none.")
@as_json
@asserting
def code(files: int, runs: int, is_json: bool, asserts: bool) -> None:
    """The index of a project's files beside FTS5 on the same words (p95 where it says p99), and the hook in it."""
    from enricher.interfaces.bench.code import code_rows, hook_rows
    from enricher.interfaces.bench.targets import missed

    rows = code_rows(files) + (hook_rows(files, runs) if runs else [])
    print_rows(rows, is_json=is_json)
    finish(missed("code", rows), asserts=asserts)


def print_rows(rows: list[Row], *, is_json: bool) -> None:
    """Print the rows as a table in Markdown, or as JSON."""
    if is_json:
        click.echo(json.dumps([asdict(row) for row in rows]))
        return
    click.echo("| | median ms | p99 ms | ratio of medians | ratio of p99 | runs |\n|---|---|---|---|---|---|")
    for row in rows:
        figures = (row.median_ms, row.p99_ms, row.ratio, row.p99_ratio)
        click.echo(f"| {row.name} | {' | '.join(f'{figure:.2f}' for figure in figures)} | {row.runs} |")


def finish(missed: list[str], *, asserts: bool) -> None:
    """Print the missed targets; with ``asserts``, exit with code 1 if there are any."""
    for name in missed:
        click.echo(f"target missed: {name}", err=True)
    if missed and asserts:
        sys.exit(1)
