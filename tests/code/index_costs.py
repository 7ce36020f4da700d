"""``python -m tests.code.index_costs FILES``: building, refreshing and asking the code index of an invented project.

Beside it, the same questions in SQLite's own FTS5; ratios are to those, and the column p99 shows the 95th percentile.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from typing import TYPE_CHECKING

from enricher.home import state_dir
from enricher.interfaces.bench import BenchRow, home
from enricher.interfaces.bench.context import invented_project
from enricher.interfaces.cli.bench import print_rows
from enricher.prompt.project import identify
from enricher.sources.code import database_file
from enricher.sources.code.indexing import index
from tests.code.accuracy import ours, plain

if TYPE_CHECKING:
    from enricher.prompt.project import Project

QUERIES = 200
CHANGED = 10


def main(count: str = "5000") -> None:
    """Print a row for each kind of work."""
    files = int(count)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        chance = random.Random(files)
        root, state = invented_project(folder, files, chance), state_dir()
        project = identify(root)
        built = index.refresh(project, state).seconds
        refreshed = [_refreshed(project, root, turn) for turn in range(5)]
        with closing(sqlite3.connect(database_file(state, project.id))) as db:
            names = [name for (name,) in db.execute("select name from symbols order by random() limit 2000")]
        cases = [{"query": _question(names, chance), "cwd": root} for _ in range(QUERIES)]
        times = {
            f"FTS5 query, {files} files": [plain(case, state)[1] for case in cases],
            f"query, {files} files": [ours(case, state)[1] for case in cases],
            f"refresh of {CHANGED} files": refreshed,
            f"build, {files} files": [built],
        }
    base = next(iter(times.values()))
    print_rows([BenchRow.of(name, own, base, high_share=0.95) for name, own in times.items()], is_json=False)


def _refreshed(project: Project, root: str, turn: int) -> float:
    folder = f"{root}/{sorted(os.listdir(root))[turn]}"
    paths = [os.path.join(at, name) for at, _folders, names in os.walk(folder) for name in names][:CHANGED]
    for path in paths:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"def turn_{turn}():\n    pass\n")
    return index.refresh(project, state_dir()).seconds


def _question(names: list[str], chance: random.Random) -> str:
    words = " ".join(chance.choice(names).replace("_", " ") for _ in range(6))
    return f"{chance.choice(names)} fails when the {words}"


if __name__ == "__main__":
    main(*sys.argv[1:])
