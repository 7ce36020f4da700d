"""The few library functions that the hook needs, without the modules they usually drag in.

``import json`` loads ``re`` and costs a cold process as much as the interpreter
itself; the C functions behind it cost nothing. Everything private is in this one
file, and each has the public function as its fallback: tests run both.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Answer = TypeVar("Answer")

WHITESPACE = " \t\n\r"


class _Scanning:
    """What the C scanner asks of its decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 (the scanner clears it after each document)

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


def _compile_json() -> tuple[Callable[[str, int], tuple[object, int]], Callable[[object], str]]:
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner
    except ImportError:
        return _public_json()
    scan = make_scanner(_Scanning)  # type: ignore[arg-type]  # it reads attributes; the stub wants a decoder
    encode = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)
    return scan, lambda value: "".join(encode(value, 0))


def _public_json() -> tuple[Callable[[str, int], tuple[object, int]], Callable[[object], str]]:
    import json

    scan = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]  # public, missing in the stub
    return scan, json.JSONEncoder(separators=(",", ":")).encode


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


_scan, dumps = _compile_json()


def scan(text: str, start: int = 0) -> tuple[object, int]:
    """Return the JSON value that begins at ``start`` and the offset behind it.

    Raises ValueError where there is no complete value, RecursionError where it is
    nested deeper than the interpreter can follow.
    """
    while text[start : start + 1] in WHITESPACE and start < len(text):
        start += 1
    try:
        return _scan(text, start)
    except (StopIteration, SystemError):  # the latter where the scanner cannot find json.decoder to complain with
        raise ValueError("no complete JSON value") from None


def loads(text: str) -> object:
    """Return the one JSON value that ``text`` holds; raises ValueError for anything else."""
    value, end = scan(text)
    if text[end:].strip(WHITESPACE):
        raise ValueError("text behind the JSON value")
    return value


def keyed_hash(key: bytes, data: bytes) -> str:
    """Return BLAKE2b in its keyed mode (RFC 7693), 128 bits in hex: a MAC without loading OpenSSL."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, key=key[:64], digest_size=16).hexdigest()


def utc_now() -> str:
    """Return this moment as ISO-8601 in UTC with milliseconds, sortable as text."""
    return in_utc(time.time())


def in_utc(seconds: float) -> str:
    """Return a time since the epoch as ISO-8601 in UTC with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


RING_AGAIN_S = 0.25
"""An alarm that rings inside a library's callback is swallowed there; the next one is not."""


def on_alarm(seconds: float, ring: Callable[[], None]) -> None:
    """Call ``ring`` from the main thread once ``seconds`` have passed, and again every quarter second; 0 cancels.

    Where the platform has no interval timer (Windows) nothing happens.
    """
    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:
        return
    signal(SIGALRM, lambda _number, _frame: ring())
    setitimer(ITIMER_REAL, seconds, RING_AGAIN_S)


def within(seconds: float, ring: Callable[[], None], action: Callable[[], Answer]) -> Answer:
    """Return what ``action`` returns; ``ring`` is called if it takes longer than ``seconds``.

    An alarm that is set already goes on afterwards, and rings first if it is due
    first. Outside the main thread, and without an interval timer, nothing rings.
    """
    try:
        from _signal import ITIMER_REAL, SIGALRM, getitimer, setitimer, signal

        outer = getitimer(ITIMER_REAL)[0]
        if 0 < outer <= seconds:
            return action()
        former = signal(SIGALRM, lambda _number, _frame: ring())
    except (ImportError, ValueError):
        return action()
    begun = time.perf_counter()
    try:
        setitimer(ITIMER_REAL, seconds, RING_AGAIN_S)
        return action()
    finally:
        try:
            setitimer(ITIMER_REAL, 0)
        finally:  # it may have rung on the way here
            setitimer(ITIMER_REAL, 0)
            signal(SIGALRM, former)
            if outer:
                setitimer(ITIMER_REAL, max(0.001, outer - (time.perf_counter() - begun)), RING_AGAIN_S)
