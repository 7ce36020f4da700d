"""Look up which commits added, changed, renamed or removed a name. Runs in the hook.

The code index stores the names in commits as hashes.
"""

from __future__ import annotations

from _blake2 import blake2b

from enricher.prompt.wording.words import terms
from enricher.sources.code import DOC, files_with, marks, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

DEFINED, UNDEFINED, TOUCHED, MOVED, RENAMED = 1, 2, 4, 8, 16
"""Flags for what a commit did to a name, one or more of these.

It added a definition, removed one, changed the definition or its body, moved it to another file, or renamed it.
"""
READ, SWEEP, CUT = 1, 2, 3
"""Values of ``commits.state``, which say how much of a commit is known.

The first means that its whole diff was read, the second that it changes so many files that it cannot be said to have
introduced a name, and the third that only the beginning of its diff was read, so that it may have introduced any name.
"""
MOST_EVENTS = 400
MOST_FILES = 60
"""Maximum files with a name whose kinds (such as test) are looked up; a name in more files is certainly not gone."""
MOST_NAMES_IN_A_ROW = 4
"""Maximum successive renames of one name, file or folder that are followed."""
NEARLY_ALL = 0.8
"""Minimum share of the files of a folder that went to the same one, so that the folder counts as moved."""


class Event:
    """What a commit did to a name or file; ``net`` is how often it added the name minus how often it removed it."""

    __slots__ = ("at", "detail", "net", "sha", "state", "subject", "what")

    def __init__(self, at: int, net: int, what: int, detail: str, sha: str, subject: str, state: int) -> None:
        self.net, self.what, self.detail = net, what, detail
        self.sha, self.at, self.subject, self.state = sha, at, subject, state


def key(name: str) -> int:
    """Return the hash that the index stores in place of ``name``.

    The name itself is not stored because diffs may contain secrets that were removed later. The hash has seven bytes,
    so that it always fits into one of SQLite's signed integers of eight bytes.
    """
    return int.from_bytes(blake2b(name.encode(errors="replace"), digest_size=7).digest(), "big")


def events(db: Connection, names: list[str]) -> dict[str, list[Event]]:
    """Return the commits that affected each of the names, newest first."""
    keys = {key(name): name for name in names}
    found: dict[str, list[Event]] = {}
    rows = db.execute(
        "select n.key, n.at, n.net, n.what, n.detail, c.sha, c.subject, c.state from name_changes n"
        f" join commits c on c.id = n.id where n.key in ({marks(keys)})"
        f" order by n.at desc, n.id desc limit {MOST_EVENTS}",
        list(keys),
    )
    for row in rows:
        found.setdefault(keys[row[0]], []).append(Event(*row[1:]))
    return found


def file_events(db: Connection, name: str) -> list[tuple[str, str, Event]]:
    """Return (path before, path after, commit) for each commit that added, removed or renamed a file of that name."""
    rows = db.execute(
        "select f.before, f.path, f.at, 0, 0, '', c.sha, c.subject, c.state from file_changes f"
        " join commits c on c.id = f.id where f.name = ? order by f.at desc, f.id desc limit 100",
        (name.lower(),),
    )
    return [(row[0], row[1], Event(*row[2:])) for row in rows]


def new_folder(db: Connection, folder: str) -> tuple[str, int] | None:
    """Return the folder to which nearly all files of ``folder`` ("lib/pty/") were moved, and the id of the last commit.

    The folder is empty if most files were removed. The result is None if they were moved to several folders.
    """
    size = len(folder)
    query = (
        "select at, id, substr(before, ?), path from file_changes where substr(before, 1, ?) = ?"
        " order by at desc, id desc limit 1000"
    )
    rows = db.execute(query, (size + 1, size, folder)).fetchall()
    homes = [home for _at, _id, own, path in rows if path and (home := _home(own, path))]
    if not homes:
        return ("", rows[0][1]) if rows else None
    home = max(dict.fromkeys(homes), key=homes.count)
    moves = [(at, number) for at, number, own, path in rows if path and _home(own, path) == home]
    later = [row for row in rows if row[0] >= moves[-1][0]]  # a file that was removed before did not go along
    # A file with other content counts as removed and, at the same place in the new folder, as added.
    query = "select id, path from file_changes where before = '' and substr(path, 1, ?) = ?"
    added = set(db.execute(query, (len(home), home)).fetchall())
    went = [_home(own, path) == home if path else (number, home + own) in added for _at, number, own, path in later]
    if sum(went) >= NEARLY_ALL * len(went):
        return home, moves[0][1]
    return None if 2 * sum(bool(row[3]) for row in later) >= len(later) else ("", rows[0][1])


def _home(own: str, path: str) -> str:
    """Return where a file is now whose whole folder was moved: the folder's new path.

    ``own`` is the path of the file within the old folder, ``path`` its new path in the project.
    """
    inner, outer = own.rpartition("/")[0], path.rpartition("/")[0]
    outer = f"/{outer}".removesuffix(f"/{inner}")[1:] if inner else outer
    return f"{outer}/" if outer else ""


def has_files(db: Connection, folder: str) -> bool:
    """Return whether the project has files in ``folder``, which ends with a slash."""
    query = "select 1 from files where substr(path, 1, ?) = ? limit 1"
    return db.execute(query, (len(folder), folder)).fetchone() is not None


def file_called(db: Connection, path: str) -> str:
    """Return ``path`` with the extension of the only file of that name that commits added or removed; else nothing.

    It is also empty if a file with that path and any extension still exists.
    """
    stem = path.lower().rpartition("/")[2]
    rows = db.execute(  # every extension sorts before "/", which follows "." in ASCII
        "select before, path from file_changes where name > ? and name < ? limit 100", (f"{stem}.", f"{stem}/")
    ).fetchall()
    left = db.execute("select '', path from files where stem = ? limit 100", (stem,)).fetchall()
    endings = {_ending(own, path) for row in rows for own in row} - {""}
    is_left = any(_ending(own, path) for _before, own in left)
    return path + endings.pop() if len(endings) == 1 and not is_left else ""


def _ending(own: str, path: str) -> str:
    """Return the extension, such as ".tsx", with which ``path`` is the end of ``own``; empty if there is none."""
    bare, dot, ending = own.rpartition(".")
    return f".{ending}" if dot and f"/{bare}".endswith(f"/{path}") else ""


def is_gone(db: Connection, name: str) -> bool:
    """Return whether no file of the project defines ``name`` and no file other than a document contains it."""
    # A heading of a document, such as upgrade notes, defines nothing.
    defined = "select 1 from symbols join files on files.id = symbols.file where key = ? and kind <> ? limit 1"
    if db.execute(defined, (name.lower(), DOC)).fetchone():
        return False
    last = name.strip("-/{}<>:").rpartition("/")[2].rpartition(".")[2]  # of a flag, route or dotted name
    term = (terms(last) or [""])[-1]  # a compound name as a whole comes after its parts
    for ids in files_with(db, term):
        if len(ids) > MOST_FILES:
            return False
        query = f"select 1 from files where id in ({marks(ids)}) and kind <> {DOC} limit 1"
        if db.execute(query, ids.tolist()).fetchone():
            return False
    return True


def removals(found: list[Event]) -> list[Event]:
    """Return the commits that removed a name, newest first; an empty list if the name may still exist.

    ``found`` are the commits that affected the name, newest first. If some of them removed its definition and no later
    one added it, these are returned, one for each file. If none of them added or removed a definition, the newest
    commit is returned, provided that it removed more uses than it added. It is also returned if it renamed the name,
    because the changed lines of a definition need not show that it is one.
    """
    placed = next((one.at for one in found if one.what & DEFINED and not one.what & UNDEFINED), 0)
    taken: dict[str, Event] = {}
    for one in found:
        if one.what & UNDEFINED and not one.what & (DEFINED | MOVED) and one.at >= placed:
            taken.setdefault(one.detail, one)
    if taken or not found or found[0].net >= 0 or (placed and not found[0].what & RENAMED):
        return list(taken.values())
    return found[:1]


def introduction(db: Connection, found: list[Event]) -> Event | None:
    """Return the commit that introduced a name, or None if it is not certain which one did.

    ``found`` are the commits that affected the name, newest first. Unless the index has the whole history, the oldest
    of them counts only if it defined the name. A commit that changed very many files does not count, because it rarely
    introduces a name on purpose. Nor does one after a commit whose diff was not read to its end, which may have
    introduced the name.
    """
    defining = [one for one in found if one.what & DEFINED and not one.what & UNDEFINED]
    is_added = bool(found) and found[-1].net > 0 and meta(db, "is_whole") == "1"
    first = defining[-1] if defining else found[-1] if is_added else None
    if first is None or first.state >= SWEEP:
        return None
    return None if 0 < int(meta(db, "cut_at") or 0) < first.at else first


def successors(db: Connection, name: str, event: Event) -> list[str]:
    """Return the names that replaced ``name``, oldest first: the one that ``event`` renamed it to, and any later ones.

    The last of them is the current name.
    """
    found: list[str] = []
    while event.what & RENAMED and event.detail not in (name, *found) and len(found) < MOST_NAMES_IN_A_ROW:
        found.append(event.detail)
        later = removals(events(db, found[-1:]).get(found[-1], [])) if is_gone(db, found[-1]) else []
        if not later:
            break
        event = later[0]
    return found
