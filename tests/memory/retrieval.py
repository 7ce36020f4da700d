"""Measure retrieval on labelled questions, beside the plain FTS5 query: ``python -m tests.memory.retrieval``.

Arguments: a file of memories, ``{"id", "content", "tags"?, "created_at"?}`` per line, and one
of questions, ``{"query", "gold": [ids]}`` per line; or files like those of ``invented``, which
become one store. Texts of others are no part of this repository; the headings of a manual's
FAQ with its answers make a good set.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import closing
from typing import TYPE_CHECKING

from storage.db import database
from storage.memory import memories, recall
from storage.memory.memories import Memory
from storage.memory.words import STOP_WORDS, words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

FLOOR = 0.3
PLAIN = """
    select id from memories_fts join memories on number = memories_fts.rowid
    where memories_fts match ? order by rank limit 10
"""


def main(*paths: str) -> None:
    pool, asked = invented(*paths) if paths[0].endswith(".txt") else map(_lines, paths)
    with tempfile.TemporaryDirectory() as folder, closing(database.connect(os.path.join(folder, "state"))) as db:
        fill(db, pool)
        print("| | recall@5 | recall@10 | MRR |\n|---|---|---|---|")
        for name, figures in compare(db, asked).items():
            print(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
        best = [(hits[0].raw, hits[0].id in line["gold"]) for line in asked if (hits := _hits(db, line["query"]))]
        told = [is_right for raw, is_right in best if raw >= FLOOR]
        print(f"\nabove the floor of {FLOOR}: {len(told)} of {len(asked)} questions, {sum(told)} of them right")


def fill(db: sqlite3.Connection, pool: list[dict]) -> None:
    """Keep the memories of a set, in order."""
    with memories.transaction(db):
        for line in pool:
            known = {name: line[name] for name in ("tags", "created_at") if name in line}
            one = Memory(line["content"], project="p", id=line["id"], key=line["id"], origin="import:jsonl", **known)
            memories.add(db, one)


def compare(db: sqlite3.Connection, asked: list[dict]) -> dict[str, tuple[float, float, float]]:
    """Return the figures of the plain query and of ours."""
    return {
        name: rate(asked, lambda text, search=search: search(db, text))
        for name, search in {"plain FTS5": _plain, "ours": _ours}.items()
    }


def invented(*paths: str) -> tuple[list[dict], list[dict]]:
    """Read conversations and journals in the format of ``invented/README.md``; return memories and questions."""
    pool, asked = [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            told, _, questions = file.read().partition("\n?\n")
        day = ""
        for at, line in enumerate(told.splitlines()):
            text, _, name = line.removesuffix("}").partition(" {")
            if line.startswith("# "):
                day = line[2:]
            else:
                pool.append({"id": name or f"{os.path.basename(path)}:{at}", "content": text, "created_at": day})
        for line in questions.splitlines():
            query, _, gold = line.partition(" | ")
            asked.append({"query": query, "gold": gold.split()})
    return pool, asked


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
    if len(sys.argv) != 3 and not sys.argv[-1].endswith(".txt"):
        sys.exit("usage: python -m tests.memory.retrieval MEMORIES.jsonl QUESTIONS.jsonl | INVENTED.txt…")
    main(*sys.argv[1:])
