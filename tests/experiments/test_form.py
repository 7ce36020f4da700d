"""A response is read back against the documented form; what it breaks is counted by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.respond.guidance import Scored
from enricher.respond.render import Item, TextLines, render
from workbench.experiments.text_form import FormError, ParsedText, Terms, parse, read, references

TERMS = Terms(frozenset({"debug", "docs"}), frozenset({"H3", "H5"}), always=frozenset({"H5"}))
TEXT = """\
## Prompt Enrichment
**Classification**: debug
**Relevant Context** (search results, quoted; may be outdated):
- docs/adr/0007.md: "the cookie holds ids only"
- app/auth.py:84 save
**Applicable Guardrails**: H5 (Errors (pasted) first), H3 (Verify, then say)
**Suggested Approach**: Start at app/auth.py:84.
_Partial: code (time)_"""
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


def violations(text: str, *, tokens: int = 450, told: tuple[str, ...] = ()) -> tuple[str, ...]:
    return read(text, terms=TERMS, tokens=tokens, already_shown=told).violations


def test_the_documented_form_is_read_back() -> None:
    assert parse(TEXT) == ParsedText(
        "debug",
        ('docs/adr/0007.md: "the cookie holds ids only"', "app/auth.py:84 save"),
        ("H5", "H3"),
        "Start at app/auth.py:84.",
    )


def test_silence_is_a_success() -> None:
    assert read("", terms=TERMS, tokens=0, already_shown=()).fault == ""


@given(st.lists(st.tuples(WORDS, WORDS), max_size=4), WORDS, st.booleans())
def test_whatever_is_rendered_can_be_read_back(facts: list[tuple[str, str]], word: str, is_classified: bool) -> None:
    lines = TextLines()
    lines.items = [Item(label, text) for label, text in facts]
    lines.classification = "debug" if is_classified else ""
    lines.guardrails = [Scored("H5", "Errors (pasted) first", 5), Scored("H3", "Verify, then say", 3)]
    lines.approach = " ".join(word.split())
    text, _said, kept = render(lines, tokens=450)

    assert len(parse(text).items) == sum(kept)
    assert parse(text).guardrails == ("H5", "H3")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(TEXT.replace("## Prompt", "# Prompt"), 1, id="another title"),
        pytest.param("## Prompt Enrichment", 1, id="a title alone"),
        pytest.param(TEXT.replace("**Suggested", "Suggested"), 7, id="an unknown line"),
        pytest.param(TEXT + "\n**Classification**: docs", 9, id="a label at the wrong place"),
        pytest.param(TEXT.replace("- docs/adr", "docs/adr"), 4, id="context without a bullet"),
        pytest.param("## Prompt Enrichment\n- a fact", 2, id="a fact without its label"),
        pytest.param("## Prompt Enrichment\n" + TEXT.split("\n")[2], 2, id="a context that holds nothing"),
        pytest.param(TEXT + "\n", 9, id="an empty line"),
    ],
)
def test_what_is_not_of_the_form_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FormError) as refusal:
        parse(text)

    assert refusal.value.line == line


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param((), TEXT, id="nothing"),
        pytest.param(("form",), "Sure! Here is what I would do.", id="free text"),
        pytest.param(("unknown class",), TEXT.replace(": debug", ": vibes"), id="a class of no rule"),
        pytest.param(("unknown guardrail",), TEXT.replace("H3 (", "H77 ("), id="a guardrail of no rule"),
    ],
)
def test_what_a_response_breaks(expected: tuple[str, ...], text: str) -> None:
    reading = read(text, terms=TERMS, tokens=450, already_shown=())

    assert reading.violations == expected
    assert bool(reading.fault) == bool(expected)


def test_a_text_over_its_budget_is_a_breach_and_still_a_success() -> None:
    reading = read(TEXT, terms=TERMS, tokens=20, already_shown=())

    assert (reading.violations, reading.fault) == (("budget",), "")


def test_what_a_session_was_told_may_not_be_said_again_unless_the_rules_say_always() -> None:
    assert references(parse(TEXT)) == ["guardrail:H5", "guardrail:H3", "approach:Start at app/auth.py:84."]
    assert violations(TEXT, told=tuple(references(parse(TEXT)))) == ("repeated", "repeated")
