"""Find the string from which a program has composed a whole message: ``"no row %s in %s:%d"``.

Runs in the hook, but is imported only for a message of which the project contains no part that is specific enough.
"""

from __future__ import annotations

from enricher.prompt.text import shortened
from enricher.sources.code.facts import FEW, MOST_SHOWN, ONLY, Fact, format_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

MOST_PAIRS, LONGEST_SHOWN = 4, 80
FEWEST_FIXED = 3
"""Minimum words of a string besides its placeholders."""
LONGEST_PLACEHOLDER = 40
_FLAGS, _LENGTHS = "0123456789.-+ #*'$", "hlLqjztu"
_OPENINGS = ("#{", "${", "%{", "{", "\\(")
_GAP = "\0"


def place_of_format(lookup: Lookup, message: str, kind: str) -> Fact | None:
    """Return a fact about the string that has all words of a message around its placeholders; None if many do."""
    from enricher.sources.code.special.messages import lines_with

    found: dict[tuple[str, int], tuple[int, str]] = {}
    for pair in _pairs_before_values(message):
        for path, line, text in lines_with(lookup, pair):
            fixed, literal = max((_agreement(one, message), one) for one in ("", *_literals(text)))
            if fixed >= FEWEST_FIXED:
                found[path, line] = (fixed, literal)
    best = max((fixed for fixed, _literal in found.values()), default=0)
    places = sorted(place for place, (fixed, _literal) in found.items() if fixed == best)
    if not 0 < len(places) <= MOST_SHOWN:
        return None
    others = ", ".join(format_place(*place) for place in places[1:])
    reason = f"the message with its placeholders{', also in ' * bool(others)}{others}"
    subject = shortened(found[places[0]][1], LONGEST_SHOWN)
    return Fact(kind, *places[0], subject, reason, FEW if others else ONLY)


def _pairs_before_values(message: str) -> list[str]:
    """Return the pairs of plain words in front of the values of a message."""
    words = message.split()
    return [
        f"{words[at - 2]} {words[at - 1]}"
        for at in range(2, len(words))
        if not words[at].rstrip(",;").isalpha() and words[at - 2].isalpha() and words[at - 1].isalpha()
    ][:MOST_PAIRS]


def _literals(line: str) -> list[str]:
    """Return the strings of a line of code, without a line break at their ends."""
    found = []
    for quote in ('"', "'", "`"):
        marked = line.replace(f"\\{quote}", "\1")
        found += [part.replace("\1", quote) for part in marked.split(quote)[1::2]]
    return [one.removesuffix("\\n").strip() for one in found]


def _with_gaps(literal: str) -> str:
    """Return a string with a mark in place of each placeholder: of printf, or in braces."""
    kept, at = "", 0
    while at < len(literal):
        end = _end_of_placeholder(literal, at)
        kept += _GAP if end > at else literal[at]
        at = max(end, at + 1)
    return kept


def _end_of_placeholder(literal: str, at: int) -> int:
    """Return where the placeholder that begins at an offset ends; the offset itself if none begins there."""
    opening = next((one for one in _OPENINGS if literal.startswith(one, at)), "")
    if opening:
        end = literal.find(")" if opening == "\\(" else "}", at)
        return end + 1 if 0 < end - at <= LONGEST_PLACEHOLDER else at
    if literal[at] != "%":
        return at
    named = literal.find(")", at) if literal.startswith("%(", at) else -1  # "%(path)s" of Python
    end = max(at, named) + 1
    while literal[end : end + 1] and literal[end] in _FLAGS:
        end += 1
    while literal[end : end + 1] and literal[end] in _LENGTHS and literal[end + 1 : end + 2].isalpha():
        end += 1
    return end + 1 if literal[end : end + 1].isalpha() else at


def _agreement(literal: str, message: str) -> int:
    """Return how many words the fixed parts of a string have, if the whole message may be composed from it; else 0."""
    first, *parts = _with_gaps(literal).split(_GAP)
    start = message.find(first)
    if not parts or start < 0 or (first and start and not message[:start].endswith((": ", "] "))):
        return 0
    rest = message[start + len(first) :]
    for part in parts[:-1]:
        at = rest.find(part, 1) if part else 0
        if at < 0:
            return 0
        rest = rest[at + len(part) :]
    if not rest.rstrip().endswith(parts[-1]) or len(rest) <= len(parts[-1]):
        return 0
    return sum(word.strip(".,;:!?()[]\"'").isalpha() for part in (first, *parts) for word in part.split())
