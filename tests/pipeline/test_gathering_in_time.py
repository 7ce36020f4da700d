"""Programs run beside each other, each at most 150 ms, all together 200 ms, whatever they do."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pipeline_caller import Caller

GATHER_MS = 200
BUSY_MACHINE_MS = 80
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


@pytest.mark.conformance("P08", "P10", "P29", "P30")
@pytest.mark.parametrize("fault", FAULTS)
def test_one_that_will_not_end_costs_its_time_and_leaves_nothing_behind(caller: Caller, fault: str) -> None:
    for name in NAMES[:2]:
        caller.account.channel(name, fault)
    caller.says("similarity", "fast")
    caller.account.compile()

    answer = caller.ask_until(lambda answer: answer["success"])

    assert answer["enrichment_context"] == "## Enrichments\n\nfast"
    assert caller.gather_ms() < GATHER_MS + BUSY_MACHINE_MS
    assert set(caller.statuses().values()) <= {"timeout", "error", "ok"}
    caller.account.rest()


@pytest.mark.conformance("P08")
def test_a_channel_may_be_given_less_time_but_not_more(caller: Caller) -> None:
    caller.says("summarization", "slow", before="sleep 0.1", deadline_ms=40)
    caller.account.compile()
    caller.account.env["ENRICHER_BUDGETS_CHANNEL_MS"] = "5000"
    caller.account.env["ENRICHER_BUDGETS_GATHER_MS"] = "9000"
    begun = time.perf_counter()

    assert not caller.ask()["success"]
    assert caller.gather_ms() < 100
    assert time.perf_counter() - begun < 2
