from __future__ import annotations

import pytest

from storage.traces import filter_text
from workbench.web import filters


@pytest.mark.parametrize(
    ("text", "field", "value", "expected"),
    [
        pytest.param("", "type", "debug", "type:debug", id="first"),
        pytest.param('basket "a  b"', "type", "debug", 'basket "a  b" type:debug', id="beside words"),
        pytest.param("type:debug x", "type", "test", "type:debug,test x", id="any of them"),
        pytest.param("version:ab12", "version", "cd34", "version:cd34", id="one at most"),
        pytest.param("-type:chat", "type", "test", "-type:chat type:test", id="what is turned round stays"),
        pytest.param("", "guardrail", "my own", 'guardrail:"my own"', id="with a blank"),
        pytest.param("guardrail:H5", "guardrail", "H3", "guardrail:H5 guardrail:H3", id="both of a prompt's several"),
    ],
)
def test_a_click_puts_a_part_in(text: str, field: str, value: str, expected: str) -> None:
    assert filters.with_part(text, field, value) == expected


@pytest.mark.parametrize("value", ["", 'so "called"', "one, two"])
def test_what_no_filter_can_ask_for_is_no_part_of_one(value: str) -> None:
    assert filters.part("host", value) == ""


@pytest.mark.parametrize("text", ["", "basket", "type:test since:2d", 'type:chat,"x"', "-type:debug"])
def test_a_part_that_was_put_in_can_be_taken_out(text: str) -> None:
    put_in = filters.with_part(text, "guardrail", "my own")

    assert filters.has(put_in, "guardrail", "my own")
    assert filters.without_part(put_in, "guardrail", "my own") == text


@pytest.mark.parametrize("field", filters.SEVERAL)
def test_every_part_that_a_click_makes_is_understood(field: str) -> None:
    text = filters.with_part(filters.with_part("", field, "ok"), field, "partial")

    assert filter_text.parse(text).where


def test_a_filter_in_the_words_of_a_table() -> None:
    assert filters.in_datasette("type:debug,test -host:claude ms>20 shown:yes origin:hook") == (
        "task_type__in=debug%2Ctest&host__not=claude&latency_ms__gt=20&output_tokens__gt=0&origin=hook&_sort_desc=id"
    )


@pytest.mark.parametrize("text", ["basket", "guardrail:H3", "label:wrong", "-ms>20", "since:2d"])
def test_what_a_table_cannot_be_asked_is_not_asked(text: str) -> None:
    assert filters.in_datasette(text) is None
