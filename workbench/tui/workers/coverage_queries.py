"""Read what the Coverage screen shows, in its thread: how often each rule fires, and which lines users judged.

Nothing here touches a widget. Each message carries the number of the run that sent it, so that the screen can ignore
messages of earlier runs.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from storage.traces import line_labels
from workbench.tui.messages import Replaceable
from workbench.tui.state import here

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from storage.traces.line_labels import JudgedLine, KeepRates
    from storage.traces.selection import Selection
    from workbench.coverage.coverage import Coverage

    Post = Callable[[Message], object]

REPORT_EVERY_S = 0.7


@dataclass
class Grown(Replaceable):
    """Sent during the measurement, with the coverage of the prompts measured so far.

    ``total`` is the number of all selected prompts.
    """

    run: int
    coverage: Coverage
    total: int
    is_final: bool


@dataclass
class LinesJudged(Message):
    """Sent when the judged lines of added texts have been read; ``kept`` has the shares that users judged as right."""

    run: int
    kept: KeepRates
    lines: list[JudgedLine]


def measure(
    db: sqlite3.Connection, post: Post, *, run: int, which: Selection, path: str, is_over: Callable[[], bool]
) -> None:
    """Post the judged lines of added texts, then, about once a second, how the rules cover the prompts read so far.

    The measurement ends when all selected prompts are read, or once ``is_over`` returns true. The rules are those of
    the instructions at ``path`` or, if ``path`` is empty, the rules that apply in the working folder.
    """
    from workbench.coverage import coverage, rule_positions
    from workbench.replay.corpus import Corpus

    post(LinesJudged(run, line_labels.keep_rates(db, which), line_labels.judged(db, which)))
    corpus = Corpus(db, which)
    total = corpus.count()
    if path:
        text = Path(path).read_text(encoding="utf-8")
        rules = rule_positions.of_file(path, text, versions=corpus.versions)
    else:
        rules = rule_positions.in_force(here())
    measurement = coverage.Measurement(corpus, rules, kept=sys.maxsize)
    posted_at = time.monotonic() - REPORT_EVERY_S / 2  # the first figures are posted sooner than later ones
    for page in corpus.pages():
        if is_over():
            return
        measurement.add(page)
        if time.monotonic() - posted_at > REPORT_EVERY_S:
            post(Grown(run, measurement.coverage(), total, is_final=False))
            posted_at = time.monotonic()
    post(Grown(run, measurement.coverage(), total, is_final=True))
