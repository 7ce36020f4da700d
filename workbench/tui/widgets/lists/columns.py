"""Choose the columns of the table of prompts that fit its width, and format the cells.

Whatever a colour means is also shown by a character or a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.tui.widgets.lists.figures import Heading
from workbench.tui.widgets.plain_text import fit, one_line, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from storage.traces.trace_pages import TraceLine

    Cells = tuple[tuple[str, str], ...]
    """The texts of a row, each with the name of its colour in the theme; empty for the usual colour."""

LEAST_PROMPT = 46
"""Terminal cells that must remain for the prompt when another column is added."""
MARKS = {"ok": "+", "partial": "~", "silent": "·", "skipped": "-", "shadow": "○", "error": "!"}
"""The character that stands for each status of a prompt."""
IMPORTED = "◇"
"""The character for an imported prompt to which text would have been added; its status is "shadow", too."""
LABEL_MARKS = {"": " ", "ok": "✓", "wrong": "✗"}
OTHER_CLASS = "→"
PLAIN, MUTED, TYPE_COLOUR, BAD, GOOD, LABELLED = "", "text-muted", "primary", "error", "success", "accent"
"""The colours of the theme for what a cell says; an empty name is the usual colour."""
LEAST_TYPE = 4
"""Terminal cells that a recorded task type needs beside the one that today's rules give."""


@dataclass(frozen=True, slots=True)
class Column(Heading):
    """A column of the table of prompts; a click on its title sorts by ``sort``, unless that is empty."""

    sort: str = ""


TIME = Column("time", "time", 6, sort="newest")
LONG_TIME = Column("long_time", "time", 12, sort="newest")
MARK = Column("mark", " ", 1)
TYPE = Column("type", "task type", 15)
GIVEN = Column("given", " ", 1)
LABEL = Column("label", "label", 14)
EXTRA_COLUMNS = (
    Column("ms", "ms", 6, is_number=True, sort="slowest"),
    Column("tokens", "tokens", 6, is_number=True, sort="largest"),
    LABEL,
    Column("host", "host", 8),
    Column("project", "project", 16),
)


@lru_cache(maxsize=64)  # every row that is drawn asks for it
def layout(width: int) -> tuple[Column, ...]:
    """Return the columns for a table ``width`` terminal cells wide; the prompt's column takes the remaining width."""
    first = [TIME, MARK, TYPE]
    left = width - sum(column.width + 1 for column in first) - 1  # a blank after each column, and one at the end
    extra: list[Column] = []
    for column in EXTRA_COLUMNS:
        if left - column.width - 1 < LEAST_PROMPT:
            break
        extra.append(column)
        left -= column.width + 1
    if left - (LONG_TIME.width - TIME.width) >= LEAST_PROMPT:
        first[0] = LONG_TIME
        left -= LONG_TIME.width - TIME.width
    if LABEL not in extra:  # show at least the mark of a label
        first.insert(3, GIVEN)
        left -= GIVEN.width + 1
    return (*first, Column("prompt", "prompt", max(1, left)), *extra)


def cells_of(line: TraceLine, width: int, *, today: str) -> Cells:
    """Return the texts of a table row, each with its colour; together they are ``width`` terminal cells wide.

    ``today`` is the task type that today's rules give to the prompt; empty if it is the recorded one.
    """
    cells: list[tuple[str, str]] = []
    for column in layout(width):
        text, colour = VALUES[column.name](line)
        if today and column is TYPE and line.status != "skipped":
            text, colour = _changed_type(text, today), LABELLED
        cells.append((" " if cells else "", PLAIN))
        cells.append((fit(text, column.width, is_number=column.is_number), colour))
    cells.append((" ", PLAIN))
    return tuple(cells)


def heading(width: int) -> list[tuple[Column, int, int]]:
    """Return the columns for a table ``width`` terminal cells wide, each with the offsets of its start and end."""
    found, start = [], 0
    for column in layout(width):
        found.append((column, start, start + column.width))
        start += column.width + 1
    return found


def short_time(at: str, *, long: bool = False) -> str:
    """Return the UTC time ``at`` in the local time zone: the time of day if it is today, otherwise the date.

    With ``long``, the time of day includes seconds, and a date is followed by the time of day.
    """
    when = moment(at)
    if when is None:
        return at[:6]
    if when.date() == datetime.now().astimezone().date():
        return when.strftime("%H:%M:%S" if long else "%H:%M")
    return f"{when:%b} {when.day:>2}{f' {when:%H:%M}' * long}"


def moment(at: str) -> datetime | None:
    """Return the recorded time ``at`` in the local time zone, or None if it is invalid."""
    try:
        return datetime.fromisoformat(at).astimezone()
    except ValueError:
        return None


def _status(line: TraceLine) -> tuple[str, str]:
    colours = {"error": BAD, "ok": GOOD, "partial": GOOD}
    if (line.status, line.origin) == ("shadow", "import"):
        return IMPORTED, MUTED
    return MARKS.get(line.status, "?"), colours.get(line.status, MUTED)


def _ms(latency: float) -> str:
    """Return a time in milliseconds as a text, which is empty if none was measured, as for an imported prompt."""
    return "" if not latency else f"{latency:.1f}" if latency < 1000 else f"{latency:.0f}"


def _type(line: TraceLine) -> tuple[str, str]:
    if line.status == "skipped":
        return "skipped", MUTED
    return line.task_type + "?" * line.uncertain, MUTED if line.uncertain else TYPE_COLOUR


def _changed_type(recorded: str, today: str) -> str:
    """Return both task types, such as "debug → docs"; the recorded one is cut, or left out, if there is no room."""
    room = TYPE.width - len(today) - len(" → ")
    return f"{fit(recorded, room).rstrip()} → {today}" if room >= LEAST_TYPE else f"→{today}"


def _given(line: TraceLine) -> tuple[str, str]:
    mark = LABEL_MARKS["ok"] if line.label == line.task_type else OTHER_CLASS
    return LABEL_MARKS.get(line.label, mark), LABELLED


def _label(line: TraceLine) -> tuple[str, str]:
    if not line.label:
        return "", PLAIN
    return f"{_given(line)[0]} {line.label}", LABELLED


def _project(line: TraceLine) -> tuple[str, str]:
    return plain(line.project.rstrip("/").rsplit("/", 1)[-1]), MUTED


VALUES: dict[str, Callable[[TraceLine], tuple[str, str]]] = {
    "time": lambda line: (short_time(line.at), MUTED),
    "long_time": lambda line: (short_time(line.at, long=True), MUTED),
    "mark": _status,
    "type": _type,
    "given": _given,
    "prompt": lambda line: (one_line(line.prompt), PLAIN),
    "ms": lambda line: (_ms(line.latency_ms), MUTED),
    "tokens": lambda line: (str(line.tokens) if line.tokens else "", MUTED),
    "label": _label,
    "host": lambda line: (plain(line.host), MUTED),
    "project": _project,
}
