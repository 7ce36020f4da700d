"""``enricher bench``: one command for each benchmark whose figures the README or the documentation quote."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import CommandGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.interfaces.bench import BenchRow

FIGURES = {
    "median_ms": "median ms", "p95_ms": "p95 ms", "p99_ms": "p99 ms", "ratio": "ratio of medians",
    "p99_ratio": "ratio of p99",
}  # fmt: skip
"""The figures of a ``BenchRow`` that are printed as columns of a table, with the titles of these columns."""


def report_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options ``--json`` and ``--assert``."""
    asserting = click.option("--assert", "asserts", is_flag=True, help="Exit with code 1 if a target is missed.")
    return as_json(asserting(command))


def rounds(default: int, *, least: int = 1, most: int = 10_000) -> Callable[[Any], Any]:
    """Return the option ``--runs``, the number of times that each command is measured (``least`` to ``most``).

    If ``least`` is 0, the help text says that with 0 these measurements are skipped.
    """
    zero = "; 0: none" if least == 0 else ""
    return click.option(
        "--runs",
        "-n",
        default=default,
        show_default=True,
        type=click.IntRange(least, most),
        help=f"How often each run is repeated{zero}.",
    )


def sizes_of_memory(default: str) -> Callable[[Any], Any]:
    """Return the option ``--memories``, a list of numbers; the benchmark runs once with each number of memories."""
    return click.option(
        "--memories",
        "--n",
        "sizes",
        default=default,
        show_default=True,
        metavar="N,…",
        callback=_numbers,
        help="Numbers of memories to measure with, separated by commas.",
    )


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    del ctx, param
    if not all(part.strip().isdecimal() and int(part) for part in value.split(",")):
        raise click.BadParameter(f"{value!r} is not a list of numbers above 0, such as 100,1000")
    return [int(part) for part in value.split(",")]


@click.group("bench", cls=CommandGroup, epilog="Example: enricher bench hook --runs 20")
def bench() -> None:
    """Measure how long the hook and its parts take, usually in comparison with a simpler program."""


@bench.command("hook", epilog="Example: enricher bench hook --runs 20")
@rounds(100, least=10)
@report_options
def hook(runs: int, is_json: bool, asserts: bool) -> None:
    """Time the whole hook process, and compare it with the start of a bare Python interpreter."""
    from enricher.interfaces.bench.hook import hook_rows

    report("hook", hook_rows(runs), is_json=is_json, asserts=asserts)


@bench.command("intent", epilog="Example: enricher bench intent")
@report_options
def intent(is_json: bool, asserts: bool) -> None:
    """Time only the classification of prompts of several sizes, without starting a hook process."""
    from enricher.interfaces.bench.hook import classification_rows

    report("intent", classification_rows(), is_json=is_json, asserts=asserts)


@bench.command("llm", epilog="Example: enricher bench llm --runs 20")
@rounds(50, least=5)
@report_options
def llm(runs: int, is_json: bool, asserts: bool) -> None:
    """Time the hook without a model, with a model that answers at once, and with one that never answers."""
    from enricher.interfaces.bench.hook import missed_with_a_model, model_rows

    rows = model_rows(runs)
    print_rows(rows, is_json=is_json)
    finish(missed_with_a_model(rows), asserts=asserts)


@bench.command("plan", epilog="Example: enricher bench plan --runs 5 --seconds 1")
@rounds(50, least=3)
@click.option(
    "--seconds",
    default=3.0,
    show_default=True,
    type=click.FloatRange(0.1, 12),
    help="How long the loopback model takes for a plan.",
)
@report_options
def plan(runs: int, seconds: float, is_json: bool, asserts: bool) -> None:
    """Time the hook when a slow model writes the plan, and when the rules do; the target is at most 10 seconds."""
    from enricher.interfaces.bench.hook import missed_with_a_plan, plan_rows

    rows = plan_rows(runs, seconds)
    print_rows(rows, is_json=is_json)
    finish(missed_with_a_plan(rows, seconds), asserts=asserts)


@bench.command("topics", epilog="Example: enricher bench topics --memories 100,1000")
@sizes_of_memory("100,1000,10000")
@report_options
def topics(sizes: list[int], is_json: bool, asserts: bool) -> None:
    """Time building and using the index of memory topics, compared with counting the words of the same memories."""
    from enricher.interfaces.bench.topics import topic_rows

    report("topics", topic_rows(sizes), is_json=is_json, asserts=asserts)


@bench.command("context", epilog="Example: enricher bench context --memories 1000 --runs 0")
@sizes_of_memory("1000,10000,100000")
@rounds(40, least=0)
@report_options
def context(sizes: list[int], runs: int, is_json: bool, asserts: bool) -> None:
    """Compare the search for memories with a plain FTS5 query; also time the hook with 10,000 memories."""
    from enricher.interfaces.bench import context as bench_context

    found = bench_context.search_rows(sizes)
    hooks = bench_context.hook_rows(runs) if runs else []
    if is_json:
        click.echo(json.dumps({"search": [asdict(row) for row in found], "hook": [asdict(row) for row in hooks]}))
    else:
        click.echo("\n".join(bench_context.lines(found)))
        if hooks:
            click.echo("")
            print_rows(hooks, is_json=False)
    finish(bench_context.missed(found, hooks), asserts=asserts)


@bench.command("recall", epilog="Example: enricher bench recall --memories 100,1000")
@sizes_of_memory("100,1000,10000")
@report_options
def recall(sizes: list[int], is_json: bool, asserts: bool) -> None:
    """Time only the search for memories: without weights, and with those that a search intent gives kinds of memory."""
    from enricher.interfaces.bench import context as bench_context

    found = bench_context.search_rows(sizes)
    click.echo(json.dumps([asdict(row) for row in found]) if is_json else "\n".join(bench_context.lines(found)))
    finish(bench_context.missed(found, []), asserts=asserts)


@bench.command("compare", epilog="Example: enricher bench compare before.json now.json")
@click.argument("before", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("now", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--percent",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0),
    help="By how much a ratio may rise.",
)
def compare(before: Path, now: Path, percent: float) -> None:
    """Compare two measurements of a benchmark; exit with code 1 if a ratio rose by more than 10 percent.

    BEFORE and NOW are files that the same benchmark wrote with --json.
    """
    # Only ratios to the yardstick of the same run: milliseconds depend too much on what else the machine does.
    try:
        changes = _changes(before, now)
    except BadMeasurementError as error:
        raise click.ClickException(str(error)) from error
    click.echo("| | ratio before | now | change |\n|---|---|---|---|")
    for change in changes:
        click.echo(f"| {change.row} | {change.before:.2f} | {change.now:.2f} | {change.percent:+.1f} % |")
    slower = [change.row for change in changes if change.percent > percent]
    for row in slower:
        click.echo(f"slower by more than {percent:g} %: {row}", err=True)
    sys.exit(bool(slower))


class BadMeasurementError(ValueError):
    """Raised if a file contains no rows of a benchmark; the message says how to make one."""


@dataclass(frozen=True, slots=True)
class RatioChange:
    """The ratio of one row of a benchmark in an earlier and in a newer measurement."""

    row: str
    before: float
    now: float

    @property
    def percent(self) -> float:
        """Return by how many percent the newer ratio is higher; negative if it is lower."""
        return 100 * (self.now / self.before - 1)


def _read_ratios(file: Path) -> dict[str, float]:
    """Return the ratio of each row in a file that a benchmark wrote with ``--json``.

    Raises BadMeasurementError if the file has another form.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        # ``bench context`` writes two tables: searches, whose rows are named by a number of memories, and hooks.
        rows = [row for table in found.values() for row in table] if isinstance(found, dict) else found
        ratios = {
            str(row["name"] if "name" in row else f"{row['memories']} memories"): float(row["ratio"]) for row in rows
        }
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise BadMeasurementError(f"{file} holds no rows of a benchmark ({error!r}); write it with --json") from error
    if not all(ratio > 0 for ratio in ratios.values()):
        raise BadMeasurementError(f"{file} has a row whose ratio is not above 0; measure again")
    return ratios


def _changes(before: Path, now: Path) -> list[RatioChange]:
    """Return how the ratio of each row changed that is in both files, in the order of the rows in ``now``.

    Raises BadMeasurementError if a file cannot be read or the two have no row in common.
    """
    earlier, newer = _read_ratios(before), _read_ratios(now)
    changes = [RatioChange(row, earlier[row], ratio) for row, ratio in newer.items() if row in earlier]
    if not changes:
        raise BadMeasurementError(f"{before} and {now} have no row in common; they must be of the same benchmark")
    return changes


def print_rows(rows: list[BenchRow], *, is_json: bool) -> None:
    """Print the rows of a benchmark as a table in Markdown, or as JSON."""
    if is_json:
        click.echo(json.dumps([asdict(row) for row in rows]))
        return
    shown = {name: title for name, title in FIGURES.items() if any(getattr(row, name) is not None for row in rows)}
    click.echo(f"| | {' | '.join(shown.values())} | runs |\n|---|{'---|' * len(shown)}---|")
    for row in rows:
        click.echo(f"| {row.name} | {' | '.join(f'{getattr(row, name):.2f}' for name in shown)} | {row.runs} |")


def report(name: str, rows: list[BenchRow], *, is_json: bool, asserts: bool) -> None:
    """Print the rows of the benchmark ``name``, a table of its targets (not with ``is_json``), and the missed targets.

    With ``asserts``, exit with code 1 if a target was missed.
    """
    from enricher.interfaces.bench import highest_figures, missed

    print_rows(rows, is_json=is_json)
    if not is_json:
        click.echo("\n| target | at most | measured | |\n|---|---|---|---|")
        for target, highest in highest_figures(name, rows).items():
            verdict = "holds" if highest <= target.most else "missed"
            click.echo(f"| {target.row}, {FIGURES[target.figure]} | {target.most:,g} | {highest:.2f} | {verdict} |")
    finish(missed(name, rows), asserts=asserts)


def finish(missed: list[str], *, asserts: bool) -> None:
    """Print the missed targets; with ``asserts``, exit with code 1 if there are any."""
    for name in missed:
        click.echo(f"target missed: {name}", err=True)
    if missed and asserts:
        sys.exit(1)
