"""What is masked of a prompt is what a person named there, and nothing within another word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.prompt.wording import structure


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param("mail ann@team.org, cc @team", "mail ann@team.org, cc \ue002    ", id="an address holds a name"),
        pytest.param("a-@me.fix for @me", "a-@me.fix for \ue002  ", id="with more behind it"),
        pytest.param("@me and @me", "\ue002   and \ue002  ", id="twice the same"),
    ],
)
def test_a_name_is_masked_where_it_stands_alone(text: str, masked: str) -> None:
    assert structure.survey(text).masked == masked


@pytest.mark.parametrize(
    ("text", "own"),
    [
        pytest.param("the message 'Are you sure?  Yes' is odd", "the message  is odd", id="a text"),
        pytest.param("say 'it doesn't work' there", "say  there", id="a text with an apostrophe"),
        pytest.param("the users' cart and the shops' rates", "the users' cart and the shops' rates", id="owners"),
        pytest.param("don't say it isn't so", "don't say it isn't so", id="contractions"),
        pytest.param("rename 'cart' to 'basket'", "rename 'cart' to 'basket'", id="words"),
        pytest.param("a 'first\nline' there", "a 'first\nline' there", id="not across lines"),
        pytest.param("it's 'not closed, is it", "it's 'not closed, is it", id="no end"),
    ],
)
def test_texts_in_single_quotation_marks_are_masked_and_apostrophes_are_not(text: str, own: str) -> None:
    masked = structure.survey(text).masked

    assert len(masked) == len(text)
    assert masked.replace(structure.QUOTE, " ").split() == own.split()


@given(st.text(alphabet="@a_.b/ \n\t\x1c\u2028`\"x-'", max_size=60))
def test_no_mask_moves_what_stands_behind_it(text: str) -> None:
    seen = structure.survey(text)

    assert len(seen.masked) == len(text)
    assert all(0 <= start <= end <= len(text) for start, end in seen.features.values())
