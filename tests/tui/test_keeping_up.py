"""What readers keep beside the traces is brought up to date while the app runs and nobody waits for it."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.metrics import rollups
from storage.traces import search
from workbench.tui.workers import connection

sys.path.insert(0, str(Path(__file__).parents[1]))
from big_history import write_history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROMPTS = 1_200
LONG_S = 30.0


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "QUIET_S", 0.05)
    monkeypatch.setattr(connection, "STEP_EVERY_S", 0.01)


@pytest.fixture
def state(tmp_path: Path) -> str:
    write_history(tmp_path / "state", PROMPTS)
    return str(tmp_path / "state")


@contextmanager
def watched(state: str, *, is_busy: Callable[[], bool] = lambda: False) -> Iterator[list[int]]:
    """Watch as the app does; yield what it is told of."""
    told: list[int] = []
    end = threading.Event()
    thread = threading.Thread(
        target=connection.watch,
        args=(state,),
        kwargs={
            "changed": told.append, "troubled": lambda text: None, "is_over": end.is_set, "is_busy": is_busy,
        },
    )  # fmt: skip
    thread.start()
    try:
        yield told
    finally:
        end.set()
        thread.join()


def waiting(state: str) -> int:
    with closing(sqlite3.connect(f"{state}/enricher.db")) as db:
        return max(rollups.waiting(db), search.waiting(db))


def caught_up(state: str) -> bool:
    give_up_at = time.monotonic() + LONG_S
    while waiting(state) and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return waiting(state) == 0


def test_sums_and_words_are_caught_up_without_a_word_to_the_screens(state: str) -> None:
    with watched(state) as told:
        is_caught_up = caught_up(state)

    assert (is_caught_up, told) == (True, [1])


def test_nothing_is_counted_while_somebody_waits_for_a_figure(state: str) -> None:
    looked = threading.Event()

    def is_busy() -> bool:
        looked.set()
        return True

    with watched(state, is_busy=is_busy):
        was_asked = looked.wait(LONG_S)
        time.sleep(0.1)

    assert (was_asked, waiting(state)) == (True, PROMPTS)


def test_a_database_in_which_somebody_writes_is_left_alone_until_they_have_done(state: str) -> None:
    with closing(sqlite3.connect(f"{state}/enricher.db", isolation_level=None)) as busy:
        busy.execute("begin immediate")
        with watched(state):
            time.sleep(0.3)
            left = waiting(state)
            busy.execute("rollback")
            is_caught_up = caught_up(state)

    assert (left, is_caught_up) == (PROMPTS, True)


def test_what_comes_later_is_counted_too(state: str) -> None:
    with watched(state):
        caught_up(state)
        with closing(database.connect(state)) as db:
            db.execute("""
                insert into traces select 'f' || substr(id, 2), at, host, session_id, project, cwd, prompt, prompt_hmac,
                prompt_chars, status, skip_reason, error, task_type, confidence, uncertain, search_intent,
                intent_confidence, topics, complexity, workflow, approach, rules_hash, inputs, output_text,
                output_tokens, scanned_chars, latency_ms, partial, memory_context, origin from traces limit 1
            """)

        assert caught_up(state)
