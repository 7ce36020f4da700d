"""Search for texts in any form in which they may be stored: in a column, in JSON, in the bytes of a file.

Case is ignored. A database file may contain a text in two parts, on two pages. Either its first or its second half is
then still in one piece, so in a database file it is enough to find one half.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

PIECE_BYTES = 1 << 20
SHORTEST_HALF = 6
"""Length in bytes below which a half of a text is not searched for, because it would be found everywhere."""
ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


class Mentions:
    """A set of texts to search for, without regard to case; an empty set matches nothing."""

    __slots__ = ("_folded", "_is_ascii", "_raw")

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = [text for text in texts if text.strip()]
        # Bytes are only folded where they are ASCII, so each form of other letters is searched for.
        forms = {form for text in wanted for form in (text, text.lower(), text.upper())}
        written = forms | {json.dumps(form)[1:-1] for form in forms}
        written |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
        self._folded = tuple({form.casefold() for form in written})
        self._raw = tuple({form.encode(errors="replace").lower() for form in written})
        self._is_ascii = all(text.isascii() for text in wanted)

    def __bool__(self) -> bool:
        return bool(self._folded)

    def in_text(self, text: object) -> bool:
        """Return whether a text or a JSON document contains one of the texts of this set."""
        if not isinstance(text, str) or not self._folded:
            return False
        low = text.casefold()
        if not self._is_ascii and "\\u" in low:  # JSON may have escapes in place of letters that are not ASCII
            low += ESCAPED.sub(lambda found: chr(int(found[1], 16)), low).casefold()
        return any(form in low for form in self._folded)

    def in_bytes(self, content: bytes) -> bool:
        """Return whether bytes from a file contain one of the texts of this set."""
        low = content.lower()
        return any(form in low for form in self._raw)

    def in_file(self, path: str | os.PathLike[str], *, is_database: bool = False) -> bool:
        """Return whether a file contains one of the texts of this set; in a database file, half of a text is enough.

        Raises OSError if the file cannot be read.
        """
        wanted = {piece for form in self._raw for piece in (_halves(form) if is_database else (form,))}
        if not wanted:
            return False
        overlap = max(map(len, wanted))
        with open(path, "rb") as file:
            before = b""
            while piece := file.read(PIECE_BYTES):
                low = before + piece.lower()
                if any(form in low for form in wanted):
                    return True
                before = low[-overlap:]
        return False


def _halves(form: bytes) -> tuple[bytes, ...]:
    middle = (len(form) + 1) // 2
    return (form,) if middle < SHORTEST_HALF else (form[:middle], form[-middle:])
