"""Print the lines of an added text with their labels, and the keep-rates of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enricher.interfaces.cli.output import new_console, new_table, printable
from storage.traces import line_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

LINE_CHARS = 60


def print_lines(console: Console, trace: Mapping[str, Any]) -> None:
    """Print the number of each line of the added text, by which ``enricher trace wrong`` names it, and its label."""
    found = line_labels.lines(trace)
    if not found:
        return
    judged = {one["line"]: one for one in trace.get("line_labels", ())}
    labels = ("label", "because") if judged else ()
    table = new_table("line", "kind", "text", *labels)
    table.title, table.title_justify = "lines", "left"
    for one in found:
        label = judged.get(one.number)
        said = (line_labels.VERDICT_WORDS[label["verdict"]], label["because"]) if label else ("", "")
        cells = (str(one.number), f"{one.kind} {one.rule}".rstrip(), one.text[:LINE_CHARS], *said[: len(labels)])
        table.add_row(*map(printable, cells))
    console.print(table)


def print_keep_rates(kept: line_labels.KeepRates) -> None:
    """Print the share of judged lines that were right, and the filter that selects the prompts counted."""
    if not kept.total.judged:
        return
    table = new_table("lines of", "right", "95 %", "prompts")
    table.title, table.title_justify = "keep-rate: share of the judged lines that were right", "left"
    for one in (*kept.kinds, *kept.rules, kept.total):
        low, high = one.interval
        name = f"{one.kind} {one.rule}".strip() or "all"
        share = f"{one.share:.0%} ({one.right} of {one.judged})"
        cells = (name, share, f"{low:.0%} to {high:.0%}", one.filter)
        table.add_row(*map(printable, cells))
    console = new_console()
    console.print(table)
