"""The work of the screen, counted: calls, and the characters that each search and each slice passes over."""

from __future__ import annotations

import sys
from typing import Any

from enricher.prompt import redaction
from enricher.prompt.redaction import screen


class _Counter:
    work = 0


class _Bytes(bytes):
    def find(self, *given: Any) -> int:
        return _counted(super().find(*given), len(self), given)

    def rfind(self, *given: Any) -> int:
        _Counter.work += (given[2] if len(given) > 2 else len(self)) - (given[1] if len(given) > 1 else 0)
        return super().rfind(*given)

    def __getitem__(self, wanted: Any) -> Any:
        found = super().__getitem__(wanted)
        _Counter.work += len(found) if isinstance(wanted, slice) else 1
        return found


class _Text(str):
    __slots__ = ()

    def find(self, *given: Any) -> int:
        return _counted(super().find(*given), len(self), given)

    def index(self, *given: Any) -> int:
        return _counted(super().index(*given), len(self), given)

    def __getitem__(self, wanted: Any) -> Any:
        found = super().__getitem__(wanted)
        _Counter.work += len(found)
        return found


class _Screen(screen.Screen):
    __slots__ = ()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = _Text(text)
        self.raw, self.low, self.runs = _Bytes(self.raw), _Bytes(self.low), _Bytes(self.runs)


def _counted(found: int, size: int, given: tuple[Any, ...]) -> int:
    start = given[1] if len(given) > 1 else 0
    _Counter.work += (found if found >= 0 else min(size, given[2]) if len(given) > 2 else size) - start
    return found


def _note(_frame: object, event: str, _argument: object) -> None:
    if event in {"call", "c_call"}:
        _Counter.work += 1


def work_of(text: str) -> int:
    """Return how much work it is to redact the text."""
    _Counter.work = 0
    plain, redaction.Screen = redaction.Screen, _Screen  # type: ignore[misc]  # the same, counting
    sys.setprofile(_note)
    try:
        redaction.redact(text)
    finally:
        sys.setprofile(None)
        redaction.Screen = plain  # type: ignore[misc]
    return _Counter.work
