"""Vectors that an embedding model returned for texts, stored in the database, and the search with them.

A vector has length one and is stored as float32, little-endian. Vectors of memories are in ``memory_vectors``, until
the memory's text changes; those of prompts and snippets in ``content_vectors``, by a hash of model and text. Imported
by the hook: nothing here asks a model.
"""

from __future__ import annotations

import itertools
import sys
from array import array
from operator import mul

from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection

    from storage.memory.recall import Hit

RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): each ranking adds 1 / (60 + rank)."""
LEAST_LIKENESS = 0.3
"""Minimum cosine at which a memory counts as found by its vector."""
MOST_NEAR = 64
MOST_COMPARED = 5_000
"""Number of memories, newest first, whose vectors are compared."""
MOST_KEPT = 4_000
"""Maximum number of vectors in ``content_vectors``; older ones are deleted. A vector of 768 numbers takes 3 KB."""
OF_MEMORIES = """
    select number, vector from memory_vectors join memories using (number)
    where project in (?, 'shared') and model = ? order by number desc limit ?
"""
BY_CONTENT = "select hash, vector from content_vectors where hash in ({})"
KEEP_BY_CONTENT = "insert or ignore into content_vectors (hash, vector) values (?, ?)"
DELETE_THE_OLDEST = "delete from content_vectors where number <= (select max(number) from content_vectors) - ?"


class Near:
    """A memory near a text, by its number, with the cosine of the two vectors."""

    __slots__ = ("likeness", "number")

    def __init__(self, number: int, likeness: float) -> None:
        self.number, self.likeness = number, likeness


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector with length one in its stored form; raises ValueError if it has no direction."""
    length = sum(map(mul, vector, vector)) ** 0.5
    if not 0 < length < float("inf"):
        raise ValueError("a vector without a length")
    numbers = array("f", [number / length for number in vector])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(stored: bytes) -> array[float]:
    """Return the numbers of a stored vector."""
    numbers = array("f", stored)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors of length one; 0 if they come from different models."""
    return sum(map(mul, one, other)) if len(one) == len(other) else 0.0


def stored(db: Connection, model: str, texts: Iterable[str]) -> dict[str, bytes]:
    """Return the stored vectors by text; texts without a stored vector are left out."""
    by_hash = {_hash(model, text): text for text in texts}
    marks = ",".join("?" * len(by_hash))
    rows = db.execute(BY_CONTENT.format(marks), tuple(by_hash)).fetchall()
    return {by_hash[found]: vector for found, vector in rows}


def store(db: Connection, model: str, vectors: Mapping[str, bytes]) -> None:
    """Store vectors by text, and delete the oldest above MOST_KEPT; the caller commits."""
    db.executemany(KEEP_BY_CONTENT, [(_hash(model, text), vector) for text, vector in vectors.items()])
    db.execute(DELETE_THE_OLDEST, (MOST_KEPT,))


def _hash(model: str, text: str) -> str:
    return keyed_hash(b"vector", f"{model}\0{text}".encode(errors="replace"))


def nearest(db: Connection, vector: bytes, *, project: str, model: str) -> list[Near]:
    """Return the memories of the project and the shared ones that are nearest to a stored vector, nearest first."""
    asked = unpacked(vector)
    rows = db.execute(OF_MEMORIES, (project, model, MOST_COMPARED)).fetchall()
    found = [(likeness(asked, unpacked(stored)), number) for number, stored in rows]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [Near(number, cosine) for cosine, number in found[:MOST_NEAR] if cosine >= LEAST_LIKENESS]


def fused(
    db: Connection,
    found: list[Hit],
    near: list[Near],
    *,
    weights: Mapping[str, float] | None = None,
    cwd_prefix: str = "",
    now: float = 0.0,
) -> list[Hit]:
    """Merge the ranking by words with the ranking by vectors, by reciprocal rank.

    A memory's score is the better one of the two searches, but at most the score of the memory ranked before it.
    ``Hit.own`` stays the score by words.
    """
    from storage.memory import recall

    weights = weights or {}
    hits = {hit.id: hit for hit in found}
    ranks = {hit.id: 1 / (RANK_CONSTANT + at) for at, hit in enumerate(found, 1)}
    for at, one in enumerate(near, 1):
        row = db.execute(recall.WHICH_IS_IT, (one.number,)).fetchone()
        by_vector = recall.hit_of(tuple(row), one.likeness, cwd_prefix=cwd_prefix, now=now) if row else None
        if by_vector is None:
            continue
        hit = hits.setdefault(by_vector.id, by_vector)
        hit.raw = max(hit.raw, by_vector.raw)
        hit.score = hit.raw * weights.get(hit.namespace, 1.0)
        ranks[hit.id] = ranks.get(hit.id, 0.0) + 1 / (RANK_CONSTANT + at)
    ordered = sorted(hits.values(), key=lambda hit: (-ranks[hit.id] * weights.get(hit.namespace, 1.0), hit.id))
    for first, second in itertools.pairwise(ordered):
        second.score = min(first.score, second.score)
    return ordered
