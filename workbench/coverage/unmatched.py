"""Group the prompts that no signal matches into clusters that share words, so that maintainers can read them.

The same prompts give the same clusters; the work is bounded by MOST_PROMPTS and MOST_CLUSTERS.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from storage.memory.stemming import stem
from storage.memory.words import STOP_WORDS, words

MOST_PROMPTS, MOST_CLUSTERS, MOST_TERMS = 20_000, 20, 4
SCANNED_CHARS = 2_000  # of each prompt; this bounds the work, too
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of unmatched prompts that share a word.

    ``terms`` are words that at least half of the prompts contain, ``prompts`` is the number of prompts, and
    ``examples`` are the ids of the newest of these prompts.
    """

    terms: tuple[str, ...]
    prompts: int
    examples: tuple[str, ...]
    members: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The ids of all its prompts; empty if the cluster was read from the database."""

    def as_object(self) -> dict[str, object]:
        """Return the cluster as JSON values, without ``members``."""
        return {"terms": self.terms, "prompts": self.prompts, "examples": self.examples}


@dataclass(slots=True)
class Unmatched:
    """The prompts that no signal matches, collected to be grouped into clusters; they must be added newest first."""

    count: int = 0
    _prompts: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, trace_id: str, prompt: str) -> None:
        """Count a prompt, and store its words if fewer than MOST_PROMPTS prompts are stored."""
        self.count += 1
        if len(self._prompts) < MOST_PROMPTS:
            terms: dict[str, str] = {}
            for word in words(prompt[:SCANNED_CHARS]):
                if len(word) > 1 and word not in STOP_WORDS and not any(map(str.isdigit, word)):
                    terms.setdefault(stem(word), word)
            self._prompts[trace_id] = terms

    def clusters(self) -> list[Cluster]:
        """Return clusters of two or more prompts, the largest first; each prompt is in at most one."""
        left = dict(self._prompts)
        found: list[Cluster] = []
        frequency = Counter(term for terms in left.values() for term in terms)
        while len(found) < MOST_CLUSTERS:
            # Of equally frequent terms the one that sorts last, whatever the order in which the prompts came.
            first, most = max(frequency.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
            if most < 2:
                break
            members = [trace_id for trace_id, terms in left.items() if first in terms]
            found.append(self._cluster(members))
            for trace_id in members:
                frequency.subtract(left.pop(trace_id).keys())
        return found

    def _cluster(self, members: list[str]) -> Cluster:
        held = Counter(term for trace_id in members for term in self._prompts[trace_id])
        # Reversed, so that a term is spelled as in the newest prompt.
        spelled = {term: word for trace_id in reversed(members) for term, word in self._prompts[trace_id].items()}
        shared = sorted((term for term in held if 2 * held[term] >= len(members)), key=lambda term: (-held[term], term))
        terms = tuple(spelled[term] for term in shared[:MOST_TERMS])
        return Cluster(terms, len(members), tuple(members[:EXAMPLES]), tuple(members))
