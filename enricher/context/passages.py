"""Choose the sentence or list item that is quoted from a document for a prompt, and the section that it is from.

The first words of a section of a decision record are seldom what a prompt is about. So the sentence is quoted that has
an identifier of the prompt, or else most words of its topic; if the beginning is as good, it is quoted instead. The
functions only compare texts, and are called for the few memories that are shown.
"""

from __future__ import annotations

from enricher.prompt.text import ELLIPSIS, LONGEST_PREVIEW, preview, without_code
from enricher.prompt.wording.words import is_code_form, words_of
from storage.memory.words import identifier_parts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context.topic_match import PromptTerms

READ_CHARS = 4_000
LEAST_WORDS = 4
"""Minimum words of a sentence that is quoted; a shorter one is mostly a label."""
LEAST_ROOM = 60
"""Minimum characters for the sentence; behind a heading that leaves less, the section's beginning is quoted."""
BETTER, MOST_OF = 1.5, 0.5
"""How much more weight than the beginning a sentence needs, and the minimum share of the prompt's weight in it."""
SIDE_SECTIONS = (
    "context", "consequences", "implementation", "non-goals", "non goals", "alternatives", "options", "considered",
    "pros and cons", "more information", "references", "status", "background",
)  # fmt: skip
"""Beginnings of the headings of a decision record's sections that do not state the decision."""
_ENDS = ".!?\u3002\uff01\uff1f"
_FIRST_WIDE = "\u3000"
"""Chinese and Japanese have no blank behind a sentence; their characters are above this one."""
_CLOSING = "*_)\"'`\u201d\u00bb"
_CLAUSES = ("; ", ": ", ", ", " (")
_LIST_MARKS = ("- ", "* ", "+ ")
_NO_PROSE = ("|", "#", "<!--")
"""Beginnings of lines in Markdown that belong to no sentence."""


class Passage:
    """A text as it is shown, with the number of the prompt's identifiers and the weight of its words in that text."""

    __slots__ = ("identifiers", "text", "weight")

    def __init__(self, text: str, prompt: PromptTerms, names: list[str]) -> None:
        low = text.lower()
        keys = set(prompt.keys([*words(text), *identifier_parts(text)]))
        self.text = text
        self.identifiers = sum(_has(low, name) for name in names)
        self.weight = sum(term.weight for term in prompt.terms if term.key in keys)


def choose(prompt: PromptTerms, asked: str, sections: list[str]) -> tuple[int, str]:
    """Return which of a document's ``sections`` is quoted for a prompt, by its number, and the passage of it.

    The first of ``sections`` is the one that a search found to be the best, and ``asked`` is the text of the prompt.
    Another one is preferred if it has more of the prompt's identifiers or clearly more of its words, or if it states
    the decision and the first one does not.
    """
    names = _identifiers(asked[:READ_CHARS])
    best, *others = [_passage(prompt, names, section) for section in sections]
    chosen = 0
    for number, one in enumerate(others, 1):
        if one.identifiers == best.identifiers:
            is_decision = _is_aside(sections[chosen]) and " / " not in sections[number].partition(":\n")[0]
            is_better = one.weight >= (best.weight if is_decision else _least_weight(prompt, best))
        else:
            is_better = one.identifiers > best.identifiers
        if is_better:
            best, chosen = one, number
    return chosen, best.text


def _least_weight(prompt: PromptTerms, other: Passage) -> float:
    """Return the least weight of a passage that is preferred to ``other``, if both have as many identifiers."""
    return max(other.weight + BETTER, MOST_OF * sum(term.weight for term in prompt.terms))


def _is_aside(section: str) -> bool:
    heading = section.partition(":\n")[0]
    return "\n" not in heading and heading.rpartition(" / ")[2].lower().startswith(SIDE_SECTIONS) and " / " in heading


def _identifiers(asked: str) -> list[str]:
    """Return what has the form of code in a prompt, in lower case: compound names, flags, and words in backticks."""
    quoted = [part for part in asked.split("`")[1::2] if part and " " not in part]
    found = [
        bare
        for word in words_of(asked)
        for bare in (word.strip(".,"), *word.strip(".,").split("/"))
        if is_code_form(bare.strip("-")) or (bare.startswith("--") and len(bare) > len("--x"))
    ]
    return list(dict.fromkeys(name.lower() for name in (*quoted, *found)))


def _passage(prompt: PromptTerms, names: list[str], section: str) -> Passage:
    beginning = Passage(preview(section), prompt, names)
    heading, is_headed, text = section[:READ_CHARS].partition(":\n")
    if not is_headed or "\n" in heading:
        heading, text = "", section[:READ_CHARS]
    before = f"{heading}: {ELLIPSIS} " if heading else f"{ELLIPSIS} "
    room = LONGEST_PREVIEW - len(before)
    if len(section) <= LONGEST_PREVIEW or room < LEAST_ROOM:
        return beginning
    parts = [part for part in _sentences(text) if len(part.split()) >= LEAST_WORDS or not part.isascii()]
    found = [Passage(before + preview(_from_name(part, names, room), longest=room), prompt, names) for part in parts]
    best = max(found, key=lambda one: (one.identifiers, one.weight), default=beginning)
    if best.identifiers != beginning.identifiers:
        return best if best.identifiers > beginning.identifiers else beginning
    return best if best.weight >= _least_weight(prompt, beginning) else beginning


def _sentences(text: str) -> list[str]:
    """Return the sentences and list items of a Markdown text, each on one line, without its code blocks and tables."""
    blocks = [""]
    for line in without_code(text.split("\n")):
        bare = line.strip()
        mark, _, rest = bare.partition(" ")
        is_item = bare.startswith(_LIST_MARKS) or (mark[:-1].isdigit() and mark[-1] in ".)")
        if not bare or bare.startswith(_NO_PROSE):
            blocks.append("")
        elif is_item:
            blocks.append(rest.strip())
        else:
            blocks[-1] = f"{blocks[-1]} {bare}".strip()
    return [sentence for block in blocks for sentence in _split(block)]


def _split(block: str) -> list[str]:
    found, start = [], 0
    for at, char in enumerate(block):
        if char not in _ENDS:
            continue
        end = at + 1
        while end < len(block) and block[end] in _CLOSING:
            end += 1
        # No sentence ends in "e.g. a list", "e.g. Norway" or "v2.1".
        is_end = block[end : end + 1] == " " and not block[end + 1 :][:1].islower() and block[at - 2 : at - 1] != "."
        if is_end or char > _FIRST_WIDE:
            found.append(block[start:end].strip())
            start = end
    return [sentence for sentence in (*found, block[start:].strip()) if sentence]


def _from_name(sentence: str, names: list[str], room: int) -> str:
    """Return a sentence; leave out its first clauses if the first of ``names`` in it would otherwise be cut off."""
    low = sentence.lower()
    at, name = min(((low.find(name), name) for name in names if _has(low, name)), default=(0, ""))
    if at + len(name) < room:
        return sentence
    start = max(low.rfind(mark, 0, at) + len(mark) for mark in _CLAUSES)
    return sentence[start if at + len(name) < start + room else at :]


def _has(low: str, name: str) -> bool:
    before, found, behind = low.partition(name)
    around = (before[-1:], behind[:1])
    return bool(found) and not any(char.isalnum() or char == "_" for char in around)
