"""Whether a model may be asked now: daily limits, a pause after failures, and calls that could not finish in time.

What earlier calls took is kept in the state folder (``model``). The process that makes a call writes it; the hook only
reads it, before it starts one.
"""

from __future__ import annotations

import os
import time

from storage.base import private
from storage.base.lean import dumps, loads, utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from enricher.settings import Value

FILE = "model"
LARGEST = 64 * 1024
KEPT = 15
"""Latest calls whose time is remembered."""
ENOUGH = 3
"""Calls that have to be known before one is left out as too slow."""
FAILURES_BEFORE_PAUSE = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 900.0
"""The pause after the third failure in a row; each further failure doubles it."""
TRY_SLOW_AGAIN_S = 300.0
"""A model that was too slow is tried again after this time, because it may have become faster."""


class Account:
    """What is known about earlier calls: their milliseconds, today's number and cost, failures in a row."""

    __slots__ = ("calls", "day", "failures", "latencies_ms", "resume_at", "tried_at", "usd")

    def __init__(self, value: Mapping[str, Any] | None = None) -> None:
        value = value or {}
        self.latencies_ms: list[float] = [float(one) for one in value.get("latencies_ms", [])][-KEPT:]
        self.day = str(value.get("day", ""))
        self.calls = int(value.get("calls", 0))
        self.usd = float(value.get("usd", 0.0))
        self.failures = int(value.get("failures", 0))
        self.resume_at = float(value.get("resume_at", 0.0))
        self.tried_at = float(value.get("tried_at", 0.0))

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def today(self) -> tuple[int, float]:
        """Return today's calls and their cost in US dollars (days are UTC)."""
        return (self.calls, self.usd) if self.day == utc_now()[:10] else (0, 0.0)

    def refusal(self, settings: Mapping[str, Value], within_s: float) -> str:
        """Return why no call is made now; empty if one may be made. ``within_s`` is the time that an answer has."""
        now = time.time()
        calls, usd = self.today()
        if calls >= int(settings["model.calls_per_day"]):
            return f"budget: {calls} calls today"
        if usd >= float(settings["model.usd_per_day"]):
            return f"budget: {usd:.2f} USD today"
        if now < self.resume_at <= now + LONGEST_PAUSE_S:
            return f"paused after {self.failures} failures in a row"
        known = sorted(self.latencies_ms)
        if len(known) < ENOUGH or now - self.tried_at > TRY_SLOW_AGAIN_S:
            return ""
        usual_ms = known[len(known) // 2]
        return (
            f"slow: it usually takes {usual_ms:.0f} ms, {within_s * 1000:.0f} ms are left"
            if (usual_ms > within_s * 1000)
            else ""
        )

    def count(self) -> None:
        """Count a call that is about to be made."""
        day = utc_now()[:10]
        if self.day != day:
            self.day, self.calls, self.usd = day, 0, 0.0
        self.calls += 1
        self.tried_at = time.time()

    def succeeded(self, latency_ms: float, usd: float) -> None:
        self.latencies_ms = [*self.latencies_ms, round(latency_ms, 1)][-KEPT:]
        self.usd = round(self.usd + usd, 6)
        self.failures, self.resume_at = 0, 0.0

    def failed(self, latency_ms: float, retry_after_s: float) -> None:
        """Count a failure; after some in a row, or if the endpoint asks for it, pause."""
        self.failures += 1
        pause_s = retry_after_s
        if self.failures >= FAILURES_BEFORE_PAUSE:
            pause_s = max(pause_s, FIRST_PAUSE_S * 2 ** (self.failures - FAILURES_BEFORE_PAUSE))
            self.latencies_ms = [*self.latencies_ms, round(latency_ms, 1)][-KEPT:]
        if pause_s:
            self.resume_at = time.time() + min(pause_s, LONGEST_PAUSE_S)


def read(state: str) -> Account:
    """Return the account; an empty one if there is none, or if it cannot be read."""
    try:
        value = loads(private.read_own_file(f"{state}/{FILE}", LARGEST).decode())
        return Account(value if isinstance(value, dict) else None)
    except (OSError, ValueError, TypeError, RecursionError):
        return Account()


def change(state: str, action: Callable[[Account], None]) -> None:
    """Apply a change to the account while no other process does; raises OSError."""
    private.make_directory(state)
    lock = private.open_file(f"{state}/{FILE}.lock", os.O_RDWR)
    try:
        os.lockf(lock, os.F_LOCK, 0)
        account = read(state)
        action(account)
        private.write_file(f"{state}/{FILE}", dumps(account.to_json()).encode())
    finally:
        os.close(lock)


def cost(settings: Mapping[str, Value], input_tokens: int, output_tokens: int) -> float:
    """Return the cost of a call in US dollars, by the configured prices per million tokens."""
    price_in, price_out = (float(settings[f"model.usd_per_million_{name}"]) for name in ("input", "output"))
    return (input_tokens * price_in + output_tokens * price_out) / 1e6
