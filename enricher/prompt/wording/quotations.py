"""Find the quotations in a line of a prompt, and whether they name a new text. Runs in the hook."""

from __future__ import annotations

from enricher.prompt.wording import LONGEST_TEXT
from enricher.prompt.wording.pasted.lines import QUOTES


def quotations(text: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the line ``text`` without its quotations, and these: the mark, the inside, and the text before each."""
    found: list[tuple[str, str, str]] = []
    kept: list[str] = []
    at = start = 0
    while at < len(text):
        closing = QUOTES.get(text[at]) or ("'" if text[at] == "'" and not text[at - 1 : at].isalnum() else "")
        end = _closing(text, at + 1, closing) if closing else -1
        if end < 0:
            at += 1
            continue
        kept.append(text[start:at])
        found.append((text[at], text[at + 1 : end], text[:at]))
        at = start = end + 1
    return " ".join([*kept, text[start:]]), found


def _closing(text: str, start: int, closing: str) -> int:
    """Return the position of the next closing quotation mark in ``text``, at or after ``start``.

    The result is -1 if none of the characters in ``closing`` occurs within LONGEST_TEXT characters. A straight
    quotation mark between a space and a letter opens a nested quotation, which is skipped if the outer one has an end
    as well.
    """
    first, depth = -1, 0
    for at in range(start, min(len(text), start + LONGEST_TEXT + 1)):
        if text[at] not in closing or (closing == "'" and text[at + 1 : at + 2].isalnum()):  # "don't"
            continue
        opens = closing == '"' and text[at - 1] == " " and text[at + 1 : at + 2].isalnum()
        if not (opens or depth):
            return at
        first, depth = (at if first < 0 else first), depth + (1 if opens else -1)
    return first
