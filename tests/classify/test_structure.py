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


@given(st.text(alphabet='@a_.b/ \n\t\x1c\u2028`"x-', max_size=60))
def test_no_mask_moves_what_stands_behind_it(text: str) -> None:
    seen = structure.survey(text)

    assert len(seen.masked) == len(text)
    assert all(0 <= start <= end <= len(text) for start, end in seen.features.values())
