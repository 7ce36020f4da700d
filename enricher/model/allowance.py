"""Decide whether a model may be called now, given the daily limits, the latest failures and the usual call duration.

The duration and cost of earlier calls are stored in the state folder (file ``model``). The process that makes a call
writes this file; the hook only reads it, before it starts such a process. The daily limits apply to all calls together:
for second opinions on prompts, for plans, for the channels that query a model (seed 004), and for vectors of texts. A
pause applies to the calls for a single purpose, because each purpose has its own endpoint or its own time limit.
"""

from __future__ import annotations

import os
import time

from storage.base import private
from storage.base.fast_stdlib import dumps, loads, utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any, Self

    from enricher.settings import Value

FILE = "model"
LARGEST = 64 * 1024
LATENCIES_KEPT = 15  # number of the latest second opinions whose durations are remembered
ENOUGH = 3  # minimum number of remembered durations for the decision that the model is too slow to be called
FAILURES_BEFORE_PAUSE = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S, DOUBLINGS = 30.0, 900.0, 5
"""Seconds of the first pause, which follows the third failure in a row, and of the longest one.

The third number says how many further failures double the pause, each of them once.
"""
TRY_SLOW_AGAIN_S = 300.0  # after this time, a model that was too slow may have become faster

LIMITS = ("model.calls_per_day", "model.usd_per_day", "model.usd_per_million_input", "model.usd_per_million_output")
"""Names of the settings for daily limits and prices. A channel's process gets their values from the hook as strings."""
SKIPPED = "skipped"
OPINION, VECTORS, PLAN = "", "vectors", "plan"
"""Names of purposes of calls: a second opinion, vectors for the search by meaning, the steps of a plan.

The purpose of a channel's calls is the channel's name.
"""


class Account:
    """The record of earlier calls to models: the number and the cost of today's calls, and the failures in a row.

    ``pauses`` maps the purpose of calls to the number of their failures in a row and the time at which their pause
    ends. ``latencies_ms`` are the durations of the latest second opinions, and ``tried_at`` is the time of the last
    one.
    """

    __slots__ = ("calls", "day", "latencies_ms", "pauses", "tried_at", "usd")

    def __init__(self, value: Mapping[str, Any] | None = None) -> None:
        value = value or {}
        self.latencies_ms: list[float] = [float(one) for one in value.get("latencies_ms", [])][-LATENCIES_KEPT:]
        self.day = str(value.get("day", ""))
        self.calls = int(value.get("calls", 0))
        self.usd = float(value.get("usd", 0.0))
        self.tried_at = float(value.get("tried_at", 0.0))
        self.pauses: dict[str, tuple[int, float]] = {
            str(purpose): (int(failures), float(resume_at))
            for purpose, (failures, resume_at) in value.get("pauses", {}).items()
        }

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def today(self) -> tuple[int, float]:
        """Return the number of today's calls and their cost in US dollars; days begin at midnight UTC."""
        return (self.calls, self.usd) if self.day == utc_now()[:10] else (0, 0.0)

    def refusal_for(self, purpose: str, settings: Mapping[str, Value]) -> str:
        """Return why no call may be made for this purpose now; empty if one may be made."""
        now = time.time()
        calls, usd = self.today()
        if calls >= int(settings["model.calls_per_day"]):
            return f"budget: {calls} calls today"
        if usd >= float(settings["model.usd_per_day"]):
            return f"budget: {usd:.2f} USD today"
        failures, resume_at = self.pauses.get(purpose, (0, 0.0))
        # A clock that was set back meanwhile must not prolong the pause.
        return f"paused after {failures} failures in a row" if now < resume_at <= now + LONGEST_PAUSE_S else ""

    def refusal(self, settings: Mapping[str, Value], within_s: float) -> str:
        """Return why no second opinion may be requested now; empty if one may be.

        None is requested if earlier answers usually took longer than ``within_s`` seconds.
        """
        if refusal := self.refusal_for(OPINION, settings):
            return refusal
        now = time.time()
        known = sorted(self.latencies_ms)
        if len(known) < ENOUGH or now - self.tried_at > TRY_SLOW_AGAIN_S:
            return ""
        usual_ms = known[len(known) // 2]
        if usual_ms <= within_s * 1000:
            return ""
        return f"slow: it usually takes {usual_ms:.0f} ms, {within_s * 1000:.0f} ms are left"

    def count(self) -> None:
        """Count a call to a model that is about to be made as one of today's calls."""
        day = utc_now()[:10]
        if self.day != day:
            self.day, self.calls, self.usd = day, 0, 0.0
        self.calls += 1

    def ended(
        self,
        purpose: str,
        *,
        is_failure: bool,
        latency_ms: float = 0.0,
        retry_after_s: float = 0.0,
        usd: float = 0.0,
    ) -> None:
        """Record the end of a call for a ``purpose``: whether it failed, its duration and its cost.

        A pause begins after several failures in a row, or if the endpoint asks for one of ``retry_after_s`` seconds.
        """
        failures, resume_at = self.pauses.pop(purpose, (0, 0.0))
        failures = failures + 1 if is_failure else 0
        if is_failure:
            self.pauses[purpose] = failures, _resume_at(failures, retry_after_s) or resume_at
        # The first failures in a row, which may be quick, say nothing about how long an answer takes.
        if purpose == OPINION and not 0 < failures < FAILURES_BEFORE_PAUSE:
            self.latencies_ms = [*self.latencies_ms, round(latency_ms, 1)][-LATENCIES_KEPT:]
        self.usd = round(self.usd + usd, 6)


def _resume_at(failures: int, retry_after_s: float) -> float:
    # 0 means that there is no pause.
    pause_s = retry_after_s
    if failures >= FAILURES_BEFORE_PAUSE:
        pause_s = max(pause_s, FIRST_PAUSE_S * 2.0 ** min(failures - FAILURES_BEFORE_PAUSE, DOUBLINGS))
    return time.time() + min(pause_s, LONGEST_PAUSE_S) if pause_s else 0.0


class CountedCall:
    """A context manager around one call to a model, which counts the call or refuses it, and records how it ended.

    Entering it raises ModelError if no call may be made now; a second opinion is never refused here, but before its
    process starts (``Account.refusal``). If the block raises an exception, the call counts as failed, even if the
    caller only ran out of time. The call's duration counts from the creation of this object.
    """

    __slots__ = ("_began", "_purpose", "_settings", "_state", "_usd")

    def __init__(self, purpose: str, settings: Mapping[str, Value], state: str) -> None:
        self._purpose, self._settings, self._state = purpose, settings, state
        self._usd = 0.0
        self._began = time.perf_counter()

    def __enter__(self) -> Self:
        from enricher.model.client import ModelError

        try:
            change(self._state, self._begin)
        except OSError as failure:
            raise ModelError(f"the call cannot be counted: {failure}") from None
        return self

    def _begin(self, account: Account) -> None:
        from enricher.model.client import ModelError

        if self._purpose == OPINION:
            account.tried_at = time.time()
        elif refusal := account.refusal_for(self._purpose, self._settings):
            raise ModelError(refusal, reason=SKIPPED)
        account.count()

    def used(self, input_tokens: int, output_tokens: int = 0) -> None:
        """Record how many tokens the call used, so that its cost is counted."""
        self._usd = cost(self._settings, input_tokens, output_tokens)

    def __exit__(self, _kind: object, failure: BaseException | None, _traceback: TracebackType | None) -> None:
        latency_ms = (time.perf_counter() - self._began) * 1000
        retry_after_s = float(getattr(failure, "retry_after_s", 0.0))
        try:
            change(
                self._state,
                lambda account: account.ended(
                    self._purpose,
                    is_failure=failure is not None,
                    latency_ms=latency_ms,
                    retry_after_s=retry_after_s,
                    usd=self._usd,
                ),
            )
        except OSError:  # the answer is used even if the end of the call cannot be recorded
            return


def read(state: str) -> Account:
    """Return the account of earlier calls from the state folder; an empty one if there is none or it is unreadable."""
    try:
        value = loads(private.read_own_file(f"{state}/{FILE}", LARGEST).decode())
        return Account(value if isinstance(value, dict) else None)
    except (OSError, ValueError, TypeError, RecursionError):
        return Account()


def change(state: str, action: Callable[[Account], None]) -> None:
    """Apply ``action`` to the stored account of earlier calls and store the result; a lock keeps other processes out.

    Raises OSError if the account cannot be stored.
    """
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
