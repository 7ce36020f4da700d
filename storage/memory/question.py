"""Prepare a text for the search for memories: find its terms, weigh them, and make the query for the full-text index.

The fewer stored memories contain a term, the more it weighs.
"""

from __future__ import annotations

from storage.memory.stemming import stem
from storage.memory.words import (
    BASE_FORMS,
    COMMON_WORDS,
    FIRST_SIGN,
    STOP_WORDS,
    identifier_parts,
    related,
    sign_words,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection

MOST_WORDS = 24  # terms of a question; further words of the text are ignored
LONGEST_JOINED = 24  # letters of two words that are searched for as one, such as "timezone"
FEW_TERMS, TERMS_OF_MANY = 8, 5  # the number of terms of a short question, and of those of a long one in the query
MOST_POSTINGS = 16_000  # index entries that a query reads at most
CANDIDATES = 32  # memories that are taken from the index to be scored
PREFIX = 5  # letters; longer words with the same beginning match each other
RELATED_WEIGHT = 0.5  # of a synonym or a similar word, compared with the word itself
HEAVIEST_TERMS = 8  # terms to whose weights the weight of a match is compared, however long the question is
BACKGROUND, COMMON_SHARE = 1_000, 0.03
"""Number of imaginary memories that are counted with the stored ones, and the share of them with each common word.

A few stored memories alone would be too few to estimate which words are rare.
"""
ROOT = 2.0**-24
"""The r with which ``_log`` computes the natural logarithm, which is about (x**r - 1) / r for a small r.

A smaller r would lose digits.
"""

HOW_COMMON = "select term, doc from memory_vocabulary where term in ({})"
WHICH_BEGIN_SO = "select term, doc from memory_vocabulary where term >= ? and term < ? limit 100"


class _Term:
    """A word of the searched text, with the stems that match it and the weight of a match.

    The stems are those of the word itself and of alternatives such as synonyms.
    """

    __slots__ = ("frequency", "postings", "stems", "weight", "word")

    def __init__(self, word: str) -> None:
        self.word = word
        base = BASE_FORMS.get(word, word)
        self.stems = {stem(word): 1.0, stem(base): 1.0}
        self.frequency = [word, base] if len(self.stems) > 1 else [word]
        self.postings = 0
        self.weight = 0.0


class MemoryQuestion:
    """The terms of a text for which memories are searched, with their weights.

    ``memories`` is the number of all stored memories.
    """

    __slots__ = ("beginnings", "known", "matching", "placed", "prefixes", "terms", "whole")

    def __init__(self, connection: Connection, text: str, memories: int) -> None:
        self.terms = _terms(text)
        # A short question needs every synonym; a long prompt has enough words, and each index lookup takes time.
        is_short = len(self.terms) <= FEW_TERMS
        pairs = zip(self.terms, self.terms[1:], strict=False) if is_short else ()
        joined = [first.word + second.word for first, second in pairs]
        others = [related(term.word) if is_short else [] for term in self.terms]
        rare = self.terms if is_short else [term for term in self.terms if term.word not in COMMON_WORDS]
        common = _counts(connection, rare, [*joined, *(word for some in others for word in some)])
        if not is_short and sum(common.values()) < CANDIDATES:
            common = _counts(connection, self.terms, [])
        elif not is_short:
            # The rare words give enough candidates, so how often the common ones occur is only estimated.
            for term in self.terms:
                if term.word in COMMON_WORDS:
                    term.frequency = []
                    common.update(dict.fromkeys(term.stems, int(memories * COMMON_SHARE)))
        for at, term in enumerate(self.terms):
            also = [one for one in joined[at : at + 1] if len(one) < LONGEST_JOINED]
            self._look_up(connection, term, common, memories, joined=also, others=others[at])
        heaviest = sorted((term.weight for term in self.terms), reverse=True)[:HEAVIEST_TERMS]
        self.whole = sum(heaviest)
        self.known: dict[str, tuple[int, float]] = {}
        self.matching: dict[str, tuple[int, float]] = {}
        self.placed: set[str] = set()
        self.prefixes: dict[str, int] = {}
        self.beginnings: set[str] = set()
        self._index_stems()

    def _index_stems(self) -> None:
        """Fill ``known``, ``prefixes`` and ``beginnings``, by which the words of memories are compared."""
        for at, term in enumerate(self.terms):
            for one, weight in term.stems.items():
                self.beginnings.add(one[:3])
                self.beginnings.add(one[:2] + "y" if one[2:3] == "i" else one[:3])  # «try» has the stem «tri»
                if weight > (self.known.get(one) or (0, 0.0))[1]:
                    self.known[one] = (at, weight)
            if len(term.word) > PREFIX and term.word.isalpha():
                self.prefixes.setdefault(term.word[:PREFIX], at)

    def _look_up(
        self,
        connection: Connection,
        term: _Term,
        common: Mapping[str, int],
        memories: int,
        *,
        joined: list[str],
        others: list[str],
    ) -> None:
        """Add the alternatives of ``term``, count the memories that contain any of them, and set the term's weight.

        The alternatives are its synonyms (``others``), and the word that it forms with the next term (``joined``):
        "time zone" also matches ``timezone``. For a short question, similar words are added to a term that no memory
        contains. ``common`` maps stems to the number of memories that contain them; ``memories`` is the number of all
        memories.
        """
        counts = [common.get(one, 0) for one in term.stems]
        most = max(counts)
        if not most and len(self.terms) <= FEW_TERMS:
            most = self._guess(connection, term)
            counts.append(most)
        for group, weight in ((joined, 1.0), (others, RELATED_WEIGHT)):
            for word in group:
                other = stem(word)
                if other not in term.stems and other in common:
                    term.stems[other] = weight
                    term.frequency.append(word)
                    counts.append(common[other])
        term.postings = sum(counts)
        # The inverse document frequency of BM25, with 0.5 added so that nothing is divided by 0.
        holding = most + 0.5 + (BACKGROUND * COMMON_SHARE if term.word in COMMON_WORDS else 0.0)
        term.weight = _log(1.0 + max(0.5, memories + BACKGROUND - holding) / holding)

    @staticmethod
    def _guess(connection: Connection, term: _Term) -> int:
        """Find words in the memories that are similar to a term that no memory contains, such as a misspelt one.

        These words become alternatives of the term. Return the number of memories that contain the most frequent of
        them; 0 if there is none.
        """
        word = term.word
        if len(word) < PREFIX:
            return 0
        begins = word[:4]
        most = 0
        for other, count in connection.execute(WHICH_BEGIN_SO, (begins, begins + "\U0010ffff")).fetchall():
            if _is_alike(word, other):
                term.stems[other] = RELATED_WEIGHT
                term.frequency.append(other)
                most = max(most, count)
        return most

    def match(self) -> str:
        """Return the query for the full-text index, made of the question's rarest terms.

        Terms are added as long as all of them together match at most ``MOST_POSTINGS`` memories. The query is empty if
        no term occurs in a memory, or if even the rarest one occurs in too many.
        """
        left = MOST_POSTINGS
        asked: list[str] = []
        rarest = sorted(
            (term for term in self.terms if term.postings and term.frequency), key=lambda term: term.postings
        )
        for term in rarest[: TERMS_OF_MANY if len(self.terms) > FEW_TERMS else FEW_TERMS]:
            if term.postings > left:
                break
            left -= term.postings
            asked += [f'"{one}"' for one in term.frequency]
        return " OR ".join(asked)

    def rarest(self) -> str:
        """Return the query for the two rarest terms, for a question whose every term occurs in too many memories."""
        found = sorted((term.postings, at) for at, term in enumerate(self.terms) if term.postings)
        return " OR ".join(f'"{self.terms[at].word}"' for _, at in found[:2])

    def place(self, word: str) -> None:
        """Record in ``matching`` which term of the question ``word`` matches, and with what weight.

        ``word`` is a word of a memory. If it matches no term, nothing is recorded.
        """
        base = BASE_FORMS.get(word, word)
        found = self.known.get(stem(base)) if base[:3] in self.beginnings else None
        if found is None and (at := self.prefixes.get(word[:PREFIX], -1)) >= 0:
            found = (at, RELATED_WEIGHT)
        if found is not None:
            self.matching[word] = found


def _terms(text: str) -> list[_Term]:
    found = dict.fromkeys(words(text)[: MOST_WORDS * 8])  # more than MOST_WORDS, as many are stop words or repeated
    found.update(dict.fromkeys(identifier_parts(text[:4000])))
    if signs := sign_words(text[:4000]):
        found = dict.fromkeys([*(word for word in found if max(word) < FIRST_SIGN), *signs])
    content_words = [word for word in found if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())]
    terms: list[_Term] = []
    seen: set[str] = set()
    for term in map(_Term, content_words[:MOST_WORDS]):  # «test» and «tests» are one term
        if seen.isdisjoint(term.stems):
            seen.update(term.stems)
            terms.append(term)
    return terms


def _counts(connection: Connection, terms: list[_Term], others: list[str]) -> dict[str, int]:
    """Return how many memories contain each stem of ``terms`` and of ``others``, found by a single query."""
    wanted = list(dict.fromkeys([*(one for term in terms for one in term.stems), *map(stem, others)]))
    rows = connection.execute(HOW_COMMON.format(", ".join("?" * len(wanted))), wanted).fetchall()
    return {str(term): int(count) for term, count in rows}


def _is_alike(word: str, other: str) -> bool:
    """Return whether two words differ in one letter, or only in their endings."""
    shared = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        shared += 1
    if shared >= PREFIX and abs(len(word) - len(other)) <= 4:
        return True
    rest, others = word[shared:], other[shared:]
    # One letter is different, missing, added, or exchanged with the next one.
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:] or rest[:2] == others[1::-1]


def _log(x: float) -> float:
    """Return the natural logarithm to six digits; ``math`` is not used, since importing it takes as long as a query."""
    return (float(x**ROOT) - 1.0) / ROOT
