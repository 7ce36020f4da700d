"""Signals as a maintainer writes them: what is refused, what can never matter, what the places mean."""

from __future__ import annotations

import pytest

from enricher.classify.table import Table
from enricher.classify.verdict import classify
from enricher.rules.compiling.class_table import compile_classes
from enricher.rules.compiling.signals import ClassRule, check_signal, check_word_weights
from enricher.rules.lint import idle_signals


def rule(*signals: dict[str, object], name: str = "x") -> ClassRule:
    return ClassRule("task_type", name, list(signals), [])


def fires(signal: dict[str, object], prompt: str) -> bool:
    lists = {"openers": ["ok", "please"], "requests": ["can you"], "acts": ["fix", "commit"]}
    table = Table(compile_classes([rule(signal)], lists=lists))
    return classify(prompt, table).scores["task_type"]["x"] > 0


@pytest.mark.parametrize(
    ("signal", "prompt", "expected"),
    [
        pytest.param({"phrase": "fix"}, "it was fixed", True, id="inflections are folded"),
        pytest.param({"phrase": "fix", "exact": True}, "it was fixed", False, id="exact is exact"),
        pytest.param({"phrase": "fixed"}, "fix it", False, id="an inflected form matches itself"),
        pytest.param({"phrase": "does not work"}, "it doesn't work", True, id="contractions are folded"),
        pytest.param({"phrase": "why … fail", "gap": 6}, "why does the build fail?", True, id="a gap"),
        pytest.param({"phrase": "why … fail", "gap": 1}, "why does the build fail?", False, id="a gap too wide"),
        pytest.param({"phrase": "why … fail"}, "why? builds fail", False, id="no gap across sentences"),
        pytest.param({"phrase": "fix", "at": "start"}, "ok please fix it", True, id="start, openers aside"),
        pytest.param({"phrase": "fix", "at": "start"}, "the fix", False, id="not at the start"),
        pytest.param({"phrase": "now", "at": "end"}, "fix it now!", True, id="end, punctuation aside"),
        pytest.param({"phrase": "go on", "at": "whole"}, "ok, go on.", True, id="whole"),
        pytest.param({"phrase": "go on", "at": "whole"}, "go on with it", False, id="more than the whole"),
        pytest.param({"phrase": "fix", "at": "first-sentence"}, "hm. fix it", False, id="not the first sentence"),
        pytest.param({"phrase": "fix", "at": "last-sentence"}, "hm. fix it", True, id="last sentence"),
        pytest.param({"words": "acts", "at": "order"}, "can you commit it? then fix it", True, id="order"),
        pytest.param({"phrase": "bug", "at": "object"}, "add the bug", False, id="no order, no object"),
        pytest.param({"phrase": "fix", "unless": ["fixed size"]}, "a fix for the fixed size", False, id="unless"),
        pytest.param({"phrase": "fix", "with": ["<question_mark>"]}, "fix it", False, id="with"),
        pytest.param({"phrase": "fix", "with": ["<question_mark>"]}, "fix it?", True, id="with, given"),
        pytest.param({"feature": "url"}, "see https://x.dev", True, id="feature"),
        pytest.param({"phrase": "update <doc>"}, "update README.md", True, id="a kind of file in a wording"),
        pytest.param({"phrase": "push"}, "fix it, but do not push", True, id="only a leading prohibition hushes"),
        pytest.param({"phrase": "push"}, "do not push", False, id="prohibited words do not count"),
    ],
)
def test_when_a_signal_fires(signal: dict[str, object], prompt: str, expected: bool) -> None:
    assert fires({**signal, "weight": 1}, prompt) is expected


@pytest.mark.parametrize(
    ("signal", "complaint"),
    [
        ({"phrse": "x"}, "unknown key 'phrse'"),
        ({"phrase": "x", "at": "middle"}, "'middle' is no place"),
        ({"phrase": "a … b", "gap": 13}, "gap: 13"),
        ({"phrase": "x", "weight": 31}, "weight: 31"),
        ({"phrase": "x", "weight": True}, "weight: True"),
        ({"phrase": ""}, "empty"),
        ({"any": [True]}, "put it in quotes"),
        ({"feature": "sparkle"}, "unknown feature 'sparkle'"),
        ({"words": "sparkle"}, "unknown word list 'sparkle'"),
        ({"phrase": "x", "unless": ["<sparkle>"]}, "unknown feature 'sparkle'"),
        ({"phrase": "x", "feature": "url"}, "exactly one of"),
        ("x", "a signal is a mapping"),
    ],
)
def test_a_signal_that_cannot_be_used_is_told_why(signal: object, complaint: str) -> None:
    assert complaint in " ".join(check_signal(signal, {}))


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        ([{"phrase": "x", "weight": 1}, {"phrase": "x", "weight": 2}], "is the same"),
        ([{"phrase": "fixed size", "unless": ["fixed size"]}], "every wording"),
        ([{"feature": "url", "unless": ["<url>"]}], "can never fire"),
        ([{"phrase": "x", "with": ["<url>"], "unless": ["<url>"]}], "can never fire"),
    ],
)
def test_a_signal_that_can_never_matter_is_named(signals: list[dict[str, object]], reason: str) -> None:
    assert any(reason in found for _index, found in idle_signals(rule(*signals), {}))


def test_plain_words_are_checked() -> None:
    assert check_word_weights({"3": ["how", "can you", "add@lead", "<file>@object"], "-1": ["the"]}) == []


@pytest.mark.parametrize("written", ["three whole words", "add@end", "two words@lead", "one … gap", "a|b", "@lead"])
def test_what_no_prompt_can_lean_by_is_refused(written: str) -> None:
    assert len(check_word_weights({"2": [written]})) == 1


@pytest.mark.parametrize(
    ("written", "text", "points"),
    [
        pytest.param("can you", "can you see", 8, id="both words, one behind the other"),
        pytest.param("can you", "you can see", 0, id="the other way around"),
        pytest.param("add@lead", "add a file", 8, id="a lead"),
        pytest.param("add@lead", "we may add a file", 0, id="no lead"),
        pytest.param("tests@object", "write more tests for it", 8, id="within the object of the order"),
        pytest.param("tests@object", "tests? write more", 0, id="before the order"),
        pytest.param("tests", "do not write tests", 0, id="in a prohibition"),
        pytest.param("添加", "请添加按钮", 8, id="a word of two characters"),
    ],
)
def test_where_a_plain_word_leans(written: str, text: str, points: int) -> None:
    order = {"phrase": "write", "at": "order"}
    leaning = ClassRule("task_type", "x", [], [], {"4": [written]})
    other = ClassRule("task_type", "y", [order], [])

    assert classify(text, Table(compile_classes([leaning, other]))).scores["task_type"]["x"] == points


def test_the_evidence_covers_a_pair_of_words() -> None:
    leaning = ClassRule("task_type", "x", [], [], {"4": ["can you"]})
    found = classify("now, can you see", Table(compile_classes([leaning])))

    assert [(one.start, one.end) for one in found.evidence] == [(5, 12)]


def test_plain_words_count_less_in_a_long_prompt() -> None:
    leaning = ClassRule("task_type", "x", [], [], {"4": ["how"], "1": ["the", "and", "so"]})
    other = ClassRule("task_type", "y", [], [], {"1": ["a", "b", "c", "d", "e"]})
    table = Table(compile_classes([leaning, other]))
    short, long = (classify(text, table).scores["task_type"]["x"] for text in ("how", "how a b c d e"))

    assert (short, long) == (8, round(2 * 4 / 6**0.5))
