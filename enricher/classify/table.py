"""Hold the compiled signals as packed text, and unpack only the entries of the words that a prompt contains.

Every start of the hook loads this table, but a prompt contains only a few dozen of its words;
the entries of all other words stay packed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Condition = tuple[list[int], list[int], list[tuple[int, int]], str, str]

GAP = 0
"""Stands for a gap (written as … in the rules) in a compiled phrase, whose words are strings."""

MOST_REMEMBERED = 100_000
"""Maximum number of unpacked entries in each cache of a long-lived process."""

LETTERS = 2
"""Number of first letters that words must share to be packed into one text."""


class PackedIndex:
    """A map from words to values that packs all words with the same two first letters into one text, to load fast."""

    __slots__ = ("_found", "_texts")

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._found: dict[str, str] = {}

    def find(self, word: str) -> str:
        """Return the value of ``word``, empty if it has none."""
        found = self._found.get(word)
        if found is None:
            text = self._texts.get(word[:LETTERS], "")
            at = text.find(f"~{word}=")
            found = text[at + len(word) + 2 : text.index("~", at + 1)] if at >= 0 else ""
            if len(self._found) < MOST_REMEMBERED:
                self._found[word] = found
        return found


class Table:
    """The compiled signals; phrases and conditions stay packed until a prompt contains their words."""

    __slots__ = (
        "_conditions", "_exact", "_fold", "_index", "_no_topics", "_strengths", "approvals", "classes",
        "contained", "contractions", "english", "facets", "features", "late", "openers", "orders", "places",
        "remembered", "requests", "word_weights",
    )  # fmt: skip

    def __init__(self, packed: dict[str, Any]) -> None:
        self.facets: list[dict[str, Any]] = packed["facets"]
        self.classes: list[tuple[int, str]] = packed["classes"]
        self.features: dict[str, list[int]] = packed["features"]
        self.contained: dict[str, list[int]] = packed.get("contained", {})
        self.late: dict[str, list[int]] = packed["late"]
        self.contractions: dict[str, list[str]] = packed["contractions"]
        self.requests: dict[str, list[list[str]]] = packed["requests"]
        self._exact, self._index, self._fold = (PackedIndex(packed[name]) for name in ("exact", "index", "fold"))
        self.word_weights = PackedIndex(packed["leanings"]).find
        """Returns the packed weights of a word: first those that the word has anywhere, then those under a condition.

        The condition ``|next=`` means that the word ``next`` follows, ``|@lead=`` and ``|@object=`` a position.
        """
        self.places: list[int] = packed["places"]
        self._conditions: list[Any] = packed["conditions"].split("\n")
        self.orders, self.openers, self.approvals, self.english = (
            frozenset(packed[name].split(" ")) for name in ("orders", "openers", "approvals", "english")
        )
        self._no_topics: Any = packed["no_topics"]  # a text until a prompt with a search intent needs the set
        self._strengths: dict[str, list[tuple[int, int]]] = {}
        self.remembered: dict[tuple[str, str], list[Any]] = {}

    @property
    def no_topics(self) -> frozenset[str]:
        """Return the words that are never topics of a search intent."""
        if self._no_topics.__class__ is str:
            self._no_topics = frozenset(self._no_topics.split(" "))
        return self._no_topics  # type: ignore[no-any-return]

    def strengths(self, figures: str) -> list[tuple[int, int]]:
        """Return the packed weights of a word (``figures``) as pairs (index of a class, weight of the word for it)."""
        found = self._strengths.get(figures)
        if found is None:
            numbers = [int(figure) for figure in figures.split()]
            found = list(zip(numbers[::2], numbers[1::2], strict=True))
            if len(self._strengths) < MOST_REMEMBERED:
                self._strengths[figures] = found
        return found

    def base(self, word: str) -> str:
        """Return the base form of an inflected ``word``, empty if it has none."""
        return self._fold.find(word)

    def phrases(self, word: str, follower: str) -> list[Any]:
        """Return the phrases that may begin with ``word`` followed by ``follower``.

        A phrase of one word is given as the index of its signal's condition, a longer one as a list: that index,
        the maximum number of words in its gap, and its other words.
        """
        found = self.remembered.get((word, follower))
        if found is None:
            seconds = [follower, base] if (base := self.base(follower)) else [follower]
            base = self.base(word)
            own = [self._exact.find(word), self._index.find(word), self._index.find(base) if base else ""]
            found = [entry for packed in own if packed for entry in _unpacked(packed, seconds)]
            if len(self.remembered) < MOST_REMEMBERED:
                self.remembered[word, follower] = found
        return found

    def condition(self, number: int) -> Condition:
        """Return the condition with the index ``number`` as (unless, with, [(class, weight)], feature, label).

        "unless" and "with" are lists of the indexes of other conditions; the feature is empty for a phrase.
        """
        found = self._conditions[number]
        if found.__class__ is str:
            unless, needs, weights, feature, label = found.split(";", 4)
            pairs = [int(figure) for figure in weights.split()]
            found = self._conditions[number] = (
                [int(at) for at in unless.split()], [int(at) for at in needs.split()],
                list(zip(pairs[::2], pairs[1::2], strict=True)), feature, label,
            )  # fmt: skip
        return found  # type: ignore[no-any-return]


def _unpacked(packed: str, seconds: list[str]) -> list[Any]:
    """Unpack the phrases of a first word: the word alone, it with a gap behind, or with one of ``seconds`` behind."""
    alone, _, behind = packed.partition("|")
    found = [entry_of(text) for text in alone.split(";") if text]
    for second in seconds:
        at = behind.find(f"{second}=") if behind.startswith(f"{second}=") else behind.find(f"|{second}=")
        if at >= 0:
            start = behind.index("=", at) + 1
            found += [entry_of(text) for text in behind[start : behind.index("|", start)].split(";")]
    return found


def entry_of(packed: str) -> Any:
    """Unpack a phrase, packed without its first word, into the form that ``Table.phrases`` returns."""
    number, _, rest = packed.partition(" ")
    if not rest:
        return int(number)
    gap, *words = rest.split(" ")
    return [int(number), int(gap), *(GAP if word == "…" else word for word in words)]
