"""What a prompt asks for, by the packaged instructions: structure, position, negation, other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from effort import processor_s
from hypothesis import given, settings
from hypothesis import strategies as st

from enricher.classify.verdict import classify
from workbench.tuning.accuracy import packaged_table

if TYPE_CHECKING:
    from enricher.classify import Classification
    from enricher.classify.table import Table

TRACE = """TypeError: Cannot read properties of undefined (reading 'id')
    at render (src/app.js:12:9)
    at main (src/index.js:3:1)"""


@pytest.fixture(scope="module")
def table() -> Table:
    return packaged_table()


def judged(text: str, table: Table) -> Classification:
    return classify(text, table)


@pytest.mark.conformance("E30", "E31", "E32", "E33", "E34", "E35")
@pytest.mark.parametrize(
    ("prompt", "task_type"),
    [
        ("What is the hydrator?", "question"),
        ("add a --json flag to the CLI", "implementation"),
        ("the test is not working", "debug"),
        ("update the hooks to add a new feature", "framework"),
        ("find papers about content moderation", "research"),
        ("hello there", "chat"),
    ],
)
def test_the_classes_of_the_documents(prompt: str, task_type: str, table: Table) -> None:
    assert judged(prompt, table).task_type == task_type


@pytest.mark.parametrize(
    ("prompt", "task_type"),
    [
        pytest.param("can you add a search field to the list?", "implementation", id="a polite request is an order"),
        pytest.param("could you please commit this", "ops", id="could you please"),
        pytest.param("why is the login still broken?", "debug", id="a question that complains"),
        pytest.param("yes, go on", "chat", id="a bare approval"),
        pytest.param("option 2", "chat", id="a bare choice"),
        pytest.param("Looks good. Now commit and push.", "ops", id="the order comes last"),
        pytest.param("thanks, that works. now write tests for the parser", "test", id="thanks, then an order"),
        pytest.param("update the README install section", "docs", id="the object decides"),
        pytest.param("rename the helper to parse_date", "refactor", id="a better name"),
        pytest.param("let's plan the migration first", "planning", id="before there is code"),
        pytest.param("review this PR", "review", id="a judgement"),
        pytest.param(TRACE, "debug", id="a pasted trace without a word"),
        pytest.param(f"```\n{TRACE}\n```", "debug", id="a fenced trace"),
        pytest.param("it crashes, please fixed", "debug", id="inflected forms"),
    ],
)
def test_how_developers_say_it(prompt: str, task_type: str, table: Table) -> None:
    assert judged(prompt, table).task_type == task_type


def test_what_is_forbidden_is_not_what_is_asked(table: Table) -> None:
    plain = judged("refactor the parser", table).scores["task_type"]["refactor"]
    forbidden = judged("do not refactor the parser", table).scores["task_type"]["refactor"]

    assert forbidden < plain


@pytest.mark.parametrize("pasted", ['"add a test and commit it"', "`git commit -m fix`", "https://x.dev/add/test"])
def test_pasted_and_quoted_words_are_not_the_persons_own(pasted: str, table: Table) -> None:
    labels = {item.signal for item in judged(f"what is {pasted}", table).evidence if item.facet == "task_type"}

    assert not any("commit" in label or "test" in label for label in labels)


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        (TRACE, "stack_trace"),
        ("2026-01-02 10:00:01 ERROR no route\n2026-01-02 10:00:02 INFO done", "log"),
        ("diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-a\n+b", "diff"),
        ("see https://example.org/a", "url"),
        ("look at src/app/main.py", "path"),
        ("@docs/guide.md is old", "mention"),
        ("```\nx\n```", "code_block"),
        ("- one\n- two", "list"),
        ("is it on?", "ends_with_question"),
        ("edit CLAUDE.md", "agent_file"),
        ("edit docs/usage.md", "doc_file"),
        ("run tests/test_app.py", "test_file"),
        ("call parse_date here", "identifier"),
        ("ok, do not push yet", "prohibition"),
        ("修复登录页面的错误", "non_english"),
        ("por favor agrega una prueba para el inicio de sesión", "non_english"),
    ],
)
def test_structure_is_recognised(text: str, feature: str, table: Table) -> None:
    assert feature in judged(text, table).features


@pytest.mark.conformance("E35")
@pytest.mark.parametrize(
    "prompt",
    [
        *("修复登录页面", "por favor agrega una prueba para el inicio de sesión", "🎉🎉", ""),
        "Go through all open issues and group them by topic",
    ],
)
def test_what_is_not_understood_is_uncertain(prompt: str, table: Table) -> None:
    found = judged(prompt, table)

    assert found.uncertain
    assert found.task_type


@pytest.mark.parametrize("prompt", ["check the parser and the docs", "investigate and plan the exporter"])
def test_what_speaks_for_two_classes_alike_is_uncertain(prompt: str, table: Table) -> None:
    assert judged(prompt, table).uncertain


def test_evidence_names_the_words_it_rests_on(table: Table) -> None:
    prompt = "Please don't panic, the İstanbul page isn't loading; how do I fix the crash?"
    found = judged(prompt, table)

    assert all(0 <= item.start <= item.end <= len(prompt) for item in found.evidence)
    assert any(prompt[item.start : item.end] == "crash" for item in found.evidence)


def test_scores_are_the_sum_of_the_evidence(table: Table) -> None:
    found = judged("fix the failing login test in src/login.py, it throws KeyError", table)

    for facet, scores in found.scores.items():
        for name, score in scores.items():
            assert score == sum(item.weight for item in found.evidence if (item.facet, item.name) == (facet, name))


def test_of_a_huge_prompt_head_and_tail_are_scanned(table: Table) -> None:
    prompt = "fix the crash. " + "lorem ipsum " * 4000 + " and then commit"
    found = judged(prompt, table)

    assert found.scanned_chars == 16 * 1024
    assert any(prompt[item.start : item.end].endswith("commit") for item in found.evidence)


@pytest.mark.parametrize(
    "text",
    [
        "why " * 5000,
        "(" * 20_000,
        "a b c " * 4000,
        "`x` " * 5000,
        "x.y/z " * 4000,
        "\n" * 20_000,
        "is it? " * 3000,
        "\u0130" * 9000,
    ],
    ids=["one word", "brackets", "letters", "code", "paths", "line breaks", "questions", "odd case"],
)
def test_no_prompt_takes_long(text: str, table: Table) -> None:
    assert processor_s(lambda: classify(text, table)) < 0.1


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_any_text_gets_a_class_and_sound_spans(text: str) -> None:
    found = classify(text, _shared_table())

    assert found.task_type
    assert 0 < found.confidence <= 1
    assert all(0 <= item.start <= item.end <= len(text) for item in found.evidence)


def _shared_table(kept: list[Table] = []) -> Table:  # noqa: B006 (compiled once for all examples)
    if not kept:
        kept.append(packaged_table())
    return kept[0]


def test_the_same_prompt_always_gives_the_same_result(table: Table) -> None:
    first, second = (judged("how do I add a cache to the parser?", table) for _ in range(2))

    assert [(item.signal, item.start, item.weight) for item in first.evidence] == [
        (item.signal, item.start, item.weight) for item in second.evidence
    ]
