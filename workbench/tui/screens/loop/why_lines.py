"""The lines of the Why screen: classes with their signals, thresholds, what was left out, channels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.content import Content, Span

from enricher.classify import TASK_TYPE
from enricher.interfaces.explanation import FACETS
from enricher.prompt.event import SKIPS
from workbench.tui.widgets.lists.line_list import Group, Line
from workbench.tui.widgets.plain_text import one_line, plain_in_place
from workbench.views.outcomes import FACET_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from enricher.classify import Evidence
    from enricher.interfaces.explanation import Explanation, Ranked
    from workbench.coverage.rule_positions import RulePosition
    from workbench.coverage.why import Why

LONGEST_WORDS = 40
WHOLE_PROMPT = ("plain words", "earlier turn", "model")


def marked_prompt(found: Explanation) -> Content:
    """Return the prompt with the words that signals matched: underlined for the task type that won, bold for others."""
    text, winner = found.prompt, found.enrichment.classification.task_type
    spans = [
        Span(one.start, one.end, "underline" if (one.facet, one.name) == (TASK_TYPE, winner) else "bold")
        for one in found.enrichment.classification.evidence
        if one.weight > 0 and _is_at_words(one, text)
    ]
    return Content(plain_in_place(text), spans=spans)


def outcome_text(found: Explanation, labels: Iterable[str], today: str) -> str:
    """Return the outcome in a few sentences, the one of ``today`` if it is known, and the labels that it was given."""
    if found.skipped:
        return f"skipped: {SKIPS.get(found.skipped, found.skipped)}; nothing is added"
    judged, added = found.enrichment.classification, found.enrichment.text
    text = f"{found.enrichment.tokens} tokens were added" if added else "nothing was added"
    lines = [f"{judged.task_type}, {found.lead()}; {text}", found.nearest(TASK_TYPE)]
    if doubts := found.doubts():
        lines.append(f"uncertain because {' and '.join(doubts)}")
    return "\n".join([*filter(None, lines), *([f"today: {today}"] if today else []), *labels])


def groups(why: Why) -> Iterator[Group]:
    """Yield the groups of lines; the value of a line with a place is that place."""
    found = why.explained
    if found.skipped:
        return
    for facet in (*FACETS, "guardrail", "approach"):
        for one in found.ranking(facet):
            yield _class_group(why, one)
    yield _group(
        "thresholds",
        "Thresholds of the task type",
        [_line("thresholds", text, why.threshold_place()) for text in found.thresholds()],
    )
    yield _group(
        "left out", "Left out", [_line("left out", text, _place_of_miss(why, text)) for text in found.left_out()]
    )
    for outcome, omitted in found.channels():
        name = outcome.partition(":")[0]
        rule = _line(f"channel {name}", f"rule of the channel {name}", why.place_of("channel", name))
        lines = [rule, *(_line(f"channel {name}", f"left out: {text}") for text in omitted)]
        yield _group(f"channel {name}", f"Channel {outcome}", lines)
    yield _group("said", "Said before in this session", [_line("said", text) for text in found.said_before()])
    added = found.enrichment.text.splitlines()
    yield _group("added", "Added" if added else "Nothing was added", [_line("added", text) for text in added if text])


def opened(why: Why) -> list[str]:
    """Return the keys of the groups that are open at first: the winner and the runner-up."""
    return [_key(one) for one in why.explained.ranking(TASK_TYPE)[:2]] if not why.explained.skipped else []


def _class_group(why: Why, one: Ranked) -> Group:
    is_exclusive = one.facet in FACETS  # only one class of these facets wins
    lacked = f"{one.lacked} more would have won" if one.lacked else "won"
    name = FACET_TEXTS.get(one.facet, one.facet.replace("_", " ")).lower()
    head = Line(_key(one), f"{one.points:>4} {one.name}", f"{name}, {lacked}" if is_exclusive else name)
    lines = [_line(_key(one), f"the rule of {one.name}", why.place_of(one.facet, one.name))]
    for at, (evidence, place) in enumerate(why.signals(one.facet, one.name)):
        text = f"{evidence.weight:>+4} {evidence.signal}{_words(evidence, why.explained.prompt)}"
        lines.append(_line(f"{_key(one)} {at}", text, place))
    return Group(head, lines)


def _key(one: Ranked) -> str:
    return f"{one.facet} {one.name}"


def _words(evidence: Evidence, prompt: str) -> str:
    words = one_line(prompt[evidence.start : evidence.end])[:LONGEST_WORDS]
    is_same = words.lower() == evidence.signal.strip('"').lower()
    return f"  «{words}»" if _is_at_words(evidence, prompt) and not is_same else ""


def _is_at_words(evidence: Evidence, prompt: str) -> bool:
    is_of_words = not evidence.signal.startswith("<") and evidence.signal not in WHOLE_PROMPT
    return is_of_words and 0 <= evidence.start < evidence.end and evidence.end - evidence.start < len(prompt)


def _place_of_miss(why: Why, text: str) -> RulePosition | None:
    kind, _, name = text.partition(":")[0].partition(" ")
    return why.place_of(kind, name) if name else None


def _group(key: str, title: str, lines: list[Line]) -> Group:
    return Group(Line(key, title, "" if lines else "nothing"), lines)


def _line(key: str, text: str, place: RulePosition | None = None) -> Line:
    right = f"{os.path.basename(place.file)}:{place.line}" if place else ""
    return Line(f"{key} · {text}", text, right, "plain" if place else "muted", place)
