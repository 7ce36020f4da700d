"""What readers' tables answer how soon, and what they cost: ``python tests/roll_up_costs.py FOLDER [ROUNDS]``.

FOLDER holds a history that has caught up and is left as it is; without ROUNDS it is only asked. For the costs the same
traces go into two copies of it, one with an index and one without, a batch each in turn; then a copy catches up.
Figures are per trace; the ratio is the median of those of neighbouring batches.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from big_history import _history, _write

from storage import traces
from storage.db import database
from storage.metrics import facets, overview, rollups
from storage.metrics.percentiles import percentile
from storage.traces import filter_text, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BATCH, ANSWERS = 100, 20
SELECTIONS = (
    "", "type:debug", "guardrail:H3", "guardrail:H9", "invoice", "marmalade", "ms>20", "since:2026-09-19",
    "label:wrong", "host:opencode type:planning",
)  # fmt: skip
WHICH_SESSION = "select session_id from traces order by id desc limit 1"
INDICES = (
    "traces_with_a_guardrail", "traces_in_brief", "traces_by_latency", "traces_by_tokens", "traces_that_were_skipped",
    "channels_that_failed",
)  # fmt: skip

Rows = dict[str, list[tuple[object, ...]]]


def new_traces(rounds: int) -> Iterator[Rows]:
    """Yield batches of traces that no history has."""
    found = _history(rounds * BATCH, random.Random("others"))
    for _ in range(rounds):
        rows: Rows = {}
        for _ in range(BATCH):
            for table, own in next(found).items():
                rows.setdefault(table, []).extend(own)
        yield rows


def copied(stack: ExitStack, history: Path) -> sqlite3.Connection:
    """Return a copy of the history that has caught up."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "state"
    shutil.copytree(history, folder)
    db = stack.enter_context(closing(database.connect(str(folder))))
    rollups.catch_up(db)
    search.catch_up(db)
    return db


def inserting(history: Path, index: str, rounds: int) -> tuple[float, float, float]:
    """Return milliseconds per trace with and without the index, and the ratio."""
    chance = random.Random(7)
    spent: list[tuple[float, float]] = []
    with ExitStack() as stack:
        both = copied(stack, history), copied(stack, history)
        both[1].execute(f"drop index {index}")
        for rows in new_traces(rounds):
            took = [0.0, 0.0]
            for which in chance.sample((0, 1), 2):
                start = time.perf_counter()
                _write(both[which], rows)
                took[which] = (time.perf_counter() - start) / BATCH * 1000
            spent.append((took[0], took[1]))
    each = [statistics.median(column) for column in zip(*spent, strict=True)]
    return each[0], each[1], statistics.median(one / other for one, other in spent)


def catching_up(db: sqlite3.Connection, catch_up: Callable[[sqlite3.Connection], int]) -> list[float]:
    """Return the milliseconds for which each of the transactions holds the database."""
    held: list[float] = []
    began = 0.0

    def note(statement: str) -> None:
        nonlocal began
        if statement == "begin immediate":
            began = time.perf_counter()
        elif statement == "commit":
            held.append((time.perf_counter() - began) * 1000)

    db.set_trace_callback(note)
    catch_up(db)
    db.set_trace_callback(None)
    return held


def asking(db: sqlite3.Connection) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Yield what pages ask, with median and p95 of some answers and the median time of the processor, in ms."""
    for days in (0, 7, 30, 90):
        yield f"overview, {days or 'all'} days", answers(lambda days=days: overview.overview(db, days=days))  # type: ignore[misc]
    for text in (*SELECTIONS, f"session:{db.execute(WHICH_SESSION).fetchone()[0]}"):
        which = filter_text.parse(text)
        yield f"facets of {text or 'everything'}", answers(lambda which=which: facets.facets(db, which))  # type: ignore[misc]


def answers(question: Callable[[], object]) -> tuple[float, float, float]:
    """Return median, p95 and the median time of the processor in milliseconds; the first answer is left out."""
    question()
    took, busy = [], []
    for _ in range(ANSWERS):
        start, own = time.perf_counter(), time.thread_time()
        question()
        took.append((time.perf_counter() - start) * 1000)
        busy.append((time.thread_time() - own) * 1000)
    return statistics.median(took), percentile(took, 0.95), statistics.median(busy)


def print_answers(history: Path) -> None:
    """Print how soon a history answers."""
    with closing(sqlite3.connect(f"file:{history}/{traces.DATABASE}?mode=ro", uri=True)) as db:
        print("| asked | median ms | p95 ms | processor ms |\n|---|---|---|---|")
        for name, figures in asking(db):
            print("| {} | {:.1f} | {:.1f} | {:.1f} |".format(name, *figures))


def print_costs(history: Path, rounds: int) -> None:
    """Print what a trace costs."""
    print(f"\n{rounds} batches of {BATCH} traces\n\n| index | ms per trace with | without | ratio |\n|---|---|---|---|")
    for index in INDICES:
        print("| {} | {:.3f} | {:.3f} | {:.2f} |".format(index, *inserting(history, index, rounds)))
    print("\n| brought up to date | ms per trace | longest transaction, ms |\n|---|---|---|")
    with ExitStack() as stack:
        db = copied(stack, history)
        for rows in new_traces(rounds):
            _write(db, rows)
        for name, catch_up in (("roll-ups", rollups.catch_up), ("index of words", search.catch_up)):
            held = catching_up(db, catch_up)
            print(f"| {name} | {sum(held) / (rounds * BATCH):.3f} | {max(held):.1f} |")


if __name__ == "__main__":
    print_answers(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        print_costs(Path(sys.argv[1]), int(sys.argv[2]))
