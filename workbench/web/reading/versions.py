"""Read the versions of the instructions under which prompts were recorded: their figures, times of use, and files.

A version is one state of all instructions files, identified by the hash of the compiled rules. Most figures come from
precomputed sums; the prompts themselves are read only up to the newest ``WALKED_ROWS``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.sources import packaged_texts
from storage.traces.trace_pages import ABOVE_ALL, IN_BRIEF

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

WALKED_ROWS = 200_000  # newest prompts, among which a version's last use is searched; a million would take 0.3 s

HOW_MANY_OF_EACH = """
    select rules_hash, sum(prompts), coalesce(sum(prompts) filter (where status <> 'skipped'), 0),
           coalesce(sum(prompts) filter (where status = 'silent'), 0)
    from prompts_by_class where origin <> 'test' and rules_hash <> '' group by rules_hash
"""
WHEN_WAS_EACH_FIRST_SEEN = "select hash, first_seen_at from instructions_versions"
WHICH_FILES = "select hash, layer, path from instructions_sources order by hash, position"
WHICH_TEXTS = "select layer, path, text from instructions_sources where hash = :hash order by position"
IS_IT_A_SNAPSHOT = "select count(*) from sqlite_master where name = 'published'"
WHERE_THE_WALK_ENDS = f"select id from traces order by id desc limit 1 offset {WALKED_ROWS}"
# Run once for each version: it passes over the prompts of the versions that were found already.
WHICH_WAS_USED_BEFORE = f"""
    select traces.rules_hash, traces.id from {IN_BRIEF}
    where traces.id < :before and traces.id >= :end and traces.origin <> 'test' and traces.rules_hash <> ''
      and traces.rules_hash not in (select value from json_each(:known))
    order by traces.id desc limit 1
"""
WHEN_WAS_IT = "select at from traces where id = :id"


class UnknownVersionError(LookupError):
    """Raised if no version of the instructions, or more than one, has a hash that begins as requested.

    The message says which of the two is the case.
    """


@dataclass(frozen=True, slots=True)
class PromptCounts:
    """Counts of the prompts, except those of tests, that were recorded under a version of the instructions.

    ``judged`` counts those that were not skipped, and ``silent`` those to which the hook had nothing to add.
    """

    prompts: int
    judged: int
    silent: int

    @property
    def silent_share(self) -> float:
        """Return the share of silent prompts among those that were not skipped."""
        return self.silent / self.judged if self.judged else 0.0


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the instructions under which prompts were recorded.

    ``files`` has the layer (such as "packaged") and the path of each file, lowest layer first, and is empty if they
    were not stored. ``last_at`` and ``last_id`` are the time and id of its newest prompt; they are empty if that is not
    among the newest ``WALKED_ROWS`` prompts.
    """

    hash: str
    first_at: str
    last_at: str
    last_id: str
    counted: PromptCounts
    files: tuple[tuple[str, str], ...]

    @property
    def layers(self) -> list[str]:
        """Return the names of the version's layers, lowest first; files that supplement another file have no layer."""
        return [layer for layer, _path in self.files if layer not in NAMED_FILES]


@dataclass(frozen=True, slots=True)
class VersionFile:
    """A file from which a version of the rules was compiled; ``number`` counts the files from 1, lowest layer first."""

    number: int
    layer: str
    path: str
    text: str


def versions(db: sqlite3.Connection) -> list[Version]:
    """Return the versions of the instructions under which prompts were recorded, the most recently used first."""
    counted = {str(row[0]): PromptCounts(*row[1:]) for row in db.execute(HOW_MANY_OF_EACH)}
    first, files = dict(db.execute(WHEN_WAS_EACH_FIRST_SEEN).fetchall()), _files(db)
    last = last_used(db, counted)
    found = [Version(one, first.get(one, ""), *last.get(one, ("", "")), own, files.get(one, ()))
             for one, own in counted.items()]  # fmt: skip
    return sorted(found, key=lambda one: (one.last_id, one.first_at), reverse=True)


def find(known: Iterable[Version], wanted: str) -> Version:
    """Return the version of the instructions whose hash begins with ``wanted``.

    Raises UnknownVersionError if there is no such version, or more than one.
    """
    found = [one for one in known if one.hash.startswith(wanted.lower())] if wanted else []
    if len(found) != 1:
        raise UnknownVersionError(f"{'Several versions begin' if found else 'No prompt names a version that begins'} "
                                  f"with {wanted}.")  # fmt: skip
    return found[0]


def before(known: Sequence[Version], version: Version) -> Version | None:
    """Return the version whose edit probably led to this one; None if this is the oldest.

    Of the versions that were first used before this one, it is the newest with the same files or, if there is none, the
    newest of all. Files are compared because two projects with different files may be used in turn.
    """
    # Without a first use, the version may as well be newer.
    earlier = [one for one in known if one.first_at and _age(one) < _age(version)]
    same = [one for one in earlier if one.files and one.files == version.files]
    return max(same or earlier, key=_age, default=None)


def _age(one: Version) -> tuple[str, str, str]:
    """Return the key that sorts versions by their first use; if that is equal, by their newest prompt, then by hash."""
    return one.first_at, one.last_id, one.hash


def sources(db: sqlite3.Connection, rules_hash: str) -> list[VersionFile]:
    """Return the instructions files of the version with this full hash; empty if they were not stored."""
    texts: list[tuple[str, str, str]] = [tuple(row) for row in db.execute(WHICH_TEXTS, {"hash": rules_hash})]
    if not texts and (shipped := _shipped(db)) and shipped[0] == rules_hash:
        texts = list(shipped[1])
    return [VersionFile(number, *one) for number, one in enumerate(texts, 1)]


def last_used(db: sqlite3.Connection, known: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the time and the id of the newest prompt of each version in ``known``, keyed by the version's hash.

    Only the newest ``WALKED_ROWS`` prompts are searched, so versions that were used only for older prompts are missing.
    """
    wanted, found, at = set(known), dict[str, tuple[str, str]](), ABOVE_ALL
    row = db.execute(WHERE_THE_WALK_ENDS).fetchone()
    end = str(row[0]) if row else ""
    while wanted - found.keys():
        met = db.execute(WHICH_WAS_USED_BEFORE, {"before": at, "end": end, "known": json.dumps([*found])}).fetchone()
        if met is None:
            break
        at = str(met[1])
        found[str(met[0])] = (str(db.execute(WHEN_WAS_IT, {"id": at}).fetchone()[0]), at)
    return found


def _files(db: sqlite3.Connection) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for rules_hash, layer, path in db.execute(WHICH_FILES):
        found[rules_hash] = (*found.get(rules_hash, ()), (layer, path))
    if shipped := _shipped(db):
        found.setdefault(shipped[0], tuple((layer, path) for layer, path, _text in shipped[1]))
    return found


def _shipped(db: sqlite3.Connection) -> tuple[str, Sequence[tuple[str, str, str]]] | None:
    """Return the hash and files of the instructions in this package; None if they are unknown.

    If ``db`` is a snapshot, paths are shortened to file names, because folders are not published.
    """
    shipped = packaged_texts()
    if shipped is None or not db.execute(IS_IT_A_SNAPSHOT).fetchone()[0]:
        return shipped
    return shipped[0], [(layer, os.path.basename(path), text) for layer, path, text in shipped[1]]
