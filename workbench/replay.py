"""Judge the recorded prompts again under other rules, newest first, and pair what both sides say.

The recorded side is read, not run again; a prompt that the edit cannot reach is not run
either. Above POOL_FROM prompts that must be judged, other processes help.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.compare import BlastRadius, Pair, Prompt
from workbench.outcome import Outcome, judged_again
from workbench.reach import Reach
from workbench.sides import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from enricher.rules.cache import Rules
    from storage.corpus import Row
    from workbench.corpus import Corpus
    from workbench.sides import Side

    Sides = tuple[Outcome | None, Outcome | None]

POOL_FROM = 20_000
"""Prompts; below it, starting processes costs more than it saves."""
FIRST_BATCH, BATCH = 100, 500
"""Prompts between two looks at whether to stop, and between two figures on the screen."""
WAITING_PER_PROCESS = 4


def never() -> bool:
    """Return that a replay goes on to its end."""
    return False


@dataclass(slots=True)
class Judge:
    """The rules of both sides for prompts recorded under each version; None is the recorded side itself."""

    recorded: dict[str, Rules | None] = field(default_factory=dict)
    before: dict[str, Rules | None] = field(default_factory=dict)
    after: dict[str, Rules | None] = field(default_factory=dict)

    def outcomes(self, row: Row) -> Sides:
        """Return what both sides say, None for what was recorded."""
        recorded = self.recorded[row.rules_hash]
        sides = self.before[row.rules_hash], self.after[row.rules_hash]
        before, after = (judged_again(row, rules, recorded=recorded) if rules else None for rules in sides)
        return before, after


class Replay:
    """One run of a corpus under two sides; iterating yields pairs in lists, newest first.

    Raises ``workbench.sides.SideError`` on the way where a version cannot be compiled.
    ``judged`` counts the prompts that had to be run again.
    """

    def __init__(
        self, corpus: Corpus, candidate: Side, *, base: Side = RECORDED, should_stop: Callable[[], bool] = never
    ) -> None:
        self.corpus, self.candidate, self.base = corpus, candidate, base
        self.should_stop = should_stop
        self.judged = 0
        self._judge = Judge()
        self._reach: dict[str, list[Reach]] = {}

    @property
    def is_same_rules(self) -> bool:
        """Say whether both sides are one set of rules, so that no comparison is possible."""
        return bool(self.base.hash) and self.base.hash == self.candidate.hash

    def blast_radius(self) -> BlastRadius:
        """Return the empty account of this run, to add its pairs to."""
        return BlastRadius(self.base.label, self.candidate.label, is_same_rules=self.is_same_rules)

    def pairs(self, *, processes: int = 0) -> Iterator[list[Pair]]:
        """Yield the pairs; with ``processes`` 0, others help where there is enough to do, with 1 none does."""
        wanted = processes or (_processors() if self.corpus.count() > POOL_FROM else 1)
        with ExitStack() as stack:
            pool = None
            if wanted > 1:
                pool = stack.enter_context(self._pool(wanted))
            yield from self._run(pool, waiting=wanted * WAITING_PER_PROCESS)

    def _pool(self, processes: int) -> ProcessPoolExecutor:
        """Start processes that know the rules of every version, so that only prompts travel."""
        for version in self.corpus.versions.in_use:
            self._rules_of(version)
        spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may never come up
        return ProcessPoolExecutor(processes, mp_context=spawn, initializer=_prepare, initargs=(self._judge,))

    def _run(self, pool: ProcessPoolExecutor | None, *, waiting: int) -> Iterator[list[Pair]]:
        begun: deque[tuple[list[Row], list[Row], Future[list[Sides]]]] = deque()
        for batch in self._batches():
            if self.should_stop():
                break
            touched = [row for row in batch if self._is_touched(row)]
            self.judged += len(touched)
            if pool is None:
                yield self._paired(batch, {row.id: self._judge.outcomes(row) for row in touched})
                continue
            begun.append((batch, touched, pool.submit(_judge_all, touched)))
            if len(begun) > waiting:
                yield self._collected(*begun.popleft())
        while begun and not self.should_stop():
            yield self._collected(*begun.popleft())
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _batches(self) -> Iterator[list[Row]]:
        size = FIRST_BATCH
        for page in self.corpus.pages():
            for start in range(0, len(page), size):
                yield page[start : start + size]
            size = BATCH

    def _collected(self, batch: list[Row], touched: list[Row], judged: Future[list[Sides]]) -> list[Pair]:
        return self._paired(batch, dict(zip((row.id for row in touched), judged.result(), strict=True)))

    def _paired(self, batch: Iterable[Row], judged: dict[str, Sides]) -> list[Pair]:
        return [self._pair(row, *judged.get(row.id, (None, None))) for row in batch]

    def _pair(self, row: Row, before: Outcome | None, after: Outcome | None) -> Pair:
        prompt = Prompt(row.id, row.at, row.session_id, row.project, row.host, row.prompt, row.rules_hash)
        recorded = _in_short(row)
        one, other = before or recorded, after or recorded
        if one is other or one.is_same(other):
            return Pair(prompt, one, one)
        if recorded in (one, other):
            whole = self.corpus.recorded(row)
            one, other = (whole if side is recorded else side for side in (one, other))
        return Pair(prompt, one, other)

    def _is_touched(self, row: Row) -> bool:
        """Say whether a side must be run for this prompt."""
        reaches = self._rules_of(row.rules_hash)
        texts = (row.prompt, row.inputs) if '"conversation"' in row.inputs else (row.prompt,)
        return any(reach.may_touch(*texts) for reach in reaches)

    def _rules_of(self, version: str) -> list[Reach]:
        """Return how far the sides that must be run reach beyond what a version said."""
        if version not in self._reach:
            recorded = self.corpus.versions.rules(version)
            sides = [side.rules_for(version) for side in (self.base, self.candidate)]
            self._judge.recorded[version] = recorded
            self._judge.before[version], self._judge.after[version] = sides
            self._reach[version] = [Reach(recorded, rules) for rules in sides if rules]
        return self._reach[version]


_PREPARED: list[Judge] = []


def _prepare(judge: Judge) -> None:
    _PREPARED[:] = [judge]


def _judge_all(rows: list[Row]) -> list[Sides]:
    return [_PREPARED[0].outcomes(row) for row in rows]


def _in_short(row: Row) -> Outcome:
    """What was said, without what only a difference makes worth reading."""
    return Outcome(row.task_type, not row.uncertain, row.search_intent, (), "", (), row.output_text, row.output_tokens)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
