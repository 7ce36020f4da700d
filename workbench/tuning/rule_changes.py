"""Compute the effect of small changes to the rules on all labelled prompts, and find phrases for new signals.

The changed rules are not compiled: the points of a class are a sum, so changing one weight affects only the prompts on
which its signal fired. Phrases are matched word by word here; the compiler also matches their inflections.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from enricher.rules.compiling.signals import LEAST_WEIGHT, MOST_FITTED, MOST_WEIGHT, tokens
from storage.memory.words import STOP_WORDS
from workbench.statistics.pairs import mcnemar_midp

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Sequence

    from workbench.coverage.rule_positions import LocatedRules, LocatedSignal
    from workbench.tuning.labelled_prompts import Example

STEPS = (1, -1, 2, -2, 4, -4, 8, -8)  # each is twice the previous one, so that any size is met within a factor of two
# Only a few weights above the range of fitted ones, because every weight is tried for every phrase.
PHRASE_WEIGHTS = (*range(LEAST_WEIGHT, MOST_FITTED + 1), 12, 16, 20, 25, MOST_WEIGHT)
LONGEST = 3
"""Maximum number of words in a phrase."""
FEWEST_PROMPTS, FEWEST_SESSIONS = 2, 2
"""Minimum number of prompts and of sessions that must contain a phrase; in fewer, it may be one user's habit."""
TIMES = 2
"""How many times as likely a phrase must be in wrongly classified prompts of its class as in other classes."""
MOST = 80
"""Maximum number of phrases that are tried."""
MARKERS_BEGIN = "\ue000"
"""Start of Unicode's private use area: file names and the like in a prompt are replaced by such characters."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A change to a rule in ``file``: it gives ``signal`` another weight or, if ``signal`` is None, adds ``phrase``.

    ``name`` is the class of the rule. ``weight`` is the new weight; 0 removes the signal. ``fixed`` and ``broken`` are
    the indices of the labelled prompts that become right and wrong.
    """

    file: str
    rule: str
    name: str
    signal: LocatedSignal | None
    phrase: str
    weight: int
    fixed: frozenset[int]
    broken: frozenset[int]

    @property
    def net(self) -> int:
        """Return the number of labelled prompts that become right, minus the number of those that become wrong."""
        return len(self.fixed) - len(self.broken)

    @property
    def size(self) -> int:
        """Return by how many points the change raises or lowers the weight."""
        return abs(self.weight - (self.signal.weight if self.signal else 0))

    def p_value(self) -> float:
        """Return the mid-p value of McNemar's test on the labelled prompts that the change makes right or wrong."""
        return mcnemar_midp(len(self.fixed), len(self.broken))

    def title(self) -> str:
        """Return a sentence that describes this change to a rule."""
        return title_of(self.name, self.signal, self.phrase, self.weight)


def title_of(name: str, signal: LocatedSignal | None, phrase: str, weight: int) -> str:
    """Return a sentence that describes a change to the rule of the class ``name``.

    It says that ``signal`` is removed or gets another weight or, if ``signal`` is None, that ``phrase`` is added.
    """
    if signal is None:
        return f'{name}: add "{phrase}" with weight {weight}'
    if not weight:
        return f"{name}: take out {signal.label} (weight {signal.weight})"
    verb = "raise" if weight > signal.weight else "lower"
    return f"{name}: {verb} {signal.label} from {signal.weight} to {weight}"


class Search:
    """A search for small changes to rules in ``files`` that make labelled prompts right or wrong.

    A new phrase is added after the last signal of its rule, in the file of fitted weights if the rule has one.
    """

    def __init__(self, written: LocatedRules, files: Collection[str], examples: Sequence[Example]) -> None:
        self.examples = examples
        self._signals = [one for one in written.signals if one.facet == TASK_TYPE and one.place.file in files]
        self._last = {one.name: one for one in self._signals}
        self._rules = {name: one.rule for name, one in self._last.items()}
        self._right = [one.is_right() for one in examples]
        self._firing: dict[int, list[int]] = {}
        for at, one in enumerate(examples):
            for condition in one.fired:
                self._firing.setdefault(condition, []).append(at)

    def candidates(self) -> Iterator[RuleChange]:
        """Yield every change that makes at least one labelled prompt right or wrong."""
        for signal in self._signals:
            reached = self._firing.get(signal.condition, [])
            changed = [signal.weight + step for step in STEPS]
            weights = [0, *(weight for weight in changed if LEAST_WEIGHT <= weight <= MOST_WEIGHT)]
            yield from filter(None, (self._change(signal.name, one, reached, signal=signal) for one in weights))
        wrong = [at for at, is_right in enumerate(self._right) if not is_right]
        for phrase in phrases_for(self.examples, wrong, self._rules):
            found = (self._change(phrase.name, one, phrase.holding, phrase=phrase.text) for one in PHRASE_WEIGHTS)
            # Of equally good weights the smallest, because it changes the fewest prompts that have no label.
            best_weight = max(filter(None, found), key=lambda one: (one.net, -one.weight), default=None)
            if best_weight:
                yield best_weight

    def _change(
        self, name: str, weight: int, reached: Iterable[int], *, signal: LocatedSignal | None = None, phrase: str = ""
    ) -> RuleChange | None:
        points = weight - (signal.weight if signal else 0)
        after = {at: self.examples[at].is_right(name, points) for at in reached}
        fixed = frozenset(at for at, is_right in after.items() if is_right and not self._right[at])
        broken = frozenset(at for at, is_right in after.items() if not is_right and self._right[at])
        if not fixed and not broken:
            return None
        file = (signal or self._last[name]).place.file
        return RuleChange(file, self._rules[name], name, signal, phrase, weight, fixed, broken)


def best(candidates: Iterable[RuleChange]) -> list[RuleChange]:
    """Return the changes that fix more prompts than they break, best first, and only one for each signal or phrase."""
    found: list[RuleChange] = []
    known: set[object] = set()
    for one in sorted(candidates, key=lambda one: (-one.net, one.p_value(), one.size, one.rule, one.phrase)):
        subject = (one.file, one.rule, one.signal.index if one.signal else one.phrase)
        if one.net > 0 and subject not in known:
            found.append(one)
            known.add(subject)
    return found


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase, the name of the class that it indicates, and the indices of all labelled prompts that contain it."""

    text: str
    name: str
    holding: tuple[int, ...]


def phrases_for(examples: Sequence[Example], wrong: Sequence[int], names: Container[str]) -> list[Phrase]:
    """Return the phrases that are over-represented in wrongly classified prompts of a class, the strongest first.

    ``wrong`` has the indices of the wrongly classified examples, ``names`` the classes for which phrases are wanted.
    """
    found: list[tuple[int, Phrase]] = []
    classes = sorted({name for at in wrong for name in examples[at].prompt.right if name in names})
    missed = {name: [at for at in wrong if name in examples[at].prompt.right] for name in classes}
    worth = {name: _shared(examples, places) for name, places in missed.items()}
    wanted = {gram for found in worth.values() for gram in found}
    holding: dict[tuple[str, ...], list[int]] = {gram: [] for gram in wanted}
    for at, one in enumerate(examples):
        for gram in set(grams(one.words)) & wanted:
            holding[gram].append(at)
    for name, worthy in worth.items():
        others = [at for at, one in enumerate(examples) if name not in one.prompt.right]
        for gram in sorted(worthy):
            inside = len(set(holding[gram]).intersection(missed[name]))
            outside = len(set(holding[gram]).intersection(others))
            # inside / missed > TIMES * outside / others, without a division by 0
            if inside * max(1, len(others)) > TIMES * outside * len(missed[name]):
                found.append((inside - outside, Phrase(" ".join(gram), name, tuple(holding[gram]))))
    found.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].text))
    return [phrase for _lead, phrase in found[:MOST]]


def _shared(examples: Sequence[Example], places: Sequence[int]) -> set[tuple[str, ...]]:
    """Return the phrases that enough of the examples at the indices ``places`` contain, from enough sessions."""
    prompts: Counter[tuple[str, ...]] = Counter()
    sessions: dict[tuple[str, ...], set[str]] = {}
    for at in places:
        for gram in set(grams(examples[at].words)):
            prompts[gram] += 1
            sessions.setdefault(gram, set()).add(examples[at].prompt.session)
    return {
        gram
        for gram, count in prompts.items()
        if count >= FEWEST_PROMPTS
        and len(sessions[gram]) >= FEWEST_SESSIONS
        and tokens(" ".join(gram)) == gram  # not if the compiler reads a phrase differently, such as a contraction
    }


def grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all phrases of up to LONGEST consecutive words.

    Single stop words, and phrases that would extend over a punctuation mark, are left out.
    """
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
            last = words[end - 1]
            if last >= MARKERS_BEGIN or not any(map(str.isalpha, last)):
                break
            if end - start > 1 or words[start] not in STOP_WORDS:
                yield tuple(words[start:end])
