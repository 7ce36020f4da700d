"""Messages between the screens and the app, named for what is requested or what happened."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


class Replaceable(Message):
    """A message of which only the last one counts: those of its kind that still wait are dropped."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, type(self))


@dataclass
class OpenTrace(Message):
    """Show this trace on the Traces screen."""

    trace_id: str


@dataclass
class FilterTraces(Message):
    """Show the traces of this selection on the Traces screen."""

    text: str


@dataclass
class OpenCompare(Message):
    """Show a trace on the Compare screen as recorded and by today's rules, or by both sides of the last run.

    Without an id the last run's changes are shown.
    """

    trace_id: str = ""
    is_of_last_run: bool = False


@dataclass
class OpenInstructions(Message):
    """Show this line of an instructions file; an empty path means the file being edited.

    ``before`` is the text in which it is this line, if that may be an earlier one.
    """

    path: str = ""
    line: int = 0
    before: str = ""


@dataclass
class TakeEdit(Message):
    """Put this text, not saved yet, in place of the text of an instructions file, and show what that changes."""

    path: str
    text: str
    line: int
    title: str


@dataclass
class TraceLabelled(Message):
    """The user labelled this trace."""

    trace_id: str


class DataChanged(Replaceable):
    """Another process, or this one, has written to the database."""


@dataclass
class DatabaseTrouble(Message):
    """The database cannot be read at present; an empty text means that it can be read again."""

    text: str
