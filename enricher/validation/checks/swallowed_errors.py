"""Find exceptions that are caught broadly and then forgotten (ERROR_001)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source

BROAD = ("Exception", "BaseException")
IGNORING = re.compile(
    r"(?i)ignor|suppress|swallow|quiet|silen|best.effort|_?try_|safe|\b(?:eats?|discards?|regardless|optional\w*|attempts?)\b"
    r"|\b(?:if|where|when) (?:possible|available)\b|\bmay (?:not|fail|raise)\b|\bstill\b|__del__|__exit__|atexit"
    r"|^_*(?:\w+_)?tests?(?:_|\b)|\bexclud\w+ .*error"
)
ENDS = re.compile(
    r"(?:^|_)(?:a?close|wait_closed|terminate|shut_?down|tear_?down|clean_?up|dispose|finali[sz]\w*|destroy|disconnect"
    r"|abort|release|end|exit|stop|cancel|kill|unlink|remove|rm(?:tree|dir)|detach|flush|quit|logout|unsubscribe"
    r"|unregister|delete)(?:_|$)"
)
"""What a program calls when it is done with something; a failure there changes nothing any more."""
FOR_TOOLS = re.compile(r"pragma: no \w+|noqa\b(?:: ?[A-Z0-9, ]+)?|pylint: ?[\w=,-]+|type: ?ignore\S*|nosec\b")
ALLOWED = re.compile(r"noqa\b.*\bS11[02]\b|\bnosec\b")
"""The author told a linter (bandit, ruff) that this handler may drop its error."""
REASON_WORDS = 2
"""A comment of so many words is a reason."""
NO_REASON = re.compile(r"(?i)\b(?:it )?(?:does not|doesn't) matter\b|\bnever mind\b|\bwho cares\b")
LOGGING = frozenset(
    "debug info warning warn error exception critical log print excepthook print_exc print_exception".split()
)
SUGGESTION = "catch the expected exception, log it, or use contextlib.suppress with it"


def find_swallowed(source: Source) -> Iterator[CodeFinding]:
    """Yield the handlers that catch every exception and do nothing with it."""
    if source.is_migration or source.is_test:
        return
    for node in source.nodes:
        if isinstance(node, ast.Try | ast.TryStar) and not _is_deliberate(source, node):
            for handler in node.handlers:
                caught = _broad(handler)
                if caught and all(map(_does_nothing, handler.body)) and not _has_reason(source, node, handler):
                    message = f"{caught} catches every error and drops it"
                    yield CodeFinding(handler.lineno, end_of(handler), message, SUGGESTION)


def _is_deliberate(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether what follows an error is decided: by a fallback, a value set before, a log, or a name."""
    around = [one for one in source.ancestors(node) if isinstance(one, FUNCTIONS)]
    if any(IGNORING.search(f"{one.name} {docstring_of(one)}") or _is_ending(one.name) for one in around):
        return True
    if node.orelse or len(node.handlers) > 1 or any(map(_ends_something, _inside(node))):
        return True
    statements = [one for one in _inside(node) if isinstance(one, ast.stmt)]
    if all(isinstance(one, ast.Import | ast.ImportFrom | ast.If) or _reports_error(one) for one in statements):
        return True
    if isinstance(source.parent(node), ast.ExceptHandler) or any(map(_ends_something, _before(source, node))):
        return True  # the first error decides what happens; or this waits for what was ended
    return _has_fallback(source, node) or _sets_value(source, node)


def _inside(node: ast.Try | ast.TryStar) -> Iterator[ast.AST]:
    """Return the nodes in the body of a block."""
    return (one for statement in node.body for one in ast.walk(statement))


def _before(source: Source, node: ast.stmt) -> list[ast.stmt]:
    """Return the statement directly before one in its block, as far as there is one."""
    block = getattr(source.parent(node), "body", [])
    at = block.index(node) if isinstance(block, list) and node in block else 0
    return block[at - 1 : at] if at else []


def _has_fallback(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether success leaves the function or a loop, so that the code after the block is for an error."""
    leaves = any(isinstance(one, ast.Return | ast.Break | ast.Continue | ast.Raise) for one in _inside(node))
    return leaves and (_is_followed(source, node) or _is_in_loop(source, node))


def _is_followed(source: Source, node: ast.stmt) -> bool:
    """Return whether there are more statements, in the function or file, after one and the branches around it."""
    parent = source.parent(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block[:-1]:
            return True
    return isinstance(parent, ast.If | ast.With | ast.AsyncWith | ast.Try) and _is_followed(source, parent)


def _is_in_loop(source: Source, node: ast.stmt) -> bool:
    """Return whether a loop may try one candidate after the other until one works."""
    return any(isinstance(one, ast.For | ast.AsyncFor | ast.While) for one in source.ancestors(node))


def _sets_value(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether the block sets what the code outside reads, too: after an error it is what it was before."""
    inside = set(_inside(node))
    bound: set[str] = set()
    for one in inside:
        if isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store):
            return True
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            bound.add(one.id)
    scope = source.scope(node)
    outside = (one for one in ast.walk(scope) if one not in inside)
    return any(not bound.isdisjoint(_names(one)) for one in outside)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    return [node.arg] if isinstance(node, ast.arg) else [node.id] if isinstance(node, ast.Name) else []


def _ends_something(node: ast.AST) -> bool:
    """Return whether a statement closes or removes something, or waits for the end of a task."""
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.Await | ast.Yield):
        value = value.value
        if isinstance(value, ast.Name | ast.Attribute):
            return True
    return isinstance(value, ast.Call) and _is_ending(name_of(value))


def _is_ending(name: str) -> bool:
    return bool(ENDS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _has_reason(source: Source, node: ast.Try | ast.TryStar, handler: ast.ExceptHandler) -> bool:
    """Return whether a comment in the handler or above the block gives a reason."""
    before = handler.lineno - 1
    first = before if source.lines[before - 1].lstrip().startswith("#") else handler.lineno
    after = end_of(handler) + 1
    last = after if source.lines[after - 1 : after] and source.lines[after - 1].lstrip().startswith("#") else after - 1
    body = source.comments(node.lineno, end_of(node.body[0]))
    remarks = body, source.comments(first, last), source.comments(node.lineno - 2, node.lineno)
    told = (NO_REASON.sub("", FOR_TOOLS.sub("", one)) for one in remarks)
    is_allowed = any(map(ALLOWED.search, remarks))
    return is_allowed or any(len(one.split()) >= REASON_WORDS or IGNORING.search(one) for one in told)


def _reports_error(statement: ast.stmt) -> bool:
    name = name_of(statement.value) if isinstance(statement, ast.Expr) else ""
    return name in LOGGING or "logger" in name or isinstance(statement, ast.Raise)


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
