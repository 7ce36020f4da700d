"""Messages between the screens and the app; each is named after a request or an event."""

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
    """A request to show the main screen (place) named ``PLACE``, and to pass the message to its method ``opened``."""

    PLACE: ClassVar[str]


@dataclass
class OpenTrace(OpenPlace):
    """Show a trace (the record of one prompt) on the Traces screen."""

    PLACE = "traces"
    trace_id: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of prompts that a screen shows, and which prompts these are, so that the user can list them.

    They are the prompts with these ``ids``, or, if ``ids`` is None, those that the filter ``text`` selects. ``number``
    is greater than the number of ids if some of the prompts are not in the app's database. ``name`` says what is
    counted.
    """

    name: str
    number: int
    ids: Sequence[str] | None = None
    text: str = ""


@dataclass
class FilterTraces(OpenPlace):
    """Show on the Traces screen the traces that the filter ``text`` selects, among those of ``counted`` if given."""

    PLACE = "traces"
    text: str
    counted: Counted | None = None


@dataclass
class OpenCompare(OpenPlace):
    """Show a prompt on the Compare screen: its recorded result next to its result under today's rules.

    With ``is_of_last_run``, show the two results that the last replay of the Instructions screen compared instead.
    Without a trace id, list all prompts whose results this replay changed.
    """

    PLACE = "compare"
    trace_id: str = ""
    is_of_last_run: bool = False


@dataclass
class OpenInstructions(OpenPlace):
    """Show a line of an instructions file on the Instructions screen; an empty path means the file that is open.

    ``before`` is the text of the file to which the line number refers, if the file may have changed since.
    """

    PLACE = "instructions"
    path: str = ""
    line: int = 0
    before: str = ""


@dataclass
class TakeEdit(OpenPlace):
    """Put a proposed edit of an instructions file into the editor, without saving it, and show its effect on prompts.

    ``text`` is the whole edited text, ``line`` the line for the cursor, and ``title`` the name of the edit.
    """

    PLACE = "instructions"
    path: str
    text: str
    line: int
    title: str


@dataclass
class TakeSaveBack(OpenPlace):
    """Undo the last save of instructions, or with ``is_again`` redo the save that was undone last."""

    PLACE = "instructions"
    is_again: bool = False


class DataChanged(Replaceable):
    """The database has changed, through this process or another."""


@dataclass
class DatabaseTrouble(Message):
    """The database cannot be read now, for the reason ``text``; an empty text means that it can be read again."""

    text: str
