"""``python -m tests.code.accuracy CASES.jsonl``: how often the files that a fix changed come first.

A case is ``{"id", "query", "cwd", "files"}``: an issue's text, the folder of the project as it was before the
fix, and what the fix changed. A case is right at k where one of its files is among the first k. Beside ours in
the same run: SQLite's own FTS5 with BM25 over path and content, stemmed. Cases are not part of this project;
``invented.jsonl`` shows the form.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

from enricher.prompt.project import identify
from enricher.prompt.wording.query import read
from enricher.sources.code import database_file
from enricher.sources.code.indexing import index
from enricher.sources.code.indexing.listing import files_of, is_text
from enricher.sources.code.ranking import rank
from storage.metrics.percentiles import percentile

RANKS = (1, 3, 5, 10)


def main(cases_file: str, *words: str) -> None:
    cases = [json.loads(line) for line in Path(cases_file).read_text().splitlines() if line.strip()]
    state = os.environ.get("ENRICHER_CODE_STATE") or tempfile.mkdtemp(prefix="code-accuracy-")
    methods = {"ours": ours}
    if "--no-baseline" not in words:
        methods["FTS5 BM25"] = plain
    ranks: dict[str, dict[str, int]] = {name: {} for name in methods}
    times: dict[str, list[float]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: case["cwd"]):
        for name, method in methods.items():
            found, seconds = method(case, state)
            right = [number for number, path in enumerate(found, 1) if path in case["files"]]
            ranks[name][case["id"]] = min(right, default=999)
            times[name].append(seconds * 1000)
        if "--verbose" in words and ranks["ours"][case["id"]] > 1:
            print(ranks["ours"][case["id"]], case["id"], case["files"], ours(case, state)[0][:3])
    print(
        "| | " + " | ".join(f"acc@{rank}" for rank in RANKS) + " | MRR | p50 ms | p95 ms |\n|---" * 1 + "|---" * 7 + "|"
    )
    for name, first in ranks.items():
        figures = [sum(1 for one in first.values() if one <= rank) / len(first) for rank in RANKS]
        figures.append(sum(1 / one for one in first.values()) / len(first))
        ms = (percentile(times[name], 0.5), percentile(times[name], 0.95))
        print(f"| {name} | " + " | ".join(f"{one:.3f}" for one in figures) + " | {:.1f} | {:.1f} |".format(*ms))
    print(f"{len(cases)} cases, {len({case['cwd'] for case in cases})} projects")


_ready: set[str] = set()


def ours(case: dict[str, Any], state: str) -> tuple[list[str], float]:
    project = identify(case["cwd"])
    file = database_file(state, project.id)
    if file not in _ready and not (os.environ.get("ENRICHER_CODE_STATE") and os.path.exists(file)):
        index.refresh(project, state)
    _ready.add(file)
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        started = time.perf_counter()
        ranking = rank(db, read(case["query"]), limit=10, root=project.root)
        return [hit.path for hit in ranking.hits], time.perf_counter() - started


def plain(case: dict[str, Any], state: str) -> tuple[list[str], float]:
    file = f"{state}/plain-{database_file('', case['cwd'])[6:]}"
    if not os.path.exists(file):
        _build_plain(case["cwd"], file)
    words = dict.fromkeys("".join(c if c.isalnum() else " " for c in case["query"]).split())
    with closing(sqlite3.connect(file)) as db:
        started = time.perf_counter()
        rows = db.execute(
            "select path from files where files match ? order by bm25(files) limit 10",
            (" OR ".join(f'"{word}"' for word in list(words)[:100]),),
        ).fetchall()
        return [path for (path,) in rows], time.perf_counter() - started


def _build_plain(root: str, file: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("create virtual table files using fts5(path, content, tokenize = 'porter unicode61')")
        for one in files_of(root, has_git=False)[0]:
            if is_text(one.path) and one.size < 400_000:
                text = Path(root, one.path).read_text(errors="replace")
                db.execute("insert into files values (?, ?)", (one.path, text))


if __name__ == "__main__":
    main(*sys.argv[1:])
