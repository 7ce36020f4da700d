"""Find phrases that wrongly classified prompts of one class share, as candidates for new signals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify.reading import MARKS
from enricher.rules.compiling.signals import RESERVED, tokens
from storage.memory.words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from workbench.tuning.examples import Example

LONGEST = 3
"""The most words in a phrase."""
FEWEST_PROMPTS, FEWEST_SESSIONS = 2, 2
"""The least prompts and sessions that must contain a phrase: fewer may be the habit of one user or project."""
TIMES = 2
"""How many times likelier a phrase must be in wrongly classified prompts of a class than in other classes."""
MOST = 80
MARKERS_BEGIN = "\ue000"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase, the class that it suggests, and the indices of all examples that contain it."""

    text: str
    name: str
    holding: tuple[int, ...]


def phrases_for(examples: Sequence[Example], wrong: Sequence[int], names: Container[str]) -> list[Phrase]:
    """Return the phrases that are over-represented in wrongly classified prompts of a class, the strongest first."""
    found: list[tuple[int, Phrase]] = []
    classes = sorted({name for at in wrong for name in examples[at].prompt.right if name in names})
    missed = {name: [at for at in wrong if name in examples[at].prompt.right] for name in classes}
    worth = {name: _shared(examples, places) for name, places in missed.items()}
    wanted = {gram for grams in worth.values() for gram in grams}
    holding: dict[tuple[str, ...], list[int]] = {gram: [] for gram in wanted}
    for at, one in enumerate(examples):
        for gram in set(_grams(one.words)) & wanted:
            holding[gram].append(at)
    for name, grams in worth.items():
        others = [at for at, one in enumerate(examples) if name not in one.prompt.right]
        for gram in sorted(grams):
            inside = len(set(holding[gram]).intersection(missed[name]))
            outside = len(set(holding[gram]).intersection(others))
            if inside * max(1, len(others)) > TIMES * outside * len(missed[name]):
                found.append((inside - outside, Phrase(" ".join(gram), name, tuple(holding[gram]))))
    found.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].text))
    return [phrase for _lead, phrase in found[:MOST]]


def _shared(examples: Sequence[Example], places: Sequence[int]) -> set[tuple[str, ...]]:
    """Return the phrases that several of these prompts, of several sessions, contain."""
    prompts: Counter[tuple[str, ...]] = Counter()
    sessions: dict[tuple[str, ...], set[str]] = {}
    for at in places:
        for gram in set(_grams(examples[at].words)):
            prompts[gram] += 1
            sessions.setdefault(gram, set()).add(examples[at].prompt.session)
    return {
        gram
        for gram, count in prompts.items()
        if count >= FEWEST_PROMPTS and len(sessions[gram]) >= FEWEST_SESSIONS and tokens(" ".join(gram)) == gram
    }


def _grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
            if not _is_word(words[end - 1]):
                break
            if end - start > 1 or words[start] not in STOP_WORDS:
                yield tuple(words[start:end])


def _is_word(word: str) -> bool:
    return (
        word not in MARKS and word < MARKERS_BEGIN and any(map(str.isalpha, word)) and not RESERVED.intersection(word)
    )
