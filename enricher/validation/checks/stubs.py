"""Find functions that are declared but not implemented (CODE_001).

An empty function is no stub where Python or its author means it to be empty: abstract methods, protocols, overloads,
hooks that say so, an override that switches something off, a fallback for a missing module. An empty method in a class
with other methods may belong to an interface of another file, so it is reported only if it owes its caller a result.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from enricher.validation.checks.empty_on_purpose import is_intentional
from enricher.validation.checks.unimplemented import kind_of
from enricher.validation.source import CodeFinding, end_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function, Source


SUGGESTION = "implement it, or remove it until it is needed"


def find_stubs(source: Source) -> Iterator[CodeFinding]:
    """Yield the functions and methods that hold no implementation."""
    classes = {node.name: node for node in source.nodes if isinstance(node, ast.ClassDef)}
    for function in source.functions():
        kind = kind_of(source, function)
        if kind and not is_intentional(source, function, kind, classes):
            yield CodeFinding(function.lineno, end_of(function), f"{_named(source, function)} {kind}", SUGGESTION)


def _named(source: Source, function: Function) -> str:
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef):
        return f"method {owner.name}.{function.name}"
    return f"function {function.name}"
