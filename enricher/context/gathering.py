"""Load the channels and query them, each with its own deadline, so that none can keep another from answering.

Built-in channels run one after the other in this process, each with a time limit
enforced by a timer; declared programs run in parallel as separate processes.
"""

from __future__ import annotations

import os
import time

from enricher.context import UNDECLARED, ChannelResult, ChannelRule, redact_item
from enricher.settings import GATES, KEEPS_TEXT
from storage.base.fast_stdlib import within
from storage.memory.memory_markers import has_memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.context import Candidate, Channel, Request
    from enricher.settings import Value


NEED_THE_INDEX = ("history", "tests", "ways")  # the channel ``code`` can still find files by name
KEEP = "keep"  # allows a channel program of this package to store the embedding of the prompt


class ChannelDeadlineError(BaseException):
    """Raised if a channel runs out of time; a ``BaseException``, so that no ``except Exception`` in it swallows it."""


def load(name: str) -> Channel:
    """Import a built-in channel's module and return its ``CHANNEL``; any exception of the import propagates."""
    channel: Channel = __import__(f"enricher.context.channels.{name}", fromlist=["CHANNEL"]).CHANNEL
    return channel


def gather(declared: list[dict[str, Any]], request: Request, settings: Mapping[str, Value]) -> list[ChannelResult]:
    """Query the declared channels about a prompt; return one result per channel, in the order of declaration."""
    results: dict[str, ChannelResult] = {}
    asked: list[ChannelRule] = []
    for rule in declared:
        channel = ChannelRule(rule, deadline_ms=int(settings["budgets.channel_ms"]))
        if not off_reason(rule, settings):
            if channel.handler:
                from enricher.model.allowance import LIMITS

                channel.handler += [f"{name}={settings[name]}" for name in LIMITS]
                channel.handler += [KEEP] if settings.get("log") in KEEPS_TEXT else []
            asked.append(channel)
        elif rule.get("handler") != UNDECLARED:
            results[channel.name] = ChannelResult(channel.name, "off")
    programs = [channel for channel in asked if channel.is_program()]
    if programs:
        from enricher.context import external

        started = external.start(programs, request.to_json(), request.state)
        try:
            _ask_builtin(asked, request, results)
        finally:
            answers = external.collect(started, until=request.until)
        # Inside a channel's own process nothing was started: its programs count as off.
        results.update((channel.name, ChannelResult(channel.name, "off")) for channel in programs)
        results.update((one.name, one) for one in answers)
    else:
        _ask_builtin(asked, request, results)
    request.close()
    gathered = [results[rule["name"]] for rule in declared if rule["name"] in results]
    if any(item.text for one in gathered for item in one.candidates):
        from enricher.context.host_context import mark_in_answer, mark_loaded

        mark_loaded(gathered, request)
        mark_in_answer(gathered, request.conversation.answer)
    return gathered


def off_reason(rule: Mapping[str, Any], settings: Mapping[str, Value]) -> str:
    """Return the reason why a channel is not queried (ruling R10); empty if it is queried."""
    if settings.get("no_handlers"):
        return "no_handlers is set"
    if not settings.get(f"channels.{rule['name']}", True):
        return f"channels.{rule['name']} = false"
    if rule.get("model") and not all(settings.get(gate) is True for gate in GATES):
        return f"it asks a language model, and {' or '.join(GATES)} is not set"
    if rule.get("endpoint") and not os.environ.get(rule["endpoint"]):
        return f"{rule['endpoint']} is not set"
    return ""


def _ask_builtin(asked: list[ChannelRule], request: Request, results: dict[str, ChannelResult]) -> None:
    """Query the built-in channels in descending priority: if time runs out, the least important are left out."""
    until = request.until
    for channel in sorted(asked, key=lambda one: -one.priority):
        if not channel.is_program():
            results[channel.name] = _ask(channel, request, until=until)
    request.until = until  # ``_ask`` shortens it for each channel


def _ask(channel: ChannelRule, request: Request, *, until: float) -> ChannelResult:
    begun = time.perf_counter()
    request.until = min(until, begun + channel.deadline_ms / 1000)
    status, problem, offered = "timeout", "", []
    try:
        if begun < until:
            offered = within(request.until - begun, _ring, lambda: _offer(channel, request))
            status = "ok" if offered else "empty"
    except ChannelDeadlineError:
        pass
    except Exception as failure:  # a failing channel must not stop the others
        # A failure after the deadline is most likely caused by it: SQLite reports that it was interrupted.
        late = time.perf_counter() >= request.until
        status, problem = ("timeout", "") if late else ("error", f"{type(failure).__name__}: {failure}")
    latency_ms = round((time.perf_counter() - begun) * 1000, 2)
    found = ChannelResult(channel.name, status, latency_ms=latency_ms, candidates=offered, problem=problem)
    found.is_built_in = status == "timeout"
    return found


def _ring() -> None:
    raise ChannelDeadlineError


def _may_offer(name: str, request: Request) -> bool:
    """Return whether a built-in channel could find anything; if not, its module is not imported."""
    if name in NEED_THE_INDEX:
        return request.has_index()
    if name == "memory":
        return has_memories(request.state, request.project.id)
    return name != "session" or bool(request.conversation)


def _offer(channel: ChannelRule, request: Request) -> list[Candidate]:
    if not _may_offer(channel.name, request):
        return []
    return [redact_item(item) for item in load(channel.name).offer(request, channel)]
