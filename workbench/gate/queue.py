"""Order prompts for labelling, so that thirty labels take five minutes and are as informative as possible.

A label is more informative if the classifier was close to another decision, and if many prompts are similar. The same
prompts always give the same order. To limit the computing time, at most ``MOST_PROMPTS`` prompts are ordered, and the
index that is used to find similar prompts lists at most ``MOST_PLACES`` groups of them (clusters) for each term.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from storage.memory.stemming import stem
from storage.memory.words import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from storage.traces.labels import LabelCandidate

MOST_PROMPTS = 20_000
SCANNED_CHARS = 2_000  # MOST_TERMS words are far shorter
MOST_TERMS = 24
RAREST_TERMS = 6
"""Number of a prompt's rarest terms that are used to search for similar prompts."""
MOST_PLACES = 40
MOST_COMPARED = 8
"""Maximum number of clusters that a prompt is compared with: those that have the most terms in common with it."""
ALIKE = 0.5
"""Minimum share of terms in common (Jaccard index) with which two prompts count as similar."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt to label; ``why`` is the reason to label it.

    ``margin`` is the number of points by which its task type leads the next best one.
    """

    id: str
    prompt: str
    task_type: str
    confidence: float
    margin: float
    cluster_size: int
    why: str


@dataclass(slots=True)
class _Cluster:
    terms: frozenset[str]
    members: list[LabelCandidate]


def order(prompts: Sequence[LabelCandidate]) -> list[Queued]:
    """Return the unlabelled prompts, most informative first.

    First comes one prompt of each cluster (group of similar prompts), then a second one of each, and so on. Labelled
    prompts count as the first of their cluster, so that the others come later. Each session's prompts are spread out.
    """
    rounds: list[list[tuple[LabelCandidate, _Cluster]]] = []
    for cluster in _clusters(prompts[:MOST_PROMPTS]):
        cluster.members.sort(key=lambda one: (not one.is_labelled, one.margin, one.confidence))
        for number, one in enumerate(cluster.members):
            if number == len(rounds):
                rounds.append([])
            if not one.is_labelled:
                rounds[number].append((one, cluster))
    found: list[tuple[LabelCandidate, _Cluster]] = []
    for one_round in rounds:
        following = _spread(one_round)
        # Otherwise, similar prompts would follow each other where two rounds meet.
        if found and len(following) > 1 and following[0][1] is found[-1][1]:
            following[:2] = reversed(following[:2])
        found += following
    return [_queued(one, cluster) for one, cluster in found]


def _spread(one_round: Iterable[tuple[LabelCandidate, _Cluster]]) -> list[tuple[LabelCandidate, _Cluster]]:
    """Return the prompts of one round, most informative first, but with those of the same session spread out."""
    heap = [(-_informativeness(one, cluster), place, 0, one, cluster) for place, (one, cluster) in enumerate(one_round)]
    heapq.heapify(heap)
    taken: Counter[str] = Counter()
    found = []
    while heap:
        _, place, counted, one, cluster = heapq.heappop(heap)
        if (times := taken[one.session_id]) > counted:  # its session has had a turn since it was put there
            heapq.heappush(heap, (-_informativeness(one, cluster) / (1 + times), place, times, one, cluster))
            continue
        taken[one.session_id] += 1
        found.append((one, cluster))
    return found


def _informativeness(one: LabelCandidate, cluster: _Cluster) -> float:
    return math.log2(1 + len(cluster.members)) / (1 + one.margin)  # log2: similar prompts teach less and less


def _queued(one: LabelCandidate, cluster: _Cluster) -> Queued:
    size = len(cluster.members)
    points = f"{one.margin:g} point{'' if one.margin == 1 else 's'}"
    lead = f"{one.task_type or 'no class'} leads by {points}" if one.margin else "two classes are level"
    like = f", {size - 1} more like it" if size > 1 else ""
    return Queued(one.id, one.prompt, one.task_type, one.confidence, one.margin, size, lead + like)


def _clusters(prompts: Sequence[LabelCandidate]) -> list[_Cluster]:
    """Cluster similar prompts: each joins the most similar earlier cluster, or begins a new one if none is similar."""
    terms = [_terms(one.prompt) for one in prompts]
    frequency = Counter(term for one in terms for term in one)
    places: dict[str, list[int]] = {}
    found: list[_Cluster] = []
    for one, own in zip(prompts, terms, strict=True):
        rarest = sorted(own, key=lambda term: (frequency[term], term))[:RAREST_TERMS]  # term: sets have no order
        met = Counter(chain.from_iterable(places.get(term, ()) for term in rarest))
        cluster = _nearest(own, [found[number] for number, _ in met.most_common(MOST_COMPARED)])
        if cluster is None:
            cluster = _Cluster(own, [])
            for term in own:
                known = places.setdefault(term, [])
                if len(known) < MOST_PLACES:
                    known.append(len(found))
            found.append(cluster)
        cluster.members.append(one)
    return found


def _nearest(terms: frozenset[str], clusters: Iterable[_Cluster]) -> _Cluster | None:
    """Return the cluster with the largest share of terms in common with ``terms``, the first one on a tie.

    Return None if no share reaches ALIKE.
    """
    shares = ((_share(terms, one.terms), one) for one in clusters)
    share, nearest = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return nearest if share >= ALIKE else None


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common)


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return stem(word)


def _terms(prompt: str) -> frozenset[str]:
    """Return the stems of the prompt's content words, or of all its words if it has no content words."""
    all_words = words(prompt[:SCANNED_CHARS])
    content_words = [word for word in all_words if word not in STOP_WORDS]
    return frozenset(_stem(word) for word in (content_words or all_words)[:MOST_TERMS])
