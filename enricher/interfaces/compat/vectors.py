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

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from enricher.prompt.project import Project
    from enricher.settings import Value
    from storage.memory.recall import Hit

TIMEOUT_S = 10.0  # limit for getting the missing vectors of memories, and again for the vector of the query
FEWEST_COMPARED = 64  # results by words that are fused with those by vectors, even if fewer are wanted in the end
MOST_LOOKED_THROUGH = 400  # results from which those of the wanted namespace are selected


def _settings_with_vectors(cwd: str) -> dict[str, Value] | None:
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
    project: Project,
    state: str,
    cwd: str,
    namespace: str = "",
    limit: int = 10,
    weights: Mapping[str, float] | None = None,
) -> list[Hit]:
    """Return the memories that match ``text`` in words or, if vector search is configured, in meaning; best first.

    The two lists of results are fused by reciprocal rank. If the endpoint of the vectors fails, only the matches in
    words are returned, and the reason is logged. ``cwd`` is the folder whose settings apply; memories about other
    folders of the project are left out. If ``namespace`` is given, only memories in it are returned. ``weights`` maps
    namespaces to factors on the scores of their memories. ``db`` must be in autocommit mode.
    """
    settings = _settings_with_vectors(cwd)
    inside = os.path.relpath(os.path.realpath(cwd), project.root).replace(os.sep, "/")
    prefix = "" if inside == "." or inside.startswith("..") else inside
    wanted = MOST_LOOKED_THROUGH if namespace else limit
    found = recall.search(
        db,
        text,
        project=project.id,
        cwd_prefix=prefix,
        limit=max(wanted, FEWEST_COMPARED) if settings else wanted,
        weights=weights,
    )
    if settings and text.strip():
        try:
            embedding.complete(db, project.id, settings, state=state, within_s=TIMEOUT_S)
            vector = embedding.vector_of(db, text, settings, state=state, within_s=TIMEOUT_S)
            near = vectors.nearest(db, vector, project=project.id, model=model_named(EMBEDDING, os.environ))
            found = vectors.fused(db, found, near, weights=weights, cwd_prefix=prefix)
        except (ModelError, EndpointError) as failure:
            reason = f"text search only: {failure}"
            log.append(state, stage="vectors", reason=reason)
    return [hit for hit in found if namespace in ("", hit.namespace)][:limit]
