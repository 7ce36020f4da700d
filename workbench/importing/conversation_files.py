"""Find files with conversations on this machine, recognise the client that wrote each, and read the prompts in them.

The database ``logs.db`` of the program ``llm`` and plain JSONL files are read here, transcripts of other clients by
``workbench.importing.transcripts``. Up to release 0.31, ``llm`` stored its calls in the table ``responses``; since 0.32
(its migration 23), it stores them in ``turns``, with the texts of prompt and response in ``turn_search``.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

from enricher.hosts.servers import home_folder
from storage.base import reader
from workbench.importing import HOSTS, ConversationFile, LeftOut, ReadProblem, Turn, client_records, lines
from workbench.importing.transcripts import Transcript, Window, modified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.prompt.conversation import Conversation
    from enricher.sources.transcripts import Extract
    from workbench.importing import Advance, Event

STORED_AT = {
    "claude": ("projects/*/*.jsonl",),
    "codex": ("sessions/**/*.jsonl", "archived_sessions/*.jsonl"),
    "gemini": ("tmp/*/chats/*.jsonl", "tmp/*/chats/*.json"),
    "copilot": ("session-state/*/events.jsonl", "session-state/*.jsonl"),
}
SUFFIXES = (".jsonl", ".json", ".db")
SQLITE = b"SQLite format 3\0"  # the first bytes of every database of SQLite
LOOKED_AT_LINES = 50
"""Number of lines that are read to recognise the client that wrote a file."""
NOT_RECOGNISED = f"no conversation that is known; name its kind: --host {'|'.join(HOSTS)}"
OLD_CALLS = """
    select id, coalesce(conversation_id, '') as session, prompt, response, datetime_utc as at from responses
"""
NEW_CALLS = """
    select turns.id, coalesce(turns.thread_id, '') as session, turn_search.prompt, turn_search.response,
           turns.datetime_utc as at
    from turns join turn_search on turn_search.turn_id = turns.id
"""
NEEDED = {"responses": {"id", "prompt", "response", "conversation_id", "datetime_utc"}, "turn_search": {"prompt"}}
WHICH_COLUMNS = "select name from pragma_table_info(:table)"
LONGEST_PATH = 4096  # characters of a folder, as Linux allows
WANTED = 'a line wants {"prompt": "…"}, and may have "at", "session_id", "cwd" and "id"'


def stored_files(host: str = "") -> list[ConversationFile]:
    """Return every file that this account's clients store, oldest first; with ``host``, only that client's."""
    found: list[ConversationFile] = []
    for name, patterns in STORED_AT.items():
        folder = glob.escape(home_folder(name))
        paths = (path for pattern in patterns for path in glob.iglob(f"{folder}/{pattern}", recursive=True))
        found += [_source(name, path) for path in paths if host in ("", name)]
    logs = os.path.join(_llm_folder(), "logs.db")
    if host in ("", "llm") and os.path.isfile(logs):
        found.append(_source("llm", logs))
    return _in_order(found)


def named(paths: tuple[str, ...], host: str = "") -> tuple[list[ConversationFile], list[ReadProblem]]:
    """Return the conversation files at or below ``paths``, and a problem for each file that cannot be used.

    With ``host``, all files are assumed to be that client's; otherwise, each file's client is told from its content.
    """
    found: list[ConversationFile] = []
    problems: list[ReadProblem] = []
    for path in map(os.path.abspath, paths):
        for file in _files(path) if os.path.isdir(path) else (path,):
            try:
                kind = host or recognise(file)
            except OSError as failure:
                problems.append(ReadProblem(file, 0, failure.strerror or str(failure)))
                continue
            if kind:
                found.append(_source(kind, file))
            elif file == path:
                problems.append(ReadProblem(file, 0, NOT_RECOGNISED))
    return _in_order(found), problems


def read(source: ConversationFile, advance: Advance) -> Iterator[Event]:
    """Yield the prompts of a file, the turns that are left out, and the problems.

    ``advance`` is called with the number of bytes of each piece that was read.
    """
    if source.host == "llm":
        return _llm_calls(source, advance)
    return _jsonl_prompts(source, advance) if source.host == "jsonl" else Transcript(source).events(advance)


def recognise(path: str) -> str:
    """Return the client that wrote a file, judged by its beginning; empty if unknown. Raises OSError if unreadable."""
    with lines.opened(path) as file:
        if file.read(len(SQLITE)) == SQLITE:
            return "llm"
        file.seek(0)
        if path.endswith(".json"):
            document = lines.decoded(file.read(lines.LARGEST_DOCUMENT))
            return "gemini" if document and isinstance(document.get("messages"), list) else ""
        for number, line in lines.numbered(file):
            record, _fault = lines.record_on(line)
            if record and (host := _host_of(record)):
                return host
            if number == LOOKED_AT_LINES:
                return ""
    return ""


def _host_of(record: dict[str, Any]) -> str:
    kind = record.get("type")
    # From the most to the least specific form; the order matters, because some records have fields of several clients.
    if isinstance(kind, str) and "." in kind and isinstance(record.get("data"), dict):
        return "copilot"
    if isinstance(kind, str) and isinstance(record.get("payload"), dict):
        return "codex"
    if "projectHash" in record or "$set" in record or (kind in ("user", "gemini") and "content" in record):
        return "gemini"
    if isinstance(kind, str) and ("sessionId" in record or "uuid" in record):
        return "claude"
    return "jsonl" if isinstance(record.get("prompt"), str) else ""


def _files(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders.sort()  # ``os.walk`` then visits them in this order
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(SUFFIXES))


def _source(host: str, path: str) -> ConversationFile:
    try:
        return ConversationFile(host, path, os.stat(path).st_size)
    except OSError:
        return ConversationFile(host, path, 0)


def _in_order(found: list[ConversationFile]) -> list[ConversationFile]:
    """Return the files without duplicates, oldest first, so that the original of a copied session is read first."""
    unique = {source.path: source for source in found}
    return sorted(unique.values(), key=lambda source: (modified(source.path), source.path))


def _llm_folder() -> str:
    """Return the folder with ``llm``'s log: ``$LLM_USER_PATH``, or the application folder that click would choose."""
    home = os.path.expanduser("~")
    default = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if sys.platform == "darwin":
        default = os.path.join(home, "Library", "Application Support")
    return os.environ.get("LLM_USER_PATH") or os.path.join(default, "io.datasette.llm")


class _PromptAndResponse:
    """Reads records that consist of a prompt and a response, such as the calls of ``llm``.

    It has the interface of the hook's transcript readers, so that ``Window`` can use it like those.
    """

    MARKS: tuple[bytes, ...] = ()
    TODO_MARKS: tuple[bytes, ...] = ()

    @staticmethod
    def take(record: dict[str, Any], found: Extract) -> None:
        found.add_answer(str(record.get("response") or ""))
        found.prompt(str(record["prompt"]))


def _llm_calls(source: ConversationFile, advance: Advance) -> Iterator[Event]:
    """Yield the prompts of an ``llm`` database, one conversation after the other; it is opened read-only."""
    talk = _Conversation("")
    try:
        with contextlib.closing(sqlite3.connect(reader.address(source.path), uri=True)) as db:
            db.row_factory = sqlite3.Row
            for number, row in enumerate(_calls(db), start=1):
                if row["session"] != talk.session_id:
                    talk = _Conversation(str(row["session"]))
                text = str(row["prompt"] or "")
                if kind := client_records.kind_of(text):
                    yield LeftOut("llm", talk.session_id, "", kind)
                    continue
                index = talk.next() if talk.session_id else str(row["id"])
                yield talk.turn(source, text, index=index, at=lines.moment(row["at"]), line=number)
                talk.add(text, str(row["response"] or ""))
    except sqlite3.Error as failure:
        yield ReadProblem(source.path, 0, f"no readable logs.db of llm: {failure}")
    advance(source.size)


def _calls(db: sqlite3.Connection) -> Iterator[sqlite3.Row]:
    queries = [
        query
        for table, query in (("responses", OLD_CALLS), ("turn_search", NEW_CALLS))
        if {row[0] for row in db.execute(WHICH_COLUMNS, {"table": table})} >= NEEDED[table]
    ]
    if not queries:
        raise sqlite3.DatabaseError("it has neither the table responses nor turn_search")
    # Releases around 0.32 stored a call in both tables; the two rows have the same id.
    return db.execute(f"select * from ({' union all '.join(queries)}) group by id order by session, at, id")


def _jsonl_prompts(source: ConversationFile, advance: Advance) -> Iterator[Event]:
    """Yield the prompts of a JSONL file, the turns that are left out, and the problems."""
    talks: dict[str, _Conversation] = {}
    try:
        with lines.opened(source.path) as file:
            for number, line in lines.numbered(file):
                if line.strip():
                    yield from _prompt(source, line, number=number, talks=talks)
                advance(len(line))
    except OSError as failure:
        yield ReadProblem(source.path, 0, failure.strerror or str(failure))


def _prompt(source: ConversationFile, line: bytes, *, number: int, talks: dict[str, _Conversation]) -> Iterator[Event]:
    record, fault = lines.record_on(line)
    if record is None or (fault := _fault(record)):
        yield ReadProblem(source.path, number, fault)
        return
    text, session, cwd = (lines.text_at(record, name) for name in ("prompt", "session_id", "cwd"))
    cwd = cwd[:LONGEST_PATH]
    if kind := client_records.kind_of(text):
        yield LeftOut("jsonl", session, cwd, kind)
        return
    words, given = client_records.typed(text), record.get("id")
    talk = talks.setdefault(session, _Conversation(session)) if session else _Conversation("")
    own = str(given) if isinstance(given, str | int) and given != "" else ""
    index = own or (talk.next() if session else f"{source.path}:{number}")
    at = lines.moment(record.get("at"))
    yield talk.turn(source, words, index=index, at=at, line=number, cwd=cwd)
    talk.add(words, "")


def _fault(record: dict[str, Any]) -> str:
    if not isinstance(record.get("prompt"), str):
        return WANTED
    if record.get("at") and lines.moment(record["at"]) is None:
        return f"{str(record['at'])[:40]!r} is no time since 2000; write it as 2026-03-31T14:00:00Z"
    return ""


class _Conversation:
    """The part of a conversation that has been read so far; it is the context for the next prompt."""

    __slots__ = ("_count", "_offset", "_window", "session_id")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._window = Window(_PromptAndResponse())
        self._count = -1
        self._offset = 0

    def next(self) -> str:
        """Return the index of the next prompt in its session."""
        self._count += 1
        return str(self._count)

    def turn(
        self, source: ConversationFile, text: str, *, index: str, at: int | None, line: int, cwd: str = ""
    ) -> Turn:
        """Return the prompt ``text`` of this conversation as a turn.

        If its time ``at`` is unknown, it is the modification time of the file plus one microsecond per ``line``.
        """

        def before() -> Conversation:
            return self._window.before(text, cwd=cwd)

        moment = modified(source.path) + line if at is None else at
        return Turn(source.host, self.session_id, cwd, moment, at is not None, text, index, source.path, line, before)

    def add(self, prompt: str, response: str) -> None:
        """Add a prompt and its response to the conversation, before the next prompt is read."""
        size = len(prompt) + len(response)
        self._window.add({"prompt": prompt, "response": response}, size=size, offset=self._offset)
        self._offset += size
