"""Find exceptions that are caught broadly and then ignored (rule ERROR_001).

A ``try`` block is reported only if it is all that its function does. If there are other statements, the block may
contain optional work, whose failure can be ignored.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, is_nothing, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source

BROAD = ("Exception", "BaseException")
IGNORING = re.compile(
    r"(?i)ignor|suppress|swallow|quiet|silen|best.effort|_?try_|safe|\b(?:eats?|discards?|regardless|optional\w*|attempts?)\b"
    r"|\b(?:if|where|when) (?:possible|available)\b|\bmay (?:not|fail|raise)\b|\bstill\b|__del__|__exit__|atexit"
    r"|^_*(?:\w+_)?tests?(?:_|\b)|\bexclud\w+ .*error"
)
"""Words in a function's name, its docstring or a comment which say that errors are ignored on purpose."""
ENDS = re.compile(
    r"(?:^|_)(?:a?close|makedirs|mkdir|result|wait_closed|terminate|shut_?down|tear_?down|clean_?up|dispose|finali[sz]\w*|destroy|disconnect"
    r"|abort|release|end|exit|stop|cancel|kill|unlink|remove|rm(?:tree|dir)|detach|flush|quit|logout|unsubscribe"
    r"|unregister|delete)(?:_|$)"
)
"""Names of calls that clean up, end or wait for something, or create a folder; they may fail without harm."""
SIDE_WORK = re.compile(
    r"(?i)(?:^|[_/])(?:telemetry|metrics?|monitor|trac(?:e|es|er|ing)|instrument\w*|analytics|otel|apm|debug|log|logger"
    r"|logging|print|display|show|repr|notify|emit|publish|warm\w*|prefetch|enable|disable|hook|rthooks"
    r"|callbacks?|examples?)(?:[_./]|$)|^(?:is|has|can)_|__(?:str|repr|getattr|enter)__"
)
"""Names of files, functions and calls for side work, whose failure must not stop a program, or for yes-or-no checks."""
FOR_TOOLS = re.compile(r"pragma: no \w+|noqa\b(?:: ?[A-Z0-9, ]+)?|pylint: ?[\w=,-]+|type: ?ignore\S*|nosec\b")
ALLOWED = re.compile(r"noqa\b.*\bS11[02]\b|\bnosec\b")
"""Comments which tell a linter (bandit, ruff) that the handler may drop the error."""
REASON_WORDS = 2
"""A comment with at least this many words counts as a reason for ignoring the error."""
NO_REASON = re.compile(r"(?i)\b(?:it )?(?:does not|doesn't) matter\b|\bnever mind\b|\bwho cares\b")
LOGGING = frozenset(
    "debug info warning warn error exception critical log print excepthook print_exc print_exception echo".split()
)
"""Names of calls that report something; a report that fails need not stop the work that it reports on."""
COLLECTING = frozenset("append add extend update insert setdefault".split())
"""Names of calls that add to a container; if they fail, the container stays as it was."""
SUGGESTION = "catch the expected exception, log it, or use contextlib.suppress with it"


def find_swallowed(source: Source) -> Iterator[CodeFinding]:
    """Yield the handlers that catch every exception and do nothing with it."""
    if source.is_migration or source.is_test or SIDE_WORK.search(source.file):
        return
    for node in source.nodes:
        if isinstance(node, ast.Try | ast.TryStar) and not _is_deliberate(source, node):
            for handler in node.handlers:
                caught = _broad(handler)
                if caught and all(map(_does_nothing, handler.body)) and not _has_reason(source, node, handler):
                    message = f"{caught} catches every error and drops it"
                    yield CodeFinding(handler.lineno, end_of(handler), message, SUGGESTION)


def _is_deliberate(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether the code shows that an error is ignored on purpose.

    Signs are a fallback, a value that was set before, a log entry, or a function name or docstring that says so.
    """
    around = [one for one in source.ancestors(node) if isinstance(one, FUNCTIONS)]
    if any(IGNORING.search(f"{one.name} {docstring_of(one)}") or _is_ending(one.name) for one in around):
        return True
    if any(SIDE_WORK.search(one.name) for one in around) or not _is_alone(source, node):
        return True
    if node.orelse or len(node.handlers) > 1 or any(map(_may_fail, _inside(node))):
        return True
    # A loop may try several candidates until one of them works.
    return (source.is_in_loop(node) and _leaves(node)) or _sets_value(node)


def _is_alone(source: Source, node: ast.stmt) -> bool:
    """Return whether a block, or the loop or ``with`` around it, is the only statement of its function or file."""
    parent = source.parent(node)
    steps = [one for one in getattr(parent, "body", ()) if not is_nothing(one)]
    if isinstance(parent, ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith):
        return steps == [node] and _is_alone(source, parent)
    return steps == [node] and isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)


def _may_fail(node: ast.AST) -> bool:
    """Return whether an error in this node may be ignored without a stated reason."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.If | ast.Raise) or _ends_something(node):
        return True
    name = name_of(node) if isinstance(node, ast.Call) else ""
    return name in LOGGING or name in COLLECTING or bool(SIDE_WORK.search(name))


def _inside(node: ast.Try | ast.TryStar) -> Iterator[ast.AST]:
    return (one for statement in node.body for one in ast.walk(statement))


def _leaves(node: ast.Try | ast.TryStar) -> bool:
    return any(isinstance(one, ast.Return | ast.Break | ast.Continue) for one in _inside(node))


def _sets_value(node: ast.Try | ast.TryStar) -> bool:
    """Return whether the block assigns to an attribute or an item; if the block fails, that keeps its earlier value."""
    kept = (one for one in _inside(node) if isinstance(one, ast.Attribute | ast.Subscript))
    return any(isinstance(one.ctx, ast.Store) for one in kept)


def _ends_something(node: ast.AST) -> bool:
    """Return whether a statement closes or removes something, or waits for the end of a task."""
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.Await | ast.Yield):
        value = value.value
        if isinstance(value, ast.Name | ast.Attribute):
            return True
    return isinstance(value, ast.Call) and _is_ending(name_of(value))


def _is_ending(name: str) -> bool:
    return bool(ENDS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))  # libShutdown becomes lib_shutdown


def _has_reason(source: Source, node: ast.Try | ast.TryStar, handler: ast.ExceptHandler) -> bool:
    """Return whether a comment in the handler or above the block gives a reason for ignoring the error."""
    before = handler.lineno - 1
    first = before if source.lines[before - 1].lstrip().startswith("#") else handler.lineno
    after = end_of(handler) + 1
    last = after if source.lines[after - 1 : after] and source.lines[after - 1].lstrip().startswith("#") else after - 1
    body = source.comments(node.lineno, end_of(node.body[0]))
    remarks = body, source.comments(first, last), source.comments(node.lineno - 2, node.lineno)
    told = (NO_REASON.sub("", FOR_TOOLS.sub("", one)) for one in remarks)
    is_allowed = any(map(ALLOWED.search, remarks))
    return is_allowed or any(len(one.split()) >= REASON_WORDS or IGNORING.search(one) for one in told)


def _broad(handler: ast.ExceptHandler) -> str:
    """Describe how a handler catches all exceptions, for example as "a bare except"; empty if it does not."""
    if handler.type is None:
        return "a bare except"
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    found = next((name for name in map(name_of, kinds) if name in BROAD), "")
    return f"except {found}" if found else ""


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Continue) or is_nothing(statement)
