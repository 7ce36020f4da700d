"""Find the line that prints a message with values that the program has filled in: "length mismatch 3 != 5".

Runs in the hook, but is imported only for a message that the code does not contain verbatim.
"""

from __future__ import annotations

from enricher.sources.code import CONFIG, SOURCE, TEMPLATE
from enricher.sources.code.facts import FEW, MOST_SHOWN, ONLY, Fact, format_place
from enricher.sources.code.lines import compares, is_comment
from enricher.sources.code.lookup import MOST_WITH_ALL_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

PLACEHOLDERS = ("%", "{", "$", "#{", "\\(", '" +', "' +")
FEWEST_WORDS = 4
"""Minimum words that a message and a line must share.

If a placeholder follows these words directly, half of the message's words are enough.
"""
MOST_RUNS = 5
MOST_IN_A_VALUE = 2
"""Maximum words after the last colon of a message that may be a value filled in by the program."""
FEWEST_AROUND, MOST_IN_A_CLAUSE, LONGEST_PLACEHOLDER = 3, 14, 40
"""Minimum words around a quoted value (around a plain one: FEWEST_WORDS), and what is at most compared with a line."""


def place_of_message(lookup: Lookup, message: str, kind: str) -> Fact | None:
    """Return a fact about the line with the most words of a message; None if lines of two files have equally many."""
    runs = _fixed_parts(message)
    found = _around_a_word(lookup, message) or [
        (_agreeing(text, runs[at:]), path, line, run)
        for at, run in enumerate(runs) if run.count(" ")
        for path, line, text in lines_with(lookup, run)
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
        elif (named := word.partition("=")[0]) != word and named.isalpha():  # the name of a value: "size=12"
            runs[-1].append(f"{named}=")
            runs.append([])
        else:
            runs.append([])
    if len(runs) == 1:  # "duplicate key: total"
        head, is_told, value = message.rpartition(": ")
        return [head] if is_told and head.count(" ") and value.count(" ") < MOST_IN_A_VALUE else []
    return [" ".join(run).rstrip(".,;:!\"'") for run in runs if run][:MOST_RUNS]


def _around_a_word(lookup: Lookup, message: str) -> list[tuple[int, str, int, str]]:
    """Return each line that has a sentence of the message with a placeholder in place of one word within it.

    A line is returned as the number of the other words, its path, its number, and the text behind the placeholder.
    """
    found: dict[tuple[str, int], tuple[int, str, int, str]] = {}
    for clause in message.replace(": ", ". ").replace("! ", ". ").split(". "):
        words = clause.strip(" .!").split()
        values = [at for at, word in enumerate(words) if not word.rstrip(",;").isalpha()]
        count = len(words) - 1
        if not (FEWEST_AROUND if values else FEWEST_WORDS) <= count < MOST_IN_A_CLAUSE or len(values) > 1:
            continue
        for at in values or range(1, count):
            before, behind = " ".join(words[:at]), " ".join(words[at + 1 :])
            for path, line, text in lines_with(lookup, max(before, behind, key=len), f"{before} {behind}"):
                if before and behind and _is_filled_between(text, before, behind):
                    found.setdefault((path, line), (count, path, line, behind))
    return list(found.values())


def _is_filled_between(text: str, before: str, behind: str) -> bool:
    """Return whether a line has ``before``, then only a placeholder, then ``behind`` as whole words."""
    start, head, rest = text.partition(f"{before} ")
    gap, _, tail = rest.partition(f" {behind}")
    value = gap.strip("'\"`\\")
    is_whole = (
        bool(head) and not start.rstrip(" ")[-1:].isalnum() and tail != "" and not (tail[0].isalnum() or tail[0] == " ")
    )
    is_joined = value[:1] == value[-1:] == " " and value.strip(" ")[:1] in ("+", ".", ",")
    is_one = value.startswith(PLACEHOLDERS) and " " not in value
    return is_whole and len(gap) <= LONGEST_PLACEHOLDER and (is_one or is_joined)


def lines_with(lookup: Lookup, run: str, held: str = "") -> list[tuple[str, int, str]]:
    """Return the lines with ``run``, as path, number and content, of the files that have the words of ``held``."""
    words = " ".join(word for word in (held or run).replace("'", " ").split() if len(word) > 1)
    files = [path for path, kind in lookup.holding(words) if kind in (SOURCE, TEMPLATE, CONFIG)]
    few = files if len(files) <= MOST_WITH_ALL_WORDS else []
    found = [(path, number, text) for path in few for number, text in lookup.occurrences(path, run)]
    return [(path, number, text) for path, number, text in found if not (is_comment(text) or compares(text))]


def _agreeing(text: str, runs: list[str]) -> int:
    """Return how many words of a message's ``runs`` a line contains in order; 0 if there are too few to be sure."""
    rest = text.partition(runs[0])[2]
    words, is_filled = len(runs[0].split()), rest.lstrip(" :").startswith(PLACEHOLDERS)
    for run in runs[1:]:
        if run in rest:
            words, rest = words + len(run.split()), rest.partition(run)[2]
    has_value = any(mark in text for mark in PLACEHOLDERS)
    is_most = 2 * words >= sum(len(run.split()) for run in runs)  # "cannot open" may begin any message
    return words if has_value and (words >= FEWEST_WORDS or (is_filled and is_most)) else 0
