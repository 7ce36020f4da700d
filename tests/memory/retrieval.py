"""Measure retrieval on labelled questions, beside the plain FTS5 query: ``python -m tests.memory.retrieval``.

Arguments: a file of memories, ``{"id", "content", "tags"?, "created_at"?}`` per line, and one
of questions, ``{"query", "gold": [ids]}`` per line. Texts of others are no part of this
repository; the headings of a manual's FAQ with its answers make a good set.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import closing
from typing import TYPE_CHECKING

from storage import database, memories, recall
from storage.memories import Memory
from storage.words import STOP_WORDS, words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

FLOOR = 0.3
PLAIN = """
    select id from memories_fts join memories on number = memories_fts.rowid
    where memories_fts match ? order by rank limit 10
"""


def main(pool: str, questions: str) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(database.connect(os.path.join(folder, "state"))) as db:
        with memories.transaction(db):
            for line in _lines(pool):
                known = {name: line[name] for name in ("tags", "created_at") if name in line}
                memories.add(db, Memory(line["content"], project="p", id=line["id"], key=line["id"], **known))
        asked = _lines(questions)
        print("| | recall@5 | recall@10 | MRR |\n|---|---|---|---|")
        for name, search in {"plain FTS5": _plain, "ours": _ours}.items():
            figures = rate(asked, lambda text, search=search: search(db, text))
            print(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
        best = [(hits[0].raw, hits[0].id in line["gold"]) for line in asked if (hits := _hits(db, line["query"]))]
        told = [is_right for raw, is_right in best if raw >= FLOOR]
        print(f"\nabove the floor of {FLOOR}: {len(told)} of {len(asked)} questions, {sum(told)} of them right")


def rate(asked: list[dict], search: Callable[[str], list[str]]) -> tuple[float, float, float]:
    """Return recall@5, recall@10 (any gold answer counts) and the mean reciprocal rank within ten."""
    places = []
    for line in asked:
        found = search(line["query"])[:10]
        places.append(next((at for at, one in enumerate(found, 1) if one in line["gold"]), 0))
    return tuple(
        sum(values) / len(asked)
        for values in ([0 < at <= 5 for at in places], [at > 0 for at in places], [1 / at for at in places if at])
    )


def _hits(db: sqlite3.Connection, text: str) -> list[recall.Hit]:
    return recall.search(db, text, project="p", limit=10)


def _ours(db: sqlite3.Connection, text: str) -> list[str]:
    return [hit.id for hit in _hits(db, text)]


def _plain(db: sqlite3.Connection, text: str) -> list[str]:
    match = " OR ".join(f'"{word}"' for word in words(text) if word not in STOP_WORDS)
    return [row[0] for row in db.execute(PLAIN, (match,))] if match else []


def _lines(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tests.memory.retrieval MEMORIES.jsonl QUESTIONS.jsonl")
    main(*sys.argv[1:])
