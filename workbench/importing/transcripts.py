"""Read a client's transcript from start to end: each prompt that a user typed, with the conversation before it.

The hook's own readers parse the records; this module calls them for each record to find what a user typed. The records
before a prompt are kept within the hook's limits, and given to the reader newest first.
"""

from __future__ import annotations

import importlib
import os
from collections import deque
from typing import TYPE_CHECKING, Any

from enricher.prompt.conversation import Conversation
from enricher.sources.transcripts import (
    END_BYTES,
    LONGEST_LINE,
    MOST_BYTES,
    MOST_DECODED_BYTES,
    MOST_DECODED_LINES,
    Extract,
    summarise,
    take_one,
)
from enricher.sources.transcripts.wording import users_words
from workbench.importing import LeftOut, ReadProblem, Turn, client_records, lines
from workbench.importing.client_records import FORMS, SessionInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.sources.transcripts import Host
    from workbench.importing import Advance, ConversationFile, Event

    Record = dict[str, Any]


class Window:
    """Keeps the last records of a session within the hook's limits, to return the conversation before a prompt.

    Records of subagents are kept, too, but the client's reader skips them.
    """

    __slots__ = ("_bytes", "_host", "_records")

    def __init__(self, host: Host) -> None:
        self._host = host
        self._records: deque[tuple[dict[str, Any], int, int]] = deque()
        self._bytes = 0

    def add(self, record: dict[str, Any], *, size: int, offset: int) -> None:
        """Add the next record, whose line of ``size`` bytes begins at ``offset`` in the file."""
        if size > LONGEST_LINE:
            return
        self._records.append((record, size, offset))
        self._bytes += size
        oldest = offset + size - MOST_BYTES
        while (
            self._bytes > MOST_DECODED_BYTES or len(self._records) > MOST_DECODED_LINES or self._records[0][2] < oldest
        ):
            self._bytes -= self._records.popleft()[1]

    def before(self, prompt: str, *, cwd: str) -> Conversation:
        """Return the conversation before ``prompt``, redacted and shortened."""
        found, conversation = Extract(cwd, prompt), Conversation()
        for record, _size, _offset in reversed(self._records):
            if found.is_full():
                break
            take_one(self._host, record, found)
        summarise(found, conversation, prompt)
        conversation.resumed = found.news
        return conversation


class _UserTexts(Extract):
    """Collects the user's texts in a single record.

    ``is_news`` means that the record contains an answer or a file that the agent read or changed.
    """

    __slots__ = ("is_news", "texts")

    def __init__(self) -> None:
        super().__init__("", "")
        self.texts: list[str] = []
        self.is_news = False

    def prompt(self, text: str) -> None:
        self.texts.append(text)

    def add_answer(self, text: str, *, of: str = "") -> None:
        del of
        self.is_news = self.is_news or bool(text.strip())

    def file(self, path: object, *, is_change: bool, code: object = "") -> None:
        del path, is_change, code
        self.is_news = True

    def is_new(self, identifier: object) -> bool:
        del identifier
        return True


class Transcript:
    """Reads a transcript file once, and yields its prompts, the turns that are left out, and the problems."""

    def __init__(self, source: ConversationFile) -> None:
        self.source = source
        self.form = FORMS[source.host]
        self.reader: Host = importlib.import_module(f"enricher.sources.transcripts.{source.host}")
        self.session = SessionInfo(source.path)
        self.window = Window(self.reader)
        self.counts: dict[str, int] = {}
        self.last_at = 0
        self.last_words = ""
        self.seen: set[str] = set()

    def events(self, advance: Advance) -> Iterator[Event]:
        """Yield the prompts, left-out turns and problems of the file in order.

        ``advance`` is called with the number of bytes of each piece that was read.
        """
        self.form.open(self.source.path, self.session)
        try:
            with lines.opened(self.source.path) as file:
                if self.source.path.endswith(".json"):
                    yield from self._document(file.read(lines.LARGEST_DOCUMENT + 1))
                    advance(self.source.size)
                    return
                offset = 0
                for number, line in lines.numbered(file):
                    yield from self._line(line, number=number, offset=offset)
                    offset += len(line)
                    advance(len(line))
        except OSError as failure:
            yield ReadProblem(self.source.path, 0, failure.strerror or str(failure))

    def _document(self, content: bytes) -> Iterator[Event]:
        """Yield what ``events`` yields for a file that is a single JSON object, the earlier format of Gemini CLI."""
        record = lines.decoded(content) if len(content) <= lines.LARGEST_DOCUMENT else None
        if record is None:
            yield ReadProblem(self.source.path, 0, lines.NO_OBJECT)
            return
        self.form.learn(record, self.session)
        for number, message in enumerate(self.form.unfold(record), start=1):
            yield from self._record(message, size=0, line=number, offset=number)

    def _line(self, line: bytes, *, number: int, offset: int) -> Iterator[Event]:
        # As in the hook's reader: a record's marks are near its ends, so the middle of a long line is not searched.
        ends = line if len(line) <= 2 * END_BYTES else line[:END_BYTES] + line[-END_BYTES:]
        if not any(mark in ends for mark in (*self.reader.MARKS, *self.form.marks)):
            # A record of no interest is not decoded; whether it is an object at all is told from its ends.
            if line.strip() and not (line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")):
                yield ReadProblem(self.source.path, number, lines.NO_OBJECT)
            return
        record, fault = lines.record_on(line)
        if record is None:
            yield ReadProblem(self.source.path, number, fault)
            return
        self.form.learn(record, self.session)
        for message in self.form.unfold(record):
            yield from self._record(message, size=len(line), line=number, offset=offset)

    def _record(self, record: Record, *, size: int, line: int, offset: int) -> Iterator[Event]:
        kind = self.form.program_kind(record)
        if kind:
            yield self._left_out(kind)
        else:
            yield from self._turns(record, line=line)
        self.window.add(record, size=size, offset=offset)

    def _turns(self, record: Record, *, line: int) -> Iterator[Event]:
        listener = _UserTexts()
        take_one(self.reader, record, listener)
        if listener.is_news:
            self.last_words = ""  # the same words after an answer are a new prompt
        if not listener.texts and (kind := self.form.kind_without_words(record)):
            yield self._left_out(kind)
        for text in reversed(listener.texts):  # the reader takes the newest first
            if not self._is_repeated(record, text):
                yield self._turn(record, text, line=line)

    def _left_out(self, kind: str) -> LeftOut:
        return LeftOut(self.source.host, self.session.id, self.session.cwd, kind)

    def _is_repeated(self, record: Record, text: str) -> bool:
        """Return whether ``text`` in ``record`` repeats an earlier turn.

        Some clients write a turn twice in a row, or write it again after changing it.
        """
        if self.source.host == "codex":
            words = users_words(text) or text
            is_again, self.last_words = words == self.last_words, words
            return is_again
        identity = lines.text_at(record, "id") if self.source.host == "gemini" else ""
        is_again = bool(identity) and identity in self.seen
        self.seen.add(identity)
        return is_again

    def _turn(self, record: Record, text: str, *, line: int) -> Event:
        session = self.session
        kind = client_records.SUBAGENT if session.is_subagents else client_records.kind_of(text)
        if kind:
            return self._left_out(kind)
        words = client_records.typed(text)
        index = self.counts[session.id] = self.counts.get(session.id, -1) + 1
        at, is_dated = self._moment(record, line)

        def before() -> Conversation:
            return self.window.before(words, cwd=session.cwd)

        return Turn(
            self.source.host, session.id, session.cwd, at, is_dated, words, str(index), self.source.path, line, before
        )

    def _moment(self, record: Record, line: int) -> tuple[int, bool]:
        """Return the record's time in microseconds, and whether the record contains it.

        If it does not, the time is one microsecond after that of the previous turn; for the first turn, it is derived
        from the file's modification time.
        """
        at = lines.moment(record.get("timestamp"))
        if at is not None:
            self.last_at = at
            return at, True
        self.last_at = (self.last_at or modified(self.source.path) + line) + 1
        return self.last_at, False


def modified(path: str) -> int:
    """Return the time at which a file was last modified, in microseconds since 1970; 0 if it is gone."""
    try:
        return os.stat(path).st_mtime_ns // 1000
    except OSError:
        return 0
