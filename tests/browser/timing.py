"""``python -m tests.browser.timing --history FOLDER``: how long a person waits for the published pages.

Chromium's own timing of every load (from the click to the last byte, and to the end of its load event), on a warm
server, in rounds of shuffled order beside a page of Datasette that asks no database: ratios to that one travel,
milliseconds do not. The history is the one that ``python tests/big_history.py 1000000 FOLDER`` writes.
"""

from __future__ import annotations

import math
import random
import sqlite3
import statistics
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).parent))

from chromium import MissingBrowserError, running_chromium
from published import HOME, published
from visiting import visiting

from storage.metrics.percentiles import percentile
from storage.traces import DATABASE

if TYPE_CHECKING:
    from playwright.sync_api import Page

YARDSTICK = "a page of Datasette without a query"
WARM_UP = 2
TRACES = 50
PATIENCE_S = 900
TIMING = """() => {
    const one = performance.getEntriesByType('navigation')[0]
    return [one.responseEnd - one.startTime, one.loadEventEnd - one.startTime, one.responseStatus]
}"""
WHICH_TRACE = "select id from traces where rowid >= :row and origin = 'hook' order by rowid limit 1"


@dataclass(slots=True)
class Kind:
    """A kind of page with the paths that are loaded in turn, the target in ms, and what was measured."""

    name: str
    paths: tuple[str, ...]
    target_ms: float = math.inf
    answered_ms: list[float] = field(default_factory=list)
    loaded_ms: list[float] = field(default_factory=list)


def kinds(state: str) -> list[Kind]:
    """Return what is measured; the traces are drawn from the whole history."""
    traces = tuple(f"{HOME}/trace/{one}" for one in _some_traces(f"{state}/{DATABASE}"))
    return [
        Kind(YARDSTICK, ("/-/versions",)),
        Kind("a static file, which is the browser's own time", ("/-/static/app.css",)),
        Kind("home", (HOME,), 300),
        Kind("trace", traces, 50),
        Kind("list with facets", (f"{HOME}/traces",), 300),
        Kind("list of a class with facets", (f"{HOME}/traces?q=type:debug",), 300),
        Kind("Datasette's table with a facet", ("/history/traces?_facet=task_type",), 300),
        Kind("percentiles by day", ("/history/how_long_does_it_take_by_day",), 200),
        Kind("search, a common word", (f"{HOME}/traces?q=invoice",), 200),
        Kind("search, a rare word", (f"{HOME}/traces?q=marmalade",), 200),
    ]


def _some_traces(file: str) -> list[str]:
    chance = random.Random(5)
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        last = int(db.execute("select max(rowid) from traces").fetchone()[0])
        rows = ({"row": chance.randint(1, last)} for _ in range(TRACES))
        return [str(one[0]) for row in rows for one in db.execute(WHICH_TRACE, row)]


def measure(page: Page, address: str, found: list[Kind], runs: int) -> None:
    """Load every kind of page so many times, after a few that do not count."""
    chance = random.Random(7)
    for number in range(WARM_UP + runs):
        for kind in chance.sample(found, len(found)):
            page.goto(address + kind.paths[number % len(kind.paths)], wait_until="load")
            page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
            answered, loaded, status = page.evaluate(TIMING)
            if status != 200:
                raise click.ClickException(f"{page.url} answered {status}")
            if number >= WARM_UP:
                kind.answered_ms.append(answered)
                kind.loaded_ms.append(loaded)


def p95(values: list[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    return percentile(values, 0.95)


def table(found: list[Kind]) -> str:
    """Return the figures as a Markdown table; ratios are of medians until the page is loaded."""
    unit = statistics.median(found[0].loaded_ms)
    lines = [
        "| page | last byte ms, p50 | p95 | loaded ms, p50 | p95 | ratio | target p95 | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in found:
        has_target = kind.target_ms < math.inf
        figures = (statistics.median(kind.answered_ms), p95(kind.answered_ms), statistics.median(kind.loaded_ms))
        verdict = ("met" if is_met(kind) else "missed") if has_target else ""
        target = f"{kind.target_ms:.0f}" if has_target else ""
        shown = " | ".join(f"{value:.0f}" for value in (*figures, p95(kind.loaded_ms)))
        lines.append(f"| {kind.name} | {shown} | {figures[2] / unit:.1f} | {target} | {verdict} |")
    return "\n".join(lines)


def is_met(kind: Kind) -> bool:
    """Say whether the page was loaded within its target in 95 of 100 visits."""
    return p95(kind.loaded_ms) < kind.target_ms


@click.command()
@click.option("--history", required=True, type=click.Path(exists=True, file_okay=False), help="The state folder.")
@click.option("--runs", "-n", default=20, show_default=True, type=click.IntRange(3, 1_000), help="Loads of each page.")
@click.option("--assert", "asserts", is_flag=True, help="Exit with 1 where a target is missed.")
def main(history: str, runs: int, asserts: bool) -> None:
    """Load the pages of a published history in Chromium and print how long that took."""
    found = kinds(history)
    try:
        with (
            running_chromium() as browser,
            published(history, patience_s=PATIENCE_S) as address,
            visiting(browser, address) as visit,
        ):
            measure(visit.page, address, found, runs)
    except (MissingBrowserError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(table(found))
    if asserts and not all(is_met(kind) for kind in found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
