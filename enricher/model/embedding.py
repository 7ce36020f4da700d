"""Fetch vectors of texts from the embedding endpoint (seed 004) and store them, so that each text is sent only once."""

from __future__ import annotations

import time

from enricher.model.allowance import VECTORS, CountedCall
from enricher.model.client import ModelError, embed
from enricher.model.endpoint import Endpoint, endpoint_of
from enricher.settings import EMBEDDING
from storage.memory import vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from sqlite3 import Connection

    from enricher.settings import Value

BATCH = 64  # maximum number of texts in one request; the answer with their vectors is below ``client.LARGEST_ANSWER``
MOST_CHARS = 4_000  # maximum characters of a text that are sent
MOST_NEW = 2_000  # maximum memories that get a vector in one run of ``complete``
WITHOUT_ONE = """
    select number, content from memories
    where project in (?, 'shared') and not exists (
        select 1 from memory_vectors where memory_vectors.number = memories.number and model = ?
    ) order by number desc limit ?
"""
KEEP = "insert or replace into memory_vectors (number, model, vector) values (?, ?, ?)"


def request_vectors(endpoint: Endpoint, texts: Sequence[str], *, call: CountedCall, within_s: float) -> list[bytes]:
    """Fetch a vector for each text from the endpoint; return them packed as the database stores them.

    ``call`` counts this request. Raises ModelError if the request fails, or if ``call`` does not permit it.
    """
    with call:
        found, tokens = embed(endpoint, [text[:MOST_CHARS] for text in texts], within_s=within_s)
        call.used(tokens)
    try:
        return [vectors.packed(vector) for vector in found]
    except (ValueError, OverflowError) as failure:
        raise ModelError(f"{endpoint.place}: {failure}") from None


def vector_of(db: Connection, text: str, settings: Mapping[str, Value], *, state: str, within_s: float) -> bytes:
    """Return the vector of a text from the database; if it is not stored there, fetch and store it.

    ``db`` must be in autocommit mode. Raises ModelError, EndpointError.
    """
    endpoint = endpoint_of(EMBEDDING)
    known = vectors.stored(db, endpoint.name, [text])
    if text not in known:
        call = CountedCall(VECTORS, settings, state)
        known = {text: request_vectors(endpoint, [text], call=call, within_s=within_s)[0]}
        vectors.store(db, endpoint.name, known)
    return known[text]


def complete(db: Connection, project: str, settings: Mapping[str, Value], *, state: str, within_s: float) -> int:
    """Fetch and store vectors for up to MOST_NEW of the newest memories without one; return the number stored.

    ``db`` must be in autocommit mode. Raises ModelError, EndpointError.
    """
    until = time.monotonic() + within_s
    endpoint = endpoint_of(EMBEDDING)
    missing = db.execute(WITHOUT_ONE, (project, endpoint.name, MOST_NEW)).fetchall()
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        call, texts = CountedCall(VECTORS, settings, state), [content for _number, content in batch]
        made = request_vectors(endpoint, texts, call=call, within_s=until - time.monotonic())
        rows = [(row[0], endpoint.name, vector) for row, vector in zip(batch, made, strict=True)]
        db.executemany(KEEP, rows)
    return len(missing)
