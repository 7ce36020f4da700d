"""Run SQL that readers write in separate processes, with limits, so that other pages never wait for it.

In a thread, such a query could not be stopped reliably: SQLite calls its progress handler between the steps of a
program, but not inside a function, so that ``printf('%.*c', 2147483647, 'x')`` or a search for thousands of prefixes
runs for minutes. A process is killed by the kernel at its time limit. This module also defines the SQL functions that
queries may use.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import sqlite3
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from storage.metrics import rollups
from storage.traces import search

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

LONGEST_VALUE_BYTES = 64 << 20  # SQLite's own limit, 10^9 bytes for one value, would exhaust the server's memory
# For LIKE and GLOB: a comparison cannot be interrupted, and its time grows with pattern length times text length.
LONGEST_PATTERN_BYTES = 1_000
FORBIDDEN = frozenset(((sqlite3.SQLITE_PRAGMA, "database_list"), (sqlite3.SQLITE_FUNCTION, "fts3_tokenizer")))
"""Pragmas and functions that would reveal the path of the file or a memory address; they give no result instead."""
PROCESSES = 2  # queries of readers that can run at the same time; others wait for them
GRACE_S = 0.1  # after the time limit: if SQLite ends the query itself, no new process has to be started
STEPS_BETWEEN_LOOKS = 1_000  # of SQLite's virtual machine, between two checks of the time
MOST_MEMORY_BYTES = 1 << 30
MOST_DISK_BYTES = MOST_ANSWER_BYTES = 256 << 20
NICENESS = 10  # the server's own pages come first
COMMAND = "from workbench.web.native.query_processes import main; main()"
WORDS_OF_READERS = ("sql", "_where", "_search")
"""Beginnings of the names of URL parameters with SQL or with search words, which can take as long as SQL."""
is_readers: ContextVar[bool] = ContextVar("is_readers", default=False)
"""Whether the current request contains SQL, or words to search for, that a reader wrote."""


def add_to(connection: sqlite3.Connection) -> None:
    """Add two SQL functions to a connection: ``middle_ms(bucket)`` and ``day_of(trace_id)``.

    The first returns the latency in the middle of a bucket of the latency sums, the second the day on which a prompt
    was recorded.
    """
    connection.create_function("middle_ms", 1, _middle_ms, deterministic=True)
    connection.create_function("day_of", 1, day_of, deterministic=True)


def keep_in_bounds(connection: sqlite3.Connection) -> None:
    """Block SQL functions and pragmas that reveal facts about the machine, and limit the length of values."""
    connection.set_authorizer(_allowed)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN_BYTES)


def _allowed(action: int, first: str | None, second: str | None, *_where: str | None) -> int:
    named = second if action == sqlite3.SQLITE_FUNCTION else first
    return sqlite3.SQLITE_IGNORE if (action, (named or "").lower()) in FORBIDDEN else sqlite3.SQLITE_OK


def day_of(trace_id: object) -> str | None:
    """Return the UTC day that the id of a recorded prompt encodes; None if the id does not begin with a time."""
    try:  # the first digits of an id are microseconds since 1970
        return datetime.fromtimestamp(int(str(trace_id)[: search.TIME_DIGITS], 16) / 1e6, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _middle_ms(bucket: int | None) -> float | None:
    return None if bucket is None else rollups.middle_ms(bucket)


class ReaderQuery(NamedTuple):
    """A query to run in another process; ``most`` is the maximum number of rows to return, and 0 means all rows."""

    sql: str
    parameters: Mapping[str, Any] | Sequence[Any]
    limit_ms: float
    most: int


class QueryResult(NamedTuple):
    """The result of a query that ran in another process: column names and rows, or the error as ``refusal``."""

    names: list[str]
    rows: list[tuple[Any, ...]]
    refusal: Exception | None = None


class QueryProcesses:
    """A pool of processes that run queries on one database; a process starts when needed, and is replaced if killed."""

    def __init__(self, address: str) -> None:
        # Last in, first out, so that a second process starts only for two queries at a time; None: not started yet.
        self._free: queue.LifoQueue[subprocess.Popen[bytes] | None] = queue.LifoQueue()
        for _number in range(PROCESSES):
            self._free.put(None)
        self._address, self.alive = address, set[subprocess.Popen[bytes]]()
        self.threads = ThreadPoolExecutor(PROCESSES, "readers-sql")
        self.close = weakref.finalize(self, _close, self.threads, self.alive)
        """Kill all processes, even while they run a query; this also happens if the pool is garbage-collected."""

    def ask(self, question: ReaderQuery) -> QueryResult:
        """Run a query in a free process, and return its result; wait if no process is free.

        If the process was killed because the query took too long, ``refusal`` of the result is SQLite's error
        "interrupted".
        """
        process = self._free.get()
        try:
            process = process or self._started()
            pickle.dump(question, _pipe(process.stdin))
            _pipe(process.stdin).flush()
            answer: QueryResult = pickle.load(_pipe(process.stdout))  # safe: it comes from our own process
        except (OSError, EOFError, pickle.UnpicklingError):
            if process is not None:
                self.alive.discard(process)
                _end(process)
                process = None
            return QueryResult([], [], sqlite3.OperationalError("interrupted"))
        else:
            return answer
        finally:
            self._free.put(process)

    def _started(self) -> subprocess.Popen[bytes]:
        # -P: do not import from a folder in the working directory that has the name of one of our packages.
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, self._address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.alive.add(process)
        return process


def asked_by_readers(scope: Mapping[str, Any]) -> bool:
    """Return whether the request with this ASGI scope may contain SQL or search words that a reader wrote."""
    if scope["type"] != "http":
        return False
    # latin-1 decodes any bytes; the values do not matter here
    pairs = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return scope["method"] not in ("GET", "HEAD") or any(name.startswith(WORDS_OF_READERS) for name, _value in pairs)


def mark_requests(app: App) -> App:
    """Wrap an ASGI application so that ``is_readers`` tells, for each request, whether it contains a reader's SQL."""

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        is_readers.set(asked_by_readers(scope))
        await app(scope, receive, send)

    return answer


def main() -> None:
    """Run queries on the database ``argv[1]``, as a process of its own, until the standard input ends.

    Queries arrive on standard input, and results are written to standard output, both pickled. If a query takes too
    long, the kernel kills the process.
    """
    _limit_resources()
    with contextlib.closing(sqlite3.connect(sys.argv[1], uri=True)) as db:
        db.text_factory = lambda text: str(text, "utf-8", "replace")  # as in Datasette's own connections
        add_to(db)
        keep_in_bounds(db)
        while True:
            try:
                question = pickle.load(sys.stdin.buffer)  # safe: it comes from the server
            except EOFError:
                return
            sys.stdout.buffer.write(_run_query(db, question))
            sys.stdout.buffer.flush()


def _limit_resources() -> None:
    """Lower this process's priority, and limit its memory and disk use to what a query needs."""
    import resource  # Windows has none

    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the alarm ends the process, even inside a function of SQLite
    os.nice(NICENESS)
    for kind, most in ((resource.RLIMIT_AS, MOST_MEMORY_BYTES), (resource.RLIMIT_FSIZE, MOST_DISK_BYTES)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


def _run_query(db: sqlite3.Connection, question: ReaderQuery) -> bytes:
    """Run a query and return its pickled result; SIGALRM kills this process shortly after the query's time limit."""
    limit_s = question.limit_ms / 1000
    over = time.monotonic() + limit_s
    db.set_progress_handler(lambda: time.monotonic() >= over, STEPS_BETWEEN_LOOKS)
    signal.setitimer(signal.ITIMER_REAL, limit_s + GRACE_S)
    try:
        cursor = db.execute(question.sql, question.parameters)
        rows = cursor.fetchmany(question.most) if question.most else cursor.fetchall()
        found = pickle.dumps(QueryResult([column[0] for column in cursor.description or ()], rows))
        if len(found) > MOST_ANSWER_BYTES:
            raise sqlite3.DataError("the answer is too long")
    except (sqlite3.Error, sqlite3.Warning) as refusal:
        found = pickle.dumps(QueryResult([], [], refusal))
    except MemoryError:  # RLIMIT_AS was reached, in Python or in SQLite
        found = pickle.dumps(QueryResult([], [], sqlite3.OperationalError("the query takes too much memory")))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def _pipe(end: IO[bytes] | None) -> IO[bytes]:  # Popen's pipes are optional for the type checker
    if end is None:
        raise BrokenPipeError
    return end


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with contextlib.suppress(OSError):
        process.communicate()


def _close(threads: ThreadPoolExecutor, alive: set[subprocess.Popen[bytes]]) -> None:
    threads.shutdown(wait=False, cancel_futures=True)
    for process in alive:  # before waiting, because a thread waits for the answer of its process
        process.kill()
    threads.shutdown(wait=True)
    for process in list(alive):
        _end(process)
