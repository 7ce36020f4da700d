"""A prompt on one line with the search words marked; all of it is escaped text."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

LENGTH = 160
BEFORE = 40
"""Characters shown before a match that would otherwise be cut off."""
MARK = Markup("<mark>{}</mark>")


def excerpt(prompt: str, words: tuple[str, ...] = (), *, length: int = LENGTH) -> Markup:
    """Return the beginning of the prompt, or the part around the first match, with all matches marked."""
    line = " ".join(prompt.split())
    pattern = _pattern(words)
    found = pattern.search(line) if pattern else None
    start = found.start() - BEFORE if found and found.end() > length else 0
    if start:
        start = line.find(" ", start) + 1
    shown = line[start : start + length]
    return Markup("").join(("… " if start else "", _marked(shown, pattern), " …" if start + length < len(line) else ""))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    phrases = [r"\W+".join(re.escape(one) for one in re.findall(r"\w+", text)) or re.escape(text) for text in words]
    return re.compile("|".join(phrases), re.IGNORECASE) if phrases else None


def _marked(text: str, pattern: re.Pattern[str] | None) -> Markup:
    drawn, end = Markup(""), 0
    for found in pattern.finditer(text) if pattern else ():
        drawn += escape(text[end : found.start()]) + MARK.format(found[0])
        end = found.end()
    return drawn + escape(text[end:])
