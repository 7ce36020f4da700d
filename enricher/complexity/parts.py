"""Find the parts of a task that its prompt lists, and which of them could be done at the same time.

The parts are the prompt's own list items, numbered steps or "and then" clauses; none are invented. A part may wait for
other parts. The functions take linear time and use only the methods of str, because the hook may call them.
"""

from __future__ import annotations

from enricher.prompt.text import singular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping

FEWEST, MOST = 2, 30
"""Least and greatest number of parts: one part is the whole task, and a list with more is one of data, not tasks."""
WORDS_BEFORE_THE_VERB = 4
"""Number of first words of an item that are searched for a verb which makes it a task: "also please add …"."""
LONGEST_FILE = 200
SEQUELS = (
    ", and then ", " and then ", "; then ", ", then ", ". then ", "; afterwards ", ", after that ", ". after that ",
)  # fmt: skip
"""Phrases that begin the next of several steps."""
NEXT = ("then", "afterwards", "finally", "next", "lastly")
"""Words with which an item begins if it waits for the item before it."""
WAITING = ("after", "needs", "need", "requires", "depends", "once", "following", "blocked", "when")
"""Words that come before what a part waits for, as in "needs step 2" or "once the schema is there"."""
LINKS = frozenset(
    ("on", "by", "upon", "step", "steps", "item", "items", "part", "parts", "task", "tasks", "number", "and", "no")
)
"""Words that may come between one of ``WAITING`` and the numbers of parts: "depends on steps 1 and 2"."""
DONE = frozenset("is are was were exists exist has have works work".split())
FINISHED = frozenset("there done ready finished complete completed works exists merged built in available".split())
ARTICLES = frozenset("the a an this that our new all of".split())
MOST_WORDS_OF_A_THING = 5
EDGES = ".,;:!?()[]{}\"'`*#"
SIGNS = str.maketrans(dict.fromkeys(".,;:!?()[]{}\"'`*/\\<>|=+", " "))


class CycleError(ValueError):
    """Raised if parts wait for each other in a circle; ``cycle`` lists their numbers and ends with the first again."""

    def __init__(self, cycle: list[int]) -> None:
        super().__init__(f"parts wait for each other: {' -> '.join(map(str, cycle))}")
        self.cycle = cycle


class Part:
    """One part of a task: its number, its text, and the numbers of the parts that it waits for (``needs``)."""

    __slots__ = ("needs", "number", "text")

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.needs: list[int] = []


def find_parts(prompt: str, masked: str, verbs: Container[str]) -> list[Part]:
    """Return the parts of the task that a prompt lists, in their order; empty if it lists none.

    ``masked`` is the prompt with pasted text overwritten, so that offsets are the same in both. A list counts only if
    at least half of its items have one of the ``verbs`` among their first words.
    """
    items = _items(prompt, masked) or _inline_steps(prompt, masked)
    is_sequence = False
    if not items:
        items, is_sequence = _clauses(prompt, masked), True
    if not FEWEST <= len(items) <= MOST or 2 * sum(_is_task(text, verbs) for _number, text in items) < len(items):
        return []
    numbers = [number for number, _text in items]
    if len(set(numbers)) < len(numbers):  # for example from two lists
        items = [(at, text) for at, (_number, text) in enumerate(items, 1)]
    parts = [Part(number, text) for number, text in items]
    for at, part in enumerate(parts):
        part.needs = [parts[at - 1].number] if is_sequence and at else _needs(parts, at)
    return parts


def levels(graph: Mapping[int, Collection[int]]) -> list[list[int]]:
    """Sort the parts into groups such that each part waits only for parts in earlier groups (Kahn's algorithm).

    ``graph`` maps each part to the parts that it waits for. Raises CycleError for a cycle, KeyError for an unknown
    part.
    """
    waiting = {part: set(needs) for part, needs in graph.items()}
    for needs in waiting.values():
        for need in needs:
            waiting[need]  # raises KeyError for an unknown part, which would look like a cycle below
    groups: list[list[int]] = []
    while waiting:
        free = sorted(part for part, needs in waiting.items() if not needs)
        if not free:
            raise CycleError(_cycle(waiting))
        groups.append(free)
        waiting = {part: needs.difference(free) for part, needs in waiting.items() if needs}
    return groups


def _cycle(waiting: Mapping[int, Collection[int]]) -> list[int]:
    """Return parts that wait for each other in a circle, and the first one again at the end.

    ``waiting`` maps each part to the parts that it waits for. Every part must wait for at least one other in the map.
    """
    way = [min(waiting)]
    while True:
        need = min(waiting[way[-1]])
        if need in way:
            return [*way[way.index(need) :], need]
        way.append(need)


def _items(prompt: str, masked: str) -> list[tuple[int, str]]:
    """Return the number and text of each top-level list item; an item without a number gets its position instead."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for line in masked.split("\n"):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        number, length = _mark(bare)
        if length and bare[length:].strip():
            begin = at + indent + length
            text = prompt[begin : at + len(line)].partition("\n")[0].strip()
            found.append((indent, number, text))
        at += len(line) + 1
    outermost = min((indent for indent, _number, _text in found), default=0)
    # " 9." above "10." is indented by one character more, though both are at the top level.
    items = [(number, text) for indent, number, text in found if indent <= outermost + 1]
    return [(number or at, text) for at, (number, text) in enumerate(items, 1)] if len(items) >= FEWEST else []


def _mark(bare: str) -> tuple[int, int]:
    """Return the number and the length of the mark that begins a list item: (3, 3) for "3. ", (0, 2) for "- ".

    Both are 0 if the line does not begin with such a mark.
    """
    if bare[:1] in ("-", "*", "•", "+") and bare[1:2] in (" ", "\t"):
        return 0, 2
    digits = bare[: 2 if bare[1:2].isdigit() else 1]  # at most two, as MOST has
    if digits.isascii() and digits.isdigit() and bare[len(digits) : len(digits) + 1] in (".", ")"):
        behind = bare[len(digits) + 1 : len(digits) + 2]
        if behind in (" ", "\t"):
            return int(digits), len(digits) + 2
    return 0, 0


def _inline_steps(prompt: str, masked: str) -> list[tuple[int, str]]:
    """Return the number and text of each step numbered inside a sentence: "1) add the flag 2) test it"."""
    places: list[tuple[int, int]] = []
    at = 0
    for number in range(1, MOST + 1):
        near = [place for sign in (")", ".") if (place := _step_at(masked, f"{number}{sign} ", at)) >= 0]
        if not near:
            break
        at = min(near) + len(f"{number}) ")
        places.append((min(near), at))
    if len(places) < FEWEST:
        return []
    ends = [begin for begin, _text_at in places[1:]] + [len(prompt)]
    return [
        (number, prompt[text_at:end].partition("\n")[0].strip(" ,;(").removesuffix(" and"))
        for number, ((_begin, text_at), end) in enumerate(zip(places, ends, strict=True), 1)
    ]


def _step_at(masked: str, mark: str, at: int) -> int:
    """Return the offset of ``mark`` (such as "2) ") at the beginning of a word, from ``at`` on; -1 if not found."""
    at = masked.find(mark, at)
    while at > 0 and masked[at - 1] not in " (:,;\n":  # not "v2) " or "3.2) "
        at = masked.find(mark, at + 1)
    return at


def _clauses(prompt: str, masked: str) -> list[tuple[int, str]]:
    """Return the number and text of each step in a sequence separated by phrases such as "and then"; empty if none."""
    low = masked.lower()
    if len(low) != len(masked):  # a few letters become two in lower case, and offsets would be wrong
        return []
    found: list[str] = []
    begin = 0
    while near := min(((place, sign) for sign in SEQUELS if (place := low.find(sign, begin)) >= 0), default=None):
        place, sign = near
        found.append(prompt[begin:place])
        begin = place + len(sign)
    found.append(prompt[begin:])
    # Lines above the one with the phrase do not belong to the step.
    texts = [text.strip(" .,;\n").rpartition("\n")[2] for text in found]
    return list(enumerate(texts, 1)) if len(texts) >= FEWEST else []


def _is_task(text: str, verbs: Container[str]) -> bool:
    return any(word in verbs for word in text.lower().translate(SIGNS).split()[:WORDS_BEFORE_THE_VERB])


def _needs(parts: list[Part], at: int) -> list[int]:
    """Return the numbers of the parts that the part at index ``at`` waits for.

    These are the part before it if its text begins with a word such as "then", the parts that its text names as
    conditions ("after step 2"), and the earlier parts that name the same file.
    """
    part = parts[at]
    words = [word.strip(EDGES) for word in part.text.lower().split()]
    others = {one.number for one in parts if one is not part}
    found = [parts[at - 1].number] if at and words[:1] and words[0] in NEXT else []
    for place, word in enumerate(words):
        if word in WAITING:
            found += _numbers(words[place + 1 :]) or _parts_about(words[place + 1 :], parts, at)
    files = _files(part.text)
    found += [one.number for one in parts[:at] if files & _files(one.text)]
    return sorted(others.intersection(found))


def _numbers(words: list[str]) -> list[int]:
    """Return the numbers of parts at the beginning of ``words``: 1 and 2 for "step 1 and 2 are done"."""
    found: list[int] = []
    for word in words:
        if word.isascii() and word.isdigit():
            found.append(int(word[:6]))  # int() raises ValueError for thousands of digits
        elif word not in LINKS:
            break
    return found


def _parts_about(words: list[str], parts: list[Part], at: int) -> list[int]:
    """Return a list with the number of the first other part that mentions the subject of the condition ``words``.

    The subject of "the schema is there" is "schema". ``at`` is the index of the part that has the condition. The list
    is empty if no other part mentions the subject.
    """
    end = next((place for place, word in enumerate(words[:MOST_WORDS_OF_A_THING]) if word in DONE), 0)
    # "once the schema is there" is a condition, "when the schema is wrong" is not.
    if not end or (words[end] in ("is", "are", "was", "were") and not FINISHED.intersection(words[end + 1 : end + 3])):
        return []
    thing = singular(words[end - 1])
    if thing in ARTICLES:
        return []
    for one in (*parts[:at], *parts[at + 1 :]):
        if thing in {singular(word) for word in one.text.lower().translate(SIGNS).split()}:
            return [one.number]
    return []


def _files(text: str) -> set[str]:
    from enricher.prompt.wording.structure import file_kind

    words = (word.strip(EDGES).lower() for word in text.split() if "." in word or "/" in word)
    return {word for word in words if word and len(word) < LONGEST_FILE and file_kind(word)}
