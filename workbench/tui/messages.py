"""Messages between the screens and the app, named for what is requested or what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.message import Message


class Replaceable(Message):
    """A message of which only the last one counts: those of its kind that still wait are dropped."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, type(self))


class OpenPlace(Message):
    """Show a place of the app, whose screen then handles the message in ``opened``."""

    PLACE: ClassVar[str]


@dataclass
class OpenTrace(OpenPlace):
    """Show this trace on the Traces screen."""

    PLACE = "traces"
    trace_id: str


@dataclass
class FilterTraces(OpenPlace):
    """Show the traces of this selection on the Traces screen."""

    PLACE = "traces"
    text: str


@dataclass
class OpenCompare(OpenPlace):
    """Show a trace on the Compare screen as recorded and by today's rules, or by both sides of the last run.

    Without an id the last run's changes are shown.
    """

    PLACE = "compare"
    trace_id: str = ""
    is_of_last_run: bool = False


@dataclass
class OpenInstructions(OpenPlace):
    """Show this line of an instructions file; an empty path means the file being edited.

    ``before`` is the text in which it is this line, if that may be an earlier one.
    """

    PLACE = "instructions"
    path: str = ""
    line: int = 0
    before: str = ""


@dataclass
class TakeEdit(OpenPlace):
    """Put this text, not saved yet, in place of the text of an instructions file, and show what that changes."""

    PLACE = "instructions"
    path: str
    text: str
    line: int
    title: str


class DataChanged(Replaceable):
    """Another process, or this one, has written to the database."""


@dataclass
class DatabaseTrouble(Message):
    """The database cannot be read at present; an empty text means that it can be read again."""

    text: str
