"""Store the vectors that an embedding model returned for texts, and find memories by their vectors.

A vector has length one and is stored as float32, little-endian. The table ``memory_vectors`` contains the vector of
each memory until the memory's text changes; ``content_vectors`` contains those of prompts and of pieces of code, by a
hash of model and text. The hook uses this module; nothing here queries a model.
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
"""Constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), which merges rankings.

Each ranking adds 1 / (60 + rank) to an element's points.
"""
LEAST_LIKENESS = 0.3
"""Least cosine between the vectors of a memory and of the text searched for at which the memory counts as found."""
MOST_NEAR = 64  # memories that a search by vectors finds at most
MOST_COMPARED = 5_000
"""Number of memories whose vectors are compared: the newest ones of the project and shared ones."""
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
    """A memory whose vector is near that of a text; ``likeness`` is the cosine of the two vectors.

    ``number`` is the memory's number in the database.
    """

    __slots__ = ("likeness", "number")

    def __init__(self, number: int, likeness: float) -> None:
        self.number, self.likeness = number, likeness


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector in its stored form, scaled to length one; raises ValueError if it is zero or not finite."""
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
    """Return the cosine of two vectors of length one; 0 if their dimensions differ, as those of different models do."""
    return sum(map(mul, one, other)) if len(one) == len(other) else 0.0


def stored(db: Connection, model: str, texts: Iterable[str]) -> dict[str, bytes]:
    """Return the vectors that ``model`` computed for ``texts``, keyed by text; texts without a vector are left out."""
    by_hash = {_hash(model, text): text for text in texts}
    marks = ",".join("?" * len(by_hash))
    rows = db.execute(BY_CONTENT.format(marks), tuple(by_hash)).fetchall()
    return {by_hash[found]: vector for found, vector in rows}


def store(db: Connection, model: str, vectors: Mapping[str, bytes]) -> None:
    """Store the vectors that ``model`` computed, keyed by text, and delete the oldest so that at most MOST_KEPT remain.

    The caller commits.
    """
    db.executemany(KEEP_BY_CONTENT, [(_hash(model, text), vector) for text, vector in vectors.items()])
    db.execute(DELETE_THE_OLDEST, (MOST_KEPT,))


def _hash(model: str, text: str) -> str:
    return keyed_hash(b"vector", f"{model}\0{text}".encode(errors="replace"))


def nearest(db: Connection, vector: bytes, *, project: str, model: str) -> list[Near]:
    """Return the memories of ``project`` and shared ones whose vectors are nearest to ``vector``, nearest first.

    ``vector`` is in its stored form. It is compared with the vectors that ``model`` computed for the newest memories.
    """
    asked = unpacked(vector)
    rows = db.execute(OF_MEMORIES, (project, model, MOST_COMPARED)).fetchall()
    found = [(likeness(asked, unpacked(stored)), number) for number, stored in rows]
    found.sort(key=lambda one: (-one[0], one[1]))  # of equally near ones, the older first
    return [Near(number, cosine) for cosine, number in found[:MOST_NEAR] if cosine >= LEAST_LIKENESS]


def fused(
    db: Connection,
    found: list[Hit],
    near: list[Near],
    *,
    weights: Mapping[str, float] | None,
    cwd_prefix: str,
    now: float = 0.0,
) -> list[Hit]:
    """Merge the memories ``found`` by their words with those ``near`` by their vectors, by reciprocal rank; best first.

    A memory's score is the higher of its scores from the two searches, but at most that of the memory ranked before it.
    ``Hit.own`` is not changed: it is the score from the search by words. ``weights`` are factors on scores, by
    namespace. Memories about a folder unrelated to ``cwd_prefix`` are left out.
    """
    from storage.memory import recall

    weights = weights or {}
    hits = {hit.id: hit for hit in found}
    ranks = {hit.id: 1 / (RANK_CONSTANT + at) for at, hit in enumerate(found, 1)}
    for at, one in enumerate(near, 1):
        row = db.execute(recall.WHICH_IS_IT, (one.number,)).fetchone()  # None if it has been deleted meanwhile
        by_vector = recall.hit_of(tuple(row), one.likeness, cwd_prefix=cwd_prefix, now=now) if row else None
        if by_vector is None:
            continue
        hit = hits.setdefault(by_vector.id, by_vector)
        hit.raw = max(hit.raw, by_vector.raw)
        hit.score = hit.raw * weights.get(hit.namespace, 1.0)
        ranks[hit.id] = ranks.get(hit.id, 0.0) + 1 / (RANK_CONSTANT + at)
    ordered = sorted(hits.values(), key=lambda hit: (-ranks[hit.id] * weights.get(hit.namespace, 1.0), hit.id))
    for first, second in itertools.pairwise(ordered):
        second.score = min(first.score, second.score)  # so that sorting by score keeps this order
    return ordered
