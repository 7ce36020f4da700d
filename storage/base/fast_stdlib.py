"""Provide the few functions of the standard library that the hook needs, without the modules that they usually import.

``import json`` loads ``re`` and costs a cold process as much as starting the
interpreter; the C functions that it wraps cost almost nothing. All use of Python's private modules, such as ``_json``,
is in this file. Each use has the public function as a fallback; the tests run both.
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
    """The settings for reading JSON, as attributes that the standard library's C function expects."""

    strict = False  # accepts control characters within strings, such as a raw NUL
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float  # called with "NaN", "Infinity" or "-Infinity", which are not JSON but are accepted by json
    memo: dict[str, str] = {}  # noqa: RUF012 (the scanner clears it after each document)


def _compile_json() -> tuple[Callable[[str, int], tuple[object, int]], Callable[[object], str]]:
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner
    except ImportError:
        return _public_json()
    scan = make_scanner(_Scanning)  # type: ignore[arg-type]  # the scanner only reads attributes
    # The arguments: no check for cycles, default, encoder of strings, no indent, separators, no sorting, no skipping of
    # keys that are not JSON, NaN and infinity allowed.
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
    """Return the JSON value that begins at ``start``, and the offset after it.

    Raises ValueError if there is no complete value, RecursionError if it is nested
    deeper than the interpreter can follow.
    """
    while start < len(text) and text[start] in WHITESPACE:
        start += 1
    try:
        return _scan(text, start)
    except (StopIteration, SystemError):  # SystemError: the scanner cannot import json.decoder to raise its own error
        raise ValueError("no complete JSON value") from None


def loads(text: str) -> object:
    """Return the single JSON value in ``text``; raises ValueError for anything else."""
    value, end = scan(text)
    if text[end:].strip(WHITESPACE):
        raise ValueError("text behind the JSON value")
    return value


def keyed_hash(key: bytes, data: bytes) -> str:
    """Return the keyed BLAKE2b hash of the data (RFC 7693), 128 bits in hex, without loading OpenSSL."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, key=key[:64], digest_size=16).hexdigest()  # BLAKE2b refuses keys of more than 64 bytes


def utc_now() -> str:
    """Return the current time as ISO-8601 in UTC with milliseconds, sortable as text."""
    return in_utc(time.time())


def in_utc(seconds: float) -> str:
    """Return a time, given in seconds since the epoch, as ISO-8601 in UTC with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


REPEAT_ALARM_S = 0.25
"""Seconds after which an alarm rings again.

An exception that an alarm raises may be lost, if a library has called the function in which it is raised; the one that
the next ring raises is not.
"""


def on_alarm(seconds: float, ring: Callable[[], None]) -> None:
    """Call ``ring`` from the main thread after ``seconds``, then every quarter of a second; 0 cancels the alarm.

    Does nothing on platforms without an interval timer (Windows).
    """
    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:
        return
    signal(SIGALRM, lambda _number, _frame: ring())
    setitimer(ITIMER_REAL, seconds, REPEAT_ALARM_S)


def within(seconds: float, ring: Callable[[], None], action: Callable[[], Answer]) -> Answer:
    """Return the result of ``action``; call ``ring`` if it takes longer than ``seconds``.

    An alarm that is already set is restored afterwards. If it is due first, it rings
    first. Outside the main thread, and without an interval timer, ``ring`` is never called.
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
        setitimer(ITIMER_REAL, seconds, REPEAT_ALARM_S)
        return action()
    finally:
        try:
            setitimer(ITIMER_REAL, 0)
        finally:  # the alarm may have rung before the timer was stopped
            setitimer(ITIMER_REAL, 0)
            signal(SIGALRM, former)
            if outer:
                # At least 1 ms, because 0 would cancel an alarm that became due meanwhile.
                setitimer(ITIMER_REAL, max(0.001, outer - (time.perf_counter() - begun)), REPEAT_ALARM_S)
