"""Store past prompts in batches, so that an interruption leaves complete batches and other processes wait briefly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage import traces
from storage.traces import imports, intake
from workbench.importing import Turn
from workbench.importing.sifting import NEW
from workbench.importing.survey import head_of

if TYPE_CHECKING:
    import sqlite3

    from workbench.importing import Advance, Source
    from workbench.importing.sifting import Sieve
    from workbench.importing.survey import Survey
    from workbench.importing.tracing import Tracer

BATCH = 100
"""Traces per transaction: other writers wait some tens of milliseconds for it."""


@dataclass(slots=True)
class Stored:
    """Count of prompts stored so far; ``refused`` counts those that the database rejected."""

    prompts: int = 0
    refused: int = 0


def store(
    db: sqlite3.Connection,
    sources: list[Source],
    *,
    found: Survey,
    sieve: Sieve,
    tracer: Tracer,
    stored: Stored,
    advance: Advance,
) -> None:
    """Read the files again and store the prompts that ``found`` counted; ``stored`` counts them as they are stored.

    Raises sqlite3.Error and OSError if the database cannot be written.
    """
    batch: list[dict[str, traces.Rows]] = []
    left_at_since = found.at_since
    for _source, event, fate in sieve.sift(sources, advance):
        if not isinstance(event, Turn) or fate != NEW or event.at < found.since or head_of(event) in found.templates:
            continue
        if found.since and event.at == found.since:
            if not left_at_since:
                continue
            left_at_since -= 1
        batch.append(traces.flatten(tracer.trace(event)))
        if len(batch) == BATCH:
            _flush(db, batch, tracer, stored)
    _flush(db, batch, tracer, stored)


def _flush(db: sqlite3.Connection, batch: list[dict[str, traces.Rows]], tracer: Tracer, stored: Stored) -> None:
    if not batch:
        return
    if tracer.leave_versions():
        intake.drain(tracer.state, db)
    added, refused = imports.add(db, batch)
    stored.prompts += added
    stored.refused += refused
    batch.clear()
