"""What screens tell the app and each other; each is named for what is wanted or what happened."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


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
    """Show what today's rules make of a trace, or of all, on the Compare screen."""

    trace_id: str = ""


@dataclass
class OpenInstructions(Message):
    """Show the instructions at this place; empty is the file that is being edited."""

    path: str = ""
    line: int = 0


@dataclass
class Labelled(Message):
    """A person said something of this trace."""

    trace_id: str


class DataChanged(Message):
    """Another process, or this one, has written to the database; several in a row are one."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, DataChanged)


@dataclass
class DatabaseTrouble(Message):
    """The database cannot be read just now; an empty text says that it can again."""

    text: str
