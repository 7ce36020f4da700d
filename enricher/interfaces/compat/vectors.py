"""Semantic search for memories: the vectors of a `/v1/embeddings` endpoint, fused with the text search.

Optional: ``LLM_EMBEDDING_URL`` must name the endpoint, both gates of seed 004 must be open
(ruling R10), and numpy must be installed (extra ``vectors``). If any of these is missing or
fails, only the text search is used. Not on the hook's path: a prompt never waits for a model.
"""

from __future__ import annotations

import itertools
import json
import os
import urllib.request
from typing import TYPE_CHECKING, Any

from enricher.settings import GATES, with_environment
from storage.base import log
from storage.memory import recall

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from storage.memory.recall import Hit

URL, MODEL, KEY = "LLM_EMBEDDING_URL", "LLM_EMBEDDING_MODEL", "LLM_EMBEDDING_API_KEY"
DEFAULT_MODEL = "default"
PATH = "/v1/embeddings"
TIMEOUT_S = 10.0
BATCH, MOST_NEW = 64, 2_000
MOST_CHARS = 4_000
LARGEST_ANSWER = 64 * 1024 * 1024
RANK_CONSTANT = 60
LEAST_LIKENESS = 0.3
WHICH_HAVE_NONE = """
    select number, content from memories
    where project in (?, 'shared') and not exists (
        select 1 from memory_vectors where memory_vectors.number = memories.number and model = ?
    ) order by number limit ?
"""
WHICH_HAVE_ONE = """
    select number, vector from memory_vectors join memories using (number)
    where project in (?, 'shared') and model = ? order by number
"""
KEEP = "insert or replace into memory_vectors (number, model, vector) values (?, ?, ?)"
FAILURES = (OSError, ValueError, KeyError, TypeError, ImportError)
"""Exceptions from a missing, slow or invalid endpoint; urllib's errors are OSErrors."""


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether an endpoint is configured and both gates are open."""
    settings, _problems = with_environment({}, environ)
    return bool(environ.get(URL)) and all(settings.get(gate) is True for gate in GATES)


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    project: str,
    state: str,
    limit: int = 10,
    weights: Mapping[str, float] | None = None,
) -> list[Hit]:
    """Return the results of ``storage.memory.recall.search``, fused by reciprocal rank with the nearest vectors.

    Missing vectors are computed first. If the endpoint fails, only the results of the text search are returned, and
    the reason is logged.
    """
    found = recall.search(db, text, project=project, limit=max(limit, BATCH), weights=weights)
    if not is_wanted():
        return found[:limit]
    try:
        near = _nearest(db, text, project, most=BATCH)
    except FAILURES as failure:
        log.append(state, stage="vectors", reason=f"text search only: {type(failure).__name__}: {failure}")
        return found[:limit]
    return _fused(db, found, near, weights or {})[:limit]


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return the endpoint's vector for each text. Raises one of FAILURES."""
    address = os.environ[URL].rstrip("/")
    address = address if address.endswith("/embeddings") else address.removesuffix("/v1") + PATH
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"{URL} is no http address")
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(KEY):
        headers["Authorization"] = f"Bearer {key}"
    asked = json.dumps({"model": _model(), "input": [text[:MOST_CHARS] for text in texts]}).encode()
    with urllib.request.urlopen(urllib.request.Request(address, asked, headers), timeout=TIMEOUT_S) as answer:
        rows: list[dict[str, Any]] = json.loads(answer.read(LARGEST_ANSWER))["data"]
    vectors = [row["embedding"] for row in sorted(rows, key=lambda row: row.get("index", 0))]
    if len(vectors) != len(texts):
        raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
    return vectors


def _model() -> str:
    return os.environ.get(MODEL) or DEFAULT_MODEL


def _nearest(db: sqlite3.Connection, text: str, project: str, *, most: int) -> list[tuple[int, float]]:
    """Compute missing vectors; return (number, cosine similarity) of the ``most`` nearest memories, by brute force."""
    import numpy as np

    missing = db.execute(WHICH_HAVE_NONE, (project, _model(), MOST_NEW)).fetchall()
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        made = np.asarray(embed([row[1] for row in batch]), dtype="<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True) + 1e-9
        kept = [(row[0], _model(), vector.tobytes()) for row, vector in zip(batch, made, strict=True)]
        db.executemany(KEEP, kept)
    rows = db.execute(WHICH_HAVE_ONE, (project, _model())).fetchall()
    if not rows:
        return []
    asked = np.asarray(embed([text])[0], dtype="<f4")
    asked /= np.linalg.norm(asked) + 1e-9
    likeness = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1) @ asked
    best = np.argsort(-likeness, kind="stable")[:most]
    return [(int(rows[at][0]), float(likeness[at])) for at in best if likeness[at] >= LEAST_LIKENESS]


def _fused(
    db: sqlite3.Connection, found: list[Hit], near: list[tuple[int, float]], weights: Mapping[str, float]
) -> list[Hit]:
    """Merge both lists, ordered by the sum of 1 / (60 + rank).

    A score is the better one of the two searches, lowered to that of the hit before if it is higher.
    """
    hits = {hit.id: hit for hit in found}
    ranks = {hit.id: 1 / (RANK_CONSTANT + at) for at, hit in enumerate(found, 1)}
    for at, (number, likeness) in enumerate(near, 1):
        row = db.execute(recall.WHICH_IS_IT, (number,)).fetchone()
        raw = round(likeness / recall.LARGEST_WEIGHT, 6)
        hit = hits.setdefault(str(row[1]), recall.Hit(tuple(row), score=0.0, raw=0.0, own=0.0))
        hit.raw = max(hit.raw, raw)
        hit.score = hit.raw * weights.get(hit.namespace, 1.0)
        ranks[hit.id] = ranks.get(hit.id, 0.0) + 1 / (RANK_CONSTANT + at)
    ordered = sorted(hits.values(), key=lambda hit: (-ranks[hit.id] * weights.get(hit.namespace, 1.0), hit.id))
    for first, second in itertools.pairwise(ordered):
        second.score = min(first.score, second.score)
    return ordered
