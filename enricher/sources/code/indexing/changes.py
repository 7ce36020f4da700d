"""Find out which commits added, removed, renamed or moved a name, from the diffs of the newest commits.

A name is stored as a hash (``enricher.sources.code.name_history.key``), never as text; the only text stored from a diff
is the new name after a rename and the paths between which a definition moved. Each commit is read once, newest first,
in batches limited by bytes and time; the rest is read after the next prompt. Does not run in the hook.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from enricher.prompt.wording.words import looks_like_a_name
from enricher.sources import git
from enricher.sources.code import CONFIG, EXAMPLE, SOURCE, STUB, TEMPLATE, TEST, marks, meta, name_history
from enricher.sources.code.indexing import listing, set_meta
from enricher.sources.code.indexing.symbols import definitions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

MOST_COMMITS = 2_000
MOST_BYTES = 60_000_000
"""Maximum bytes of diffs, summed over all commits."""
MOST_BYTES_OF_A_BATCH = 6_000_000
BATCH = 50
MOST_SECONDS = 20.0
"""Time limit of one refresh; the next refresh reads the rest."""
MOST_ROWS = 500_000
MOST_FILES = 60
"""Maximum files of one commit; a larger commit is an import or a mass edit, which introduces no name on purpose."""
LONGEST_LINE = 400
MOST_PAIRS = 400
"""Maximum number of line pairs per file that are compared to detect a renamed name."""

UNREAD = 0
"""Initial value of ``commits.state``, which later becomes ``name_history.READ`` or ``name_history.SWEEP``."""

_MARK = "\x01"
# Settings of the user or the repository must not change the output that is parsed below.
_LOG = (
    "-c", "log.showRoot=true", "-c", "log.diffMerges=off", "-c", "diff.noprefix=false",
    "-c", "diff.mnemonicPrefix=false",
    "log", "--no-walk=unsorted", "--stdin", "--patch", "--unified=0", "--find-renames", "--no-color", "--no-ext-diff",
    "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules", "--relative", "--format=%x01%H",
)  # fmt: skip
_JS_HEADS = (
    r"!^[ \t]*(if|for|while|switch|catch|return|else)[^A-Za-z0-9_]"
    "\n"
    r"^[ \t]*((export[ \t]+)?(default[ \t]+)?(abstract[ \t]+)?(async[ \t]+)?(function|class|interface)[ \t*].*"
    r"|(export[ \t]+)?(const|let|var)[ \t]+[A-Za-z_$][A-Za-z0-9_$]*.*=.*(=>|function).*"
    r"|((public|private|protected|static|async|override|get|set)[ \t]+)*[A-Za-z_$#][A-Za-z0-9_$]*[ \t]*\(.*\{)$"
)
_ATTRIBUTES = "".join(
    f"*.{end} diff={driver}\n"
    for driver, ends in (
        ("python", "py pyi"), ("golang", "go"), ("rust", "rs"), ("ruby", "rb rake"), ("java", "java"), ("php", "php"),
        ("csharp", "cs"), ("kotlin", "kt kts"), ("cpp", "c h cc cpp cxx hh hpp ino"),
        ("enricher", "js jsx ts tsx mjs cjs mts cts vue svelte"),
    )
    for end in ends.split()
)  # fmt: skip
"""Diff drivers, with which git prints the function or method around a change; all but ours are built into git."""
_NAMES = re.compile(
    r"(?<![\w-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*"
    r"|(?<=[\"'`])/[A-Za-z][\w./{}<>:-]{2,60}(?=[\"'`])"
    r"|(?<=[\"'`])[a-z]\w*(?:[.-]\w+)+(?=[\"'`])"
    r"|^[ \t-]*[a-z]\w*(?:-\w+)+(?=[ \t]*[:=])"
    r"|[A-Za-z_][A-Za-z0-9_]{2,59}",
    re.MULTILINE,
)
"""Patterns of names: flags, routes, settings in quotes or at the start of a line, identifiers."""
_VARIABLES = re.compile(r"^(?:export )?([A-Z][A-Z0-9_]{2,59})=", re.MULTILINE)
_READ_KINDS = frozenset((SOURCE, TEST, CONFIG, EXAMPLE, TEMPLATE, STUB))
_keys: dict[str, int] = {}
"""Cache of the keys of words (0 for a word that is not a name), because a history repeats the same words."""


@dataclass(slots=True)
class _Hunk:
    within: str
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    """The effect of a commit on one file: ``before``, its old path (empty if added), and ``path``, empty if deleted."""

    before: str
    path: str
    hunks: list[_Hunk] = field(default_factory=list)


@dataclass(slots=True)
class _Diff:
    sha: str
    files: list[_File] = field(default_factory=list)
    is_whole: bool = True


@dataclass(slots=True)
class _Change:
    """The effect of a commit on one name.

    ``net`` is the number of occurrences added minus removed; ``what`` is the kind of change, as flags defined in
    ``enricher.sources.code.name_history``.
    """

    net: int = 0
    what: int = 0
    detail: str = ""


def read(db: sqlite3.Connection, root: str, boundary: frozenset[str]) -> int:
    """Read the diffs of unread commits, newest first, and return the number of commits read.

    ``boundary`` contains the oldest commits of a shallow clone. They are skipped, because git would show every file in
    them as new. Raises ``git.GitError`` if git fails.
    """
    with tempfile.NamedTemporaryFile("w", prefix="enricher-", suffix=".gitattributes") as attributes:
        attributes.write(_ATTRIBUTES)
        attributes.flush()
        heads = ("-c", f"core.attributesFile={attributes.name}", "-c", f"diff.enricher.xfuncname={_JS_HEADS}")
        done = _read(db, root, (*heads, *_LOG), boundary, until=time.monotonic() + MOST_SECONDS)
    total, unread = db.execute("select count(*), sum(state = ?) from commits", (UNREAD,)).fetchone()
    is_whole = not boundary and not unread and total < MOST_COMMITS
    (cut_at,) = db.execute("select max(at) from commits where state = ?", (name_history.CUT,)).fetchone()
    set_meta(db, is_whole=str(int(is_whole)), cut_at=str(cut_at or 0))
    return done


def _read(db: sqlite3.Connection, root: str, log: tuple[str, ...], boundary: frozenset[str], *, until: float) -> int:
    budget = MOST_BYTES - int(meta(db, "diff_bytes") or 0)
    query = "select id, sha, at from (select * from commits order by at desc, id desc limit ?) where state = ?"
    waiting = db.execute(query, (MOST_COMMITS, UNREAD)).fetchall()
    done = 0
    for start in range(0, len(waiting), BATCH):
        batch = {sha: (number, at) for number, sha, at in waiting[start : start + BATCH]}
        rows = db.execute("select count(*) from name_changes").fetchone()[0]
        if time.monotonic() > until or budget <= 0 or rows > MOST_ROWS:
            break
        wanted = [sha for sha in batch if sha not in boundary]
        while wanted and time.monotonic() < until:
            printed, is_whole = git.stream(root, log, "\n".join(wanted) + "\n", most=MOST_BYTES_OF_A_BATCH)
            budget -= len(printed)
            diffs = list(_parsed(printed.decode(errors="replace")))
            if len(diffs) > 1 and not is_whole:
                diffs.pop()  # it may have been cut off, so it is requested again, as the first one
            elif diffs and not is_whole:
                diffs[0].is_whole = False  # even this single diff is too long
            _store(db, diffs, batch)
            # If the output was cut off, request the commits again whose diffs are incomplete or missing.
            seen = {one.sha for one in diffs}
            wanted = [] if is_whole or not seen else [sha for sha in wanted if sha not in seen]
        missing = [(name_history.SWEEP, number) for sha, (number, _at) in batch.items() if sha in boundary]
        db.executemany("update commits set state = ? where id = ?", missing)
        # A commit for which git printed nothing counts as read; commits that git did not reach in time are read next
        # time.
        answered = [(number,) for sha, (number, _at) in batch.items() if sha not in wanted]
        db.executemany(f"update commits set state = {name_history.READ} where state = {UNREAD} and id = ?", answered)
        done += len(answered)
        set_meta(db, diff_bytes=str(MOST_BYTES - budget))
    return done


def forget(db: sqlite3.Connection, numbers: list[int]) -> None:
    """Delete what is stored about the effects of the commits with these row numbers."""
    for start in range(0, len(numbers), 500):
        some = numbers[start : start + 500]
        for table in ("name_changes", "file_changes"):
            db.execute(f"delete from {table} where id in ({marks(some)})", some)


def _parsed(text: str) -> Iterator[_Diff]:
    """Yield the diff of each commit in git's output.

    The first character of a line shows whether it is inside a hunk or belongs to a header.
    """
    diff: _Diff | None = None
    file = _File("", "")
    hunk = _Hunk("")
    for line in text.split("\n"):
        first = line[:1]
        if first == "+" and file.hunks:
            hunk.added.append(line[1:] if len(line) <= LONGEST_LINE else "")
        elif first == "-" and file.hunks:
            hunk.removed.append(line[1:] if len(line) <= LONGEST_LINE else "")
        elif first == _MARK:
            if diff:
                yield diff
            diff = _Diff(line[1:].strip())
            file = _File("", "")
        elif line.startswith("@@ "):
            hunk = _Hunk(line.partition(" @@ ")[2])
            file.hunks.append(hunk)
        elif line.startswith("diff --git ") and diff:
            file = _File("", "")
            diff.files.append(file)
        elif line.startswith(("--- a/", "rename from ")):
            file.before = line[6:].rstrip("\t") if first == "-" else line[12:]
        elif line.startswith(("+++ b/", "rename to ")):
            file.path = line[6:].rstrip("\t") if first == "+" else line[10:]
    if diff:
        yield diff


def _store(db: sqlite3.Connection, diffs: list[_Diff], batch: dict[str, tuple[int, int]]) -> None:
    for diff in diffs:
        number, at = batch[diff.sha]
        moves = [one for one in diff.files if one.before != one.path]
        db.executemany(
            "insert or ignore into file_changes values (?, ?, ?, ?, ?)",
            [
                ((one.before or one.path).rpartition("/")[2].lower(), at, number, one.before, one.path)
                for one in sorted(moves, key=_what_stays)[: 10 * MOST_FILES]
            ],
        )
        db.executemany(
            "insert or replace into name_changes values (?, ?, ?, ?, ?, ?)",
            [(key, at, number, one.net, one.what, one.detail) for key, one in _changes(diff).items()],
        )
        state = name_history.SWEEP if len(diff.files) > MOST_FILES else name_history.READ
        state = state if diff.is_whole else name_history.CUT
        db.execute("update commits set state = ? where id = ?", (state, number))


def _what_stays(file: _File) -> tuple[bool, bool]:
    """Return a sort key: removed files first, then renamed ones, then new ones."""
    return bool(file.path), not file.before


def _changes(diff: _Diff) -> dict[int, _Change]:
    """Return what a commit did to each name, by the name's key (hash).

    Uses of a name count only if the commit changed their number.
    """
    counts: Counter[str] = Counter()
    defined: defaultdict[str, list[str]] = defaultdict(list)
    undefined: defaultdict[str, list[str]] = defaultdict(list)
    within: set[str] = set()
    renamed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file in diff.files:
        path = file.path or file.before
        if not file.hunks or not listing.is_text(path) or listing.kind_of(path) not in _READ_KINDS:
            continue
        removed = "\n".join(line for hunk in file.hunks for line in hunk.removed)
        added = "\n".join(line for hunk in file.hunks for line in hunk.added)
        less, more = Counter(_names(removed)), Counter(_names(added))
        counts.update(more)
        counts.subtract(less)
        before, after = _defined(path, removed), _defined(path, added)
        for name in after - before:
            defined[name].append(path)
        for name in before - after:
            undefined[name].append(file.before or path)  # it may have been renamed by the same commit
        within |= before & after
        heads = {hunk.within for hunk in file.hunks if hunk.within}
        headers = "\n".join([*heads, *(f"  {one}" for one in heads)])  # git strips the indentation of a method
        within |= {name for name, _line in definitions(path, headers)} if headers else set()
        if less.keys() - more.keys() and more.keys() - less.keys():
            _compare(file, less.keys() - more.keys(), more.keys() - less.keys(), renamed)
    found: dict[int, _Change] = {}
    for name in {*(name for name, net in counts.items() if net), *defined, *undefined, *within}:
        if key := _key(name, is_defined=name in defined or name in undefined or name in within):
            found[key] = _classify_change(name, counts, defined, undefined, renamed, within=name in within)
    return found


def _defined(path: str, text: str) -> set[str]:
    """Return the names that the lines of a file define; for a file such as ``.env.example``, its variables."""
    if path.rpartition("/")[2].startswith(".env"):
        return set(_VARIABLES.findall(text))
    return {name for name, _line in definitions(path, text)}


def _classify_change(
    name: str,
    counts: Counter[str],
    defined: dict[str, list[str]],
    undefined: dict[str, list[str]],
    renamed: dict[str, Counter[str]],
    *,
    within: bool,
) -> _Change:
    change = _Change(net=max(-99, min(99, counts[name])))  # SQLite stores such a number in one byte
    here, there = undefined.get(name, []), defined.get(name, [])
    change.what = (
        name_history.DEFINED * bool(there) | name_history.UNDEFINED * bool(here) | name_history.TOUCHED * within
    )
    if len(here) == len(there) == 1:
        change.what |= name_history.MOVED
        change.detail = f"{here[0]}\t{there[0]}"
    elif name in renamed and counts[name] < 0:
        new, votes = renamed[name].most_common(1)[0]
        # At least half of the removed occurrences must have the new name. It is stored as text, so it must not be a
        # secret.
        if 2 * votes >= -counts[name] and redact(new)[0] == new:
            change.what |= name_history.RENAMED
            change.detail = new
    elif here:
        change.detail = here[0]
    return change


def _compare(file: _File, gone: set[str], new: set[str], renamed: defaultdict[str, Counter[str]]) -> None:
    """Count in ``renamed`` how often a name in ``gone`` seems to be renamed to a name in ``new``.

    A rename is assumed if the two names are the only difference between a removed line and the line that replaces it.
    """
    left = MOST_PAIRS
    for hunk in file.hunks:
        if len(hunk.removed) != len(hunk.added):
            continue
        for before, after in zip(hunk.removed, hunk.added, strict=True):
            left -= 1
            if left < 0:
                return
            for name in gone.intersection(_names(before)):
                for other in new.intersection(_names(after)):
                    if before.replace(name, other) == after:
                        renamed[name][other] += 1


def _names(text: str) -> list[str]:
    # Indentation before a setting at the start of a line is part of the match; the dashes of a flag are not.
    return [name.lstrip(" \t-") if name[0] in " \t-" and name[:2] != "--" else name for name in _NAMES.findall(text)]


def _key(name: str, *, is_defined: bool) -> int:
    """Return the key of a word if it looks like a name or is defined in the code; 0 for any other word."""
    if is_defined:
        return name_history.key(name) if len(name) > 2 and name.isascii() and " " not in name else 0
    found = _keys.get(name)
    if found is None:
        if len(_keys) > 500_000:  # limits the memory
            _keys.clear()
        found = _keys[name] = name_history.key(name) if looks_like_a_name(name) else 0
    return found
