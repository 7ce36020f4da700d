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
    """A request to show a main screen (place), which then handles the message in ``opened``."""

    PLACE: ClassVar[str]


@dataclass
class OpenTrace(OpenPlace):
    """Show this trace on the Traces screen."""

    PLACE = "traces"
    trace_id: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A number on a screen: what it counts, and the prompts counted, by their ids or else by a filter.

    ``number`` is greater than the number of ids if some of the prompts are not in this history.
    """

    name: str
    number: int
    ids: Sequence[str] | None = None
    text: str = ""


@dataclass
class FilterTraces(OpenPlace):
    """Show the traces that this filter selects on the Traces screen, of all or of those that were counted."""

    PLACE = "traces"
    text: str
    counted: Counted | None = None


@dataclass
class OpenCompare(OpenPlace):
    """Show a trace on the Compare screen, as recorded and under today's rules.

    With ``is_of_last_run``, show it under both rule sets of the last run instead. Without an id, show all changes of
    the last run.
    """

    PLACE = "compare"
    trace_id: str = ""
    is_of_last_run: bool = False


@dataclass
class OpenInstructions(OpenPlace):
    """Show this line of an instructions file; an empty path means the file that is open.

    ``before`` is the text that the line number refers to, if the file may have changed since.
    """

    PLACE = "instructions"
    path: str = ""
    line: int = 0
    before: str = ""


@dataclass
class TakeEdit(OpenPlace):
    """Replace the text of an instructions file in the editor, without saving it, and show what that changes."""

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
    """The database cannot be read now; an empty text means that it can be read again."""

    text: str
