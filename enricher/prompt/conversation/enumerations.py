"""Find the options that an agent's answer offers in a list, in a table, or under headings such as "Option A:".

No I/O. If more than one list could be meant, no options are returned: a guess is worse than silence.
"""

from __future__ import annotations

from enricher.prompt.conversation.choices import EDGES, LETTERS, MOST_CHOSEN, OPENERS, is_noun, label_in, label_of
from enricher.prompt.text import cut, without_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.conversation.choices import PromptChoice

MOST_LINES = 2000
BODY_LINES = 12  # maximum lines below an option that are searched for file names
LONGEST_INTRODUCTION = 160
TAIL_CHARS = 500  # maximum characters of the question after the last list
OPTION_CHARS = 150
BULLETS = ("- ", "* ", "+ ", "\u2022 ")
KEYCAP = "\ufe0f\u20e3"
"""The combining characters that draw a digit as a key, often used by models to number a list."""
BEHIND_LABELS = (".", ")", ":")
DASHES = ("-", "\u2013", "\u2014", ":")
RECOMMENDING = (
    " recommend", " suggest", " my preference", "i'd go with", "i would go with", "i prefer", " empfehl", " vorschlag",
    " schlage", " recomiend", " sugier", " recomend", " recommand", " propose", " consiglio", " рекоменд", " советую",
)  # fmt: skip
BEHIND_HEADINGS = (" \u2014 ", " \u2013 ", " - ", ": ", ":** ", " (")
"""Marks between the heading of an option and its explanation."""
OR = (" or ", " oder ", " ou ", " o ", " или ")
NOUN, NUMBER, LETTER, ROW, BULLET = range(5)


class Option:
    """An item of a list in an agent's answer.

    ``label`` is its number or letter, empty for a bullet. ``noun`` is the word before the label, such as "option".
    ``text`` is the rest of its line, and ``body`` the lines below it.
    """

    __slots__ = ("body", "label", "noun", "text")

    def __init__(self, label: str, noun: str, text: str) -> None:
        self.label, self.noun, self.text = label, noun, text
        self.body: list[str] = []

    def first_words(self) -> str:
        """Return the beginning of the option's text, without the marks for bold type."""
        text = self.text or next((line.strip() for line in self.body if line.strip()), "")
        return cut(_plain(text), OPTION_CHARS)


class Enumeration:
    """The items of a list, and the line that introduces them."""

    __slots__ = ("end", "indent", "introduction", "kind", "options")

    def __init__(self, kind: int, indent: int, introduction: str) -> None:
        self.kind, self.indent, self.introduction = kind, indent, introduction
        self.options: list[Option] = []
        self.end = 0

    def continues_with(self, kind: int, indent: int, label: str) -> bool:
        """Return whether an item belongs to this list, as its next one.

        ``kind`` is what marks the item (NOUN, NUMBER, LETTER, ROW or BULLET), and ``indent`` its indentation.
        """
        if kind != self.kind or abs(indent - self.indent) > 1:  # 1: numbers may be right-aligned
            return False
        if kind in (NOUN, ROW):  # headings and rows need not be in order; a repeated label begins another list
            return label not in [one.label for one in self.options]
        return label == _next(self.options[-1].label)


def find(choice: PromptChoice, answers: list[tuple[int, str]]) -> tuple[list[Option], list[Option], int]:
    """Return the chosen options, all options of their list, and how many prompts ago the agent offered them.

    Both lists are empty if it is unclear which options are meant. ``answers`` are (how many prompts ago, text), newest
    first. All but the newest are searched only for labels that have a letter or a noun, such as "B" or "step 2".
    """
    newest = answers[0][0] if answers else 0
    if choice.is_suggested:
        return _suggested(*answers[0]) if answers else ([], [], 0)
    for ago, answer in answers:
        if ago > newest and not (choice.labels and (choice.noun or any(not one.isdigit() for one in choice.labels))):
            break
        lists = enumerations(answer)
        matching = [one for one in lists if _chosen(choice, one)]
        if not matching:
            continue
        one = _referenced_list(choice, matching, answer)
        return (_chosen(choice, one), one.options, ago) if one else ([], [], 0)
    return [], [], 0


def offers(prompt: str, answer: str) -> bool:
    """Return whether the prompt is, nearly word for word, an option of the answer or the heading of one."""
    own = _own_words(prompt)
    lines = without_code(answer.splitlines()[:MOST_LINES])
    for line in lines if len(own) > 1 else []:
        bare, (_, _, option) = line.strip(), _item(line)
        text = option.text if option else bare[2:] if bare.startswith(BULLETS) else ""
        heads = [text, *(text.partition(sign)[0] for sign in BEHIND_HEADINGS)]
        if text and own in [_own_words(_plain(one)) for one in heads]:
            return True
    return any(
        own == _own_words(option.text)[-len(own) :]
        for one in _alternatives(lines)
        for option in one.options
        if len(own) > 1
    )


def _own_words(text: str) -> list[str]:
    words = [bare for word in text.lower().split() if (bare := word.strip(EDGES))]
    while len(words) > 1 and words[0] in OPENERS:
        words = words[1:]
    return words


def _suggested(ago: int, answer: str) -> tuple[list[Option], list[Option], int]:
    """Return the option of the only sentence in which an answer recommends one, or that sentence without an option."""
    said = [one for one in _sentences(answer) if any(word in f" {one.lower()}" for word in RECOMMENDING)]
    inside = label_in(said[0]) if len(said) == 1 else None
    if inside:
        return find(inside, [(ago, answer)])
    return [Option("", "", one) for one in said if len(said) == 1], [], ago


def next_step(answer: str) -> PromptChoice | None:
    """Return the step that the question at an answer's end proposes: "Shall I go on with step 2?"; else None."""
    last = _sentences(answer)[-1:]
    return label_in(last[0]) if last and last[0].endswith("?") else None


def _sentences(answer: str) -> list[str]:
    lines = [line.strip(" *_-") for line in without_code(answer.splitlines()[:MOST_LINES])]
    text = "\n".join(lines).replace("? ", "?\n").replace(". ", ".\n").replace("**", "")
    return [line for line in text.replace("\uff1f", "?\n").split("\n") if line]


def _alternatives(lines: list[str]) -> list[Enumeration]:
    """Return the two alternatives of the question at an answer's end: "Should I cache it, or drop it?"."""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    question = _sentences(last)[-1] if last.endswith("?") else ""
    for word in OR:
        first, found, second = question.rpartition(word)
        if found and min(len(first.split()), len(second.split())) > 1:
            one = Enumeration(BULLET, 0, "")
            one.options = [Option("", "", first.rstrip(",")), Option("", "", second.rstrip("?"))]
            return [one]
    return []


def _chosen(choice: PromptChoice, one: Enumeration) -> list[Option]:
    """Return those options of a list that the prompt chooses; empty if the list lacks one of them."""
    size = len(one.options)
    if choice.is_both or (choice.is_all and not choice.is_rest):
        count = 2 if choice.is_both else choice.count
        return one.options if size == (count or min(size, MOST_CHOSEN)) else []
    if choice.count:
        some = one.options[: choice.count] if choice.count > 0 else one.options[choice.count :]
        return some if size > len(some) else []
    by_label = {option.label: option for option in one.options if option.label}
    found = [by_label.get(label) for label in choice.labels]
    # Position -1 becomes index -1, which is also the last element.
    found += [one.options[max(at, 0) - 1] if at <= size else None for at in choice.positions]
    if not all(found):
        return []
    left = [option for option in one.options if option not in found]
    return (left if len(left) <= MOST_CHOSEN else []) if choice.is_rest else [option for option in found if option]


def _referenced_list(choice: PromptChoice, matching: list[Enumeration], answer: str) -> Enumeration | None:
    """Return the list that the prompt refers to; None if this is unclear.

    If several lists match, it is the last one, provided that the answer goes on with nothing but a short question.
    """
    if choice.noun:
        stem = choice.noun.rstrip("s")
        called = [one for one in matching if any(option.noun.rstrip("s") == stem for option in one.options)]
        called = called or [one for one in matching if stem in one.introduction.lower()]
        matching = called or matching
    if len(matching) == 1:
        return matching[0]
    last = max(matching, key=lambda one: one.end)
    behind = "\n".join(answer.splitlines()[last.end :]).strip()
    return last if "?" in behind and len(behind) <= TAIL_CHARS else None


def enumerations(answer: str) -> list[Enumeration]:
    """Return the lists with labels in an answer, except in code blocks; if there are none, the lists of bullets."""
    lines = without_code(answer.splitlines()[:MOST_LINES])
    labelled = [one for one in _labelled(lines) if len(one.options) > 1]
    return labelled or _bulleted(lines) or _alternatives(lines)


def _labelled(lines: list[str]) -> list[Enumeration]:
    found: list[Enumeration] = []
    introduction, current = "", None
    for number, line in enumerate(lines, 1):
        kind, indent, option = _item(line)
        if option is None:
            if current is not None and len(current.body) < BODY_LINES:
                current.body.append(line)
            introduction = line[-LONGEST_INTRODUCTION:] if line.strip() else introduction
            continue
        own = next((one for one in reversed(found) if one.continues_with(kind, indent, option.label)), None)
        if own is None:
            own = Enumeration(kind, indent, introduction)
            found.append(own)
        own.options.append(option)
        own.end, current = number, option
    return found


def _bulleted(lines: list[str]) -> list[Enumeration]:
    """Return the lists of unindented bullets; indented lines below a bullet belong to it."""
    found: list[Enumeration] = []
    introduction, current = "", None
    for number, line in enumerate(lines, 1):
        if line.startswith(BULLETS):
            if current is None:
                current = Enumeration(BULLET, 0, introduction)
                found.append(current)
            current.options.append(Option("", "", line[2:]))
            current.end = number
        elif line.strip() and not line.startswith((" ", "\t")):
            introduction, current = line[-LONGEST_INTRODUCTION:], None
    return [one for one in found if len(one.options) > 1]


def _item(line: str) -> tuple[int, int, Option | None]:
    """Return the kind of the item in a line (NOUN, NUMBER, LETTER or ROW), its indentation, and the item as an option.

    The option is None if the line contains no item with a label.
    """
    bare = line.strip()
    indent = len(line) - len(line.lstrip())
    if bare.startswith("|"):
        cells = [_plain(cell) for cell in bare.strip("|").split("|")]
        noun, label, _ = _head(f"{cells[0]}:") if cells else ("", "", "")
        return ROW, indent, Option(label, noun, " \u2014 ".join(cells[1:])) if label and len(cells) > 1 else None
    # "## Option A", but not "#2 is better".
    bare = bare.lstrip("#").lstrip() if bare.startswith("#") and bare.lstrip("#")[:1] == " " else bare
    bare = bare[2:].lstrip() if bare.startswith(BULLETS) else bare
    noun, label, text = _head(bare.replace("**", "").replace("__", "").replace(KEYCAP, "."))
    kind = NOUN if noun else NUMBER if label[:1].isdigit() else LETTER
    return kind, indent, Option(label, noun, text) if label else None


def _head(text: str) -> tuple[str, str, str]:
    """Split "Option B \u2014 drop it" or "2) drop it" into noun, label and rest; all are empty if there is no label."""
    first, _, rest = text.partition(" ")
    noun = first.lower().strip("*:") if is_noun(first.lower().strip("*:")) else ""
    if noun:
        first, _, rest = rest.partition(" ")
    bare = first.strip("().:*#,`")
    label = label_of(bare)
    is_marked = first.endswith(BEHIND_LABELS) or first.startswith("(")
    if not label or not (noun or is_marked or rest.startswith(DASHES)):
        return "", "", ""
    if noun and not (is_marked or not rest or rest.startswith((*DASHES, "("))):
        return "", "", ""  # a sentence: "Option 2 is simpler"
    # Without a noun, "A." and "a)" are labels, but not "a.".
    if label.isalpha() and not noun and not (bare.isupper() or first.endswith(")")):
        return "", "", ""
    return noun, label, rest.strip().lstrip("-\u2013\u2014: ")


def _next(label: str) -> str:
    """Return the label that follows ``label``: 3 after 2, b after a, 1b after 1a."""
    if label.isdigit():
        return str(int(label) + 1)
    last = LETTERS.find(label[-1:])
    return label[:-1] + LETTERS[last + 1 : last + 2]


def _plain(text: str) -> str:
    return text.replace("**", "").replace("__", "").strip(" *|")
