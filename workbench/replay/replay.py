"""Judge recorded prompts again under two sets of rules, the base and the candidate, and pair the two outcomes.

Prompts that the difference between the rules cannot affect are not judged again: they keep their recorded outcome. If
there are more than POOL_FROM (20,000) prompts and most must be judged, several processes share the work.

All figures of the workbench rely on what ``verify`` checks: a prompt that is judged again by the rules that it was
recorded under gets exactly the text that was recorded for it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter, deque
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from storage.evaluation import corpus
from storage.traces.selection import Selection
from workbench.replay.compare import BlastRadius, Change, Pair, PairedPrompt, Replayed, kinds
from workbench.replay.corpus import recorded_in_short
from workbench.replay.evaluator import EvaluationTask, Evaluator, Impacts, evaluate_all, prepare
from workbench.replay.impact import WEIGH
from workbench.replay.outcome import Outcome, reevaluated
from workbench.replay.rulesets.compared_rules import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt, Scores
    from workbench.replay.corpus import Corpus
    from workbench.replay.evaluator import Sides, Situation
    from workbench.replay.rulesets.compared_rules import Side

    Batch = tuple[list[RecordedPrompt], list[EvaluationTask]]
    Ask = Callable[[str, Rules], dict[str, Any]]
    """Asks a language model about a prompt under these rules; returns the record of the call (``opinion_request``)."""

POOL_FROM = 20_000
"""Number of prompts below which starting processes costs more than it saves."""
FIRST_BATCH, BATCH = 100, 500
"""Number of prompts in a batch: on the first page of prompts, and later.

``should_stop`` is checked before each batch, and the screen can be updated after it.
"""
WAITING_PER_PROCESS = 4
"""Number of batches per process that are submitted to the pool before the result of the oldest is awaited."""
WITH_TESTS = Selection("1")
"""Selects all prompts, even those that tests recorded, because ``verify`` must reproduce their texts as well."""


def never() -> bool:
    """Return False; as the default ``should_stop``, it lets a replay run to its end."""
    return False


class Replay:
    """A replay of the prompts of a corpus under two sets of rules, ``base`` and ``candidate``.

    ``judged`` counts the prompts that had to be judged again. If ``ask_today`` is true, a built-in channel (a source of
    facts for a prompt) is queried now if base or candidate would have sent it a request that differs from the recorded
    one.
    """

    def __init__(
        self,
        corpus: Corpus,
        candidate: Side,
        *,
        base: Side = RECORDED,
        should_stop: Callable[[], bool] = never,
        ask_today: bool = False,
    ) -> None:
        self.corpus, self.candidate, self.base = corpus, candidate, base
        self.should_stop = should_stop
        self.judged = 0
        self._evaluator = Evaluator(ask_today=ask_today)
        self._impacts: dict[Situation, Impacts] = {}

    @property
    def is_same_rules(self) -> bool:
        """Return whether base and candidate have the same rules for every recorded version.

        If so, no outcome can differ.
        """
        if not self.base.hash or self.base.hash != self.candidate.hash:
            return False
        return all(_is_same_for(version, self.base, self.candidate) for version in self.corpus.versions.in_use)

    def blast_radius(self) -> BlastRadius:
        """Return an empty blast radius (counts of changes) for this replay; add each batch of its results to it."""
        same, concerns = self.is_same_rules, self.candidate.concerns
        return BlastRadius(self.base.label, self.candidate.label, is_same_rules=same, concerns=concerns)

    def complete_blast_radius(self, *, processes: int = 0) -> BlastRadius:
        """Replay all prompts and return the blast radius; ``processes`` is as in ``batches``."""
        radius = self.blast_radius()
        for replayed in self.batches(processes=processes):
            radius.add(replayed)
        return radius

    def batches(self, *, processes: int = 0) -> Iterator[Replayed]:
        """Yield all prompts with their outcomes in batches of a few hundred, newest first.

        ``processes`` is the number of processes that judge prompts; 0 means one per processor if very many prompts must
        be judged, and otherwise only one. Raises SideError if a version cannot be compiled.
        """
        wanted = processes or (_processors() if self._is_large() else 1)
        with ExitStack() as stack:
            pool = stack.enter_context(self._pool(wanted)) if wanted > 1 else None
            yield from self._in_pool(pool, most=wanted * WAITING_PER_PROCESS) if pool else self._evaluate_here()

    def _is_large(self) -> bool:
        if self.corpus.count() <= POOL_FROM:
            return False
        return any(self._impacts_of(situation).is_for_all() for situation in self._situations())

    def _pool(self, processes: int) -> ProcessPoolExecutor:
        """Return a pool of worker processes that already have the rules of every version and scope."""
        for situation in self._situations():
            self._impacts_of(situation)
        spawn = multiprocessing.get_context("spawn")  # a forked process with threads may hang when it starts
        return ProcessPoolExecutor(processes, mp_context=spawn, initializer=prepare, initargs=(self._evaluator,))

    def _evaluate_here(self) -> Iterator[Replayed]:
        for rows, tasks in self._batches():
            yield self._paired(rows, tasks, [self._evaluator.outcomes(task) for task in tasks])

    def _in_pool(self, pool: ProcessPoolExecutor, *, most: int) -> Iterator[Replayed]:
        begun: deque[tuple[Batch, Future[list[Sides]]]] = deque()
        known = frozenset(self._evaluator.sides)  # a prompt that is recorded meanwhile may have other rules
        try:
            for batch in self._batches():
                begun.append((batch, self._submitted(pool, batch[1], known)))
                if len(begun) > most:
                    yield self._collected(*begun.popleft())
            while begun and not self.should_stop():
                yield self._collected(*begun.popleft())
        finally:
            pool.shutdown(cancel_futures=True)

    def _submitted(
        self, pool: ProcessPoolExecutor, tasks: list[EvaluationTask], known: Collection[Situation]
    ) -> Future[list[Sides]]:
        """Submit tasks to the pool; if it lacks the rules for one of them, judge all of them in this process.

        ``known`` are the situations for which the pool has the rules.
        """
        if all(task.situation in known for task in tasks):
            return pool.submit(evaluate_all, tasks)
        done: Future[list[Sides]] = Future()
        done.set_result([self._evaluator.outcomes(task) for task in tasks])
        return done

    def _collected(self, batch: Batch, outcomes: Future[list[Sides]]) -> Replayed:
        return self._paired(*batch, outcomes.result())

    def _batches(self) -> Iterator[Batch]:
        size = FIRST_BATCH
        for page in self.corpus.pages():
            for start in range(0, len(page), size):
                if self.should_stop():
                    return
                rows = page[start : start + size]
                tasks = self._tasks(rows)
                self.judged += len(tasks)
                yield rows, tasks
            size = BATCH

    def _tasks(self, rows: list[RecordedPrompt]) -> list[EvaluationTask]:
        levels = self._levels(rows)
        affected = [row for row in rows if row.id in levels]
        weighed = [trace_id for trace_id, both in levels.items() if WEIGH in both]
        scores: Scores = corpus.scores(self.corpus.db, weighed) if weighed else {}
        return [
            EvaluationTask(row, levels[row.id], scores.get(row.id, {}), self._situation(row)[1:]) for row in affected
        ]

    def _levels(self, rows: list[RecordedPrompt]) -> dict[str, tuple[int, int]]:
        groups: dict[tuple[Situation, bool, bool], list[RecordedPrompt]] = {}
        for row in rows:
            key = self._situation(row), self.base.concerns(row), self.candidate.concerns(row)
            groups.setdefault(key, []).append(row)
        found: dict[str, tuple[int, int]] = {}
        for (situation, has_base, has_candidate), alike in groups.items():
            impacts = self._impacts_of(situation)
            if not (has_base and has_candidate):
                sides = impacts.base if has_base else None, impacts.candidate if has_candidate else None
                impacts = Impacts(*sides, between=None)
            found |= impacts.levels(alike)
        return found

    def _situation(self, row: RecordedPrompt) -> Situation:
        return row.rules_hash, self.base.scope(row), self.candidate.scope(row)

    def _situations(self) -> Iterator[Situation]:
        return product(self.corpus.versions.in_use, self.base.scopes, self.candidate.scopes)

    def _impacts_of(self, situation: Situation) -> Impacts:
        if situation not in self._impacts:
            self._impacts[situation] = self._evaluator.learn(
                situation, self.corpus.versions, (self.base, self.candidate)
            )
        return self._impacts[situation]

    def _paired(self, rows: list[RecordedPrompt], tasks: list[EvaluationTask], outcomes: list[Sides]) -> Replayed:
        judged = {task.row.id for task in tasks}
        pairs = [self._pair(task.row, *both) for task, both in zip(tasks, outcomes, strict=True)]
        return Replayed(pairs, [row for row in rows if row.id not in judged])

    def _pair(self, row: RecordedPrompt, before: Outcome | None, after: Outcome | None) -> Pair:
        _version, *scopes = self._situation(row)
        prompt = PairedPrompt.of(row, (scopes[0], scopes[1]))
        recorded = recorded_in_short(row)
        one, other = before or recorded, after or recorded
        if one is other or one.is_same(other):
            return Pair(prompt, one, one)  # one object, which ``kinds`` recognises at once
        whole = self.corpus.recorded(row)
        return Pair(prompt, whole if one is recorded else one, whole if other is recorded else other)


def _is_same_for(version: str, *sides: Side) -> bool:
    """Return whether all these sides (rule sets to compare) judge prompts of a recorded version by the same rules."""
    first, *others = (rules.hash if (rules := side.rules_for(version)) else version for side in sides)
    return all(one == first for one in others)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class Fidelity:
    """The result of ``verify``: how many prompts got their recorded text again, and the ids of those that did not.

    ``left_out`` counts, by reason, the prompts that could not be judged again.
    """

    same: int = 0
    differing: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def verify(corpus: Corpus) -> Fidelity:
    """Judge recorded prompts again by their own rules and inputs, and check that each gets its recorded text."""
    outcome = Fidelity()
    for row in corpus.prompts():
        rules = corpus.versions.rules(row.rules_hash)
        if rules is None:
            outcome.left_out["rules version not stored, or of another release"] += 1
        elif reevaluated(row, rules, recorded=rules).text == row.output_text:
            outcome.same += 1
        else:
            outcome.differing.append(row.id)
    outcome.left_out.update(corpus.left_out)
    return outcome


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded prompt that the language model was asked again to classify.

    ``record`` is the record of this call of the model. ``change`` is how it changes the prompt's outcome, None if the
    outcome stays the same.
    """

    prompt: PairedPrompt
    record: dict[str, Any]
    change: Change | None


def asked_again(corpus: Corpus, ask: Ask) -> Iterator[Answered]:
    """Ask the language model again about each prompt, newest first; yield its answer and how that changes the outcome.

    Prompts are left out if the rules by which they were judged are not stored.
    """
    for row in corpus.prompts():
        rules = corpus.versions.rules(row.rules_hash)
        if rules is not None:
            yield _answered(row, rules, corpus, ask)


def _answered(row: RecordedPrompt, rules: Rules, corpus: Corpus, ask: Ask) -> Answered:
    record = ask(row.prompt, rules)
    inputs = json.dumps({**json.loads(row.inputs), "model": record})
    before, after = corpus.recorded(row), reevaluated(row._replace(inputs=inputs), rules, recorded=rules)
    prompt, found = PairedPrompt.of(row), kinds(before, after)
    return Answered(prompt, record, Change(prompt, before, after, found) if found else None)
