"""``enricher trace``: show what the hook recorded about each prompt, and statistics of many prompts.

Data goes to stdout, labelled with the names of the database columns; errors go to stderr, with exit code 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import commands_from_above, options
from enricher.interfaces.cli.output import (
    CommandGroup,
    facts_table,
    new_console,
    new_list,
    new_table,
    opened,
    print_json,
    printable,
)
from enricher.interfaces.explanation import model_summary, violation_summary
from storage import traces
from storage.traces import line_labels, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

    from storage.traces.selection import Selection

    Row = dict[str, Any]

PROMPT_CHARS = 400  # of a prompt that may have 64 K; the table cuts them to the width of the terminal
ID_CHARS = 14  # the part of an id that encodes the time, down to the microsecond
LINE_CHARS = 60  # enough to recognise a line, which is printed in full above
TEXTS = ("prompt", "output_text")
CHILDREN = tuple(name.removeprefix("trace_") for name in queries.CHILDREN)
"""Names of the tables with further rows of a prompt, in the order in which they are printed."""


@click.group(
    cls=CommandGroup,
    lazy={name: f"trace.deleting:{name}" for name in ("forget", "prune", "rescreen")},
    epilog="Example: enricher trace list --where type:debug --limit 5",
)
def trace() -> None:
    """Examine the recorded prompts: what was asked, what was added and why, and how long it took."""


@trace.command("list", epilog="Example: enricher trace list --where type:debug --limit 5")
@options.where(default=None)
@options.limit(20)
@options.older_than
@options.as_json
def list_traces(selection: Selection | None, limit: int, before: str, is_json: bool) -> None:
    """List the recorded prompts, newest first."""
    with opened() as db:
        rows: list[Row] = queries.matching(db, selection, limit=limit, before=before)
    if is_json:
        print_json(rows)
    elif rows:
        new_console().print(_table_of(rows))
    else:
        click.echo("no recorded prompt matches", err=True)


@trace.command(epilog="Example: enricher trace show 0064a1")
@click.argument("trace_id", metavar="ID")
@options.as_json
def show(trace_id: str, is_json: bool) -> None:
    """Show one recorded prompt with all scores and candidates; the beginning of its ID is enough."""
    with opened() as db:
        row: Row = queries.show(db, queries.find(db, trace_id))
    _print_trace(row, is_json=is_json)


@trace.command(epilog="Example: enricher trace last --json")
@click.option("--session", "session_id", default="", help="Only prompts of this session.")
@click.option("--host", default="", help="Only prompts from this client, such as claude.")
@options.as_json
def last(session_id: str, host: str, is_json: bool) -> None:
    """Show the newest recorded prompt."""
    with opened() as db:
        row: Row = queries.show(db, queries.last(db, session_id=session_id, host=host))
    _print_trace(row, is_json=is_json)


@trace.command(epilog="Example: enricher trace export --where since:7d --format csv")
@options.where(default=None)
@click.option(
    "--format",
    "kind",
    type=click.Choice(("jsonl", "csv")),
    default="jsonl",
    show_default=True,
    help="jsonl: everything about each prompt; csv: the columns of the table traces.",
)
@options.out
def export(selection: Selection | None, kind: str, out: str) -> None:
    """Write the matching prompts to a file or to stdout, newest first."""
    write = _write_csv if kind == "csv" else _write_jsonl
    with opened() as db, _destination(out) as file:
        write(file, queries.export(db, selection, with_children=kind == "jsonl"))
        file.flush()  # here, where a closed pipe is handled, not at the exit of the interpreter


@trace.command(epilog="Example: enricher trace stats --where since:7d")
@options.where(default=None)
@click.option("--adherence", is_flag=True, help="Show instead how often agents followed the workflow of their prompt.")
@options.as_json
def stats(selection: Selection | None, adherence: bool, is_json: bool) -> None:
    """Show figures: failures, silent and skipped prompts, the time of each stage, the last prompt of each client.

    Only prompts that reached the hook from a client are counted. To count others, such as those of tests, name their
    origin in the selection, for example "origin:import". The share of silent prompts depends on the rules alone, so it
    also includes imported prompts.
    """
    with opened() as db:
        if adherence:
            commands_from_above("trace.stats")["adherence"].load()(db, selection, is_json=is_json)
            return
        figures = queries.stats(db, selection)
        kept = line_labels.keep_rates(db, selection)
    if is_json:
        print_json(asdict(figures) | {"keep_rate": asdict(kept)})
    else:
        _print_stats(figures)
        _print_keep_rates(kept)


def task_types() -> list[str]:
    """Return the task types that the rules of the current folder define."""
    from enricher.classify import TASK_TYPE
    from enricher.interfaces.api import rules_for
    from enricher.rules.cache import NoRulesError

    try:
        body = rules_for(os.getcwd())[0].body["classes"]
    except (NoRulesError, OSError) as failure:
        raise click.ClickException(f"{failure}; to find out more, run: enricher check") from failure
    return [name for facet, name in body["classes"] if body["facets"][facet]["name"] == TASK_TYPE]


@contextlib.contextmanager
def _destination(out: str) -> Iterator[Any]:
    if not out:
        try:
            yield sys.stdout
        except BrokenPipeError:  # the reader, such as ``head``, has closed the pipe
            # Python flushes stdout when it exits; what is left must go somewhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        return
    from storage.base import private

    try:
        descriptor = private.open_file(os.path.abspath(out), os.O_WRONLY | os.O_TRUNC)
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as failure:
        raise click.ClickException(f"{out} cannot be written: {failure.strerror or failure}") from failure


def _write_jsonl(file: Any, rows: Iterator[Row]) -> None:
    for row in rows:
        file.write(json.dumps(row) + "\n")


def _write_csv(file: Any, rows: Iterator[Row]) -> None:
    import csv

    writer = csv.writer(file, lineterminator="\n")
    columns = traces.TABLES["traces"]
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_cell(row[name]) for name in columns])


def _csv_cell(value: object) -> object:
    if isinstance(value, list | dict):
        return json.dumps(value)
    return int(value) if isinstance(value, bool) else value  # as SQLite stores it


def _table_of(rows: list[Row]) -> Table:
    """Return a table with one line per recorded prompt; ids are shortened, but commands still accept them.

    The other columns are kept narrow, so that a terminal of 80 columns has room for the beginning of each prompt.
    """
    hosts = ["host"] if len({row["host"] for row in rows}) > 1 else []
    table = new_list("id", "at", *hosts, "status", "task_type", "prompt")
    for row in rows:
        task_type = f"{row['task_type']}?" if row["uncertain"] and row["task_type"] else row["task_type"]
        prompt = " ".join(row["prompt"][:PROMPT_CHARS].split())
        at = row["at"][5:16].replace("T", " ")  # without the year and the seconds
        status = row["skip_reason"] or row["status"]
        cells = (row["id"][:ID_CHARS], at, *(row[name] for name in hosts), status, task_type, prompt)
        table.add_row(*map(printable, cells))
    return table


def _print_trace(row: Row, *, is_json: bool) -> None:
    if is_json:
        print_json(row)
        return
    console = new_console()
    console.print(_facts_of(row))
    for name in TEXTS:
        if row[name]:
            would_add = (name, row["status"]) == ("output_text", "shadow")
            _print_text(console, "would have added" if would_add else name, row[name])
    _print_lines(console, row)
    if late := _model_of(row).get("text"):
        _print_text(console, "added late", late)
    for name in CHILDREN:
        _print_child(console, name, row)


def _facts_of(row: Row) -> Table:
    """Return the table of a trace's short values, without texts and rows of other tables; empty ones are left out."""
    facts = facts_table()
    for name, value in row.items():
        # ``0`` leaves out false, too: a flag is shown only if it is set.
        if name not in (*TEXTS, *CHILDREN, "label", "line_labels", "inputs") and value not in ("", None, [], 0):
            facts.add_row(name, _cell(value))
    inputs = row["inputs"] or {}
    if why := inputs.get("workflow"):
        facts.add_row("why workflow", printable(why))
    if by_model := (inputs.get("hydration") or {}).get("model"):
        facts.add_row("plan by a model", printable(model_summary(by_model)))
    if model := _model_of(row):
        facts.add_row("model", printable(model_summary(model)))
    if row["label"]:
        facts.add_row("label", printable(row["label"]["task_type"] or row["label"]["verdict"]))
    return facts


def _model_of(row: Row) -> dict[str, Any]:
    return (row["inputs"] or {}).get("model") or {}


def _print_text(console: Console, title: str, text: str) -> None:
    console.print(f"{title}\n", style="bold", end="")
    console.print(printable(text) + "\n", soft_wrap=True)


def _print_child(console: Console, name: str, row: Row) -> None:
    """Print the rows that another table has of this prompt; ``name`` is that table's, without ``trace_``."""
    if name == "scores":
        _print_scores(console, row[name])
    elif name == "items":
        _print_rows(console, name, [_with_label(item, row) for item in row[name]])
    elif name == "rule_violations":
        _print_violations(console, row.get(name, []))
    elif name in queries.RARE:
        for one in row.get(name, ()):
            _print_facts(console, name, one)
    else:
        _print_rows(console, name, row[name])


def _print_violations(console: Console, rows: list[Row]) -> None:
    if rows:
        console.print("violations in what the agent wrote", style="bold")
    for one in rows:
        console.print(printable(violation_summary(one)), soft_wrap=True)


def _print_facts(console: Console, title: str, values: Row) -> None:
    table = facts_table()
    for name, value in values.items():
        if value not in (None, "", [], {}):
            table.add_row(name, printable(_cell(value)))
    console.print(f"{title.replace('_', ' ')}\n", style="bold", end="")
    console.print(table)


def _with_label(item: Row, row: Row) -> Row:
    """Give an item without a text, such as a file, the label with which its channel offered it."""
    if item["text"]:
        return item
    from enricher.context import ChannelResult

    offered = [
        one.label
        for channel in map(ChannelResult.from_json, (row["inputs"] or {}).get("channels", ()))
        for one in channel.candidates
        if channel.name == item["channel"] and one.ref == item["ref"]
    ]
    return {**item, "text": offered[0].removeprefix(item["ref"]).lstrip(" —") if offered else ""}


def _print_scores(console: Console, rows: list[Row]) -> None:
    if not rows:
        return
    table = new_table("facet", "name", "score", "because of", title="scores")
    facets = list(dict.fromkeys(row["facet"] for row in rows))
    for row in sorted(rows, key=lambda row: facets.index(row["facet"])):
        times = Counter(map(_signal, row["evidence"]))
        lines = [f"{line}, {count} times" if count > 1 else line for line, count in times.items()]
        table.add_row(_cell(row["facet"]), _cell(row["name"]), _cell(row["score"]), printable("\n".join(lines)))
    console.print(table)


def _signal(evidence: object) -> str:
    if not isinstance(evidence, list) or len(evidence) != 4:  # another version may have recorded another form
        return str(evidence)
    signal, start, end, weight = evidence
    return f"{signal} {weight:+g} ({start}-{end})"


def _print_rows(console: Console, name: str, rows: list[Row]) -> None:
    if not rows:
        return
    table = new_table(*(column for column in rows[0] if column != "position"), title=name)
    for row in rows:
        table.add_row(*(_cell(value) for column, value in row.items() if column != "position"))
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return printable(", ".join(str(one.get("signal", one)) if isinstance(one, dict) else str(one) for one in value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return printable(json.dumps(value, ensure_ascii=False))
    return "" if value is None else printable(f"{value:.3g}" if isinstance(value, float) else value)


def _print_stats(figures: queries.Stats) -> None:
    console = new_console()
    counts = ", ".join(f"{count} {status}" for status, count in figures.by_status.items())
    console.print(f"{figures.prompts} prompts" + (f": {counts}" if counts else ""))
    imports = f", {figures.judged_imports} of them imported" if figures.judged_imports else ""
    console.print(
        f"failure rate {figures.failure_rate:.2%}, silent share {figures.silent_share:.1%}"
        f" of {figures.judged} judged{imports}\n"
    )
    for title, heading, counted in (
        ("skips by reason", "prompts", figures.skips),
        ("hosts", "last_at", figures.last_seen),
    ):
        if counted:
            table = new_table(title, heading, numbers=1)
            for name, value in counted.items():
                table.add_row(printable(name) or "(unknown)", printable(value))
            console.print(table)
    if figures.latencies:
        table = new_table("stage", "measurements", "p50_ms", "p95_ms", "p99_ms", numbers=4)
        for one in figures.latencies:
            quantiles = (f"{value:.2f}" for value in (one.p50_ms, one.p95_ms, one.p99_ms))
            table.add_row(printable(one.stage), str(one.measurements), *quantiles)
        console.print(table)


def _print_lines(console: Console, trace: Row) -> None:
    """Print the lines of the added text with their labels; ``enricher trace wrong`` refers to a line by its number."""
    found = line_labels.lines(trace)
    if not found:
        return
    judged = {one["line"]: one for one in trace.get("line_labels", ())}
    labels = ("label", "because") if judged else ()
    table = new_table("line", "kind", "text", *labels, title="lines")
    for one in found:
        label = judged.get(one.number)
        said = (line_labels.VERDICT_WORDS[label["verdict"]], label["because"]) if label else ("", "")
        cells = (str(one.number), f"{one.kind} {one.rule}".rstrip(), one.text[:LINE_CHARS], *said[: len(labels)])
        table.add_row(*map(printable, cells))
    console.print(table)


def _print_keep_rates(kept: line_labels.KeepRates) -> None:
    """Print the keep-rates: for each kind of line and each rule, the share of the labelled lines that were right.

    Beside each rate is the filter for ``enricher trace list`` that finds the prompts of these lines.
    """
    if not kept.total.judged:
        return
    title = "keep-rate: share of the judged lines that were right"
    table = new_table("lines of", "right", "95 %", "prompts", title=title)
    for one in (*kept.kinds, *kept.rules, kept.total):
        low, high = one.interval
        name = f"{one.kind} {one.rule}".strip() or "all"
        share = f"{one.share:.0%} ({one.right} of {one.judged})"
        cells = (name, share, f"{low:.0%} to {high:.0%}", one.filter)
        table.add_row(*map(printable, cells))
    new_console().print(table)
