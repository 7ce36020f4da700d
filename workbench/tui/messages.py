"""Define the messages between the screens and the app; each requests something or reports an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence


class Replaceable(Message):
    """A message that replaces earlier messages of its class that have not been handled yet."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, type(self))


class OpenPlace(Message):
    """Sent when the app is to show the main screen (place) named ``PLACE``.

    The app passes the message to the method ``opened`` of that screen.
    """

    PLACE: ClassVar[str]


@dataclass
class OpenTrace(OpenPlace):
    """Sent when a trace (the record of one prompt) is to be shown on the Traces screen."""

    PLACE = "traces"
    trace_id: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of prompts that a screen shows, and what is needed to list these prompts.

    The prompts are those with the ``ids`` or, if ``ids`` is None, those that the filter ``text`` selects. ``number`` is
    greater than the number of ids if some of the prompts are not in the app's database. ``name`` says what is counted.
    """

    name: str
    number: int
    ids: Sequence[str] | None = None
    text: str = ""


@dataclass
class FilterTraces(OpenPlace):
    """Sent when the Traces screen is to show only the traces that the filter ``text`` selects.

    If ``counted`` is given, they are further limited to the prompts that it counts.
    """

    PLACE = "traces"
    text: str
    counted: Counted | None = None


@dataclass
class OpenCompare(OpenPlace):
    """Sent when the Compare screen is to show two results of a prompt next to each other.

    One is the recorded result, the other the result under today's rules; if ``is_of_last_run`` is true, they are the
    two that the last replay of the Instructions screen compared. If ``trace_id`` is empty, all prompts whose results
    differed in that replay are listed.
    """

    PLACE = "compare"
    trace_id: str = ""
    is_of_last_run: bool = False


@dataclass
class OpenInstructions(OpenPlace):
    """Sent when the Instructions screen is to show a line of an instructions file.

    An empty ``path`` means the file that is open. If the file may have changed since its line number was determined,
    ``before`` is the text to which the line number refers.
    """

    PLACE = "instructions"
    path: str = ""
    line: int = 0
    before: str = ""


@dataclass
class TakeEdit(OpenPlace):
    """Sent when the Instructions screen is to show a proposed edit of a file in its editor, and the effect on prompts.

    The edit is not saved. ``text`` is the whole edited text, ``line`` the line for the cursor, and ``title`` the name
    of the edit.
    """

    PLACE = "instructions"
    path: str
    text: str
    line: int
    title: str


@dataclass
class TakeSaveBack(OpenPlace):
    """Sent when the last save of instructions is to be undone; if ``is_again`` is true, the last undo is reverted."""

    PLACE = "instructions"
    is_again: bool = False


class DataChanged(Replaceable):
    """Sent when this process or another one has changed the database."""


@dataclass
class DatabaseTrouble(Message):
    """Sent when the database cannot be read, with the reason; an empty ``text`` means that it can be read again."""

    text: str
