"""Measure how often each rule of the instructions fires (its coverage), store the figures, and read them for the pages.

Measuring takes seconds, so it is done in advance for the versions of the instructions in use. The figures include words
of prompts, as the names of clusters (groups of prompts in which no signal fired), so they are not stored if one of the
measured prompts was deleted in the meantime.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from storage.base import fast_stdlib
from storage.base.paced_writes import in_turn
from storage.traces import queries
from storage.traces.trace_pages import IN_BRIEF
from workbench.coverage.coverage import Measurement
from workbench.coverage.figures import KINDS, Coverage, CoverageRow, Overlap
from workbench.coverage.rule_positions import LocatedRules
from workbench.coverage.unmatched import Cluster
from workbench.replay.corpus import Corpus
from workbench.replay.rulesets.versions import compile_texts
from workbench.web import filters
from workbench.web.reading.versions import last_used, sources

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from workbench.replay.rulesets.versions import Texts

NEWEST_PROMPTS = 5_000  # are measured at most
GROWTH = 0.05  # of the measured prompts, before they are measured again, which takes seconds
MOST_NAMED = 3  # doubtful rules, and as many that always fire, on the home page
MOST_VERSIONS = 3  # in use, which are measured

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
# cross join: for each id one row is looked up; SQLite would otherwise be free to scan the prompts.
HOW_MANY_ARE_THERE = "select count(*) from json_each(:ids) as wanted cross join traces on traces.id = wanted.value"
DROP_THE_MEASURED = "delete from coverage_measured where rules_hash = :hash"
KEEP_THE_MEASURED = """
    insert into coverage_measured (
        rules_hash, at, prompts, judged_again, labelled, unmatched, clusters, overlaps, labels
    ) values (:hash, :at, :prompts, :judged_again, :labelled, :unmatched, :clusters, :overlaps, :labels)
"""
NOT_STORED = "condition"  # a field of a rule's coverage; it refers to the compiled rules, which change
RULE_COLUMNS = tuple(field.name for field in fields(CoverageRow) if field.name != NOT_STORED)
KEEP_THE_RULE = f"""
    insert into rule_coverage (rules_hash, position, {", ".join(RULE_COLUMNS)})
    values (:hash, :position, {", ".join(f":{name}" for name in RULE_COLUMNS)})
"""
WHICH_WERE_MEASURED = "select rules_hash, at, prompts from coverage_measured order by rules_hash"
WHAT_WAS_MEASURED = "select * from coverage_measured where rules_hash = :hash"
HOW_OFTEN_EACH_SPOKE = "select * from rule_coverage where rules_hash = :hash order by position"


@dataclass(frozen=True, slots=True)
class MeasuredVersion:
    """A version of the instructions with stored coverage: its hash, when it was measured, and on how many prompts."""

    rules_hash: str
    at: str
    prompts: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, with its coverage (``row``), as the pages show it.

    ``filter`` selects the prompts on which the rule fired, and ``anchor`` is the link to the rule's line on the page of
    the version. ``filter`` is empty if no filter can select these prompts, and ``anchor`` if there is no such line.
    """

    row: CoverageRow
    filter: str
    anchor: str

    @property
    def name(self) -> str:
        """Return the name to show: a signal's text (its rule's id if texts are left out), or any other rule's name."""
        if self.row.kind == "signal":
            return self.row.label or self.row.rule
        return self.row.name


def measured(db: sqlite3.Connection) -> list[MeasuredVersion]:
    """Return the versions of the instructions for which coverage (how often each rule fires) is stored.

    The most recently used version comes first.
    """
    found = [MeasuredVersion(*row) for row in db.execute(WHICH_WERE_MEASURED)]
    last = last_used(db, [one.rules_hash for one in found])
    return sorted(found, key=lambda one: last.get(one.rules_hash, ("", "")), reverse=True)


@dataclass(frozen=True, slots=True)
class Doubts:
    """The weak points of the rules that the home page shows, from the most recently used version that was measured.

    ``doubtful``, ``dead`` and ``always_on`` are numbers of rules: signals that are wrong too often, rules that
    never fired although they could have, and rules that always did. ``doubtful_rules`` and ``always_on_rules`` are the
    first of them for which a filter can list the prompts. ``cluster`` is the largest group of prompts in which no
    signal fired; None if there is no such group.
    """

    measured: MeasuredVersion
    doubtful: int
    dead: int
    always_on: int
    cluster: Cluster | None
    doubtful_rules: tuple[Rule, ...]
    always_on_rules: tuple[Rule, ...]


def doubts(db: sqlite3.Connection) -> Doubts | None:
    """Return the weak points of the rules in the most recently used measured version; None if none was measured."""
    newest = next(iter(measured(db)), None)
    if newest is None:
        return None
    found = coverage(db, newest.rules_hash)
    cluster = max(found.clusters, key=lambda one: one.prompts, default=None)
    doubtful, always_on = found.doubtful(), found.always_on()
    return Doubts(
        newest, len(doubtful), len(found.dead()), len(always_on), cluster, _findable(doubtful), _findable(always_on)
    )


def _findable(rows: Sequence[CoverageRow]) -> tuple[Rule, ...]:
    rules_with_filter = (one for one in (rule(row, {}) for row in rows) if one.filter)
    return tuple(islice(rules_with_filter, MOST_NAMED))


def coverage(db: sqlite3.Connection, rules_hash: str) -> Coverage:
    """Return the stored coverage (how often each rule fires) of one of the versions that ``measured`` returns."""
    known = db.execute(WHAT_WAS_MEASURED, {"hash": rules_hash}).fetchone()
    rows = tuple(_coverage_row(row) for row in db.execute(HOW_OFTEN_EACH_SPOKE, {"hash": rules_hash}))
    together = [tuple(rows[position] for position in group) for group in json.loads(known["overlaps"])]
    clusters = (Cluster(tuple(one["terms"]), one["prompts"], tuple(one["examples"]))
                for one in json.loads(known["clusters"]))  # fmt: skip
    return Coverage(
        rules_hash, known["prompts"], known["judged_again"], known["labelled"], rows,
        tuple(Overlap(group, group[0].fired) for group in together),
        known["unmatched"], tuple(clusters), json.loads(known["labels"]),
    )  # fmt: skip


def rules(found: Coverage, places: Mapping[str, int]) -> dict[str, list[Rule]]:
    """Return the rules of each kind, those that fire most often first.

    Signals are the last kind, because their list is the longest. ``places`` maps the path of each of the version's
    files to its number, for links to the line of each rule.
    """
    rows = sorted(found.rows, key=lambda row: (-row.fired, row.file, row.line))
    kinds = {kind: [rule(row, places) for row in rows if row.kind == kind] for kind in (*KINDS[1:], KINDS[0])}
    return {kind: own for kind, own in kinds.items() if own}


def rule(row: CoverageRow, places: Mapping[str, int]) -> Rule:
    """Add to a rule's coverage the filter for the prompts on which it fired, and the link to the line of the rule.

    ``places`` maps the path of each of the version's files to its number.
    """
    anchor = f"f{places[row.file]}-L{row.line}" if row.file in places else ""
    value = row.label.strip('"') if row.kind == "signal" else row.name  # quotes mark a phrase in a signal's text
    field = filters.FIELD_OF_KIND.get(row.kind, "")
    return Rule(row, filters.part(field, value) if field else "", anchor)


def _coverage_row(row: sqlite3.Row) -> CoverageRow:
    stored = {name: row[name] for name in RULE_COLUMNS}
    stored |= {"examples": tuple(json.loads(row["examples"])), "is_foreign": bool(row["is_foreign"]), NOT_STORED: -1}
    return CoverageRow(**stored)


def due(db: sqlite3.Connection) -> list[str]:
    """Return the hashes of the versions of the instructions that have to be measured, the most recently used first.

    These are the versions in use (those of the newest prompts) whose coverage is missing or outdated.
    """
    in_use = [str(row[0]) for row in db.execute(WHICH_ARE_IN_USE)]
    return [identity for identity in in_use if _is_due(db, identity)]


def measure(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> list[str]:
    """Measure and store how often each rule fires, for versions of the instructions whose figures are missing or old.

    Only the versions in use are measured. Return the hashes of those that cannot be measured because their files were
    not stored, or because this release would compile the files to different rules. ``db`` must be in autocommit mode.
    Raises sqlite3.Error if the database cannot be written.
    """
    unknown = []
    for identity in due(db):
        if should_stop():
            break
        texts = tuple((one.layer, one.path, one.text) for one in sources(db, identity))
        if written := _located_rules(identity, texts):
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


def _located_rules(identity: str, texts: Texts) -> LocatedRules | None:
    compiled = compile_texts(texts) if texts else None
    # Another hash: this release compiles the files to other rules than the recorded ones.
    return LocatedRules(compiled) if compiled and not compiled.broken and compiled.hash == identity else None


def _measure(db: sqlite3.Connection, written: LocatedRules, should_stop: Callable[[], bool]) -> None:
    at = fast_stdlib.utc_now()  # before reading: prompts that come meanwhile count as new
    corpus = Corpus(db, limit=NEWEST_PROMPTS)
    measurement, ids = Measurement(corpus, written), []
    for page in corpus.pages():
        if should_stop():
            return
        measurement.add(page)
        ids += [row.id for row in page]
    in_turn(db, lambda: _store(db, measurement.coverage(), at=at, ids=ids))


def _store(db: sqlite3.Connection, found: Coverage, *, at: str, ids: Sequence[str]) -> None:
    """Store the coverage that was measured on the prompts ``ids``, unless one of them has been deleted."""
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
