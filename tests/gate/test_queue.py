"""The queue: a few labels that teach most."""

from __future__ import annotations

import json
import random
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from maintainer import DEBUG, QUESTION, SMALL_TALK

from storage.traces.labels import LabelCandidate
from workbench.gate.queue import Queued, order

if TYPE_CHECKING:
    from maintainer import Repository

TOPICS = ("login form", "nightly export", "price table", "search index", "mail queue", "user avatar")


def prompt(
    number: int, text: str, *, session: str = "", margin: float = 3, is_labelled: bool = False
) -> LabelCandidate:
    return LabelCandidate(f"{number:024x}", session or f"s{number}", text, "debug", 0.6, margin, is_labelled)


def ids(found: list[Queued]) -> list[int]:
    return [int(one.id, 16) for one in found]


def test_the_nearest_decision_comes_first() -> None:
    found = order([prompt(1, "mend the login form", margin=9), prompt(2, "check the price table", margin=0)])

    assert ids(found) == [2, 1]
    assert [one.why for one in found] == ["two classes are level", "debug leads by 9 points"]


def test_what_stands_for_many_comes_first() -> None:
    alike = [prompt(number, f"rebuild the search index now {number}") for number in range(10)]
    found = order([prompt(99, "check the price table"), *alike])

    assert found[0].cluster_size == 10
    assert "9 more like it" in found[0].why
    assert found[1].id == prompt(99, "").id


def test_one_of_every_cluster_comes_before_the_second_of_any() -> None:
    prompts = [prompt(at, f"look at the {topic} again {at % 3}") for at, topic in enumerate(TOPICS * 3)]
    found = order(prompts)

    first = {one.prompt[:16] for one in found[: len(TOPICS)]}
    assert len(first) == len(TOPICS)
    assert len(found) == len(prompts)


def test_no_two_in_a_row_are_alike() -> None:
    source = random.Random(0)
    prompts = [
        prompt(at, f"look at the {source.choice(TOPICS)} again {source.randrange(5)}", margin=source.randrange(9))
        for at in range(60)
    ]
    found = order(prompts)

    topic = {one.id: next(topic for topic in TOPICS if topic in one.prompt) for one in found}
    most = max(list(topic.values()).count(one) for one in TOPICS)
    several = found[: len(found) - most]
    assert all(topic[one.id] != topic[other.id] for one, other in pairwise(several))


def test_no_two_alike_meet_where_the_second_round_begins() -> None:
    login = [prompt(at, f"look at the login form {at}", margin=margin) for at, margin in ((1, 0), (2, 5))]
    export = [prompt(at, f"mend the nightly export {at}", margin=margin) for at, margin in ((3, 1), (4, 2))]

    assert ids(order([*login, *export])) == [1, 3, 2, 4]


def test_sessions_take_turns() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()
    one = [prompt(at, f"{word} {word}s", session="long", margin=1) for at, word in enumerate(words[:7])]
    other = [prompt(at + 7, f"{word} {word}s", session="short", margin=1) for at, word in enumerate(words[7:])]
    sessions = {one.id: one.session_id for one in (*one, *other)}

    assert [sessions[one.id] for one in order([*one, *other])][:6] == ["long", "short"] * 3


def test_a_cluster_with_a_label_waits_for_those_without() -> None:
    alike = [prompt(number, f"rebuild the search index now {number}", margin=0) for number in range(10)]
    labelled = prompt(10, "rebuild the search index now 10", is_labelled=True)
    found = order([*alike, labelled, prompt(99, "check the price table", margin=20)])

    assert ids(found)[0] == 99
    assert prompt(10, "").id not in [one.id for one in found]


def test_the_same_prompts_give_the_same_order_and_none_is_lost() -> None:
    source = random.Random(1)
    words = [f"w{at}" for at in range(80)]
    prompts = [
        prompt(at, " ".join(source.choices(words, k=source.randrange(1, 12))), session=f"s{at % 7}", margin=at % 5)
        for at in range(300)
    ]

    assert order(prompts) == order(prompts)
    assert sorted(ids(order(prompts))) == list(range(300))


@pytest.mark.parametrize("text", ["…", "?!", "the of and", "修复 登录", "x" * 100_000])
def test_any_text_can_be_queued(text: str) -> None:
    assert [one.prompt for one in order([prompt(1, text), prompt(2, text)])] == [text, text]


@pytest.mark.slow
def test_work_is_bounded() -> None:
    source = random.Random(2)
    words = [f"word{at}" for at in range(400)]
    prompts = [prompt(at, " ".join(source.choices(words, k=20)), session=f"s{at % 500}") for at in range(25_000)]
    begin = time.process_time()

    assert len(order(prompts)) == 20_000
    assert time.process_time() - begin < 20


def test_the_command_lists_what_has_no_label(repository: Repository) -> None:
    for text in (DEBUG, QUESTION, SMALL_TALK, "/compact"):
        repository.typed(text)
    repository.account.env["ENRICHER_TEST"] = "1"
    repository.typed("write a test for the login form")
    repository.account.cli("trace", "label", repository.account.traces()[0]["id"], "ok")
    rows = json.loads(repository.account.cli("trace", "queue", "--json"))

    assert [row["prompt"] for row in rows] == [QUESTION, SMALL_TALK]
    assert set(rows[0]) == {"id", "prompt", "task_type", "confidence", "margin", "cluster_size", "why"}
    assert rows[0]["margin"] > 0
    assert len(json.loads(repository.account.cli("trace", "queue", "--limit", "1", "--json"))) == 1


def test_an_empty_queue_says_so(repository: Repository) -> None:
    assert repository.account.cli("trace", "queue") == ""
