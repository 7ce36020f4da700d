"""Time the search in memories relative to a plain FTS5 query, and the hook that runs it (``bench context``)."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.context.channels.memory import WEIGHTS
from enricher.home import state_dir
from enricher.interfaces import bench
from enricher.interfaces.bench import FLOOR, HOOK, PROMPT, SYLLABLES, BenchCase, empty_project, home, paired, turns
from enricher.prompt.project import identify
from enricher.sources.code.indexing import index
from storage.base.reader import open_reader
from storage.db import database
from storage.memory import memories, recall
from storage.memory.memories import Memory
from storage.metrics.percentiles import percentile

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from enricher.interfaces.bench import BenchRow

QUERIES = 60
WORDS_OF_A_MEMORY = 36
VOCABULARY = 30_000
MEMORIES_OF_THE_HOOK = 10_000
FILES = 5_000
MANY = f"hook, {MEMORIES_OF_THE_HOOK:,} memories"
EVERYTHING = f"hook, {MEMORIES_OF_THE_HOOK:,} memories, {FILES:,} files, transcript"


@dataclass(frozen=True, slots=True)
class SearchRow:
    """The times, in milliseconds, of our search and of a plain FTS5 query in a store of ``memories`` memories.

    ``ratio`` is the median ratio of our time to that of the plain query. ``overlap`` is the share of the plain query's
    top 3 results that are among our top 10. ``found`` is the share of queries for which one of our top 10 contains a
    word of the query.
    """

    memories: int
    p50_ms: float
    p95_ms: float
    weighted_p95_ms: float
    plain_p50_ms: float
    plain_p95_ms: float
    ratio: float
    overlap: float
    found: float

    @property
    def missed(self) -> list[str]:
        """Return a text for each target that this row misses."""
        limit = bench.SEARCH_P95_MS.get(self.memories, float("inf"))
        late = [f"{self.memories} memories: p95 {self.p95_ms:.1f} ms, target {limit:g}"] if self.p95_ms > limit else []
        apart = self.memories <= bench.OVERLAP_UP_TO and self.overlap < bench.LEAST_OVERLAP
        few = [f"{self.memories} memories: overlap {self.overlap:.2f}"] if apart else []
        return [*late, *few]


def search_rows(sizes: list[int]) -> list[SearchRow]:
    """Time our search in generated stores of these sizes, and for each query also a plain FTS5 search."""
    return [_search_row(size) for size in sizes]


def hook_rows(runs: int) -> list[BenchRow]:
    """Measure the whole hook process, relative to a bare interpreter.

    The hook runs in an empty folder without memories, in an empty folder with 10,000 memories, and in a project with
    10,000 memories, 5,000 files and a transcript.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        empty, states = empty_project(folder), [os.path.join(folder, name) for name in ("none", "many", "all")]
        project = invented_project(folder, FILES, random.Random(FILES))
        transcript = os.path.join(folder, "transcript.jsonl")
        with open(transcript, "wb") as file:
            file.write(turns(20))
        for state, cwd in zip(states[1:], (empty, project), strict=True):
            with home(state):
                _fill(MEMORIES_OF_THE_HOOK, cwd=cwd, prompt=PROMPT)
                index.refresh(identify(cwd), state_dir())
        none, many, everything = (os.path.join(state, "state") for state in states)
        cases = {
            "python -I -S -c pass": FLOOR,
            "hook": BenchCase(HOOK, state=none, cwd=empty),
            MANY: BenchCase(HOOK, state=many, cwd=empty),
            EVERYTHING: BenchCase(HOOK, state=everything, cwd=project, transcript=transcript),
        }
        return paired(cases, runs)


def _search_row(size: int) -> SearchRow:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        texts = _fill(size, cwd=folder)
        project = identify(folder).id
        chance = random.Random(size)
        asked = [_question(chance.choice(texts), chance) for _ in range(QUERIES)]
        with contextlib.closing(open_reader(f"{state_dir()}/enricher.db")) as db:
            for question in asked[:5]:  # a warm-up: the first ones read the database from the disk
                recall.search(db, question, project=project)
            return _measured(db, asked, project, size)


def _measured(db: sqlite3.Connection, asked: list[str], project: str, size: int) -> SearchRow:
    ours, weighted, plain, shared, found = [], [], [], 0, 0
    for question in asked:
        began = time.perf_counter()
        hits = recall.search(db, question, project=project, limit=10)
        between = time.perf_counter()
        best = _plain(db, question)
        after = time.perf_counter()
        recall.search(db, question, project=project, limit=15, weights=WEIGHTS["howto"])  # as for a clear search intent
        weighted.append(time.perf_counter() - after)
        ours.append(between - began)
        plain.append(after - between)
        shared += len(set(best) & {hit.id for hit in hits})
        found += any(set(question.split()) & set(hit.content.split()) for hit in hits)
    return SearchRow(
        size,
        p50_ms=statistics.median(ours) * 1000,
        p95_ms=percentile(ours, 0.95) * 1000,
        weighted_p95_ms=percentile(weighted, 0.95) * 1000,
        plain_p50_ms=statistics.median(plain) * 1000,
        plain_p95_ms=percentile(plain, 0.95) * 1000,
        ratio=statistics.median(one / other for one, other in zip(ours, plain, strict=True)),
        overlap=shared / (3 * len(asked)),
        found=found / len(asked),
    )


def _plain(db: sqlite3.Connection, question: str) -> list[str]:
    """Run the baseline, a simple FTS5 query without limits on its work; return the ids of its top 3."""
    match = " OR ".join(f'"{word}"' for word in question.split())
    rows = db.execute(
        "select id from memories_fts join memories on number = memories_fts.rowid "
        "where memories_fts match ? order by rank limit 3",
        (match,),
    )
    return [row[0] for row in rows.fetchall()]


def _fill(size: int, *, cwd: str, prompt: str = "") -> list[str]:
    """Store ``size`` generated memories for the project of ``cwd``, some with words of ``prompt``; return the texts."""
    project = identify(cwd).id
    chance = random.Random(size)
    words = _vocabulary()
    weights = list(itertools.accumulate(1 / (rank + 40) for rank in range(len(words))))  # Zipf's law
    texts = []
    with contextlib.closing(database.connect(state_dir())) as db, memories.transaction(db):
        for at in range(size):
            text = chance.choices(words, cum_weights=weights, k=chance.randrange(12, 2 * WORDS_OF_A_MEMORY - 12))
            text += chance.sample(prompt.split(), 3) if prompt and at % 20 == 0 else []
            texts.append(" ".join(text))
            day = f"20{at % 26:02d}-{at % 12 + 1:02d}-{at % 28 + 1:02d}"  # every month has 28 days
            namespace = memories.NAMESPACES[at % len(memories.NAMESPACES)]
            memories.add(db, Memory(texts[-1], project=project, namespace=namespace, key=str(at), created_at=day))
    return texts


def _vocabulary() -> list[str]:
    chance = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chance.choices(SYLLABLES, k=chance.randrange(2, 5)))] = None
    return list(found)


def _question(text: str, chance: random.Random) -> str:
    """Return a query of eight random words of a memory's text, even frequent words, which are slowest to search."""
    words = sorted(set(text.split()))
    return " ".join(chance.sample(words, min(8, len(words))))


def missed(found: list[SearchRow], hooks: list[BenchRow]) -> list[str]:
    """Return a message for each target that a search (``found``) or the hook (``hooks``) missed."""
    return [*(one for row in found for one in row.missed), *bench.missed("context", hooks)]


def invented_project(folder: str, files: int, chance: random.Random) -> str:
    """Write ``files`` Python modules of about 80 lines, with natural word frequencies; return their folder."""
    root = os.path.join(folder, "project")
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 3))) for _ in range(4000)]
    weights = [1 / (at + 5) for at in range(len(words))]  # Zipf's law, flattened for the most frequent words
    for number in range(files):
        inside = f"{root}/{words[number % 40]}/{words[number % 300]}"
        os.makedirs(inside, exist_ok=True)
        drawn = iter(chance.choices(words, weights, k=160))
        lines = []
        for _ in range(20):
            lines.append(f"def {next(drawn)}_{next(drawn)}({next(drawn)}):")
            lines.append(f'    """{next(drawn)} the {next(drawn)} of {next(drawn)}."""')
            lines.append(f"    return {next(drawn)}({next(drawn)})\n")
        with open(f"{inside}/{words[(number * 7) % len(words)]}_{number}.py", "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return root


def lines(rows: list[SearchRow]) -> Iterator[str]:
    """Yield the lines of a Markdown table of the rows; ``SearchRow`` explains the columns of the table."""
    yield "| memories | p50 ms | p95 ms | p95 with weights | FTS5 p50 | FTS5 p95 | ratio | overlap | found |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        figures = (row.p50_ms, row.p95_ms, row.weighted_p95_ms, row.plain_p50_ms, row.plain_p95_ms, row.ratio)
        cells = " | ".join(f"{figure:.2f}" for figure in (*figures, row.overlap, row.found))
        yield f"| {row.memories:,} | {cells} |"
