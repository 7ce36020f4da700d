"""The alarm of one piece of work inside that of the whole hook."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import signal
from typing import TYPE_CHECKING

import pytest

from storage.base.fast_stdlib import on_alarm, within

if TYPE_CHECKING:
    from collections.abc import Iterator


class InnerError(BaseException):
    """The inner time is up."""


class OuterError(BaseException):
    """The outer time is up."""


def ring_inner() -> None:
    raise InnerError


def ring_outer() -> None:
    raise OuterError


@pytest.fixture
def outer_alarm() -> Iterator[None]:
    former = signal.getsignal(signal.SIGALRM)
    on_alarm(60.0, ring_outer)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, former)


def outer_is_set() -> bool:
    left, again = signal.getitimer(signal.ITIMER_REAL)
    with pytest.raises(OuterError):
        os.kill(os.getpid(), signal.SIGALRM)
    return 50.0 < left <= 60.0 and again > 0


def test_the_outer_alarm_goes_on_after_the_inner_one_rang(outer_alarm: None) -> None:
    with pytest.raises(InnerError):
        within(0.01, ring_inner, lambda: [None for _ in range(100_000_000)])

    assert outer_is_set()


def test_an_alarm_that_rings_while_it_is_taken_back_loses_nothing(
    outer_alarm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings = [os.getpid()]
    real = _signal.setitimer

    def ringing(which: int, seconds: float, again: float = 0.0) -> object:
        if not seconds and rings:
            os.kill(rings.pop(), signal.SIGALRM)
        return real(which, seconds, again)

    monkeypatch.setattr(_signal, "setitimer", ringing)
    with pytest.raises(InnerError):
        within(30.0, ring_inner, lambda: "done")

    assert outer_is_set()
