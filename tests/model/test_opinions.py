"""What a model is asked, how its answer is read, and what it is worth beside the rules."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from structured_form import parse_prompt

from enricher.classify import BOTH, FROM_MODEL, MODEL
from enricher.classify.opinion import Opinion, points
from enricher.classify.verdict import verdict
from enricher.interfaces.compat.intent import SearchIntentType, packaged_rules
from enricher.model.question import HEAD, TAIL, meaning_of
from enricher.model.question import question as question_of
from enricher.model.question import read_opinion as opinion_in
from enricher.prompt.text import estimate_tokens

ANSWER = {"intent_type": "location", "confidence": 0.9, "topics": ["retry logic"]}
PROMPT = "where is the retry logic?"
PROMPTS = packaged_rules().packed("prompts")
KINDS = {"debug": "a defect is found", "question": "an answer"}


def question(prompt: str, **options: Any) -> str:
    return question_of(prompt, PROMPTS, **options)


def read_opinion(answer: str, **options: Any) -> tuple[Opinion | None, str]:
    return opinion_in(answer, PROMPTS["classification"]["schema"], **options)


@pytest.mark.conformance("S1-5.1a", "S1-5.1b", "S1-5.1c", "S1-5.9b")
def test_the_question_names_every_intent_the_topics_and_the_form() -> None:
    asked = question("X")

    for intent in SearchIntentType:
        assert f"{intent.value} (" in asked
    assert "topics: up to 5" in asked
    form = asked.rpartition("Answer with the JSON object alone:\n<METADATA>\n")[2].partition("\n</METADATA>")[0]
    assert list(json.loads(form)) == ["intent_type", "confidence", "topics"]
    assert "task_type" not in asked


@pytest.mark.conformance("S1-5.1d")
@pytest.mark.parametrize("asks_effort", [False, True])
def test_the_question_is_short(*, asks_effort: bool) -> None:
    assert estimate_tokens(question("", asks_effort=asks_effort)) < 300


def test_a_question_about_the_task_names_the_classes_with_their_meanings_and_examples() -> None:
    asked = question("it is broken", task_types=KINDS, examples=[("the\npage is blank", "debug")])

    meanings = parse_prompt(asked).metadata["task_types"]
    assert meanings == packaged_rules().body["meanings"]
    assert "a defect" in meanings["debug"]
    assert '"the page is blank" -> debug\n' in asked
    assert '"task_confidence"' in asked


@pytest.mark.conformance("S1-5.9a")
@pytest.mark.parametrize(
    "prompt", ["where?", "---\n<<PROMPT>>\n```json\n{}\n```", '{"intent_type": "none"}', "a\n\n b"]
)
def test_the_prompt_stands_in_the_question_as_typed_between_lines_that_it_cannot_contain(prompt: str) -> None:
    asked = question(prompt)
    *_, fence, end, _ = asked.split("\n")
    before, _, rest = asked.partition(f"{fence}\n{prompt}\n{fence}")

    assert (end, rest) == ("</INSTRUCTION>", "\n</INSTRUCTION>\n")
    assert parse_prompt(asked).payloads == [prompt]
    assert fence in before
    assert fence not in prompt


@pytest.mark.conformance("S1-5.9c")
def test_a_huge_prompt_loses_its_middle() -> None:
    asked = question("first " + "x" * 100_000 + " last", task_types=KINDS)

    assert estimate_tokens(asked) < 600 + estimate_tokens("x" * (HEAD + TAIL))  # the meanings of the classes: 300
    assert "\nfirst x" in asked
    assert "x last\n" in asked
    assert "96011 characters left out" in asked


@pytest.mark.conformance("S1-5.3a", "S1-5.10a")
@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "```\n{}\n```", "Sure, {{here}} it is: {}", "{}\nI hope that helps."]
)
def test_an_answer_is_read_in_every_form(form: str) -> None:
    opinion, problem = read_opinion(form.replace("{}", json.dumps(ANSWER)))

    assert opinion is not None
    assert (opinion.search_intent, opinion.intent_confidence, opinion.topics) == ("location", 0.9, ["retry logic"])
    assert problem == ""


@pytest.mark.conformance("S1-5.3b")
@pytest.mark.parametrize(
    ("given", "topics"),
    [
        pytest.param({}, [], id="missing"),
        pytest.param({"topics": "a, b"}, [], id="no list"),
        pytest.param({"topics": [str(at) for at in range(9)]}, ["0", "1", "2", "3", "4"], id="nine"),
        pytest.param({"topics": ["a", 1, "", " b  c", "a"]}, ["a", "b c"], id="mixed"),
    ],
)
def test_topics_are_at_most_five_texts(given: dict[str, object], topics: list[str]) -> None:
    opinion, _problem = read_opinion(json.dumps({"intent_type": "howto", "confidence": 1} | given))

    assert opinion is not None
    assert opinion.topics == topics


@pytest.mark.conformance("S1-5.3c", "S1-5.3d", "S1-5.10a")
@pytest.mark.parametrize(
    ("written", "confidence"),
    [("1.5", 1.0), ("-0.5", 0.0), ('"0.8"', 0.8), ("null", None), ("NaN", None), ("1e999", None), ("true", None),
     ('"high"', None), ("[1]", None)],
)  # fmt: skip
def test_a_confidence_is_a_share_or_the_answer_is_unusable(written: str, confidence: float | None) -> None:
    opinion, problem = read_opinion(f'{{"intent_type": "howto", "confidence": {written}}}')

    assert (opinion.intent_confidence if opinion else None) == confidence
    assert bool(problem) is (confidence is None)


@pytest.mark.conformance("S1-5.2c", "S1-5.3d", "S1-5.10a")
@pytest.mark.parametrize(
    "answer", ["", "not json", "{", "[]", '{"confidence": 0.9', "null", '{"topics": []}', "{" * 9000]
)
def test_an_answer_without_what_is_asked_is_unusable_and_says_why(answer: str) -> None:
    opinion, problem = read_opinion(answer)

    assert opinion is None
    assert problem


@pytest.mark.conformance("S1-5.3d")
def test_an_unknown_intent_counts_as_general_and_an_unknown_task_as_none() -> None:
    opinion, problem = read_opinion(
        '{"intent_type": "poetry", "confidence": 0.7, "task_type": "magic"}', task_types=KINDS
    )

    assert opinion is not None
    assert (opinion.search_intent, opinion.task_type) == ("general", "")
    assert "poetry" in problem
    assert "magic" in problem


def test_a_thousand_malformed_answers_raise_nothing_and_are_all_reported() -> None:
    chance, whole = random.Random(7), json.dumps(ANSWER | {"task_type": "debug", "task_confidence": 0.8})
    for _ in range(1000):
        pieces = list(whole)
        for _ in range(chance.randint(1, 12)):
            at = chance.randrange(len(pieces))
            pieces[at : at + chance.randint(0, 4)] = chance.choice(
                ["", "{", "}", '"', "\\", "\ud800", "9", "null", "\0"]
            )
        opinion, problem = read_opinion("".join(pieces), task_types=KINDS)
        assert opinion is not None or problem
        if opinion:
            assert 0 <= opinion.intent_confidence <= 1
            assert opinion.task_type in (*KINDS, "")


@pytest.mark.parametrize(("accuracy", "classes"), [(0.7, 12), (0.9, 7), (0.5, 2)])
def test_an_opinion_is_worth_the_odds_that_it_is_right(accuracy: float, classes: int) -> None:
    odds = 2 ** (points(accuracy, classes, 3.0) / 3.0)
    right = odds / (odds + classes - 1)  # the share of the named class if the rules know nothing

    assert math.isclose(right, accuracy, abs_tol=0.03)


def test_a_model_that_guesses_is_worth_nothing() -> None:
    assert points(1 / 12, 12, 3.0) == points(0.9, 1, 3.0) == 0
    assert points(1.0, 12, 3.0) == points(0.95, 12, 3.0)  # nobody is always right


def test_a_weak_verdict_is_decided_by_the_model_and_a_strong_one_is_not() -> None:
    rules = packaged_rules()
    said = Opinion(task_type="ops", confidence=0.9)
    weak, strong = "the thing with the basket, you know", "TypeError: x is undefined\n\nfix this crash please"

    assert verdict(weak, rules, opinion=said).task_type == "ops"
    assert verdict(strong, rules, opinion=said).task_type == verdict(strong, rules).task_type == "debug"


def test_what_the_model_said_stands_in_the_evidence_and_calls_the_guardrails_of_its_class() -> None:
    rules = packaged_rules()
    prompt = "the thing with the basket, you know"
    judged = verdict(prompt, rules, opinion=Opinion(task_type="debug", confidence=0.9))
    own = [one for one in judged.evidence if one.signal == FROM_MODEL]

    assert [(one.facet, one.name, one.start, one.end) for one in own] == [("task_type", "debug", 0, len(prompt))]
    assert judged.scores["task_type"]["debug"] == verdict(prompt, rules).scores["task_type"]["debug"] + own[0].weight


@pytest.mark.conformance("S1-5.6b", "S1-5.6c", "S1-5.6d")
def test_topics_are_merged_and_the_confidence_is_that_of_the_signals() -> None:
    rules = packaged_rules()
    by_rules = verdict(PROMPT, rules)
    said = Opinion(search_intent="location", intent_confidence=0.99, topics=["Backoff", *by_rules.topics])
    judged = verdict(PROMPT, rules, opinion=said)

    assert by_rules.topics
    assert judged.topics == [*by_rules.topics, "Backoff"]
    assert (judged.intent_confidence, judged.keywords) == (by_rules.intent_confidence, by_rules.keywords)
    assert judged.source == BOTH


def test_an_intent_that_no_signal_found_has_the_confidence_of_the_model() -> None:
    judged = verdict("the thing with the basket, you know", packaged_rules(), opinion=opinion_of("howto", 0.85))

    assert (judged.search_intent, judged.intent_confidence, judged.source) == ("howto", 0.85, MODEL)


@pytest.mark.conformance("S1-5.6e")
@pytest.mark.parametrize("intent", ["general", "none"])
@pytest.mark.parametrize("prompt", ["Hello", "hm, the sums"])
def test_a_model_can_say_that_a_prompt_seeks_nothing(prompt: str, intent: str) -> None:
    assert verdict(prompt, packaged_rules(), opinion=opinion_of(intent, 0.9)).search_intent == ""


def test_a_sure_none_takes_a_weak_intent_away() -> None:
    prompt = "the thing with the basket, you know"
    assert verdict(prompt, packaged_rules()).search_intent == "troubleshoot"
    assert verdict(prompt, packaged_rules(), opinion=opinion_of("none", 0.9)).search_intent == ""


def opinion_of(intent: str, confidence: float) -> Opinion:
    return Opinion(search_intent=intent, intent_confidence=confidence, accuracy=0.95)


def test_an_opinion_is_recorded_whole() -> None:
    said = Opinion(task_type="debug", confidence=0.5, search_intent="howto", intent_confidence=0.25, topics=["a"])

    assert Opinion.from_json(json.loads(json.dumps(said.to_json()))).to_json() == said.to_json()


def test_a_meaning_is_the_first_sentence() -> None:
    assert meaning_of("The turn ends with a defect found.\nMore. And more.") == "The turn ends with a defect found"
    assert len(meaning_of("word " * 90)) <= 110
