"""``enricher bench code``: time the index of a generated project (build, refresh, query), and the hook in it.

``enricher bench topics``: time building and extending the topic index, relative to counting words in the texts.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from enricher.home import state_dir
from enricher.interfaces.bench import FLOOR, HOOK, SYLLABLES, BenchCase, BenchRow, home, paired, timed
from enricher.interfaces.library import Library
from enricher.prompt.project import identify
from enricher.prompt.wording.query import read
from enricher.sources.code import database_file
from enricher.sources.code.indexing import index
from enricher.sources.code.ranking import rank
from enricher.sources.code.search import weigh_certainty
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Note, all_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from enricher.prompt.project import Project

QUERIES = 200
CHANGED = 10
WORDS_OF_A_MEMORY = 50
VOCABULARY = 8000
ADDS = 200
MOST_BUILDS = 20
SECONDS_OF_BUILDS = 1.0


def code_rows(files: int) -> list[BenchRow]:
    """Measure building, refreshing and querying the code index of ``files`` files; ratios are to a plain FTS5 query."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        chance = random.Random(files)
        root = invented_project(folder, files, chance)
        project = identify(root)
        built = index.refresh(project, state_dir())
        refreshed = [_refreshed(project, root, turn) for turn in range(5)]
        plain, ours = _asked(project, root, chance)
    times = {
        f"FTS5 query, {files} files": plain,
        f"query, {files} files": ours,
        f"refresh of {CHANGED} files": refreshed,
        f"build, {files} files": [built.seconds],
    }
    return [BenchRow.of(name, own, plain, high_share=0.95) for name, own in times.items()]


def hook_rows(files: int, runs: int) -> list[BenchRow]:
    """Measure the whole hook process in an indexed project of ``files`` files, relative to a bare interpreter."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        root = invented_project(folder, files, random.Random(files))
        index.refresh(identify(root), state_dir())
        return paired({"python -I -S -c pass": FLOOR, f"hook, {files} files": BenchCase(HOOK, cwd=root)}, runs)


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


def _refreshed(project: Project, root: str, turn: int) -> float:
    folder = f"{root}/{sorted(os.listdir(root))[turn]}"
    paths = [os.path.join(at, name) for at, _folders, names in os.walk(folder) for name in names][:CHANGED]
    for path in paths:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"def turn_{turn}():\n    pass\n")
    return index.refresh(project, state_dir()).seconds


def _asked(project: Project, root: str, chance: random.Random) -> tuple[list[float], list[float]]:
    """Send each query to a plain FTS5 index, then to ours; return the seconds per query for each, FTS5 first."""
    plain, ours = [], []
    with (
        closing(sqlite3.connect(database_file(state_dir(), project.id))) as db,
        closing(_full_text(root)) as text,
    ):
        names = [name for (name,) in db.execute("select name from symbols order by random() limit 2000")]
        for _ in range(QUERIES):
            prompt = f"{chance.choice(names)} fails when the " + " ".join(
                chance.choice(names).replace("_", " ") for _ in range(6)
            )
            plain += timed(lambda: _plain(text, prompt), 1)  # noqa: B023 (called at once)
            ours += timed(lambda: weigh_certainty(rank(db, read(prompt), limit=10, root=project.root)), 1)  # noqa: B023
    return plain, ours


def _full_text(root: str) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table files using fts5(path, content, tokenize = 'porter unicode61')")
    for at, _folders, names in os.walk(root):
        for name in names:
            with open(os.path.join(at, name), encoding="utf-8") as file:
                db.execute("insert into files values (?, ?)", (os.path.join(at, name), file.read()))
    return db


def _plain(db: sqlite3.Connection, prompt: str) -> None:
    words = dict.fromkeys(prompt.replace("_", " ").split())
    asked = " OR ".join(f'"{word}"' for word in words)
    db.execute("select path from files where files match ? order by bm25(files) limit 10", (asked,)).fetchall()


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
