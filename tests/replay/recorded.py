"""Traces as the hook records them, of prompts of one's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.context import CHANNELS, Candidate, ChannelResult
from enricher.prompt.conversation import Conversation
from enricher.record.after_answer import describe
from enricher.respond import Inputs
from enricher.respond.decision import decide, verdict_on
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from storage import traces
from storage.base.fast_stdlib import dumps
from storage.db import database
from storage.traces import spool

if TYPE_CHECKING:
    import sqlite3

    from enricher.classify import Rules
    from enricher.classify.opinion import Opinion

FIRST = 1_700_000_000_000_000


def keep_version(folder: str, rules: Rules) -> None:
    texts = compile_layers([Layer("packaged", packaged_file())]).texts
    spool.put_version(folder, rules.hash, lambda: dumps(rules.body))
    spool.put_sources(folder, rules.hash, texts)
    database.connect(folder).close()


def record(
    prompt: str,
    rules: Rules,
    *,
    number: int,
    session: str,
    earlier: str = "fix the failing login test",
    opinion: Opinion | None = None,
) -> traces.Trace:
    """Return what the hook records of a prompt; every other one was offered something, every fifth had a past."""
    trace = traces.Trace()
    trace.id = f"{FIRST + number * 1_000_000:014x}{number:010x}"
    trace.at = "2026-03-01T10:00:00Z"
    trace.host, trace.session_id, trace.project, trace.prompt = "claude", session, "github.com/o/r", prompt
    offered = [Candidate("", f"src/a{at}.py", 0.9 - at / 10, label=f"src/a{at}.py:3 read") for at in range(3)]
    channels = [ChannelResult("code", "ok", candidates=offered)] if number % 2 else [ChannelResult("code", "empty")]
    channels += [ChannelResult(name, "empty") for name in CHANNELS if name != "code"]
    conversation = Conversation()
    if number % 5 == 1:
        conversation.prompts = [earlier]
    inputs = Inputs(prompt, settings=rules.body["settings"], channels=channels, conversation=conversation)
    if opinion:
        inputs.model = {"model": "test-model", "status": "ok", "opinion": opinion.to_json()}
    describe(trace, decide(inputs, rules, verdict_on(inputs, rules)), inputs)
    trace.rules_hash = rules.hash
    return trace


def keep(db: sqlite3.Connection, trace: traces.Trace) -> None:
    for table, rows in traces.flatten(trace).items():
        db.executemany(traces.insertion(table, traces.TABLES[table]), rows)
