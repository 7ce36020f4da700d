"""A session is told nothing twice until its host forgets, and one prompt is answered once."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from storage import sessions, spool, traces

CLAIM = """
from storage import sessions
print(sessions.claim(state, "s1", "hash of the prompt"))
"""


def _state(state, session_id="s1"):
    with closing(traces.open_database(state)) as db:
        return sessions.session_state(state, session_id, db=db)


def test_what_was_injected_counts_against_the_session_it_was_injected_into(ready, whole_trace):
    traces.record(ready, whole_trace(injected=[("guardrail", "H5"), ("approach", "ab12"), ("item", "a.py:1")]))
    traces.record(ready, whole_trace(injected=[("guardrail", "H3")]))

    told = _state(ready)
    assert told.guardrails == {"H3", "H5"}
    assert (told.approaches, told.items, told.tokens) == ({"ab12"}, {"a.py:1"}, 18)
    assert _state(ready, "another").tokens == 0


@pytest.mark.parametrize("status", ["shadow", "silent", "error"])
def test_what_nobody_saw_was_not_told(ready, whole_trace, status):
    traces.record(ready, whole_trace(status=status))

    assert (_state(ready).guardrails, _state(ready).tokens) == (frozenset(), 0)


@pytest.mark.parametrize("session_id", ["s1", "x" * 1000])
def test_a_session_remembers_also_where_no_trace_may_be_kept(ready, whole_trace, stored, session_id):
    assert traces.record(ready, whole_trace(session_id=session_id), only_told=True) == "stored"
    assert traces.record(ready, whole_trace(session_id=session_id, status="silent"), only_told=True) == "stored"

    assert (_state(ready, session_id).guardrails, _state(ready, session_id).tokens) == ({"H5"}, 9)
    assert stored(ready, "select count(*) from traces") == [(0,)]


def test_what_waits_in_the_spool_was_told_too(state, whole_trace):
    traces.record(state, whole_trace())

    told = sessions.session_state(state, "s1", db=None)
    assert (told.guardrails, told.items, told.tokens) == ({"H5"}, {"a.py:1"}, 9)
    assert sessions.session_state(state, "s2", db=None).guardrails == frozenset()


def test_what_is_both_stored_and_still_in_the_spool_counts_once(ready, whole_trace):
    trace = whole_trace()
    traces.record(ready, trace)
    spool.put(ready, trace.id, status="ok", tables=traces.flatten(trace))

    assert _state(ready).tokens == 9


def test_a_reset_forgets_this_session_only(ready, whole_trace):
    traces.record(ready, whole_trace())
    traces.record(ready, whole_trace(session_id="s2"))
    assert sessions.reset_session(ready, "s1") == "stored"

    assert (_state(ready).tokens, _state(ready, "s2").tokens) == (0, 9)
    traces.record(ready, whole_trace(injected=[("guardrail", "H3")]))
    assert (_state(ready).guardrails, _state(ready).tokens) == ({"H3"}, 9)


def test_a_reset_counts_also_where_there_is_no_database_yet(state, whole_trace, stored):
    traces.record(state, whole_trace())
    assert sessions.reset_session(state, "s1") == "spooled"

    assert sessions.session_state(state, "s1", db=None).tokens == 0
    assert stored(state, "select kind from sessions where kind = 'reset'") == [("reset",)]
    assert _state(state).tokens == 0


def test_a_session_without_an_id_has_no_memory(ready, whole_trace):
    traces.record(ready, whole_trace(session_id=""))

    assert _state(ready, "").tokens == 0
    assert sessions.reset_session(ready, "") == "stored"
    assert sessions.claim(ready, "", "x")
    assert sessions.claim(ready, "", "x")


@pytest.mark.parametrize("session_id", ["a\x00b", "x" * 1_000_000, "\ud800"])
def test_a_hostile_session_id_is_a_session_like_any_other(ready, whole_trace, session_id):
    traces.record(ready, whole_trace(session_id=session_id))

    assert _state(ready, session_id).tokens == 9
    assert (sessions.claim(ready, session_id, "x"), sessions.claim(ready, session_id, "x")) == (True, False)


def test_the_same_prompt_is_claimed_once_and_another_is_not_hindered(state):
    answers = [
        sessions.claim(state, *claim) for claim in (("s1", "a"), ("s1", "b"), ("s1", "a"), ("s2", "a"), ("s1", "b"))
    ]

    assert answers == [True, True, False, True, False]


def test_of_sixteen_processes_that_see_the_same_prompt_one_answers(state, said):
    assert sorted(said(CLAIM, state, processes=16)) == ["False"] * 15 + ["True"]


def test_a_prompt_typed_again_later_is_a_prompt(state, monkeypatch):
    monkeypatch.setattr(sessions, "DUPLICATE_WITHIN_NS", 0)

    assert (sessions.claim(state, "s1", "a"), sessions.claim(state, "s1", "a")) == (True, True)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\x00 garbage", id="garbage"),
        pytest.param(b"cut off 12", id="torn"),
        pytest.param(b"x 99999999999999999999999\n", id="before a restart"),
        pytest.param(b"x" * 1_000_000, id="1 MB"),
    ],
)
def test_claims_that_make_no_sense_hinder_nobody_and_are_replaced(ready, content):
    with open(f"{ready}/{sessions.CLAIMS}", "wb") as file:
        file.write(content)

    assert (sessions.claim(ready, "s1", "a"), sessions.claim(ready, "s1", "a")) == (True, False)
    assert os.stat(f"{ready}/{sessions.CLAIMS}").st_size < 100


@pytest.mark.parametrize("occupant", ["folder", "fifo"])
def test_where_nothing_can_be_claimed_every_prompt_is_answered(ready, occupant):
    path = f"{ready}/{sessions.CLAIMS}"
    os.mkdir(path) if occupant == "folder" else os.mkfifo(path)

    assert (sessions.claim(ready, "s1", "a"), sessions.claim(ready, "s1", "a")) == (True, True)
