"""Find the line that prints a message with values that the program has filled in: "length mismatch 3 != 5".

Runs in the hook, but is imported only for a message that the code does not contain verbatim.
"""

from __future__ import annotations

from enricher.sources.code import CONFIG, SOURCE, TEMPLATE
from enricher.sources.code.facts import FEW, MOST_SHOWN, ONLY, Fact, format_place
from enricher.sources.code.lookup import MOST_WITH_ALL_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

PLACEHOLDERS = ("%", "{", "$", "#{", "\\(", '" +', "' +")
FEWEST_WORDS = 4
"""Minimum words of a message that a line must have; if a placeholder follows them directly, two are enough."""
MOST_RUNS = 5


def place_of_message(lookup: Lookup, message: str, kind: str) -> Fact | None:
    """Return a fact about the line with the most words of a message; None if lines of two files have equally many."""
    runs = _fixed_parts(message)
    found = [
        (_agreeing(text, runs[at:]), path, line, run)
        for at, run in enumerate(runs) if run.count(" ")
        for path, line, text in _lines_with(lookup, run)
    ]  # fmt: skip
    best = max((words for words, *_place in found), default=0)
    places = [(path, line, run) for words, path, line, run in found if words == best > 0]
    first = {path: (path, line) for path, line, _run in reversed(places)}
    others = [format_place(*first[path]) for path in sorted(first) if path != places[0][0]] if places else []
    if not places or len(others) >= (MOST_SHOWN if best >= FEWEST_WORDS else 1):
        return None
    reason = f"the message with its placeholders{', also in ' * bool(others)}{', '.join(others)}"
    return Fact(kind, *places[0], reason, FEW if others else ONLY)


def _fixed_parts(message: str) -> list[str]:
    """Return the runs of plain words between the values of a message; empty if it has no values."""
    runs: list[list[str]] = [[]]
    for word in message.split():
        if word[0] != "'" and word.rstrip(".,;:!\"'").lstrip('"').replace("'", "").isalpha():
            runs[-1].append(word.lstrip('"'))
        elif word in ("-", "|", "/"):  # "Rows - Day" is a title
            return []
        else:
            runs.append([])
    return [" ".join(run).rstrip(".,;:!\"'") for run in runs if run][:MOST_RUNS] if len(runs) > 1 else []


def _lines_with(lookup: Lookup, run: str) -> list[tuple[str, int, str]]:
    words = " ".join(word for word in run.replace("'", " ").split() if len(word) > 1)
    files = [path for path, kind in lookup.holding(words) if kind in (SOURCE, TEMPLATE, CONFIG)]
    few = files if len(files) <= MOST_WITH_ALL_WORDS else []
    return [(path, number, text) for path in few for number, text in lookup.occurrences(path, run)]


def _agreeing(text: str, runs: list[str]) -> int:
    """Return how many words of a message's ``runs`` a line contains in order; 0 if there are too few to be sure."""
    rest = text.partition(runs[0])[2]
    words, is_filled = len(runs[0].split()), rest.lstrip(" :").startswith(PLACEHOLDERS)
    for run in runs[1:]:
        if run in rest:
            words, rest = words + len(run.split()), rest.partition(run)[2]
    has_value = any(mark in text for mark in PLACEHOLDERS)
    return words if has_value and (words >= FEWEST_WORDS or is_filled) else 0
