"""Make untrusted text safe for a terminal by replacing the characters that the terminal would obey.

Characters that change the direction of writing are replaced, too, because they make a line look different from its
content (Unicode Technical Standard 39, section 5.4).
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from enricher.interfaces.cli.output import printable

TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))  # marks, embeddings, isolates
BREAKING = (0x2028, 0x2029)  # separators of lines and paragraphs
_BY_NUMBER = {code: f"\\u{code:04x}" for code in (*TURNING, *BREAKING)}
# The control characters of ASCII and Latin-1, except the end of a line.
_IN_PLACE = dict.fromkeys((*(code for code in range(32) if code != 10), *range(127, 160), *_BY_NUMBER), "\ufffd")
_IN_PLACE[9] = " "  # a tab
TAB = "    "


def plain(value: object) -> str:
    """Return ``value`` as text that is safe for a terminal.

    Characters that the terminal would obey are replaced with their codes, and tabs with spaces.
    """
    return printable(value).translate(_BY_NUMBER).replace("\t", TAB)


def plain_in_place(text: str) -> str:
    """Return the text with each unsafe character replaced with one other character, so that offsets stay valid."""
    return text.translate(_IN_PLACE)


def one_line(text: str) -> str:
    """Return a text as one line that is safe for a terminal, with each run of white space replaced with a space."""
    return plain(" ".join(text.split()))


def fit(text: str, width: int, *, is_number: bool = False) -> str:
    """Return the (already safe) text cut with an ellipsis or padded to ``width`` cells; numbers are right-aligned."""
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + "…"  # not a slice: some characters are two cells wide
    missing = " " * (width - cell_len(text))
    return missing + text if is_number else text + missing
