"""Answer a file of JSON lines: one object in, one object out, in the same order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Asked = dict[str, Any]

FAILURES = (ValueError, RecursionError)


def answer_lines(lines: Iterable[bytes], key: str, answer: Callable[[Asked], Asked]) -> int:
    """Print ``answer`` of every line's object as JSON, with the id from the line; return the exit code.

    ``key`` is the text field that each object must have. An invalid line, or one for which ``answer`` raises one of
    FAILURES, is answered with an error and makes the exit code 1.
    """
    failed = False
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _answered(line, number, key, answer)
            failed = failed or "error" in row
            click.echo(json.dumps(row))
    return 1 if failed else 0


def _answered(line: bytes, number: int, key: str, answer: Callable[[Asked], Asked]) -> Asked:
    identity: object = None
    try:
        asked = json.loads(line)
        identity = asked.get("id") if isinstance(asked, dict) else None
        if not isinstance(asked, dict) or not isinstance(asked.get(key), str):
            raise ValueError(f'this is not an object such as {{"id": 1, "{key}": "…"}}')
        return {"id": identity, **answer(asked)}
    except FAILURES as failure:
        return {"id": identity, "error": f"line {number}: {failure}"}
