"""Find exceptions that are caught broadly and then forgotten (ERROR_001)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.validation.source import Finding, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source

BROAD = ("Exception", "BaseException")
IGNORING = re.compile(r"(?i)ignor|suppress|swallow|quiet|silent")
LOGGING = ("debug", "info", "warning", "error", "exception", "critical", "log")
SUGGESTION = "catch the expected exception, log it, or use contextlib.suppress with it"


def find_swallowed(source: Source) -> Iterator[Finding]:
    """Yield the handlers that catch every exception and do nothing with it."""
    for node in source.nodes:
        if isinstance(node, ast.Try | ast.TryStar) and not _is_deliberate(source, node):
            for handler in node.handlers:
                caught = _broad(handler)
                if caught and all(map(_does_nothing, handler.body)):
                    message = f"{caught} catches every error and drops it"
                    yield Finding(handler.lineno, end_of(handler), message, SUGGESTION)


def _is_deliberate(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether a test checks that something fails, a function is named for it, or the first error is told."""
    scope = source.scope(node)
    if (source.is_test and node.orelse) or IGNORING.search(getattr(scope, "name", "")):
        return True
    parent = source.parent(node)
    if not isinstance(parent, ast.ExceptHandler):
        return False
    return any(map(_tells, parent.body[parent.body.index(node) + 1 :]))


def _tells(statement: ast.stmt) -> bool:
    is_call = isinstance(statement, ast.Expr) and name_of(statement.value) in LOGGING
    return is_call or isinstance(statement, ast.Raise)


def _broad(handler: ast.ExceptHandler) -> str:
    """Return how a handler catches everything, empty if it names narrower exceptions."""
    if handler.type is None:
        return "a bare except"
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    found = next((name for name in map(name_of, kinds) if name in BROAD), "")
    return f"except {found}" if found else ""


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass | ast.Continue) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
