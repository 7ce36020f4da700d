"""The conversation before a prompt, as the hook would have read it at the end of the transcript.

The records before the prompt are kept within the hook's limits and read newest first by the hook's own reader
(``enricher.sources.transcripts``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from enricher.prompt.conversation import Conversation
from enricher.sources.transcripts import (
    LONGEST_LINE,
    MOST_BYTES,
    MOST_DECODED_BYTES,
    MOST_DECODED_LINES,
    Found,
    summarise,
    take_one,
)

if TYPE_CHECKING:
    from enricher.sources.transcripts import Host


class Window:
    """The last records of a session, without records too long for the hook; the reader skips records of subagents."""

    __slots__ = ("_bytes", "_host", "_records")

    def __init__(self, host: Host) -> None:
        self._host = host
        self._records: deque[tuple[dict[str, Any], int, int]] = deque()
        self._bytes = 0

    def add(self, record: dict[str, Any], *, size: int, offset: int) -> None:
        """Add the next record; its line of ``size`` bytes begins at ``offset``."""
        if size > LONGEST_LINE:
            return
        self._records.append((record, size, offset))
        self._bytes += size
        oldest = offset + size - MOST_BYTES
        while self._bytes > MOST_DECODED_BYTES or len(self._records) > MOST_DECODED_LINES or self._starts_at() < oldest:
            self._bytes -= self._records.popleft()[1]

    def before(self, prompt: str, *, cwd: str) -> Conversation:
        """Return the conversation before ``prompt``, redacted and shortened."""
        found, conversation = Found(cwd, prompt), Conversation()
        for record, _size, _offset in reversed(self._records):
            if found.is_full():
                break
            take_one(self._host, record, found)
        summarise(found, conversation, prompt)
        conversation.resumed = found.news
        return conversation

    def _starts_at(self) -> int:
        return self._records[0][2]
