"""Take what is forgotten out of the files beside the database: log, events, sessions, spool, moved-aside databases.

Lines are overwritten where they stand, with as many bytes: who appends at the same moment loses nothing, and what
was interrupted is simply done again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from storage import lean, log, notices, private, sessions, snapshots, spool, traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from storage.mentions import Mentions

    Record = dict[str, Any]

NEAR_S = 5.0
"""What a prompt logs, it logs within this time."""
ABANDONED_S = 3600
ASIDE = f"{traces.DATABASE}.corrupt-"
COPIES = "merge-"
CODE_INDICES = "code"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is to be found nowhere: traces, whole sessions, texts.

    ``moments`` are, by session, the seconds at which the traces were typed; ``told`` is, by session
    that goes on, what it was told with them.
    """

    ids: frozenset[str]
    mentions: Mentions
    sessions: frozenset[str] = frozenset()
    moments: Mapping[str, list[float]] = field(default_factory=dict)
    told: Mapping[str, set[str]] = field(default_factory=dict)

    def is_logged_in(self, line: bytes) -> bool:
        """Say whether a line of the log is about one of them."""
        record = _record(line)
        session, at = str(record.get("session_id", "")), _seconds(str(record.get("at", "")))
        is_near = session != "" and any(-1 < at - moment < NEAR_S for moment in self.moments.get(session, ()))
        return is_near or self.is_in_line(line, session)

    def is_in_line(self, line: bytes, session: str = "") -> bool:
        """Say whether a line of JSON names or mentions one of them."""
        session = session or str(_record(line).get("session_id", ""))
        if session in self.sessions or self.mentions.in_bytes(line):
            return True
        return any(word in self.ids for word in line.decode("utf-8", "replace").replace("'", '"').split('"'))


def clean(state_dir: str, gone: Forgotten, *, event_files: Iterable[str] = ()) -> list[str]:
    """Take it out of every file that the product keeps; return what was done, in words. Raises OSError."""
    counts = {
        "lines of the log": _clean_log(state_dir, gone),
        "events": sum(_clean_events(path, gone) for path in event_files),
        "session files": _clean_sessions(state_dir, gone),
        "refused records": _clean_spool(state_dir, gone),
        "notices": sum(_clean_folder(f"{state_dir}/{name}", gone) for name in (notices.NAME, notices.SHOWN)),
    }
    _clean_claims(state_dir)
    said = [f"{count:,} {name}" for name, count in counts.items() if count]
    return [*said, *_clean_databases(state_dir, gone), *_clean_snapshots(state_dir, gone)]


def clean_by_age(state_dir: str, older_than: float) -> list[str]:
    """Remove moved-aside databases, refused records and snapshots from before that second; return what, in words."""
    said = [
        f"{path} removed" for path in _databases_aside(state_dir) if _modified(path) < older_than and _removed(path)
    ]
    for path in _files(f"{state_dir}/{spool.NAME}/{spool.REFUSED}"):
        if _modified(path) < older_than:
            _removed(path)
    old = [one for one in snapshots.noted(state_dir) if _seconds(one.at) < older_than]
    said += [f"the snapshot {one.path} removed" for one in old if _removed(one.path)]
    if old:
        snapshots.forget(state_dir, [one.path for one in old])
    return said


def blank(path: str, is_meant: Callable[[bytes], bool], stand_in: Callable[[Record], Record]) -> int:
    """Overwrite the lines that are meant by what stands for them, in as many bytes; return how many there were."""
    try:
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return 0
    count = 0
    with open(descriptor, "rb+", buffering=0) as file:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            return 0
        for start, line in _lines(descriptor):
            if not line.strip() or not is_meant(line):
                continue
            short = lean.dumps(stand_in(_record(line))).encode()
            short = short if len(short) <= len(line) else b""
            if short.ljust(len(line)) != line:
                os.pwrite(descriptor, short.ljust(len(line)), start)
                count += 1
        if count:
            os.fsync(file.fileno())
    return count


def _lines(descriptor: int) -> Iterator[tuple[int, bytes]]:
    with open(os.dup(descriptor), "rb") as file:
        file.seek(0)
        start = 0
        for line in file:
            yield start, line.removesuffix(b"\n")
            start += len(line)


def _clean_log(state_dir: str, gone: Forgotten) -> int:
    def stand_in(record: Record) -> Record:
        return {"at": str(record.get("at", "")), "level": "DEBUG", "stage": "", "session_id": "", "reason": ""}

    return sum(blank(f"{state_dir}/{name}", gone.is_logged_in, stand_in) for name in (log.NAME, f"{log.NAME}.1"))


def _clean_events(path: str, gone: Forgotten) -> int:
    def stand_in(record: Record) -> Record:
        return {"topic": str(record.get("topic", "")), "outcome": "forgotten"}

    return sum(blank(name, gone.is_in_line, stand_in) for name in (path, f"{path}.1"))


def _clean_sessions(state_dir: str, gone: Forgotten) -> int:
    count = sum(sessions.reset_session(state_dir, session) for session in gone.sessions)
    for session, names in gone.told.items():
        count += _forget_told(session_file(state_dir, session), names)
    return count + _clean_folder(f"{state_dir}/{sessions.FOLDER}", gone)


def session_file(state_dir: str, session_id: str) -> str:
    """Return the file of what the session was told (``storage.sessions`` writes it)."""
    return f"{state_dir}/{sessions.FOLDER}/{lean.keyed_hash(b'session', traces.storable(session_id).encode())}"


def _forget_told(path: str, names: set[str]) -> bool:
    """Let the session be told again what it was told with a forgotten trace: only so nothing names it any more."""
    count = 0
    try:
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return False
    with open(descriptor, "rb+", buffering=0):
        for start, line in _lines(descriptor):
            try:
                tokens, told = json.loads(line)
                left = lean.dumps([tokens, [name for name in told if name not in names]]).encode()
            except (ValueError, TypeError):
                continue
            if len(left) < len(line.rstrip()):
                os.pwrite(descriptor, left.ljust(len(line)), start)
                count += 1
    return count > 0


def _clean_spool(state_dir: str, gone: Forgotten) -> int:
    """Remove what lies aside, what waits for a later version, and what was left half written."""
    count = 0
    for folder in (f"{state_dir}/{spool.NAME}", f"{state_dir}/{spool.NAME}/{spool.REFUSED}"):
        for path in _files(folder):
            name = os.path.basename(path)
            is_named = name.partition(".")[0] in gone.ids
            is_abandoned = name.endswith(".tmp") and time.time() - _modified(path) > ABANDONED_S
            if is_named or is_abandoned or _holds(path, gone, is_database=False):
                count += _removed(path)
    return count


def _clean_folder(folder: str, gone: Forgotten) -> int:
    return sum(_removed(path) for path in _files(folder) if _mentions(path, gone))


def _clean_claims(state_dir: str) -> None:
    """What says which prompt came just now is derived from the prompt; it counts for two seconds."""
    path = f"{state_dir}/{sessions.CLAIMS}"
    with contextlib.suppress(FileNotFoundError):
        if time.time() - os.stat(path).st_mtime > sessions.DUPLICATE_WITHIN_NS / 1e9:
            os.truncate(path, 0)


def _clean_databases(state_dir: str, gone: Forgotten) -> list[str]:
    """Remove moved-aside databases and abandoned copies that hold it, and indices of code in which a text stands."""
    said = []
    for path in _databases_aside(state_dir):
        if os.path.exists(path) and _holds(path, gone, is_database=True):
            stem = path.removesuffix("-wal").removesuffix("-shm")
            for end in ("-wal", "-shm", ""):
                _removed(stem + end)
            said.append(f"{stem} held some of it, and was removed")
    for path in _files(f"{state_dir}/{CODE_INDICES}"):
        if os.path.exists(path) and not path.endswith("-shm") and _mentions(path, gone, is_database=True):
            stem = path.removesuffix("-wal")
            for end in ("-wal", "-shm", ""):
                _removed(stem + end)
            said.append("an index of code held it; it is built anew from the project's files as they are then")
    return said


def _databases_aside(state_dir: str) -> list[str]:
    aside = [path for path in _files(state_dir) if os.path.basename(path).startswith(ASIDE)]
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(state_dir)):
            if entry.name.startswith(COPIES) and entry.is_dir(follow_symlinks=False):
                is_left = time.time() - entry.stat().st_mtime > ABANDONED_S
                shutil.rmtree(entry.path, ignore_errors=True) if is_left else None
    return [path for path in aside if not path.endswith("-shm")]


def _clean_snapshots(state_dir: str, gone: Forgotten) -> list[str]:
    said, done = [], []
    for snapshot in snapshots.noted(state_dir):
        try:
            if not snapshots.holds(snapshot, gone.ids, gone.mentions):
                continue
            os.unlink(snapshot.path)
            said.append(
                f"the snapshot {snapshot.path} held some of it, and was removed: end what serves it, publish again"
            )
        except FileNotFoundError:
            said.append(f"the snapshot {snapshot.path} is not there any more; if you keep a copy, delete it yourself")
        done.append(snapshot.path)
    snapshots.forget(state_dir, done)
    return said


def _holds(path: str, gone: Forgotten, *, is_database: bool) -> bool:
    try:
        if gone.mentions.in_file(path, is_database=is_database):
            return True
        with open(path, "rb") as file:
            return _names_one(file.read, gone.ids)
    except OSError:
        return False


def _names_one(read: Callable[[int], bytes], ids: frozenset[str]) -> bool:
    """Say whether an id stands in a file: one pass for any number of ids, which are 24 hex digits as a rule."""
    from storage.mentions import PIECE_BYTES

    usual = {one.encode() for one in ids if len(one) == 24}
    others = [one.encode() for one in ids if len(one) != 24]
    before = b""
    while piece := read(PIECE_BYTES):
        content = before + piece
        if any(one in content for one in others) or not usual.isdisjoint(_ids_in(content)):
            return True
        before = content[-256:]
    return False


def _ids_in(content: bytes) -> Iterator[bytes]:
    import re

    for run in re.finditer(rb"[0-9a-f]{24,}", content):
        digits = run[0]
        yield from (digits[at : at + 24] for at in range(len(digits) - 23))


def _mentions(path: str, gone: Forgotten, *, is_database: bool = False) -> bool:
    try:
        return gone.mentions.in_file(path, is_database=is_database)
    except OSError:
        return False


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def _modified(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def _record(line: bytes) -> Record:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0
