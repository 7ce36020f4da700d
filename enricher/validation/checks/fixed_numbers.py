"""Find limits of time and number that are fixed in the middle of a function (CODE_002)."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from enricher.validation.checks.given_names import IN_EXAMPLE, READING, TO_SETTING
from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source


NUMBERS = re.compile(
    r"(?i)(?:\w*_)?(?:timeout|port|retries|attempts)"
    r"(?:_(?:s|ms|sec|secs|seconds|minutes|hours|days))?"
)
WAITING = ("sleep", "settimeout")
ENDING = frozenset("join close stop shutdown terminate flush set set_many add get_or_set".split())
"""Calls that wait for an end, or keep a value in a cache or solver for a time."""
SMALL = 30
"""A limit of time or number below this is the choice of the place where it is used."""
DAY_S = 86_400
PRIVILEGED_PORTS = 1024
"""A port below this belongs to a protocol."""


def find_numbers(source: Source) -> Iterator[CodeFinding]:
    """Yield the numbers that a call in a function gives to something that is usually a setting."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            yield from _numbers_of(source, node)


def _numbers_of(source: Source, call: ast.Call) -> Iterator[CodeFinding]:
    given = [(one.arg or "", one.value) for one in call.keywords if NUMBERS.fullmatch(one.arg or "")]
    if name_of(call.func) in WAITING and call.args:
        given.append((name_of(call.func), call.args[0]))
    for name, value in given:
        number = value.value if isinstance(value, ast.Constant) else None
        if isinstance(number, bool) or not isinstance(number, int | float) or _is_choice(name, number):
            continue
        is_rhythm = _is_rhythm(source, call, name)
        if not is_rhythm and _is_in_the_middle(source, call, number) and not source.is_explained(value):
            yield CodeFinding(value.lineno, end_of(value), f"{number} for {name} is fixed in the code", TO_SETTING)


def _is_in_the_middle(source: Source, call: ast.Call, number: float) -> bool:
    """Return whether a call is in a function, and neither that nor a name for the call's result explains the number."""
    above = source.ancestors(call)
    around: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]
    around = [one for one in above if isinstance(one, FUNCTIONS)]
    if not around or name_of(call.func) in READING | ENDING or _is_in_decorator([call, *above]):
        return False
    if name_of(call.func) in ("__init__", "super") or any(isinstance(one, ast.BoolOp) for one in above):
        return False  # what a subclass is about; or a value for one that was not given
    around += [one for one in above if isinstance(one, ast.ClassDef)]
    if any(IN_EXAMPLE.fullmatch(one.name) or str(number) in docstring_of(one) for one in around):
        return False
    kept = source.parent(call)
    return not (isinstance(kept, ast.Assign) and NUMBERS.fullmatch(name_of(kept.targets[0])))


def _is_in_decorator(path: list[ast.AST]) -> bool:
    """Return whether a value is an argument of a decorator; ``path`` is its node, followed by its ancestors."""
    return any(below in above.decorator_list for below, above in pairwise(path) if isinstance(above, FUNCTIONS))


def _is_choice(name: str, number: float) -> bool:
    """Return whether a number is the choice of its place: a short time, few attempts, the port of a protocol."""
    if "default" in name.lower():
        return True
    if "port" in name.lower():
        return number < PRIVILEGED_PORTS
    return abs(number) < SMALL


def _is_rhythm(source: Source, call: ast.Call, name: str) -> bool:
    """Return whether a pause repeats in a loop, or has no end."""
    if name != "sleep":
        return False
    is_endless = isinstance(call.args[0], ast.Constant) and float(str(call.args[0].value)) > DAY_S
    return is_endless or any(isinstance(one, ast.While | ast.For | ast.AsyncFor) for one in source.ancestors(call))
