"""What an agent did between two prompts, read from the transcript of its client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.prompt.redaction import redact
from enricher.sources.transcripts import Found, take_one
from enricher.sources.transcripts.wording import plain_status
from workbench.importing import Turn
from workbench.importing.transcripts import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.importing import ConversationFile, Event

CHANGE, READ, COMMAND, ERROR = "change", "read", "command", "error"
Steps = list[tuple[str, str]]
"""A task list: status ("pending", "in_progress", "completed") and text of each step."""


@dataclass(slots=True)
class Actions:
    """What the agent did after one prompt, in order.

    ``done`` holds pairs such as ("command", "pytest tests"); an error follows the action that failed. ``lists`` holds
    the agent's task list each time that it changed. ``at`` is the prompt's time in microseconds since 1970.
    """

    host: str
    session_id: str
    at: int
    prompt: str
    done: list[tuple[str, str]] = field(default_factory=list)
    lists: list[Steps] = field(default_factory=list)

    def kinds(self, kind: str) -> list[str]:
        """Return the actions of one kind, in order."""
        return [value for one, value in self.done if one == kind]


class _OneRecord(Found):
    """Collects the actions in a single record; readers pass on the parts of a record newest first."""

    __slots__ = ("done", "steps")

    def __init__(self) -> None:
        super().__init__("", "")
        self.done: list[tuple[str, str]] = []
        self.steps: Steps | None = None

    def file(self, path: object, *, is_change: bool) -> None:
        if isinstance(path, str) and path:
            self.done.insert(0, (CHANGE if is_change else READ, path))

    def command(self, command: object) -> None:
        if isinstance(command, str) and command.strip():
            self.done.insert(0, (COMMAND, command.strip()))

    def error(self, text: object) -> None:
        if isinstance(text, str):
            self.done.append((ERROR, text))

    def plan(self, steps: list[tuple[object, object]]) -> None:
        self.steps = [(plain_status(status), text) for status, text in steps if isinstance(text, str)]

    def is_new(self, identifier: object) -> bool:
        del identifier
        return True


class ActedTranscript(Transcript):
    """A transcript that is read once; keeps what the agent did after each prompt."""

    def __init__(self, source: ConversationFile) -> None:
        super().__init__(source)
        self.turns: list[Actions] = []
        self._tasks: dict[str, list[str]] = {}

    def _record(self, record: dict[str, Any], *, size: int, line: int, offset: int) -> Iterator[Event]:
        for event in super()._record(record, size=size, line=line, offset=offset):
            if isinstance(event, Turn):
                self.turns.append(Actions(event.host, event.session_id, event.at, redact(event.text)[0]))
                self._tasks = {}
            yield event
        if self.turns:
            self._add(record, self.turns[-1])

    def _add(self, record: dict[str, Any], turn: Actions) -> None:
        found = _OneRecord()
        take_one(self.reader, record, found)
        turn.done += found.done
        for number, (status, text) in found.tasks.items():
            known = self._tasks.setdefault(number, ["pending", ""])
            self._tasks[number] = [status or known[0], text or known[1]]
        if found.tasks:
            found.steps = [(plain_status(status), text) for status, text in self._tasks.values()]
        if found.steps is not None:
            turn.lists.append(found.steps)


def read_actions(source: ConversationFile) -> list[Actions]:
    """Return what the agent did after each prompt of a conversation; a file that cannot be read has none."""
    transcript = ActedTranscript(source)
    for _event in transcript.events(lambda _bytes: None):
        pass
    return transcript.turns
