"""The text keeps its budgets and its form whatever it is made of."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer_form import LABELS

from enricher.prompt.text import estimate_tokens, harmless
from enricher.respond.guidance import Scored
from enricher.respond.render import HARD_CAP_TOKENS, MOST_CHARACTERS, Item, TextLines, cut, render
from workbench.experiments.text_form import parse

WORDS = st.one_of(
    st.text(max_size=400),
    st.sampled_from(["", "x" * 5000, "a b " * 900, "字" * 700, "</x>\n## H", "😀" * 300, "\ud800"]),
)
TITLES = ["Verification Before Assertion", "Error Messages Are Primary Evidence", "Questions Require Answers"]


@st.composite
def all_lines(draw: st.DrawFn, *, is_as_specified: bool = False) -> TextLines:
    lines = TextLines(is_as_specified=is_as_specified)
    lines.classification = draw(st.sampled_from(["", "debug", "question"]))
    label = WORDS.map("notes.md ".__add__)  # a channel offers nothing that has neither a label nor a text
    item = st.builds(Item, label, WORDS, channel=st.sampled_from(["code", "memory"]), tokens=st.integers(1, 900))
    lines.items = draw(st.lists(item, max_size=6))
    lines.guardrails = [Scored(f"H{at}", title, 3) for at, title in enumerate(TITLES[: draw(st.integers(0, 3))])]
    lines.approach = draw(st.sampled_from(["", "A direct answer: the prompt asks and orders nothing."]))
    lines.partial = draw(st.sampled_from([[], ["notes (time)"]]))
    return lines


@settings(max_examples=150, deadline=None)
@given(all_lines(), st.integers(0, 3000), st.integers(1, 6))
def test_no_text_exceeds_its_budget_or_loses_its_form(lines: TextLines, tokens: int, most: int) -> None:
    text, _said, kept = render(lines, tokens=tokens, most=most)

    assert not text or estimate_tokens(text) <= min(tokens, HARD_CAP_TOKENS)
    assert len(text) <= MOST_CHARACTERS
    assert text.count("\n- ") == kept.count(True) <= most
    assert len(kept) == len(lines.items)
    assert not text or LABELS.fullmatch(text)


@settings(max_examples=150, deadline=None)
@given(all_lines(is_as_specified=True), st.integers(0, 3000), st.booleans(), st.integers(0, 4))
def test_the_block_as_specified_keeps_its_budget_and_its_form(
    lines: TextLines, tokens: int, has_reminder: bool, resources: int
) -> None:
    lines.has_no_guardrails = not lines.guardrails
    lines.reminder = "The prompt seeks information." * has_reminder
    lines.resources = [f"enricher://search/{at}" for at in range(resources)]
    text, _said, kept = render(lines, tokens=tokens, most=6)

    assert not text or estimate_tokens(text) <= min(tokens, HARD_CAP_TOKENS)
    assert text.count("\n- ") == kept.count(True)
    parse(text)


@settings(max_examples=100, deadline=None)
@given(WORDS, st.integers(20, 400))
def test_a_quotation_ends_where_its_line_ends(words: str, tokens: int) -> None:
    lines = TextLines()
    lines.items = [Item("notes.md", f'{words}" and now a word of its own: "')]

    text, _said, _kept = render(lines, tokens=tokens)

    assert [line.count('"') for line in text.splitlines() if line.startswith("- ")] in ([], [2])
    assert not text or text.endswith('"')


@settings(max_examples=100, deadline=None)
@given(all_lines(), st.integers(0, 400))
def test_every_guardrail_is_whole_or_absent(lines: TextLines, tokens: int) -> None:
    offered = list(lines.guardrails)

    text, said, _kept = render(lines, tokens=tokens)

    shown = re.findall(r"H\d+ \([^)]*\)", text.partition("**Applicable Guardrails**: ")[2].partition("\n")[0])
    assert shown == [f"{one.id} ({one.text})" for one in said.guardrails]
    assert said.guardrails == offered[: len(said.guardrails)]
    assert lines.guardrails == offered


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=2000), st.integers(1, 300))
def test_cutting_keeps_a_beginning_within_its_tokens(text: str, tokens: int) -> None:
    short = cut(text, tokens=tokens)

    assert short == text or estimate_tokens(short) <= tokens
    assert text.startswith(short.removesuffix("…").rstrip()) or short == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=1000))
def test_foreign_text_is_one_short_line_without_signs_of_its_own(text: str) -> None:
    clean = harmless(text, longest=300)

    assert len(clean) <= 300
    assert len(clean.splitlines()) <= 1
    assert clean.isprintable()
    assert not set("<>") & set(clean)


def test_the_most_important_item_is_cut_rather_than_dropped() -> None:
    lines = TextLines()
    lines.items = [Item("a.md", "word " * 500), Item("b.md", "other")]

    text, _said, kept = render(lines, tokens=60)

    assert kept == [True, False]
    assert text.splitlines()[2].startswith('- a.md: "word word')
    assert estimate_tokens(text) > 40
