"""Search for memories by words and by meaning, for the commands, the MCP server and Python programs.

If local models are enabled (both settings in ``enricher.settings.GATES``), the results of a word search are fused with
those of a search by vectors, which come from the endpoint ``LLM_EMBEDDING_URL``. Otherwise, or if the endpoint fails,
only the words count. The hook's own search (``enricher.context.channels.memory``) uses stored vectors only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.model import embedding
from enricher.model.client import ModelError
from enricher.model.endpoint import EndpointError
from enricher.rules import cache
from enricher.settings import EMBEDDING, has_vectors, model_named, with_environment
from storage.base import log
from storage.memory import recall, vectors
from storage.memory.question import CANDIDATES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from enricher.settings import Value
    from storage.memory.recall import Hit

TIMEOUT_S = 10.0
"""Time limit, in seconds, for getting the missing vectors of memories, and again for the vector of the query."""
FEWEST_COMPARED = 64
"""At least this many results by words are fused with the results by vectors, even if fewer are wanted in the end."""


def settings_with_vectors(cwd: str = "") -> dict[str, Value] | None:
    """Return the settings that apply in ``cwd``, or None if a search by vectors is not allowed or not configured."""
    if not os.environ.get(EMBEDDING):
        return None
    try:
        compiled = cache.load(cwd)[0].body["settings"]
    except cache.NoRulesError:
        compiled = {}
    settings = with_environment(compiled, os.environ)[0]
    return settings if has_vectors(settings, os.environ) else None


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    project: str,
    state: str,
    cwd: str = "",
    cwd_prefix: str = "",
    limit: int = 10,
    weights: Mapping[str, float] | None = None,
    now: float = 0.0,
    candidates: int = CANDIDATES,
) -> list[Hit]:
    """Return the memories that match ``text`` in words or, if vector search is configured, in meaning; best first.

    The endpoint first computes missing vectors; the two lists of results are then fused by reciprocal rank. If the
    endpoint fails, only the matches in words are returned, and the reason is logged. ``state`` is the state folder;
    ``cwd`` is the folder whose settings apply. The other parameters are those of ``storage.memory.recall.search``;
    ``db`` must be in autocommit mode.
    """
    settings = settings_with_vectors(cwd)
    found = recall.search(
        db,
        text,
        project=project,
        cwd_prefix=cwd_prefix,
        limit=max(limit, FEWEST_COMPARED) if settings else limit,
        weights=weights,
        now=now,
        candidates=candidates,
    )
    if not settings or not text.strip():
        return found[:limit]
    try:
        embedding.complete(db, project, settings, state=state, within_s=TIMEOUT_S)
        vector = embedding.vector_of(db, text, settings, state=state, within_s=TIMEOUT_S)
    except (ModelError, EndpointError) as failure:
        log.append(state, stage="vectors", reason=f"text search only: {failure}")
        return found[:limit]
    near = vectors.nearest(db, vector, project=project, model=model_named(EMBEDDING, os.environ))
    return vectors.fused(db, found, near, weights=weights, cwd_prefix=cwd_prefix, now=now)[:limit]
