"""Find a comment above a definition that says what else to change with it: "NB: if you edit this, also edit …".

This module runs in the hook.
"""

from __future__ import annotations

from enricher.prompt.text import cut
from enricher.sources import code
from enricher.sources.code.lines import is_comment

MOST_LINES = 3
"""Maximum lines of the comment, directly above the definition and its decorators."""
LONGEST, SHORTEST = 110, 40
"""Maximum characters that are quoted, and the minimum that must fit; with less room, nothing is quoted."""
_IF = frozenset("if when whenever".split())
_CHANGING = frozenset(
    "edit edits change changes modify update touch add rename extend editing changing modifying updating adding"
    " renaming extending".split()
)
_ALSO = frozenset("also too sync must update".split())
_MARKS = "#/*;-! \t\"'"


def note_above(root: str, path: str, line: int, *, room: int) -> str:
    """Return the comment above a definition, in at most ``room`` characters, if it says what else to change with it.

    ``line`` is the number of the line with the definition.
    """
    room = min(room, LONGEST)
    if room < SHORTEST:
        return ""
    lines = code.read_file(root, path).split("\n")[: line - 1]
    while lines and lines[-1].lstrip().startswith("@"):
        lines.pop()
    found: list[str] = []
    while lines and len(found) < MOST_LINES and is_comment(lines[-1]):
        found.insert(0, lines.pop().strip().strip(_MARKS))
    said = " ".join(part for part in found if part)
    return cut(said, room) if _says_what_else(said) else ""


def _says_what_else(comment: str) -> bool:
    words = [word.strip(".,:;()`'\"") for word in comment.lower().split()]
    if {"in", "sync"} <= {*words}:
        return any(word in ("keep", "kept", "stay", "must", "be") for word in words)
    at = next((at for at, word in enumerate(words) if word in _IF), len(words))
    return not _CHANGING.isdisjoint(words[at : at + 5]) and not _ALSO.isdisjoint(words[at:])
