"""``bench topics``: time how long the index of topics takes to build and to extend.

The times are compared with the time that it takes to count the words of the same texts.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from enricher.interfaces.bench import SYLLABLES, BenchRow, timed
from enricher.interfaces.library import Library
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Note, all_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS_OF_A_MEMORY = 50
VOCABULARY = 8000
ADDS = 200
MOST_BUILDS = 20
SECONDS_OF_BUILDS = 1.0


def topic_rows(sizes: list[int]) -> list[BenchRow]:
    """Measure the topic index for each number of memories in ``sizes``, relative to counting the memories' words."""
    return [row for size in sizes for row in _rows(size)]


def _rows(size: int) -> Iterator[BenchRow]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library = Library(folder, state=os.path.join(folder, "state"))
        _fill(library, size)
        with closing(database.connect(library.state)) as db:
            notes = list(all_notes(db, library.project.id))
        counting, building = _paired(
            lambda: [Counter(note.content.split()) for note in notes], library.build, least=3 if size < 50_000 else 1
        )
        topics = library.topics()
        listing = timed(topics.list, len(counting))
        fresh = iter([Note(f"m-new-{text[:30]}", name, [tag], text) for name, tag, text in _texts(ADDS, seed=size + 1)])
        adding = timed(lambda: topics.add(next(fresh)), ADDS)
    for name, times in {"words": counting, "build": building, "list": listing, "add": adding}.items():
        yield BenchRow.of(f"{name} {size}", times, counting)


def _paired(
    yardstick: Callable[[], object], work: Callable[[], object], *, least: int
) -> tuple[list[float], list[float]]:
    """Run both functions alternately for about a second, but at least ``least`` times; return the run times of each."""
    own: list[float] = []
    base: list[float] = []
    until = time.perf_counter() + SECONDS_OF_BUILDS
    while len(own) < least or (len(own) < MOST_BUILDS and time.perf_counter() < until):
        base += timed(yardstick, 1)
        own += timed(work, 1)
    return base, own


def _fill(library: Library, size: int) -> None:
    with closing(database.connect(library.state)) as db, memories.transaction(db):
        for namespace, tag, text in _texts(size, seed=size):
            memories.add(db, memories.Memory(text, project=library.project.id, namespace=namespace, tags=[tag]))


def _texts(count: int, *, seed: int) -> Iterator[tuple[str, str, str]]:
    dice = random.Random(seed)
    words = ["".join(dice.choices(SYLLABLES, k=dice.randint(2, 4))) for _ in range(VOCABULARY)]
    for number in range(count):
        text = f"{' '.join(dice.choices(words, k=WORDS_OF_A_MEMORY))}. That was number {number}."
        yield dice.choice(memories.NAMESPACES), dice.choice(words), text
