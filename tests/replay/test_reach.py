"""A prompt that an edit is said not to reach comes out as before, whatever the edit was."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from enricher.classify import Rules
from enricher.classify.verdict import HEAD, TAIL, scanned_part
from enricher.rules.layers import packaged_file
from workbench.replay.compare import kinds
from workbench.replay.evaluator import level_of
from workbench.replay.impact import EVALUATE, NOT, WEIGH, Impact
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import Replay
from workbench.replay.rulesets import compared_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.replay.corpus import Corpus

EDITS_BY_CHANCE, SAVES_BY_CHANCE = 24, 12
FEW = 4
"""Edits by chance that ``make test`` tries of each kind; the others are tried by ``make test-slow``."""
SIGNAL = re.compile(r"^  - \{.*weight: (\d)\}$", re.MULTILINE)
LISTED = re.compile(r"^(  - \{any: \[)(.*?)(\].*)$", re.MULTILINE)
GUARDRAIL_FLOOR = re.compile(r"^min_score: \d$", re.MULTILINE)
THRESHOLD = re.compile(r"min_confidence: \S+")
LEANING = re.compile(r"^(  -?\d: \[)([a-z]+), ", re.MULTILINE)


def by_chance(text: str, seed: int) -> str:
    """Return the text after one to three edits of the kinds that people make."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        text = chance.choice(KINDS)(text, chance)
    return text


def _reweigh(text: str, chance: random.Random) -> str:
    found = chance.choice(list(SIGNAL.finditer(text)))
    return text[: found.start(1)] + str(chance.randint(1, 9)) + text[found.end(1) :]


def _add_signal(text: str, chance: random.Random) -> str:
    found = chance.choice(list(SIGNAL.finditer(text)))
    word = chance.choice(("login", "rename", "cache", "reports table", "couldn't", "one", "pytest", "failing"))
    return f'{text[: found.start()]}  - {{phrase: "{word}", weight: {chance.randint(3, 9)}}}\n{text[found.start() :]}'


def _guardrail_floor(text: str, chance: random.Random) -> str:
    found = chance.choice(list(GUARDRAIL_FLOOR.finditer(text)))
    return f"{text[: found.start()]}min_score: {chance.randint(1, 9)}{text[found.end() :]}"


def _remove_signal(text: str, chance: random.Random) -> str:
    found = chance.choice(list(SIGNAL.finditer(text)))
    return text[: found.start()] + text[found.end() + 1 :]


def _add_phrase(text: str, chance: random.Random) -> str:
    found = chance.choice(list(LISTED.finditer(text)))
    phrase = chance.choice(("the other", "add", "what is", "so be", "you would", "tests", "reports table", "login"))
    return text[: found.start(2)] + f'"{phrase}", ' + text[found.start(2) :]


def _drop_phrase(text: str, chance: random.Random) -> str:
    found = chance.choice([one for one in LISTED.finditer(text) if ", " in one[2]])
    return text[: found.start(2)] + found[2].partition(", ")[2] + text[found.end(2) :]


def _drop_leaning(text: str, chance: random.Random) -> str:
    found = chance.choice(list(LEANING.finditer(text)))
    return text[: found.start(2)] + text[found.end() :]


def _add_leaning(text: str, chance: random.Random) -> str:
    found = chance.choice(list(LEANING.finditer(text)))
    return (
        text[: found.start(2)]
        + chance.choice(("caches", "login", "mean", "read", "one"))
        + ", "
        + text[found.start(2) :]
    )


def _threshold(text: str, chance: random.Random) -> str:
    return THRESHOLD.sub(f"min_confidence: {chance.uniform(0.2, 0.9):.2f}", text, count=1)


KINDS = (
    _reweigh, _add_signal, _remove_signal, _add_phrase, _drop_phrase, _drop_leaning, _add_leaning, _threshold,
    _guardrail_floor,
)  # fmt: skip


def seeds(first: int, count: int) -> list[object]:
    """Return seeds of which all but a few are for ``make test-slow``."""
    return [pytest.param(first + at, marks=[pytest.mark.slow] * (at >= FEW)) for at in range(count)]


@pytest.mark.parametrize("seed", seeds(0, EDITS_BY_CHANCE))
def test_what_is_not_reached_would_come_out_the_same(seed: int, corpus: Corpus, packaged: str) -> None:
    side = compared_rules.from_text(packaged_file(), by_chance(packaged, seed), versions=corpus.versions)
    replay = Replay(corpus, side)
    after = {pair.prompt.id: pair.after for batch in replay.batches(processes=1) for pair in batch.pairs}

    differing = []
    for page in corpus.pages():
        for row in page:
            rules, recorded = side.rules_for(row.rules_hash), corpus.versions.rules(row.rules_hash)
            assert rules
            if not reevaluated(row, rules, recorded=recorded).is_same(after.get(row.id) or corpus.recorded(row)):
                differing.append(row.prompt)

    assert differing == []


@pytest.mark.parametrize("seed", seeds(0, EDITS_BY_CHANCE))
def test_prompts_searched_together_are_those_that_are_reached_alone(seed: int, corpus: Corpus, packaged: str) -> None:
    side = compared_rules.from_text(packaged_file(), by_chance(packaged, seed), versions=corpus.versions)
    rules, rows = side.rules_for(""), list(corpus.prompts())
    assert rules

    impact = Impact(corpus.versions.rules(corpus.versions.in_use[0]), rules)
    found = {rows[at].id for at in impact.positions(rows, knows_confidence=True)}

    assert {row.id for row in rows if level_of(row, impact) != NOT} <= found


@pytest.mark.parametrize("seed", seeds(EDITS_BY_CHANCE, SAVES_BY_CHANCE))
def test_an_edit_saved_over_another_changes_what_a_full_replay_changes(
    seed: int, corpus: Corpus, packaged: str
) -> None:
    before = by_chance(packaged, seed)
    edited = before if seed % 2 else packaged  # every other edit takes back the one before it
    base, candidate = (
        compared_rules.from_text(packaged_file(), text, versions=corpus.versions)
        for text in (before, by_chance(edited, seed + 1000))
    )
    run = Replay(corpus, candidate, base=base)
    radius = run.complete_blast_radius(processes=1)

    expected = {}
    for row in corpus.prompts():
        recorded, rules = corpus.versions.rules(row.rules_hash), base.rules_for(row.rules_hash)
        others = candidate.rules_for(row.rules_hash)
        assert rules
        assert others
        one, other = (reevaluated(row, side, recorded=recorded) for side in (rules, others))
        if found := kinds(one, other):
            expected[row.id] = found
    assert {change.prompt.id: change.kinds for change in radius.changes} == expected
    assert radius.prompts == corpus.count()


def test_what_only_the_base_changed_changes_back(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    base, candidate = (
        compared_rules.from_text(packaged_file(), text, versions=corpus.versions)
        for text in (edited("## Task type: chat", "## Task type: talk"), edited('"quick question"', '"slow question"'))
    )
    radius = Replay(corpus, candidate, base=base).complete_blast_radius(processes=1)

    chats = {row.id for row in corpus.prompts() if row.task_type == "chat"}
    assert chats
    assert chats <= {change.prompt.id for change in radius.changes}


@pytest.mark.parametrize(
    ("old", "new", "least"),
    [
        pytest.param("weight: 4}", "weight: 5}", NOT, id="a weight concerns the prompts with its words"),
        pytest.param("min_confidence:", "min_confidence: 0.99 #", WEIGH, id="a threshold weighs again"),
        pytest.param("## Task type: chat", "## Task type: talk", EVALUATE, id="a new class judges all"),
        pytest.param('"quick question"', '"<file>"', EVALUATE, id="no word tells a file"),
    ],
)
def test_how_far_an_edit_reaches(
    old: str, new: str, least: int, corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    version = corpus.versions.in_use[0]
    rules = compared_rules.from_text(packaged_file(), edited(old, new), versions=corpus.versions).rules_for(version)
    recorded = corpus.versions.rules(version)
    assert rules

    assert Impact(recorded, rules).level("zzz", features=[]) == least


POINTING, EARLIER = "do the same for the other one", "fix the login test,\ncarries - then don\u2019t run it twice"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("silent: [chat]", "silent: [chat, debug]", id="what carries nothing"),
        pytest.param('"quick question"', '"quick question", carries', id="a word behind a line break"),
        pytest.param('"quick question"', '"quick question", "do not run"', id="a contraction with a curly quote"),
        pytest.param(
            "  - {any: [question,", "  - {feature: several_orders, weight: 2}\n  - {any: [question,", id="a feature"
        ),
    ],
)
def test_the_words_that_a_prompt_points_back_to_are_reached_as_well(
    old: str, new: str, pointing_back: Callable[[str, str], Corpus], edited: Callable[[str, str], str]
) -> None:
    corpus = pointing_back(POINTING, EARLIER)
    [version], [[row]] = corpus.versions.in_use, corpus.pages()
    side = compared_rules.from_text(packaged_file(), edited(old, new), versions=corpus.versions)
    rules, run = side.rules_for(version), Replay(corpus, side)
    assert rules

    assert level_of(row, Impact(corpus.versions.rules(version), rules)) == EVALUATE
    assert [len(replayed.pairs) for replayed in run.batches()] == [1]


def test_two_signals_that_look_for_the_same_are_not_one(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    def with_signals(*signals: str) -> Rules:
        text = edited("  - {any: [question,", "\n".join([*signals, "  - {any: [question,"]))
        rules = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
        assert rules
        return rules

    once, twice = "  - {phrase: zebra, weight: 4}", "  - {phrase: Zebra, weight: 4}"

    list_of_both = "  - {any: [zebra, lion], weight: 4}"
    assert Impact(with_signals(once), with_signals(once, twice)).level("a zebra", features=[]) == EVALUATE
    assert Impact(with_signals(once, twice), with_signals(list_of_both)).level("a zebra", features=[]) == EVALUATE


def test_a_word_added_to_a_list_concerns_the_prompts_with_that_word(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    text = edited('"quick question"', '"quick question", zebra')
    rules = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
    assert rules
    impact = Impact(corpus.versions.rules(corpus.versions.in_use[0]), rules)

    assert impact.level("a zebra", features=[]) == EVALUATE
    assert impact.level("a quick question", features=[]) == NOT


def test_one_text_that_two_releases_compile_differently_is_two_sets_of_rules(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    recorded = corpus.versions.rules(corpus.versions.in_use[0])
    text = edited('"quick question"', '"quick question", zebra')
    other = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
    assert recorded
    assert other

    assert Impact(recorded, Rules(recorded.hash, other.body)).level("a zebra", features=[]) == EVALUATE


def test_a_word_that_stands_only_where_a_huge_prompt_is_cut_is_read(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    text = edited('"quick question"', '"quick question", zebra')
    rules = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
    huge = "x " * (HEAD // 2 - 2) + "a ze" + "y" * 5000 + "bra" + " z" * ((TAIL - 3) // 2) + "."
    assert rules
    assert " zebra " in scanned_part(huge)

    assert Impact(corpus.versions.rules(corpus.versions.in_use[0]), rules).level(huge, features=[]) == EVALUATE


def test_most_prompts_are_not_reached_by_one_phrase(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited('"quick question"', '"quick question", zebra'), versions=corpus.versions
    )
    replay = Replay(corpus, side)
    pairs = [pair for batch in replay.batches() for pair in batch.pairs]

    assert replay.judged == len(pairs) < corpus.count() / 10


def test_a_threshold_concerns_the_prompts_whose_confidence_lies_between(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    version = corpus.versions.in_use[0]
    text = edited("min_confidence:", "min_confidence: 0.99 #")
    rules = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for(version)
    assert rules
    reach = Impact(corpus.versions.rules(version), rules)
    before = corpus.versions.rules(version).body["classes"]["facets"][0]["min_confidence"]

    assert [reach.level("zzz", features=[], confidence=one) for one in (before - 0.01, before, 0.98, 0.99)] == [
        NOT, WEIGH, WEIGH, NOT,
    ]  # fmt: skip


def test_another_weight_of_a_task_type_concerns_every_confidence(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    version = corpus.versions.in_use[0]
    text = edited("points_that_double:", "points_that_double: 9 #")
    rules = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for(version)
    assert rules

    assert Impact(corpus.versions.rules(version), rules).level("zzz", features=[], confidence=0.01) == WEIGH
