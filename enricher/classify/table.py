"""Hold the compiled signals as packed text, and unpack only the entries of the words that a prompt contains.

Every start of the hook loads this table, but a prompt contains only a few dozen of its words;
the entries of all other words stay packed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Condition = tuple[list[int], list[int], list[tuple[int, int]], str, str]

WRITTEN_GAP = "…"
"""Stands for a gap in a phrase of the rules."""
GAP = 0
"""Stands for a gap in a phrase that has been unpacked, whose words are strings."""

MOST_REMEMBERED = 100_000
"""Maximum number of unpacked entries in each cache of a long-lived process."""

LETTERS = 2
"""Number of first letters that words must share to be packed into one string."""


class PackedIndex:
    """A map from words to values that loads fast, because words with the same first two letters share one string."""

    __slots__ = ("_found", "_texts")

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._found: dict[str, str] = {}

    def find(self, word: str) -> str:
        """Return the value of ``word``, or an empty string if it has none."""
        found = self._found.get(word)
        if found is None:
            text = self._texts.get(word[:LETTERS], "")
            at = text.find(f"~{word}=")
            found = text[at + len(word) + 2 : text.index("~", at + 1)] if at >= 0 else ""
            if len(self._found) < MOST_REMEMBERED:
                self._found[word] = found
        return found


class Table:
    """The compiled signals of the rules, and the word lists that are needed to find them in a prompt.

    Each signal consists of its phrases and of a condition: the other signals that must have fired or must not have
    fired, and the weights that it adds. Both stay packed until a prompt contains the signal's words.
    """

    __slots__ = (
        "_conditions", "_exact", "_fold", "_index", "_no_topics", "_strengths", "approvals", "classes",
        "contained", "contractions", "english", "facets", "features", "late", "openers", "orders", "places",
        "remembered", "requests", "word_weights",
    )  # fmt: skip

    def __init__(self, packed: dict[str, Any]) -> None:
        self.facets: list[dict[str, Any]] = packed["facets"]
        self.classes = [(str(self.facets[facet_at]["name"]), str(name)) for facet_at, name in packed["classes"]]
        """Each class as (name of its facet, its name); other values refer to classes by their index in this list."""
        self.features: dict[str, list[int]] = packed["features"]
        self.contained: dict[str, list[int]] = packed["contained"]
        self.late: dict[str, list[int]] = packed["late"]
        self.contractions: dict[str, list[str]] = packed["contractions"]
        self.requests: dict[str, list[list[str]]] = packed["requests"]
        self._exact, self._index, self._fold = (PackedIndex(packed[name]) for name in ("exact", "index", "fold"))
        self.word_weights = PackedIndex(packed["leanings"]).find
        """Returns the packed weights of a word: first those that always count, then those that count in certain places.

        ``|next=`` precedes the weights before the word ``next``, ``|@lead=`` and ``|@object=`` those at a position.
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
        """Return the base form of an inflected ``word``, or an empty string if the table has none."""
        return self._fold.find(word)

    def phrases(self, word: str, follower: str) -> list[Any]:
        """Return the phrases of the signals that can begin with the words ``word`` and ``follower``.

        A phrase of one word is represented by the index of its signal (see ``condition``), a longer one by a list: this
        index, the maximum number of words in its gap, and its words after the first.
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
        """Return the condition of the signal with the index ``number``: (unless, with, weights, feature, label).

        "unless" and "with" contain the indexes of signals: none of the former may have fired, and one of the latter, if
        there are any, must have. The weights are pairs (class, weight). The feature is empty if the signal is a phrase.
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
    """Return the unpacked phrases in ``packed`` whose second word is one of ``seconds``; all begin with the same word.

    Phrases that consist of the first word alone, or have a gap after it, are always included.
    """
    found = [entry_of(text) for text in packed.partition("|")[0].split(";") if text]
    for second in seconds:
        at = packed.find(f"|{second}=")
        if at >= 0:
            start = at + len(second) + 2
            found += [entry_of(text) for text in packed[start : packed.index("|", start)].split(";")]
    return found


def entry_of(packed: str) -> Any:
    """Unpack a phrase, packed without its first word, into the form that ``Table.phrases`` returns."""
    number, _, rest = packed.partition(" ")
    if not rest:
        return int(number)
    gap, *words = rest.split(" ")
    return [int(number), int(gap), *(GAP if word == WRITTEN_GAP else word for word in words)]
