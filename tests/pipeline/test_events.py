"""One event for each result, at a file and a socket, never felt by the prompt."""

from __future__ import annotations

import json
import os
import shlex
import socket
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pipeline_caller import ATTEMPTS, GATES, PROMPT, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline_caller import Caller

TOPIC = "onex.evt.omniclaude.context-enrichment.v1"
DOCUMENT = {"name", "latency_ms", "model_used", "relevance_score", "fallback_used", "success", "kept"}
CANONICAL = {
    "topic", "timestamp", "correlation_id", "session_id", "channel", "model_name", "outcome", "latency_ms",
    "tokens_after", "similarity_score", "fallback_used", "was_dropped",
}  # fmt: skip
EMIT_MS = 50


@pytest.fixture
def told(caller: Caller) -> Caller:
    """A caller that keeps the events in a file, and three channels of which the cap drops one."""
    caller.says("summarization", {"text": text_of(1500), "score": 0.75, "model": "small", "fallback": True})
    caller.says("code_analysis", {"text": text_of(1000), "score": 0.5})
    caller.account.channel("similarity", "exit 1")
    caller.account.compile()
    caller.account.env["ENRICHER_EVENTS_FILE"] = "events.jsonl"
    return caller


def answered(caller: Caller) -> dict[str, dict[str, object]]:
    """Ask until both channels answered in time, and return the events of that prompt by channel."""
    caller.ask_until(lambda _answer: list(caller.statuses().values()).count("ok") == 2)
    return {one["channel"]: one for one in caller.events()[-3:]}


@pytest.mark.conformance("P22", "P23", "P24", "P25", "P45")
def test_each_result_has_an_event_kept_dropped_or_failed(told: Caller) -> None:
    events = answered(told)

    assert set(events) == {"summarization", "code_analysis", "similarity"}
    assert all(set(one) == DOCUMENT | CANONICAL and one["topic"] == TOPIC for one in events.values())
    summary, code, similar = (events[name] for name in ("summarization", "code_analysis", "similarity"))
    assert (summary["kept"], summary["was_dropped"], summary["success"], summary["outcome"]) == (
        True,
        False,
        True,
        "hit",
    )
    assert (code["kept"], code["was_dropped"], code["success"]) == (False, True, True)
    assert (similar["was_dropped"], similar["success"], similar["outcome"]) == (False, False, "error")
    assert (summary["model_used"], summary["model_name"], summary["fallback_used"]) == ("small", "small", True)
    assert (summary["relevance_score"], code["similarity_score"], similar["relevance_score"]) == (0.75, 0.5, None)
    assert (summary["tokens_after"], code["tokens_after"]) == (1500, 0)


@pytest.mark.conformance("P45")
def test_values_are_of_their_kind_and_in_their_range(told: Caller) -> None:
    trace = told.account
    for one in answered(told).values():
        assert one["latency_ms"] >= 0
        assert one["relevance_score"] is None or 0 <= one["relevance_score"] <= 1
        assert {type(one[key]) for key in ("success", "kept", "fallback_used", "was_dropped")} == {bool}
        assert one["name"] == one["channel"]
        assert one["kept"] is not one["was_dropped"]
        assert one["correlation_id"] == trace.trace()["id"]
        assert one["session_id"] == trace.trace()["session_id"]


def test_the_agents_form_tells_the_same_events(told: Caller) -> None:
    told.account.ask("the login test fails with a KeyError, please fix it")

    assert {one["channel"] for one in told.events()} == {"summarization", "code_analysis", "similarity"}


def test_no_word_of_the_prompt_or_of_an_item_is_in_an_event(told: Caller) -> None:
    answered(told)
    everything = (told.account.state / "events.jsonl").read_text()

    assert "KeyError" not in everything
    assert "ab ab" not in everything


@pytest.mark.conformance("P47")
@pytest.mark.parametrize("way", ["gates closed", "guard", "switched off", "skipped"])
def test_what_is_disabled_tells_nothing(told: Caller, way: str) -> None:
    env = told.account.env
    if way == "gates closed":
        env |= dict.fromkeys(GATES, "false")
    elif way == "guard":
        env["OMNICLAUDE_NO_HANDLERS"] = "1"
    elif way == "switched off":
        env["ENRICHER_ENABLED"] = "false"

    told.ask(". list files" if way == "skipped" else "the login test fails, please fix it")

    assert not (told.account.state / "events.jsonl").exists()


def test_the_file_is_private_and_does_not_grow_for_ever(told: Caller) -> None:
    file = told.account.write("state/events.jsonl", "x" * (8 << 20) + "\n", mode=0o644)

    told.ask()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_size < 10_000
    assert (told.account.state / "events.jsonl.1").stat().st_size > 8 << 20


def socket_path(caller: Caller) -> Path:
    """Return where a socket may lie: its name has to be shorter than a path of pytest is."""
    path = caller.account.home / "s"
    caller.account.env["ENRICHER_EVENTS_SOCKET"] = str(path)
    return path


@contextmanager
def listener(path: Path, *, backlog: int = 4) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(backlog)
        server.settimeout(10)
        yield server


def test_a_listener_receives_a_line_for_each_event(told: Caller) -> None:
    with listener(socket_path(told)) as server:
        for _attempt in range(ATTEMPTS):  # on a busy machine the 50 ms for all events may be over before the last one
            told.ask()
            counted = told.account.trace()["inputs"]["events"]
            if not counted["failed"]:
                break
            if counted["sent"]:
                server.accept()[0].close()
        line, _ = server.accept()
        with line, line.makefile("rb") as lines:
            names = [json.loads(one)["channel"] for one in lines]

    assert counted == {"sent": len(names), "failed": 0}
    assert [name for name in names if name in told.statuses()] == ["summarization", "code_analysis", "similarity"]


@pytest.mark.conformance("P26", "P36")
@pytest.mark.parametrize(
    "fault", ["no socket", "nobody listens", "a file", "reset", "file in a file", "file is a FIFO"]
)
def test_what_goes_wrong_is_counted_and_not_felt(told: Caller, fault: str) -> None:
    expected = told.ask_until(lambda answer: answer["success"])
    del told.account.env["ENRICHER_EVENTS_FILE"]
    path = socket_path(told)
    if fault == "nobody listens":
        with listener(path):
            pass
    elif fault == "a file":
        path.touch()
    elif fault.startswith("file"):
        del told.account.env["ENRICHER_EVENTS_SOCKET"]
        told.account.env["ENRICHER_EVENTS_FILE"] = str(path) + ("/x" if fault == "file in a file" else "")
        os.mkfifo(path) if fault == "file is a FIFO" else path.touch()
    if fault == "reset":
        with listener(path, backlog=0) as server:
            server.shutdown(socket.SHUT_RDWR)
            answer = told.ask_until(lambda answer: answer["success"])
    else:
        answer = told.ask_until(lambda answer: answer["success"])

    assert answer == expected
    assert told.account.trace()["inputs"]["events"]["failed"] >= 3
    assert [one["stage"] for one in told.log() if one["stage"] == "events"]


NOTES_ITS_PATIENCE = """\
import _signal, _socket, runpy, sys
boot, notes = sys.argv.pop(1), open(sys.argv.pop(1), "a")
class Socket(_socket.socket):
    def settimeout(self, seconds):
        print("socket", seconds, file=notes, flush=True)
        super().settimeout(seconds)
    def connect(self, path):
        print("alarm", _signal.getitimer(_signal.ITIMER_REAL)[0], file=notes, flush=True)
        super().connect(path)
_socket.socket = Socket
sys.argv[0] = boot
runpy.run_path(boot, run_name="__main__")
"""
"""Starts the hook, and notes how long it would wait for a listener when it connects."""


@pytest.mark.conformance("P27", "P38")
@pytest.mark.parametrize(
    ("timeout", "most_s"),
    [("", 0.05), ("5.0", 0.05), ("garbage", 0.05), ("inf", 0.05), ("0.01", 0.01), ("-1", 0.001), ("nan", 0.001)],
)
def test_a_listener_that_never_listens_is_given_50_ms_for_all_events(told: Caller, timeout: str, most_s: float) -> None:
    """The socket's queue is full, so that connecting to it would wait for ever."""
    path, notes = socket_path(told), told.account.home / "notes"
    _python, *options, boot, host = told.account.command()
    starts = [sys.executable, *options, "-c", NOTES_ITS_PATIENCE, boot, str(notes), host, "--format=pipeline"]
    told.account.env["OMNICLAUDE_EMIT_TIMEOUT"] = timeout
    patience: list[tuple[str, float]] = []
    with listener(path, backlog=0), socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(str(path))
        for _attempt in range(5):  # a busy machine may be too late even to connect
            ended = told.account.run(told.account.event(PROMPT), shell_line=shlex.join(starts))
            events = told.account.trace()["inputs"]["events"]
            assert ended.exit_code == 0 and json.loads(ended.stdout)["success"]
            assert events == {"sent": 0, "failed": len(told.account.trace()["channels"])}
            patience = [(kind, float(seconds)) for kind, seconds in map(str.split, notes.read_text().splitlines())]
            if {kind for kind, _seconds in patience} == {"socket", "alarm"}:
                break

    assert all(0 < seconds <= most_s for _kind, seconds in patience), patience
    assert most_s < 0.01 or {kind for kind, _seconds in patience} == {"socket", "alarm"}


def after_answer_ms(trace: dict[str, Any]) -> float:
    """Return what the prompt's process did after its answer was out, in milliseconds."""
    return trace["latency_ms"] - sum(one["latency_ms"] for one in trace["stages"])


@pytest.mark.conformance("P27")
def test_a_listener_that_never_answers_is_not_waited_for(told: Caller) -> None:
    with listener(socket_path(told)):
        told.ask()

    trace = told.account.trace()
    assert trace["inputs"]["events"]["failed"] == 0
    assert after_answer_ms(trace) < EMIT_MS


@pytest.mark.conformance("P27")
def test_the_answer_is_out_before_the_events(told: Caller) -> None:
    """The caller has its object while the events still wait for a listener."""
    path = socket_path(told)
    with listener(path) as server:
        told.ask()
        line, _ = server.accept()
        line.close()

    assert [one["stage"] for one in told.account.trace()["stages"]][-1] == "answer"
