"""Delete prompts from every place where the product has stored them, and keep stored data within its limits.

The plan of a deletion is first written to the file ``forgetting`` in the state folder. If the deletion is interrupted,
the next deletion, or the background work after a prompt, completes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from enricher.classify import UNSETTLED
from enricher.erasure import golden
from enricher.rules import cache
from enricher.settings import DEFAULTS, convert, named_in, with_environment
from storage import traces
from storage.base import private
from storage.db import database, maintenance
from storage.erasure import copies, retention, sidecar_files, trace_rows
from storage.erasure.mentions import Mentions
from storage.erasure.target import ErasureTarget, seconds
from storage.memory import memories
from storage.state import detached, plan_files
from storage.traces import queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    Advance = Callable[[int, int], None]

NOTE, LOCK = maintenance.UNFINISHED, "forgetting.lock"
LIMIT_NOTE = 256 << 20  # bytes of the file with the plan, which lists the id of every prompt to delete
COMPILE_MS = 10_000  # limit for compiling the settings; a prompt waits less, and uses older ones instead
FEW_PROMPTS = 20  # up to so many, files are searched for their texts, too: each text is sought in each line
UNUSED_RULES_S = 90 * 86_400
WHICH_VERSIONS_WERE_IN_FORCE = "select text from instructions_versions"


class UnfinishedError(database.DatabaseInUseError):
    """Raised if another process is deleting data, so that nothing was done."""


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """A plan of what to delete; it is stored in a file until the deletion is complete.

    ``ids`` are the ids of the prompts, newest first, and ``quoting`` those of later prompts that quote one of them.
    Data about ``sessions`` is deleted, too, and so is any other data that contains one of ``texts``, such as a replay,
    unless it is a memory. ``memories`` are the ids of memories; deleting them deletes nothing else.
    """

    ids: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    quoting: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()

    def every_id(self) -> tuple[str, ...]:
        """Return the ids of all prompts to delete, newest first, including those in ``quoting``."""
        return tuple(sorted({*self.ids, *self.quoting}, reverse=True))


@dataclass(slots=True)
class ForgetReport:
    """The outcome of a deletion: the number of prompts (``traces``) and of versions of the rules that were deleted.

    ``done`` contains messages about what was done to files, and ``remarks`` other messages for the user.
    """

    traces: int = 0
    versions: int = 0
    done: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def plan(db: sqlite3.Connection, *, ids: Iterable[str] = (), session: str = "", match: str = "") -> DeletionPlan:
    """Return a plan to delete the prompts with these ``ids``, those of ``session``, and those that contain ``match``.

    Later prompts that quote one of these are deleted with them. Raises ``queries.UnknownTraceError`` if an id or the
    session does not exist.
    """
    found = [queries.find(db, one) for one in ids]
    if session:
        own = trace_rows.of_session(db, session)
        if not own:
            raise queries.UnknownTraceError(f"no trace of session {session!r}")
        found += own
    if match:
        found += trace_rows.mentioning(db, Mentions([match]))
    named = tuple(sorted(set(found), reverse=True))  # ids begin with the time, so that this is newest first
    return DeletionPlan(
        named, (session,) if session else (), (match,) if match else (), tuple(trace_rows.quoting(db, named))
    )


def forget(db: sqlite3.Connection, state: str, what: DeletionPlan, *, advance: Advance | None = None) -> ForgetReport:
    """Delete the data in the plan ``what`` everywhere; if an earlier deletion was interrupted, complete it first.

    Raises UnfinishedError, ``trace_rows.StillReadError``, sqlite3.Error or OSError. After an error, calling it again
    completes the deletion; if the deletion had begun, the background work after the next prompt completes it as well.
    ``advance`` is called with the progress.
    """
    with exclusive_deletion(state):
        _complete_earlier(db, state)
        return _forget(db, state, what, advance=advance)


def forget_memories(db: sqlite3.Connection, state: str, ids: Iterable[str]) -> None:
    """Delete memories so that their text remains nowhere in the database or its log, even while others read it.

    Raises the same errors as ``forget``. After an error, the deletion is completed by calling this again, or by the
    background work after the next prompt.
    """
    with exclusive_deletion(state):
        earlier = _read_note(state)
        what = replace(earlier or DeletionPlan(), memories=(*unfinished_memories(state), *ids))
        _write_note(state, what)
        memories.forget(db, what.memories)
        if earlier is not None:  # an interrupted deletion: delete its prompts, too
            _forget(db, state, what)
            return
        trace_rows.make_final(db)
        os.unlink(f"{state}/{NOTE}")


def unfinished_memories(state: str) -> tuple[str, ...]:
    """Return the ids of memories in an unfinished deletion; some may already be gone from the database."""
    earlier = _read_note(state)
    return earlier.memories if earlier else ()


def finish(db: sqlite3.Connection, state: str, *, patience_s: float = database.PATIENCE_S) -> DeletionPlan | None:
    """Complete an interrupted deletion and return its plan, or None if there was none.

    Waits up to ``patience_s`` seconds while another process is deleting data. Raises the same errors as ``forget``.
    """
    with exclusive_deletion(state, patience_s=patience_s):
        return _complete_earlier(db, state)


def is_unfinished(state: str) -> bool:
    """Return whether an interrupted deletion is waiting to be completed."""
    return os.path.exists(f"{state}/{NOTE}")


def remarks_on(db: sqlite3.Connection, what: DeletionPlan) -> list[str]:
    """Return remarks on stored data that the deletion ``what`` will keep although it repeats the deleted text.

    There may be one about memories, with the command that deletes them, and one about versions of the instructions.
    """
    wanted = Mentions(what.texts)
    ids = trace_rows.memories_mentioning(db, wanted) if wanted else []
    ids = list(dict.fromkeys([*ids, *trace_rows.memories_asked_for(db, what.every_id())]))
    remarks = []
    if ids:
        contain = "memory still contains" if len(ids) == 1 else "memories still contain"
        shown = f"{' '.join(ids[:10])}{' …' if len(ids) > 10 else ''}"
        remarks.append(f"{len(ids):,} {contain} it: enricher memory forget {shown}")
    if wanted and (versions := retention.versions_mentioning(db, wanted)):
        remarks.append(
            f"{versions:,} versions of the instructions say it themselves; each goes once no trace and no kept replay "
            "names it"
        )
    return remarks


@dataclass(frozen=True, slots=True)
class Pruning:
    """What pruning would delete: the ids of prompts (oldest first), how many versions of the rules, and which files."""

    ids: list[str]
    versions: int
    files: list[str]


def plan_pruning(db: sqlite3.Connection, state: str, bounds: retention.Bounds) -> Pruning:
    """Return what ``prune(…, with_snapshots=True)`` would delete under the limits ``bounds``.

    The result leaves out recorded prompts that could not be imported into the database; ``prune`` deletes the old ones.
    """
    ids = retention.surplus(db, bounds)
    versions = retention.prune_versions(db, state, in_use=versions_in_use(state), is_dry=True)
    older_than = time.time() - bounds.days * retention.DAY_S if bounds.days else 0.0
    oldest = retention.oldest(db, after=ids[-1] if ids else "")
    return Pruning(ids, versions, copies.outdated(state, older_than, before=oldest))


def prune(
    db: sqlite3.Connection,
    state: str,
    bounds: retention.Bounds,
    *,
    with_snapshots: bool = False,
    advance: Advance | None = None,
) -> ForgetReport:
    """Delete the oldest prompts beyond the limits ``bounds``, and data that no prompt refers to any more.

    With ``with_snapshots``, published copies of the data are deleted, too, if they contain prompts older than all that
    remain. Only a user may request this: automatic pruning would delete the copy that is being served, day after day.
    Raises the same errors as ``forget``.
    """
    outcome = ForgetReport()
    with exclusive_deletion(state):
        _complete_earlier(db, state)
        _write_note(state, DeletionPlan())  # an interrupted pruning is completed, too: what it deleted is erased
        outcome.traces = retention.prune(db, bounds, advance=advance)
        if bounds.days:
            outcome.done = copies.clean_by_age(state, time.time() - bounds.days * retention.DAY_S)
        if with_snapshots:
            outcome.done += copies.clean_snapshots_before(state, retention.oldest(db))
        _end_deletion(db, state, outcome)
    return outcome


def bounds_of(settings: Mapping[str, Any]) -> retention.Bounds:
    """Return how much data to keep according to ``settings``: maximum days, number of prompts and megabytes."""
    names = [f"retention.{name}" for name in ("days", "rows", "mb")]
    return retention.Bounds(*(settings.get(name, DEFAULTS[name]) for name in names))


def account_settings() -> dict[str, Any]:
    """Return the settings that apply outside any project, so that no repository decides how long data is kept.

    Raises ``cache.NoRulesError`` if they were never compiled; then the caller must delete nothing.
    """
    rules, _layers = cache.load("", wait_ms=COMPILE_MS)
    if rules.state == UNSETTLED:
        raise cache.NoRulesError("the settings of this account have never been compiled")
    return with_environment(rules.body["settings"], os.environ)[0]


def run_retention(state: str) -> None:
    """Finish a deletion that was interrupted, then delete what is older or larger than the user's settings allow.

    This is a part of the background work after a prompt; it does nothing while another process deletes data. Raises the
    same errors as ``account_settings`` and ``prune``, except UnfinishedError.
    """
    turn = detached.claim(state, maintenance.HOUSEKEEPING)  # negative while another process does this work
    if turn < 0 or not os.path.exists(f"{state}/{traces.DATABASE}"):
        return
    try:
        with contextlib.closing(database.connect(state)) as db, contextlib.suppress(UnfinishedError):
            finish(db, state, patience_s=0)  # without waiting: a later prompt tries again
            if (bounds := bounds_of(account_settings())) and retention.surplus(db, bounds):
                prune(db, state, bounds)
    finally:
        detached.postpone(state, maintenance.BETWEEN_HOUSEKEEPING_S, maintenance.HOUSEKEEPING)
        os.close(turn)


def _complete_earlier(db: sqlite3.Connection, state: str) -> DeletionPlan | None:
    """Do the work of ``finish``; the caller must hold the lock for deletions."""
    earlier = _read_note(state)
    if earlier is not None:
        _forget(db, state, earlier)
    return earlier


def _forget(db: sqlite3.Connection, state: str, what: DeletionPlan, *, advance: Advance | None = None) -> ForgetReport:
    outcome = ForgetReport()
    _write_note(state, what)
    if what.memories:
        memories.forget(db, what.memories)
    rows = trace_rows.described(db, what.every_id())
    outcome.remarks = remarks_on(db, what)
    gone = _target(db, what, rows)
    outcome.done = sidecar_files.clean(state, gone, event_files=event_files(db, state))
    done, remarks = golden.forget({row["cwd"] for row in rows}, gone)
    outcome.done += done
    outcome.remarks += remarks
    outcome.traces = trace_rows.delete(db, what.every_id(), advance=advance)
    trace_rows.delete_related(db, sessions=gone.sessions, wanted=Mentions(what.texts))
    if late := trace_rows.existing(db, what.every_id()):  # imported again by a process that had already read them
        trace_rows.delete(db, late)
    _end_deletion(db, state, outcome, wanted=Mentions(what.texts))
    return outcome


def _target(db: sqlite3.Connection, what: DeletionPlan, rows: list[dict[str, Any]]) -> ErasureTarget:
    ids = what.every_id()
    ended = trace_rows.sessions_that_end(db, {row["session_id"] for row in rows}, ids) | set(what.sessions)
    moments: dict[str, list[float]] = {}
    for row in rows:
        moments.setdefault(row["session_id"], []).append(seconds(row["at"]))
    # A shorter prompt, such as "yes", occurs in texts that have nothing to do with it.
    own = [row["prompt"] for row in rows if len(row["prompt"]) >= trace_rows.SHORTEST_QUOTE_CHARS]
    return ErasureTarget(
        frozenset(ids),
        Mentions([*what.texts, *(own if len(rows) <= FEW_PROMPTS else ())]),
        frozenset(ended),
        moments,
        {
            session: refs
            for session, refs in trace_rows.injected_items(db, {row["session_id"] for row in rows}, ids).items()
            if session not in ended
        },
    )


def _end_deletion(db: sqlite3.Connection, state: str, outcome: ForgetReport, *, wanted: Mentions | None = None) -> None:
    """Delete data that no prompt refers to any more, make the deletion irreversible, and delete the file with the plan.

    The number of deleted versions of the rules is stored in ``outcome``. Recent versions, which are otherwise kept, are
    deleted, too, if they contain one of the texts in ``wanted``.
    """
    sweep_rules(state)  # before the versions, which these files keep in use
    plan_files.remove_all()  # they quote prompts, and agents need them only briefly
    outcome.versions = retention.prune_versions(db, state, in_use=versions_in_use(state), wanted=wanted)
    trace_rows.scrub(db)
    os.unlink(f"{state}/{NOTE}")


def event_files(db: sqlite3.Connection, state: str) -> list[str]:
    """Return all files to which events may have been sent.

    They are the files that the environment and every known version of the rules name for this purpose.
    """
    named = {value for name, key in named_in(os.environ) if key == "events.file" for value in [os.environ[name]]}
    for body in _rule_bodies(db, state):
        with contextlib.suppress(ValueError, KeyError, TypeError):  # another release compiled them
            named.add(str(convert("events.file", body["settings"]["events.file"])))
    return sorted(os.path.join(state, os.path.expanduser(one)) for one in named - {""})


def _rule_bodies(db: sqlite3.Connection, state: str) -> Iterator[Mapping[str, Any]]:
    for (text,) in db.execute(WHICH_VERSIONS_WERE_IN_FORCE).fetchall():
        with contextlib.suppress(ValueError):
            yield json.loads(text)
    for path in _compiled_files(state):
        if rules := cache.read_any_age(path):
            yield rules.body


def versions_in_use(state: str) -> set[str]:
    """Return the hashes of the rules that the next prompt may get: the packaged ones and all compiled ones."""
    headers = map(cache.read_header, [cache.shipped_file(), *_compiled_files(state)])
    return {str(header["hash"]) for header in headers if header}


def sweep_rules(state: str) -> None:
    """Delete the files of compiled rules that no prompt has used for 90 days."""
    for path in _compiled_files(state):
        if time.time() - _last_used(path) > UNUSED_RULES_S:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _compiled_files(state: str) -> list[str]:
    folder = os.path.join(state, "rules")
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    except OSError:
        return []


def _last_used(path: str) -> float:
    try:
        found = os.stat(path)
    except OSError:  # gone, or not to be examined: treat it as used
        return time.time()
    return max(found.st_atime, found.st_mtime)  # some file systems record no access times


@contextlib.contextmanager
def exclusive_deletion(state: str, *, patience_s: float = database.PATIENCE_S) -> Iterator[None]:
    """Hold the lock for deletions in a ``with`` block; raises UnfinishedError if another process keeps it too long."""
    descriptor = private.open_file(f"{state}/{LOCK}", os.O_RDWR)
    try:
        if not private.lock(descriptor, patience_s=patience_s):
            raise UnfinishedError("another process is forgetting or pruning; try again when it is done")
        yield
    finally:
        os.close(descriptor)


def _write_note(state: str, what: DeletionPlan) -> None:
    private.write_file(f"{state}/{NOTE}", json.dumps(asdict(what)).encode())


def _read_note(state: str) -> DeletionPlan | None:
    """Return the plan of an unfinished deletion, or None if there is no file with a plan.

    If the file is damaged, return an empty plan; executing it at least makes earlier deletions irreversible.
    """
    try:
        value = json.loads(private.read_file(f"{state}/{NOTE}", LIMIT_NOTE))
        return DeletionPlan(**{name: tuple(value.get(name, ())) for name in DeletionPlan.__dataclass_fields__})
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError, TypeError):
        return DeletionPlan()
