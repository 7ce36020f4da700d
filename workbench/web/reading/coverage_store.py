"""Read the stored coverage of each version, so that a page does not have to classify prompts."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from workbench.coverage.coverage import KINDS, Coverage, CoverageRow, Overlap
from workbench.coverage.unmatched import Cluster
from workbench.web import filters
from workbench.web.reading.versions import last_used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_NAMED = 3
"""Rules of a kind that the home page names."""
WHICH_WERE_MEASURED = "select rules_hash, at, prompts from coverage_measured order by rules_hash"
WHAT_WAS_MEASURED = "select * from coverage_measured where rules_hash = :hash"
HOW_OFTEN_EACH_SPOKE = "select * from rule_coverage where rules_hash = :hash order by position"


@dataclass(frozen=True, slots=True)
class MeasuredVersion:
    """A version with stored coverage: its hash, when it was measured, and on how many prompts."""

    rules_hash: str
    at: str
    prompts: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for the page; ``filter`` selects the prompts on which it fired, ``anchor`` is its line on the page.

    Both are empty if there is none.
    """

    row: CoverageRow
    filter: str
    anchor: str

    @property
    def name(self) -> str:
        """For a signal its text, or its rule if texts are not stored; for other kinds the name of the rule."""
        if self.row.kind == "signal":
            return self.row.label or self.row.rule
        return self.row.name

    @property
    def tokens_each(self) -> int:
        """Mean number of tokens that the rule adds to a prompt on which it fires; 0 if it never fired."""
        return round(self.row.tokens / self.row.fired) if self.row.fired else 0


def measured(db: sqlite3.Connection) -> list[MeasuredVersion]:
    """Return the versions with stored coverage, the most recently used first; empty if the table does not exist."""
    found = []
    with suppress(sqlite3.OperationalError):
        found = [MeasuredVersion(str(row[0]), str(row[1]), int(row[2])) for row in db.execute(WHICH_WERE_MEASURED)]
    last = last_used(db, [one.rules_hash for one in found])
    return sorted(found, key=lambda one: last.get(one.rules_hash, ("", "")), reverse=True)


@dataclass(frozen=True, slots=True)
class Doubts:
    """Weak points of the rules in the version that was used last, of those with stored coverage.

    ``doubtful``, ``dead`` and ``always_on`` are numbers of rules: signals that are wrong too often, rules that never
    fire, and rules that always do. ``doubtful_rules`` and ``always_on_rules`` are the first of them for which a filter
    can list the prompts. ``cluster`` is the largest group of prompts without any signal; None if there is none.
    """

    measured: MeasuredVersion
    doubtful: int
    dead: int
    always_on: int
    cluster: Cluster | None
    doubtful_rules: tuple[Rule, ...]
    always_on_rules: tuple[Rule, ...]


def doubts(db: sqlite3.Connection) -> Doubts | None:
    """Return the doubts about rules of the most recently used version with stored coverage; None if there is none."""
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
    """Return the stored coverage of a version; it must be one that ``measured`` returned."""
    (known,) = _rows(db, WHAT_WAS_MEASURED, rules_hash)
    rows = tuple(_rule(row, known["prompts"]) for row in _rows(db, HOW_OFTEN_EACH_SPOKE, rules_hash))
    together = [tuple(rows[position] for position in group) for group in json.loads(known["overlaps"])]
    return Coverage(
        rules_hash, known["prompts"], known["judged_again"], known["labelled"], rows,
        tuple(Overlap(group, group[0].fired) for group in together),
        known["unmatched"], tuple(_cluster(one) for one in json.loads(known["clusters"])), json.loads(known["labels"]),
    )  # fmt: skip


def rules(found: Coverage, places: Mapping[str, int]) -> dict[str, list[Rule]]:
    """Return the rules by kind, those that fire most often first; signals, the longest list, are the last kind.

    ``places`` maps the path of each file of the version to its position among them.
    """
    rows = sorted(found.rows, key=lambda row: (-row.fired, row.file, row.line))
    kinds = {kind: [rule(row, places) for row in rows if row.kind == kind] for kind in (*KINDS[1:], KINDS[0])}
    return {kind: own for kind, own in kinds.items() if own}


def rule(row: CoverageRow, places: Mapping[str, int]) -> Rule:
    """Return a rule with the filter for its prompts and the anchor of its line; ``places`` is as in ``rules``."""
    anchor = f"f{places[row.file]}-L{row.line}" if row.file in places else ""
    value = row.label.strip('"') if row.kind == "signal" else row.name
    field = filters.FIELD_OF_KIND.get(row.kind, "")
    return Rule(row, filters.part(field, value) if field else "", anchor)


def _rule(row: dict[str, Any], prompts: int) -> CoverageRow:
    return CoverageRow(
        row["kind"], row["rule"], row["facet"], row["name"], row["label"], row["weight"], -1, row["file"], row["line"],
        row["fired"], prompts, row["tokens"], row["right"], row["wrong"], tuple(json.loads(row["examples"])),
    )  # fmt: skip


def _cluster(one: dict[str, Any]) -> Cluster:
    return Cluster(tuple(one["terms"]), int(one["prompts"]), tuple(one["examples"]))


def _rows(db: sqlite3.Connection, query: str, rules_hash: str) -> list[dict[str, Any]]:
    cursor = db.execute(query, {"hash": rules_hash})
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
