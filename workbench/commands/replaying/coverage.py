"""``enricher coverage``: how often each signal, guardrail, approach and workflow fires on the recorded prompts."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import new_console, new_table, print_json, printable
from workbench.commands.replaying.blast_radius import opened
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from storage.traces.selection import Selection
    from workbench.coverage.figures import Coverage, CoverageRow
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.replay.corpus import Corpus

MOST_SHOWN = 30  # rows of each list


@click.command("coverage", epilog="Example: enricher coverage --where since:30d")
@options.where()
@options.instructions_file(default="all layers that apply")
@click.option("--all", "is_all", is_flag=True, help="List every signal, not only the conspicuous ones.")
@options.as_json
def coverage(selection: Selection, instructions: str | None, is_all: bool, is_json: bool) -> None:
    """Count how often each rule fires on the recorded prompts, and how many tokens it adds.

    It lists the rules that never or always fire, those that fire on the same prompts, and the prompts on which no
    rule fires.
    """
    from workbench.coverage.coverage import measure
    from workbench.coverage.figures import as_object

    with opened(selection) as corpus:
        found = measure(corpus, _rules_to_measure(corpus, instructions))
        left_out = dict(corpus.left_out)
    if is_json:
        print_json({**as_object(found), "left_out": left_out})
        return
    for reason, count in sorted(left_out.items()):
        click.echo(f"{count} left out: {reason}", err=True)
    if not found.prompts:
        narrow = f"--where {selection.typed!r} may be too narrow"
        remedy = narrow if selection.typed else "to import past conversations, run: enricher trace import"
        click.echo(printable(f"no recorded prompt can be judged; {remedy}"), err=True)
        return
    _print(found, is_all=is_all)


def _rules_to_measure(corpus: Corpus, instructions: str | None) -> LocatedRules:
    from workbench.coverage import rule_positions

    if not instructions:
        return rule_positions.in_force(os.getcwd())
    try:
        text = Path(instructions).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{instructions}: cannot be read as UTF-8 text: {error}") from error
    return rule_positions.of_file(os.path.abspath(instructions), text, versions=corpus.versions)


def _print(found: Coverage, *, is_all: bool) -> None:
    console = new_console()
    again = f", {found.judged_again:,} of them judged again under these rules" if found.judged_again else ""
    click.echo(f"{counted(found.prompts, 'prompt')}{again}; {found.labelled:,} labelled")
    if found.folder:
        click.echo(printable(f"all are judged as if they had been typed in {found.folder}, whose own rules count here"))
    click.echo(
        printable(f"a place without a file name, such as :12, is a line of {os.path.relpath(_main_file(found.rows))}")
    )
    _print_lines(console, found)
    dead = [row for row in found.dead() if row.kind == "signal"]
    if dead:
        reach = f"each may still fire in up to {100 * found.dead_may_reach():.2g} % of prompts (95 %)"
        foreign = sum(row.is_foreign for row in dead)
        last = f", {foreign} with wordings of other languages last" if foreign else ""
        click.echo(f"\n{counted(len(dead), 'signal')} never fired{last}; {reach}:")
        _print_places(dead, found)
    if seldom := found.too_seldom_asked():
        names = ", ".join(f"{row.name} ({row.prompts})" for row in seldom)
        click.echo(
            printable(f"\nToo few prompts to tell; each with the number of prompts for which it was asked: {names}")
        )
    if found.always_on():
        click.echo("\nFired in every prompt, so they do not tell prompts apart:")
        _print_places(found.always_on(), found)
    if found.overlaps:
        click.echo("\nFired in exactly the same prompts:")
        main = _main_file(found.rows)
        for overlap in found.overlaps[:MOST_SHOWN]:
            named = "  and  ".join(f"{_named(row)} ({_place(row, main)})" for row in overlap.rows)
            click.echo(printable(f"  {overlap.fired} prompts: {named}"))
    _print_signals(console, found, is_all=is_all)
    _print_unmatched(found)


def _print_lines(console: Console, found: Coverage) -> None:
    table = _fixed(new_table("kind", "name", "place", "prompts", "share", "tokens", numbers=3), but=2)
    main = _main_file(found.rows)
    for row in found.rows:
        # Signals have a table of their own; classes and channels are listed only if they fired.
        if row.kind != "signal" and (row.fired or row.kind in ("guardrail", "approach", "workflow")):
            cost = f"{row.tokens_each} x {row.fired}" if row.tokens else ""
            table.add_row(row.kind, printable(row.name), _place(row, main), str(row.fired), _share(row, found), cost)
    console.print(table)


def _print_signals(console: Console, found: Coverage, *, is_all: bool) -> None:
    """Print all signals if ``is_all``, else only those that labels show to be right no more often than by chance."""
    shown = [row for row in found.rows if row.kind == "signal"] if is_all else found.doubtful()[:MOST_SHOWN]
    if not found.labelled:
        click.echo("\nNo labelled prompt has a signal yet; to label prompts, run: enricher trace queue", err=True)
    elif not shown:
        click.echo("\nWith 95 % certainty, no signal is right less often than chance; --all lists every signal")
    if not shown:
        return
    click.echo("\nSignals" if is_all else "\nWith 95 % certainty, right no more often than chance:")
    table = _fixed(new_table("signal", "for", "place", "weight", "prompts", "right", "class", numbers=4))
    main = _main_file(found.rows)
    for row in shown:
        by_chance = _percent(found.class_share(row)) if row.right + row.wrong else ""
        figures = str(row.weight), str(row.fired), _rightness(row), by_chance
        table.add_row(printable(row.label), printable(row.name), _place(row, main), *figures)
    console.print(table)


def _fixed(table: Table, *, but: int = 0) -> Table:
    """Make ``table`` wrap only the column with index ``but`` if the terminal is too narrow; return the table."""
    for number, column in enumerate(table.columns):
        column.no_wrap = number != but
    return table


def _print_unmatched(found: Coverage) -> None:
    click.echo(
        f"\n{counted(found.unmatched, 'prompt')} in which no signal for a task type fired, apart from their length"
    )
    for cluster in found.clusters:
        click.echo(printable(f"  {cluster.prompts}: {', '.join(cluster.terms)}  ({' '.join(cluster.examples)})"))


def _print_places(rows: Sequence[CoverageRow], found: Coverage) -> None:
    main = _main_file(found.rows)
    for row in rows[:MOST_SHOWN]:
        click.echo(printable(f"  {_place(row, main)}  {_named(row)}"))
    if len(rows) > MOST_SHOWN:
        click.echo(f"  and {len(rows) - MOST_SHOWN} more (--json)")


def _named(row: CoverageRow) -> str:
    return f"{row.name}: {row.label}" if row.label else f"{row.kind} {row.name}"


def _main_file(rows: Sequence[CoverageRow]) -> str:
    """Return the file that contains the most rules, without counting signals."""
    return Counter(row.file for row in rows if row.kind != "signal").most_common(1)[0][0]


def _place(row: CoverageRow, main: str) -> str:
    """Return the place of a rule as ``file:line``; the file name is left out for the file ``main``."""
    # A path that leads out of both folders ("..") is shown in full.
    beside, near = os.path.relpath(row.file, os.path.dirname(main)), os.path.relpath(row.file)
    named = next((one for one in (beside, near) if not one.startswith("..")), row.file)
    return printable(f"{'' if row.file == main else named}:{row.line}")


def _share(row: CoverageRow, found: Coverage) -> str:
    if not row.prompts:
        return "not asked"
    return _percent(row.share) + (f" of {row.prompts}" if row.prompts < found.prompts else "")


def _percent(share: float) -> str:
    """Return a share in percent, with three significant digits."""
    return f"{100 * share:.3g} %"


def _rightness(row: CoverageRow) -> str:
    """Return in words how often a signal's class won rightly on labelled prompts, with Wilson's interval in percent.

    The text is empty if its class won on no labelled prompt on which the signal fired.
    """
    count = row.right + row.wrong
    if not count:
        return ""
    interval = row.rightness()
    return f"{row.right}/{count} ({100 * interval.low:.0f}-{100 * interval.high:.0f} %)"
