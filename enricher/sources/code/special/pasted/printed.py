"""Find the strings in the code from which a program has printed a line: "the lock is held by 12 on nas".

Runs in the hook, but is imported only for a prompt with lines that a program may have printed.
"""

from __future__ import annotations

from enricher.prompt.wording import ERROR
from enricher.sources.code import SOURCE, TEMPLATE
from enricher.sources.code.facts import MOST_LINES, ONLY, Fact, also_lines
from enricher.sources.code.lines import is_comment, phrases
from enricher.sources.code.lookup import MOST_CANDIDATES
from enricher.sources.code.special.messages import FEWEST_WORDS, PLACEHOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

SURE_WORDS = 5
"""Minimum words that a string must share with the line; fewer are enough if a placeholder follows them there."""


def place_of_printed(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about the only file with a string from which the line ``name`` may be printed; else None."""
    for phrase in phrases([name.text]):
        words = phrase.split()
        for count in range(len(words), max(FEWEST_WORDS, len(words) - 2) - 1, -1):
            run = " ".join(words[:count])
            is_filled = count < max(SURE_WORDS, len(words))
            if places := _strings_with(lookup, run, is_filled=is_filled):
                return _fact(places, run, is_filled=is_filled) if len(places) == 1 else None
    from enricher.sources.code.special.messages.formats import place_of_format

    return place_of_format(lookup, name.text, ERROR)


def _fact(places: dict[str, list[int]], run: str, *, is_filled: bool) -> Fact:
    path, lines = next(iter(places.items()))
    is_many = len(lines) > MOST_LINES
    only = f"the only {'file' if len(lines) > 1 else 'place'} that has it{'' if is_many else also_lines(lines)}"
    return Fact(ERROR, path, lines[0], run, "the message with its placeholders" if is_filled else only, ONLY)


def _strings_with(lookup: Lookup, run: str, *, is_filled: bool) -> dict[str, list[int]]:
    """Return the lines, by file of the program, that have ``run`` in a string, with ``is_filled`` before a value."""
    files = [path for path, kind in lookup.holding(run) if kind in (SOURCE, TEMPLATE)]
    if len(files) > MOST_CANDIDATES:
        return {}
    places = {
        path: [
            number
            for number, line in lookup.occurrences(path, run)
            if _is_in_string(line, run) and (not is_filled or _is_before_a_value(line, run))
        ]
        for path in files
    }
    return {path: lines for path, lines in places.items() if lines}


def _is_in_string(line: str, run: str) -> bool:
    before, _, behind = line.partition(run)
    return not is_comment(line) and any(before.count(quote) % 2 and quote in behind for quote in ('"', "'", "`"))


def _is_before_a_value(line: str, run: str) -> bool:
    return line.partition(run)[2].lstrip(" :([<'\"\\").startswith(PLACEHOLDERS)
