"""Find the task type and the search intent of a prompt by adding up the weights of the signals that fire in it.

Signals are phrases and structural features; each adds points to one or more classes, which are the task types and the
search intents. Of each kind, the class with the most points wins. The confidence in a task type depends on how far it
is ahead of the others; the confidence in a search intent depends on the number of its signals.

No I/O: the same text and the same table of signals always give the same result. The time is linear in the length of the
text. The table is compiled from the instructions file (``enricher.rules.compiling.class_table``).
"""

from __future__ import annotations

from enricher.classify import (
    EARLIER,
    NO_INTENT,
    PLAIN_WORDS,
    SEARCH_INTENT,
    TASK_TYPE,
    Classification,
    Evidence,
    matching,
    reading,
)
from enricher.prompt.wording import structure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

    from enricher.classify import Rules
    from enricher.classify.opinion import Opinion
    from enricher.classify.table import Table
    from enricher.prompt.conversation import Conversation

HEAD, TAIL = 12 * 1024, 4 * 1024
"""How many characters are scanned at the beginning and at the end of a prompt that is too long to be scanned fully."""

MOST_COMPLEX, WORDS_OF_A_STEP = 10, 60
"""The maximum of ``Classification.complexity``, and the number of words that raise it by 1.

Each order (imperative) and a list raise it by 1, too.
"""
MOST_TOPICS = 5
"""Maximum number of topics of a search intent (ruling R15)."""
SHORTEST_TOPIC = 3
LONG_PROMPT = 50
"""A prompt with more characters than this gets a higher confidence in its search intent.

The original specification requires this (seed 001, task 1.5).
"""
SCANNED = 2000
"""How many characters after the first matched signal are searched for topics."""
_EDGES = " \t\n\r.,;:!?()[]{}<>\"'`*_-/\\#@…“”\u2019\u2018|=+~\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"


class Observation:
    """What is found in a text before weights are applied: its words, its features, and the signals that fire."""

    __slots__ = ("contained", "features", "found", "masked", "read")

    def __init__(self, text: str, table: Table) -> None:
        seen = structure.survey(text)
        self.masked = seen.masked
        self.read = reading.read(seen.masked, table)
        self.features = dict(seen.features)
        reading.add_shape(self.features, self.read, seen.masked, table=table)
        self.contained = matching.contained(seen.masked, table)
        self.found = matching.fired(self.read, self.features, table, self.contained)


def scanned_part(text: str) -> str:
    """Return the part of ``text`` that is searched for signals: all of it, or only head and tail if it is very long."""
    return text if len(text) <= HEAD + TAIL else text[:HEAD] + text[-TAIL:]


def verdict(
    prompt: str,
    rules: Rules,
    conversation: Conversation | None = None,
    *,
    opinion: Opinion | None = None,
    is_explained: bool = True,
) -> Classification:
    """Return the classification of a prompt, with evidence if ``is_explained``.

    ``conversation`` contains the earlier text to which a prompt such as "do the same for the other one"
    refers. ``opinion`` is a language model's classification of the prompt, which counts as one more signal.
    """
    referred = ""
    if conversation is not None and conversation.may_be_meant_by(prompt):
        from enricher.prompt.conversation.followup import basis

        referred = basis(conversation, prompt)
    earlier = classify(referred, rules.table, is_explained=False) if referred else None
    return classify(prompt, rules.table, earlier=earlier, opinion=opinion, is_explained=is_explained)


def classify(
    text: str,
    table: Table,
    *,
    earlier: Classification | None = None,
    opinion: Opinion | None = None,
    is_explained: bool = True,
) -> Classification:
    """Return the classification of ``text`` by the signals in ``table``; other modules call ``verdict`` instead.

    ``earlier`` is the classification of the earlier text that ``text`` refers to: the scores of its task types
    are added, and ``text`` then does not count as small talk. For ``opinion`` see ``verdict``.
    """
    result = Classification()
    scanned = scanned_part(text)
    seen = Observation(scanned, table)
    result.scanned_chars, result.features = len(scanned), sorted(seen.features)
    spans = _score_signals(result, seen, table, is_explained=is_explained)
    if earlier:
        _carry_over(result, earlier, table)
    if opinion:
        opinion.add_points(result, table)
    choose_task_type(result, table)
    # Some signals count only with a certain task type, so they come after its choice.
    if late := matching.fired_late(seen.found, result.task_type, table):
        _score(result, late, table)
        if is_explained:
            _explain(result, late, spans, features=seen.features, table=table)
    _choose_search_intent(result)
    if result.search_intent:
        speaking = _intent_signals(seen.found, table)
        spans = spans if is_explained else {**seen.contained, **_offsets(speaking, seen.read, seen.masked)}
        _intent(result, scanned, [spans[condition] for condition in speaking if condition in spans], table)
    if opinion:
        opinion.complete(result)
    if len(text) > len(scanned):
        _shift_evidence_of_tail(result, len(text) - TAIL)
    steps = len(seen.read.order) + ("list" in seen.features) + len(seen.read.words) // WORDS_OF_A_STEP
    result.complexity = min(MOST_COMPLEX, steps)
    return result


def _score_signals(
    result: Classification, seen: Observation, table: Table, *, is_explained: bool
) -> dict[int, tuple[int, int]]:
    """Set the points of all classes, and with ``is_explained`` add the evidence for them.

    Return the range of characters in which each signal fired; without ``is_explained``, return nothing. A range is
    stored under the index of its signal. The range of a class's strongest word is stored under ``~class_at``, which is
    negative, so that it cannot be mistaken for the index of a signal.
    """
    weighted = matching.weighted_wordings(seen.read, table)
    word_points = matching.word_points(weighted, table)
    spans: dict[int, tuple[int, int]] = {}
    result.scores = {facet["name"]: {} for facet in table.facets}
    for facet, name in table.classes:
        result.scores[facet][name] = 0
    _score(result, seen.found, table)
    if is_explained:
        weighted_spans = {~class_at: span for class_at, span in matching.strongest(weighted, word_points).items()}
        spans = {**seen.contained, **_offsets({**seen.found, **weighted_spans}, seen.read, seen.masked)}
        _explain(result, seen.found, spans, features=seen.features, table=table)
    _add_word_weights(result, word_points, spans, table=table)
    return spans


def _shift_evidence_of_tail(result: Classification, tail_at: int) -> None:
    """Move the evidence from the scanned tail to its place in the whole text, where the tail begins at ``tail_at``."""
    for item in result.evidence:
        item.start, item.end = _unscanned(item.start, tail_at), _unscanned(item.end, tail_at)


def _unscanned(offset: int, tail_at: int) -> int:
    return offset if offset <= HEAD else offset - HEAD + tail_at


def _offsets(found: dict[int, tuple[int, int]], read: reading.Reading, masked: str) -> dict[int, tuple[int, int]]:
    """Convert the ranges in ``found``, which maps signals to ranges of words, to ranges of characters in ``masked``.

    Matching does not keep the offsets of words, to save time, so the words of the phrases that fired are located here.
    Signals without a range of words, (-1, -1), are left out.
    """
    wanted = {end - 1 for _, end in found.values()} | {start for start, _ in found.values()}
    origin, chunks = read.origin, read.chunks
    if origin is not None:
        wanted = {origin[at] if at >= 0 else at for at in wanted}
    low = reading.lowered(masked).replace("\u2019", "'").replace("\n", "¶")
    at, last = 0, max(wanted, default=-1)
    starts: dict[int, int] = {}
    for number in range(last + 1):
        chunk = chunks[number]
        # A mark may stand for another character, such as "." for ";", so it is not looked for.
        place = low.find(chunk, at) if chunk not in reading.MARKS else -1
        if place >= 0:
            at = place + len(chunk)
            if number in wanted:
                starts[number] = place
    spans: dict[int, tuple[int, int]] = {}
    for condition, (start, end) in found.items():
        if start < 0:
            continue
        first, final = (start, end - 1) if origin is None else (origin[start], origin[end - 1])
        begin = starts.get(first, 0)
        spans[condition] = (begin, max(begin, starts.get(final, begin)) + len(chunks[final]))
    return spans


def _score(result: Classification, found: Iterable[int], table: Table) -> None:
    for condition in found:
        for class_at, weight in table.condition(condition)[2]:
            facet, name = table.classes[class_at]
            result.scores[facet][name] += weight


def _explain(
    result: Classification,
    found: dict[int, tuple[int, int]],
    spans: dict[int, tuple[int, int]],
    *,
    features: dict[str, tuple[int, int]],
    table: Table,
) -> None:
    for condition in sorted(found):
        _, _, weights, feature, label = table.condition(condition)
        if not weights:
            continue
        start, end = features.get(feature, (0, result.scanned_chars)) if feature else spans[condition]
        for class_at, weight in weights:
            facet, name = table.classes[class_at]
            result.evidence.append(Evidence(facet, name, label, start=start, end=end, weight=weight))


def _add_word_weights(
    result: Classification, word_points: dict[int, int], spans: dict[int, tuple[int, int]], *, table: Table
) -> None:
    """Add to ``result`` the points that single words give to classes, and evidence for these points.

    ``word_points`` maps the index of each class to its points. ``spans`` maps ``~index`` of a class to the range of
    characters of its strongest word; for a class that is missing there, no evidence is added.
    """
    for class_at, points in word_points.items():
        facet, name = table.classes[class_at]
        result.scores[facet][name] += points
        if span := spans.get(~class_at):
            result.evidence.append(Evidence(facet, name, PLAIN_WORDS, start=span[0], end=span[1], weight=points))


def _carry_over(result: Classification, earlier: Classification, table: Table) -> None:
    """Add the task type scores of the earlier text to which this prompt refers, and clear the score of small talk.

    "Yes, option 2" looks like small talk, but asks for the work that the option describes.
    """
    scores, before = result.scores.get(TASK_TYPE, {}), earlier.scores.get(TASK_TYPE, {})
    silent: list[str] = next((facet["silent"] for facet in table.facets if facet["name"] == TASK_TYPE), [])
    if earlier.task_type in silent:
        return
    for name in scores:
        # Small talk loses its points, and takes over only a score below zero.
        points = before.get(name, 0) if name not in silent else -scores[name] + min(0, before.get(name, 0))
        if points:
            scores[name] += points
            result.evidence.append(Evidence(TASK_TYPE, name, EARLIER, start=0, end=result.scanned_chars, weight=points))


def choose_task_type(result: Classification, table: Table) -> None:
    """Store in ``result`` the task type with the highest score, and the confidence in it.

    Also store in ``result.uncertain`` whether the task type should not be shown, because it is too uncertain or is one
    that is never shown, such as small talk.
    """
    facet = next((facet for facet in table.facets if facet["name"] == TASK_TYPE), None)
    scores = result.scores.get(TASK_TYPE)
    if facet is None or not scores:
        return
    best = max(scores, key=scores.__getitem__)  # of equal scores, the first in the instructions
    odds = {name: 2.0 ** ((score - scores[best]) / facet["points_that_double"]) for name, score in scores.items()}
    total = sum(odds.values())
    silent = sum(odds.get(name, 0.0) for name in facet["silent"]) / total
    result.task_type = best
    result.confidence = round(1 / total, 2)
    result.uncertain = (
        best in facet["silent"]
        or result.confidence < least_confidence(facet, best)
        or silent > facet["max_silent"]
        or "non_english" in result.features
    )


def least_confidence(facet: Mapping[str, Any], name: str) -> float:
    """Return the confidence from which on the class ``name`` is shown: the facet's, or its own if that is higher."""
    return float(max(facet["min_confidence"], facet["floors"].get(name, 0.0)))


def _choose_search_intent(result: Classification) -> None:
    scores = result.scores.get(SEARCH_INTENT)
    if scores:
        best = max(scores, key=scores.__getitem__)
        result.search_intent = "" if best == NO_INTENT else best


def _intent_signals(found: dict[int, tuple[int, int]], table: Table) -> dict[int, tuple[int, int]]:
    """Return the signals in ``found`` (those that fired) that have a weight for a search intent."""
    own = {
        class_at for class_at, (facet, name) in enumerate(table.classes) if facet == SEARCH_INTENT and name != NO_INTENT
    }
    return {
        condition: span
        for condition, span in found.items()
        if any(class_at in own for class_at, _ in table.condition(condition)[2])
    }


def _intent(result: Classification, text: str, matched: list[tuple[int, int]], table: Table) -> None:
    """Set the confidence, the keywords and the topics of the search intent, as specified in seed 001.

    ``matched`` contains the ranges of characters of the signals for the intent. The text in these ranges becomes the
    keywords; the topics are chosen from the words that follow the first range.
    """
    counted = _merged(matched)
    result.intent_confidence = _intent_confidence(text, len(counted))
    result.keywords = [text[start:end] for start, end in counted]
    behind = counted[0][1] if counted else 0
    result.topics = _topics(text, behind, without=table.no_topics, keywords=result.keywords)


def _intent_confidence(text: str, signals: int) -> float:
    value = 0.5 + min(0.15, 0.1 * max(0, signals - 1))
    if len(text) > LONG_PROMPT:
        value += 0.1
    if _has_sentences(text):
        value += 0.1
    return round(min(0.95, value), 2)


def _has_sentences(text: str) -> bool:
    """Return whether ``text`` has more than one sentence; "e.g.", "..." and a dot between spaces do not end one."""
    ended = False
    for chunk in text.split():
        if ended:
            return True
        bare = chunk.rstrip("\"')]}*")
        ended = bare[-1:] in ("?", "!") or (bare[-1:] == "." and bare.count(".") == 1 and len(bare) > 1)
    return False


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, without those that overlap an earlier one or a longer one with the same start."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _topics(text: str, start: int, *, without: Container[str], keywords: list[str]) -> list[str]:
    """Return the topics of a search intent: up to five words of ``text`` after the offset ``start``."""
    spent = {word.strip(_EDGES) for keyword in keywords for word in keyword.lower().split()}
    found: list[str] = []
    for chunk in text[start : start + SCANNED].replace("/", " ").replace("\u2019", "'").split():
        for piece in chunk.split(","):  # "sessions,tokens" has two topics
            word = piece.strip(_EDGES).lower()
            word = word.removesuffix("'s")
            if len(word) < SHORTEST_TOPIC or word in without or word in spent or word in found or not word[0].isalpha():
                continue
            found.append(word)
            if len(found) == MOST_TOPICS:
                return found
    return found
