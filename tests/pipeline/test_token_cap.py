"""2,000 tokens for all enrichments: what is kept, what is cut, in which order."""

from __future__ import annotations

import pytest
from pipeline_caller import Caller, text_of

from enricher.prompt.text import estimate_tokens

SUMMARY, CODE, SIMILAR = "summarization", "code_analysis", "similarity"


def ask(caller: Caller, *, order: tuple[str, ...] = (SIMILAR, CODE, SUMMARY), **tokens: int) -> dict[str, object]:
    """Ask with channels that offer this many tokens each, declared in an order that is not theirs in the text."""
    for name in order:
        if name in tokens:
            caller.says(name, text_of(tokens[name], name))
    caller.account.compile()
    caller.ask_until(lambda answer: set(caller.statuses().values()) == {"ok"})
    assert set(caller.statuses().values()) == {"ok"}
    return caller.answer


def kept(caller: Caller) -> list[str]:
    """Return the names with which the blocks of the text begin."""
    return [block.split()[0] for block in caller.answer["enrichment_context"].split("\n\n")[1:]]


@pytest.mark.conformance("P11", "P15", "P16")
def test_the_first_one_is_cut_to_the_cap(caller: Caller) -> None:
    answer = ask(caller, summarization=2500, code_analysis=2500, similarity=2500)

    assert kept(caller) == [SUMMARY]
    assert 1990 <= answer["tokens_used"] <= 2000
    assert answer["enrichment_context"].endswith("…")


@pytest.mark.conformance("P16")
def test_the_summary_is_not_given_up_for_something_small(caller: Caller) -> None:
    ask(caller, summarization=2500, similarity=100)

    assert kept(caller) == [SUMMARY]


@pytest.mark.conformance("P11", "P14")
@pytest.mark.parametrize(
    ("tokens", "names", "used"),
    [
        pytest.param((1500, 1500, 1500), [SUMMARY], 1500, id="P11: one of three fits"),
        pytest.param((1500, 1000, 400), [SUMMARY, SIMILAR], 1900, id="P14: the next that fits"),
    ],
)
def test_the_rest_is_taken_by_priority_where_it_fits(
    caller: Caller, tokens: tuple[int, int, int], names: list[str], used: int
) -> None:
    answer = ask(caller, summarization=tokens[0], code_analysis=tokens[1], similarity=tokens[2])

    assert kept(caller) == names
    assert answer["tokens_used"] == used
    assert answer["enrichment_count"] == len(names)


@pytest.mark.conformance("P12")
def test_the_order_is_summary_code_similar(caller: Caller) -> None:
    ask(caller, summarization=900, code_analysis=900, similarity=900)

    assert kept(caller) == [SUMMARY, CODE]


@pytest.mark.conformance("P13", "P20")
@pytest.mark.parametrize(("last", "count", "used"), [(400, 3, 2000), (401, 2, 1600)])
def test_exactly_the_cap_is_kept_and_one_token_more_is_not(caller: Caller, last: int, count: int, used: int) -> None:
    answer = ask(caller, summarization=900, code_analysis=700, similarity=last)

    assert (answer["enrichment_count"], answer["tokens_used"]) == (count, used)


@pytest.mark.conformance("P12")
def test_a_rule_of_its_own_gives_a_channel_another_priority(caller: Caller) -> None:
    caller.says(SIMILAR, "similar", priority=9)
    caller.says(SUMMARY, "summary")
    caller.account.compile()

    caller.ask_until(lambda answer: answer["enrichment_count"] == 2)

    assert kept(caller) == ["similar", "summary"]


@pytest.mark.conformance("P17")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 1, id="nothing"),
        pytest.param("word", 2, id="one word"),
        pytest.param("ab " * 10, 14, id="ten words"),
        pytest.param("ab " * 100, 131, id="a hundred words"),
        pytest.param("\N{CJK UNIFIED IDEOGRAPH-8A18}" * 2000, 2000, id="Chinese is not one word"),
        pytest.param("x" * 8000, 2000, id="nor is unbroken text"),
        pytest.param("x" * 400, 100, id="four letters are a token"),
    ],
)
def test_tokens_are_estimated_by_words_characters_and_ideographs(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.conformance("P17")
def test_the_estimate_is_what_is_told(caller: Caller) -> None:
    caller.says(SUMMARY, "ab " * 100)
    caller.account.compile()

    assert caller.ask_until(lambda answer: answer["success"])["tokens_used"] == 131


def test_text_of_many_bytes_stays_below_what_clients_take(caller: Caller) -> None:
    caller.says(SUMMARY, "\N{HANGUL SYLLABLE GA}\N{LATIN SMALL LETTER E WITH ACUTE}" * 3000)
    caller.says(CODE, "é" * 7900)
    caller.account.compile()

    answer = caller.ask_until(lambda answer: answer["success"])

    assert len(answer["enrichment_context"].encode()) < 9500
    assert answer["enrichment_count"] == 1
    assert answer["tokens_used"] <= 2000
