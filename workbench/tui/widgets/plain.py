"""What a terminal is given of a text that a person or a file wrote: nothing in it acts on the terminal.

Characters that turn the direction of writing are shown by their numbers, too: behind them a line would read
otherwise than it is (Unicode Technical Standard 39, section 5.4).
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from enricher.interfaces.cli.output import printable

TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
BREAKING = (0x2028, 0x2029)
_BY_NUMBER = {code: f"\\u{code:04x}" for code in (*TURNING, *BREAKING)}
_IN_PLACE = dict.fromkeys((*(code for code in range(32) if code != 10), *range(127, 160), *_BY_NUMBER), "\ufffd")
_IN_PLACE[9] = " "
TAB = "    "


def plain(value: object) -> str:
    """Return the text with every character that would act on the terminal written as its number, tabs as blanks."""
    return printable(value).translate(_BY_NUMBER).replace("\t", TAB)


def plain_in_place(text: str) -> str:
    """Return the text with one character for each: offsets stay true."""
    return text.translate(_IN_PLACE)


def one_line(text: str) -> str:
    """Return a text as one line, runs of blanks as one."""
    return plain(" ".join(text.split()))


def fit(text: str, width: int, *, is_number: bool = False) -> str:
    """Return a plain text in exactly so many cells; what is cut ends with an ellipsis."""
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + "…"
    missing = " " * (width - cell_len(text))
    return missing + text if is_number else text + missing
