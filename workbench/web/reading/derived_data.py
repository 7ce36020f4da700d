"""Update what the pages read besides the traces: roll-ups, word index, and the coverage of versions in use.

Clusters are named by words from prompts, so a measurement is stored only if all of its prompts still exist.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from storage.base.paced_writes import in_turn
from storage.metrics import rollups
from storage.traces import queries, search
from storage.traces.trace_pages import IN_BRIEF

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from workbench.coverage.coverage import Coverage
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.replay.rulesets.versions import Texts

NEWEST_PROMPTS = 5_000
MOST_VERSIONS = 3
GROWTH = 0.05
"""A version is measured again when prompts have increased by this share; judging a prompt takes milliseconds."""

WHICH_ARE_IN_USE = f"""
    select rules_hash from (
        select id, rules_hash from {IN_BRIEF} where origin <> 'test'
        order by id desc limit {NEWEST_PROMPTS}
    ) where rules_hash <> '' group by rules_hash order by max(id) desc limit {MOST_VERSIONS}
"""
WHEN_WAS_IT_MEASURED = "select at, prompts from coverage_measured where rules_hash = :hash"
HOW_MANY_CAME_SINCE = f"""
    select count(*) from (
        select 1 from {IN_BRIEF} where id >= :id and origin <> 'test' limit :enough
    )
"""
HOW_MANY_ARE_THERE = "select count(*) from json_each(:ids) as wanted cross join traces on traces.id = wanted.value"
WHICH_SOURCES = "select layer, path, text from instructions_sources where hash = :hash order by position"
DROP_THE_MEASURED = "delete from coverage_measured where rules_hash = :hash"
KEEP_THE_MEASURED = """
    insert into coverage_measured (
        rules_hash, at, prompts, judged_again, labelled, unmatched, clusters, overlaps, labels
    ) values (:hash, :at, :prompts, :judged_again, :labelled, :unmatched, :clusters, :overlaps, :labels)
"""
KEEP_THE_RULE = """
    insert into rule_coverage (
        rules_hash, position, kind, rule, facet, name, label, weight, file, line, fired, tokens, right, wrong, examples
    ) values (
        :hash, :position, :kind, :rule, :facet, :name, :label, :weight, :file, :line, :fired, :tokens, :right, :wrong,
        :examples
    )
"""


def due(db: sqlite3.Connection) -> list[str]:
    """Return the versions of the newest prompts whose coverage is missing or outdated, the newest version first."""
    in_use = [str(row[0]) for row in db.execute(WHICH_ARE_IN_USE)]
    return [identity for identity in in_use if _is_due(db, identity)]


def measure(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> list[str]:
    """Measure the versions that are due; return the hashes of those that cannot be measured.

    A version cannot be measured if its files were not stored, or if this release compiles them to another hash. ``db``
    is in autocommit mode. Raises sqlite3.Error if the database cannot be written.
    """
    unknown = []
    for identity in due(db):
        if should_stop():
            break
        if written := _written(identity, _texts(db, identity)):
            _measure(db, written, should_stop)
        else:
            unknown.append(identity)
    return unknown


def _is_due(db: sqlite3.Connection, identity: str) -> bool:
    known = db.execute(WHEN_WAS_IT_MEASURED, {"hash": identity}).fetchone()
    if known is None:
        return True
    enough = max(1, round(known[1] * GROWTH))
    asked = {"id": queries.first_id(datetime.fromisoformat(str(known[0])).timestamp()), "enough": enough}
    return bool(db.execute(HOW_MANY_CAME_SINCE, asked).fetchone()[0] >= enough)


def _texts(db: sqlite3.Connection, identity: str) -> tuple[tuple[str, str, str], ...]:
    from enricher.rules.sources import packaged_texts

    stored = tuple((str(row[0]), str(row[1]), str(row[2])) for row in db.execute(WHICH_SOURCES, {"hash": identity}))
    shipped = packaged_texts()
    return stored or (tuple(shipped[1]) if shipped and shipped[0] == identity else ())


@lru_cache(maxsize=2 * MOST_VERSIONS)
def _written(identity: str, texts: Texts) -> LocatedRules | None:
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.replay.rulesets.versions import compile_texts

    compiled = compile_texts(texts) if texts else None
    return LocatedRules(compiled) if compiled and not compiled.broken and compiled.hash == identity else None


def _measure(db: sqlite3.Connection, written: LocatedRules, should_stop: Callable[[], bool]) -> None:
    from workbench.coverage.coverage import Measurement
    from workbench.replay.corpus import Corpus

    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    corpus = Corpus(db, limit=NEWEST_PROMPTS)
    measurement, ids = Measurement(corpus, written), []
    for page in corpus.pages():
        if should_stop():
            return
        measurement.add(page)
        ids += [row.id for row in page]
    in_turn(db, lambda: _store(db, measurement.coverage(), at=at, ids=ids))


def _store(db: sqlite3.Connection, found: Coverage, *, at: str, ids: Sequence[str]) -> None:
    """Store the coverage, unless one of the measured prompts was deleted meanwhile."""
    if db.execute(HOW_MANY_ARE_THERE, {"ids": json.dumps(ids)}).fetchone()[0] < len(ids):
        return
    known, positions = {"hash": found.rules_hash}, {row: position for position, row in enumerate(found.rows)}
    overlaps = [[positions[row] for row in one.rows] for one in found.overlaps]
    db.execute(DROP_THE_MEASURED, known)
    figures = {
        "at": at, "prompts": found.prompts, "judged_again": found.judged_again, "labelled": found.labelled,
        "unmatched": found.unmatched, "clusters": json.dumps([one.as_object() for one in found.clusters]),
        "overlaps": json.dumps(overlaps), "labels": json.dumps(found.labels),
    }  # fmt: skip
    db.execute(KEEP_THE_MEASURED, known | figures)
    for position, row in enumerate(found.rows):
        own = asdict(row) | {"position": position, "examples": json.dumps(row.examples)}
        db.execute(KEEP_THE_RULE, known | own)


def catch_up(
    db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False, with_coverage: bool = True
) -> int:
    """Update roll-ups, word index and coverage in short transactions; return how many rows are still to be processed.

    ``db`` is in autocommit mode. Coverage is measured last, if it is due, which may take some ten seconds. Raises
    sqlite3.Error if the database cannot be written.
    """
    left = max(rollups.catch_up(db, should_stop=should_stop), search.catch_up(db, should_stop=should_stop))
    if with_coverage and not left and not should_stop():
        measure(db, should_stop=should_stop)
    return left
