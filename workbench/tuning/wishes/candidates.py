"""The candidates of a search for edits, and the phrases of a prompt that they add.

A candidate gives a signal another weight, adds a phrase, or raises a floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.classify.reading import words_of
from enricher.classify.verdict import scanned_part
from enricher.rules.compiling.signals import CONTRACTIONS, tokens
from storage.evaluation import corpus as stored
from storage.memory.words import STOP_WORDS
from workbench.tuning.rule_changes import LONGEST, grams, title_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from storage.evaluation.corpus import RecordedPrompt
    from workbench.coverage.rule_positions import LocatedSignal
    from workbench.replay.corpus import Corpus
    from workbench.tuning.floors import Floor

MOST_PHRASES, MOST_LONGER = 6, 4
MANY = 5
"""Number of other prompts that an edit may change, or a phrase may occur in, without a disadvantage.

Edits that change more are sorted later; for a phrase that occurs in more, a longer phrase is tried, too.
"""
NEGATIONS = frozenset({"not", "no", "never", "cannot", "without"})
COUNTED = 5_000
"""How many of the newest prompts are searched for each possible phrase, to count those that contain it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate edit that gives a signal another weight (0 removes it), adds a phrase to a class, or raises a floor.

    ``facet`` and ``name`` are the class whose points change by ``points``. The weight of a signal in a file that must
    not be edited is raised by adding the same signal to a layer above it (``is_added``). A floor is the least number of
    points with which a guardrail is shown.
    """

    facet: str
    name: str
    points: int
    signal: LocatedSignal | None = None
    phrase: str = ""
    is_added: bool = False
    floors: tuple[Floor, ...] = ()
    """The new floors of this guardrail, and of others that belong to the same edit."""
    file: str = ""
    """The file into which the floors are written; empty for other candidates."""

    @property
    def weight(self) -> int:
        return (self.signal.weight if self.signal else 0) + self.points

    @property
    def new_signal(self) -> dict[str, Any]:
        """Return the signal to add, in the form that it has in instructions files."""
        said = {"phrase": self.phrase} if self.signal is None else self.signal.signal
        return {**said, "weight": self.points}

    def title(self) -> str:
        if self.floors:
            return "; ".join(floor.title() for floor in self.floors)
        return title_of(self.name, self.signal, self.phrase, self.weight)

    @property
    def note(self) -> str:
        """Return what the edit writes, if that is not the new weight itself; otherwise an empty text."""
        if self.signal is None or not self.is_added:
            return ""
        return f"writes a weight of {self.points}, which is added to the {self.signal.weight}"


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of a prompt that are tried as signals, the most promising first.

    ``shared`` are the phrases that other prompts contain, too, and ``fillers`` words such as "yes" and "please".
    """

    best: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()

    def is_lone(self, phrase: str) -> bool:
        """Return whether no other recorded prompt contains ``phrase``."""
        return phrase not in self.shared

    def has_filler(self, phrase: str) -> bool:
        """Return whether ``phrase`` begins or ends with a filler, and so probably occurs in this prompt by chance."""
        words = phrase.split()
        return not self.fillers.isdisjoint((words[0], words[-1]))


def phrases_of(
    row: RecordedPrompt, words: Sequence[str], name: str, *, corpus: Corpus, fillers: Collection[str]
) -> Phrases:
    """Return the phrases of a prompt that best indicate the task type ``name``; ``words`` are its words as read.

    Phrases are sorted by the share of the prompts containing them whose task type is uncertain or the desired one. Each
    share is computed as if one more prompt had another task type, so that a phrase of many similar prompts comes before
    a phrase that only this prompt contains. Phrases that begin or end with a filler come last. For a phrase that many
    other prompts contain, the rarest longer phrase that includes it is returned, too.
    """
    found = {" ".join(gram) for gram in grams(words) if tokens(" ".join(gram)) == gram}
    found = {one for one in found if _has_meaning(one.split()) and not any(map(str.isdigit, one))}
    against, alike, shared = dict.fromkeys(found, 0), dict.fromkeys(found, 0), set[str]()
    for page in stored.rows(corpus.db, corpus.selection, limit=COUNTED):
        for other in page:
            # The blanks at both ends let a phrase match as whole words at the beginning and end, too.
            text = f" {' '.join(words_of(scanned_part(other.prompt), CONTRACTIONS).words)} "
            counts = alike if other.uncertain or other.task_type == name else against
            for phrase in (one for one in found if f" {one} " in text):
                counts[phrase] += 1
                shared.update([phrase] if other.id != row.id else ())
    known = Phrases((), frozenset(shared), frozenset(fillers))
    place = row.prompt.lower().find

    def rank(phrase: str) -> tuple[bool, float, int, int, str]:
        share = alike[phrase] / (alike[phrase] + against[phrase] + 1)  # 1: as if one more prompt had another task type
        return known.has_filler(phrase), -share, phrase.count(" "), place(phrase), phrase

    def reach(phrase: str) -> tuple[bool, int, int, int, str]:
        return known.has_filler(phrase), alike[phrase] + against[phrase], phrase.count(" "), place(phrase), phrase

    short = sorted((one for one in found if one.count(" ") < LONGEST - 1), key=rank)[:MOST_PHRASES]
    wide = [one for one in short if alike[one] + against[one] > MANY + 1]  # 1: this prompt has it, too
    with_it = [[one for one in found if f" {word} " in f" {one} " and one not in short] for word in wide]
    longer = [min(ones, key=reach) for ones in with_it if ones]
    return Phrases((*short, *dict.fromkeys(longer[:MOST_LONGER])), known.shared, known.fillers)


def _has_meaning(words: list[str]) -> bool:
    """Return whether a phrase means something by itself: no stop word at either end, and not only negations."""
    return len(NEGATIONS.intersection(words)) < len(words) and not (STOP_WORDS - NEGATIONS).intersection(
        (words[0], words[-1])
    )
