"""Write what the hook recorded to files (the spool), from which another process imports it into the database.

There is one file per trace, which is the record of a prompt, and one per version of the instructions. The hook runs
this code at the end of every prompt, in a process that is a few milliseconds old. Loading SQLite and opening the
database would cost that process as much as all its other work. So it only writes a small file under a temporary name
and renames it. A background process imports the file within a second, unless a program that reads the database is
faster (``storage.traces.intake``). A trace file's name consists of the trace's id, so that names sort by time, and its
status, so that the least useful files can be deleted from a full spool without being opened.
"""

from __future__ import annotations

import os

from storage import traces
from storage.base import fast_stdlib, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NAME = "spool"
REFUSED = "refused"
VERSIONS = "versions"
SOURCES = ".sources"
LIMIT_FILE_BYTES = 8 * 1024 * 1024
FAILURES = (OSError, ValueError, TypeError, OverflowError, RecursionError, MemoryError)

# The order in which traces are dropped when the spool is full, least useful first.
USEFULNESS = ("skipped", "silent", "shadow", "partial", "ok", "error")


def record(state_dir: str, trace: traces.Trace) -> str:
    """Write a trace to the spool; return "spooled", or "lost" if it cannot be written.

    Never raises.
    """
    try:
        tables = traces.flatten(trace)
        # A prompt that asks to remember something is not dropped as silent: only this file has the text to remember.
        put(state_dir, trace.id, status="ok" if trace.memories else trace.status, tables=tables)
    except FAILURES as failure:
        from storage.base import log

        reason = f"trace {trace.id!a} was lost: {failure!r}"
        log.append(state_dir, stage="record", reason=reason, session_id=trace.session_id)
        return "lost"
    return "spooled"


def put(state_dir: str, record_id: str, *, status: str, tables: dict[str, traces.Rows]) -> None:
    """Write rows of database tables to one spool file, whose name consists of ``record_id`` and ``status``.

    ``tables`` has the rows by table name. Raises OSError if the file cannot be written, ValueError if the rows exceed
    LIMIT_FILE_BYTES.
    """
    named = {table: [traces.TABLES[table], rows] for table, rows in tables.items() if rows}
    content = fast_stdlib.dumps({"v": traces.SCHEMA_VERSION, "tables": named}).encode()
    if len(content) > LIMIT_FILE_BYTES:
        raise ValueError(f"{len(content)} bytes are no trace")
    private.write_into(f"{state_dir}/{NAME}", _file_name(record_id, status), content)


def put_late(state_dir: str, trace_id: str, model: dict[str, object]) -> None:
    """Write to the spool what a language model said about a prompt too late, after the hook had answered.

    The file's name sorts after that of the trace, so that it is imported later. Raises one of FAILURES, such as
    OSError, if it cannot be written.
    """
    rows = {traces.LATE: [traces.LATE_COLUMNS, [[fast_stdlib.dumps(model), trace_id]]]}
    content = fast_stdlib.dumps({"v": traces.SCHEMA_VERSION, "tables": rows}).encode()
    private.write_into(f"{state_dir}/{NAME}", _file_name(f"{trace_id}late", "ok"), content)


def put_version(state_dir: str, identity: str, text: Callable[[], str]) -> None:
    """Write a version of the instructions to the spool unless that was done before; ``identity`` is its hash.

    Once the version has been imported into the database, its file is emptied but not deleted, so that a single ``stat``
    shows that it need not be written again. Raises OSError if the file cannot be written.
    """
    if not os.path.exists(f"{state_dir}/{VERSIONS}/{identity}"):
        private.write_into(f"{state_dir}/{VERSIONS}", identity, text().encode())


def put_sources(state_dir: str, identity: str, texts: Iterable[tuple[str, str, str]]) -> None:
    """Write the files from which a version of the instructions was compiled, unless that was done before.

    ``texts`` has the layer, the path and the text of each file. Raises OSError if nothing can be written.
    """
    if not has_sources(state_dir, identity):
        content = fast_stdlib.dumps([list(map(traces.storable, one)) for one in texts]).encode()
        private.write_into(f"{state_dir}/{VERSIONS}", f"{identity}{SOURCES}", content)


def has_sources(state_dir: str, identity: str) -> bool:
    """Return whether the source files of a version of the instructions are stored, in the database or in the spool."""
    return os.path.exists(f"{state_dir}/{VERSIONS}/{identity}{SOURCES}")


def waiting(state_dir: str) -> list[str]:
    """Return the names of the trace files that wait in the spool for their import, oldest first."""
    try:
        return sorted(name for name in os.listdir(f"{state_dir}/{NAME}") if is_record(name))
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return []


def is_record(name: str) -> bool:
    """Return whether a name in the spool folder is that of a trace file, not of a temporary file or a subfolder."""
    return not name.startswith(".") and name != REFUSED


def dropped(state_dir: str) -> int:
    """Return how many traces were ever dropped because the spool was full."""
    try:
        return os.stat(f"{state_dir}/{NAME}/.dropped").st_size
    except OSError:
        return 0


def refused(state_dir: str) -> int:
    """Return the number of recorded prompts that could not be stored as traces and were set aside."""
    try:
        return len(os.listdir(f"{state_dir}/{NAME}/{REFUSED}"))
    except OSError:
        return 0


def _file_name(record_id: str, status: str) -> str:
    is_fit = record_id.isascii() and record_id.isalnum()  # an id that another program made may be any text
    own = record_id if is_fit else fast_stdlib.keyed_hash(b"", record_id.encode())
    return f"{own}.{status if status in USEFULNESS else 'error'}.json"
