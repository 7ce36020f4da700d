"""Programs run beside each other, each at most 150 ms, all together 200 ms, whatever they do.

The milliseconds themselves are measured by the tests marked ``slow``; the best of some attempts counts, as a busy
machine only ever adds.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pipeline_caller import Caller

GATHER_MS = 200
ATTEMPTS = 5
NAMES = ("summarization", "code_analysis", "similarity")
FAULTS = [
    pytest.param("while :; do :; done", id="spins"),
    pytest.param("trap '' TERM INT HUP; while :; do :; done", id="spins and ignores SIGTERM"),
    pytest.param(f"{sys.executable} -I -S -c 'import os; os._exit(1)'", id="os._exit"),
    pytest.param(f"{sys.executable} -I -S -c 'import os; os.kill(os.getpid(), 11)'", id="segfault"),
    pytest.param(f"{sys.executable} -I -S -c 'import time; time.sleep(5)'", id="blocks"),
    pytest.param("kill -STOP $$", id="stops itself"),
]


@pytest.mark.conformance("P06")
def test_three_that_wait_for_each_other_all_answer(caller: Caller) -> None:
    there = caller.account.home / "there"
    for name in NAMES:
        all_there = " && ".join(f"[ -e {there}.{other} ]" for other in NAMES)
        caller.says(name, name, before=f"touch {there}.{name}; until {all_there}; do sleep 0.005; done")
    caller.account.compile()

    def ask_anew(answer: dict[str, object]) -> bool:
        for name in NAMES:
            (there.parent / f"there.{name}").unlink(missing_ok=True)
        return answer["enrichment_count"] == 3

    assert caller.ask_until(ask_anew)["enrichment_count"] == 3


@pytest.mark.timed
@pytest.mark.conformance("P06")
def test_three_that_take_100_ms_are_done_in_less_than_200(caller: Caller) -> None:
    for name in NAMES:
        caller.says(name, name, before="sleep 0.1")
    caller.account.compile()

    answer = caller.ask_until(lambda answer: answer["enrichment_count"] == 3)

    assert answer["enrichment_count"] == 3
    assert 100 < caller.gather_ms() < GATHER_MS


@pytest.mark.conformance("P07", "P09")
def test_one_that_takes_170_ms_is_left_out_and_the_fast_one_kept(caller: Caller) -> None:
    caller.says("summarization", "slow", before="sleep 0.17")
    caller.says("similarity", "fast")
    caller.account.compile()

    answer = caller.ask_until(lambda answer: answer["success"])

    assert answer["enrichment_context"] == "## Enrichments\n\nfast"
    assert caller.statuses() == {"summarization": "timeout", "similarity": "ok"}
    assert caller.account.trace()["status"] == "partial"


@pytest.mark.upkeep
@pytest.mark.conformance("P08", "P10", "P29", "P30")
@pytest.mark.parametrize("fault", FAULTS)
def test_one_that_will_not_end_costs_its_time_and_leaves_nothing_behind(caller: Caller, fault: str) -> None:
    for name in NAMES[:2]:
        caller.account.channel(name, fault)
    caller.says("similarity", "fast")
    caller.account.compile()

    answer = caller.ask_until(lambda answer: answer["success"])

    assert answer["enrichment_context"] == "## Enrichments\n\nfast"
    assert set(caller.statuses().values()) <= {"timeout", "error", "ok"}
    caller.account.rest()


@pytest.mark.timed
@pytest.mark.conformance("P08")
@pytest.mark.parametrize("fault", FAULTS)
def test_gathering_ends_after_200_ms(caller: Caller, fault: str) -> None:
    for name in NAMES:
        caller.account.channel(name, fault)
    caller.account.compile()

    assert min(_gather_ms(caller) for _ in range(ATTEMPTS)) < GATHER_MS + 20  # to kill the programs


@pytest.mark.upkeep
@pytest.mark.conformance("P08")
@pytest.mark.parametrize("rule", [pytest.param({"deadline_ms": 40}, id="its rule"), pytest.param({}, id="default")])
def test_the_environment_gives_a_channel_no_more_time(caller: Caller, rule: dict[str, object]) -> None:
    late = caller.account.home / "late"
    caller.says("summarization", "slow", before=f"sleep 4; touch {late}", **rule)
    caller.account.compile()
    caller.account.env["ENRICHER_BUDGETS_CHANNEL_MS"] = "9000"
    caller.account.env["ENRICHER_BUDGETS_GATHER_MS"] = "9000"

    assert not caller.ask()["success"]
    assert caller.statuses() == {"summarization": "timeout"}
    caller.account.rest()
    assert not late.exists()


@pytest.mark.timed
@pytest.mark.conformance("P08")
def test_a_channel_may_be_given_less_time(caller: Caller) -> None:
    caller.says("summarization", "slow", before="sleep 0.14", deadline_ms=40)
    caller.account.compile()

    assert min(_gather_ms(caller) for _ in range(ATTEMPTS)) < 100


def _gather_ms(caller: Caller) -> float:
    caller.ask()
    return caller.gather_ms()
