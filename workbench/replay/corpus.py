"""Read the prompts for a replay from the database, all or a selection, with their recorded outcomes.

A corpus only reads from the database; each thread and process opens its own.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from storage.db import database
from storage.evaluation import corpus
from storage.traces.selection import EVERYTHING
from workbench.replay.outcome import Outcome
from workbench.replay.rulesets.versions import Versions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from storage.evaluation.corpus import RecordedPrompt
    from storage.traces.selection import Selection

NOT_CLASSIFIED = ("skipped", "error")
"""Statuses of prompts that were never classified, so that a replay has nothing to compare with."""


@dataclass(slots=True)
class Corpus:
    """Selected prompts of an open database; ``left_out`` counts, by reason, those that cannot be judged again.

    ``limit`` bounds the number of prompts, newest first; 0 means all.
    """

    db: sqlite3.Connection
    selection: Selection = EVERYTHING
    limit: int = 0
    versions: Versions = field(init=False)
    left_out: Counter[str] = field(default_factory=Counter)
    ids_left_out: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.versions = Versions(self.db)

    def count(self) -> int:
        """Return the number of selected prompts, including those that will be left out."""
        found = corpus.count(self.db, self.selection)
        return min(found, self.limit) if self.limit else found

    def pages(self) -> Iterator[list[RecordedPrompt]]:
        """Yield the prompts that can be judged again, newest first, a few hundred at a time."""
        for page in corpus.rows(self.db, self.selection, limit=self.limit):
            yield [row for row in page if not self._is_left_out(row)]

    def prompts(self) -> Iterator[RecordedPrompt]:
        """Yield the prompts that can be judged again, newest first."""
        for page in self.pages():
            yield from page

    def find(self, trace_id: str) -> RecordedPrompt | None:
        """Return the prompt with this id, whether it is selected or not; None if there is none."""
        return next(corpus.rows_of(self.db, [trace_id]), None)

    def _is_left_out(self, row: RecordedPrompt) -> bool:
        reason = why_left_out(row)
        if reason:
            self.left_out[reason] += 1
            self.ids_left_out[reason].append(row.id)
        return bool(reason)

    def recorded(self, row: RecordedPrompt) -> Outcome:
        """Return the outcome recorded for the prompt."""
        short = recorded_in_short(row)
        if not row.output_text:
            return short
        guardrails, items = corpus.guardrails(self.db, row.id), corpus.kept_items(self.db, row.id)
        return replace(short, guardrails=guardrails, approach=row.approach, items=items)


def recorded_in_short(row: RecordedPrompt) -> Outcome:
    """Return the recorded outcome without guardrails, approach and items, which are read only if outcomes differ."""
    return Outcome(
        row.task_type, not row.uncertain, row.search_intent, row.workflow, (), "", (), row.output_text,
        row.output_tokens,
    )  # fmt: skip


def why_left_out(row: RecordedPrompt) -> str:
    """Return why a recorded prompt cannot be judged again; empty if it can."""
    if row.status in NOT_CLASSIFIED:
        return row.status
    return "" if row.has_inputs else "no text kept"  # the setting log = hash


@contextlib.contextmanager
def opened(state_dir: str, selection: Selection = EVERYTHING, *, limit: int = 0) -> Iterator[Corpus]:
    """Open the database of the state folder, yield the selected prompts as a corpus, and close the database.

    Traces that the hook has spooled to files are imported first. Raises StorageError if the database cannot be used.
    """
    with database.opened(state_dir) as db:
        yield Corpus(db, selection, limit)
