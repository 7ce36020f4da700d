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
    r"(?i)ignor|suppress|swallow|quiet|silen|best.effort|_?try_|safe|\b(?:eats?|discards?|regardless)\b|__del__|__exit__|atexit"
)
ENDING = frozenset(
    """close aclose wait_closed shutdown stop cancel kill terminate unlink remove rmtree rmdir disconnect detach flush
    release quit join cleanup destroy logout unsubscribe removeHandler unregister delete""".split()
)
"""What a program calls when it is done with something; a failure there changes nothing any more."""
ENDS = re.compile(
    r"(?i)(?:^|_)(?:a?close|terminate|shut_?down|tear_?down|clean_?up|dispose|finali[sz]e|destroy|disconnect|abort|release|end$|__exit)"
)
"""Names of functions that end something, in which the next step matters more than the failure of one."""
FOR_TOOLS = re.compile(r"pragma: no \w+|noqa\b(?:: ?[A-Z0-9, ]+)?|pylint: ?[\w=,-]+|type: ?ignore\S*|nosec\b")
ALLOWED = re.compile(r"noqa\b.*\bS11[02]\b")
"""The author told a linter (flake8-bandit, ruff) that this handler may drop its error."""
REASON_WORDS = 4
"""A comment of so many words is a reason; shorter ones only repeat that the error is dropped."""
NO_REASON = re.compile(r"(?i)\b(?:it )?(?:does not|doesn't) matter\b|\bnever mind\b|\bwho cares\b")
LOGGING = (
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "exception",
    "critical",
    "log",
    "excepthook",
    "print_exc",
    "print_exception",
)
SUGGESTION = "catch the expected exception, log it, or use contextlib.suppress with it"


def find_swallowed(source: Source) -> Iterator[CodeFinding]:
    """Yield the handlers that catch every exception and do nothing with it."""
    for node in source.nodes:
        if isinstance(node, ast.Try | ast.TryStar) and not _is_deliberate(source, node):
            for handler in node.handlers:
                caught = _broad(handler)
                if caught and all(map(_does_nothing, handler.body)) and not _has_reason(source, node, handler):
                    message = f"{caught} catches every error and drops it"
                    yield CodeFinding(handler.lineno, end_of(handler), message, SUGGESTION)


def _is_deliberate(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether what follows an error is decided: by a fallback, a default, a log of the first one, or a name."""
    around = [one for one in source.ancestors(node) if isinstance(one, FUNCTIONS)]
    if any(IGNORING.search(f"{one.name} {docstring_of(one)}") or ENDS.search(one.name) for one in around):
        return True
    if all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body):
        return True
    if node.orelse or all(map(_ends_something, node.body)) or all(map(_reports_error, node.body)):
        return True
    before, after = _neighbours(source, node)
    if _has_fallback(node, after) or _has_default(node, _before(source, node)) or _tries_others(source, node):
        return True
    parent = source.parent(node)
    return isinstance(parent, ast.ExceptHandler) and any(map(_reports_error, [*before, *after]))


def _neighbours(source: Source, node: ast.stmt) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements before and after one in its block; after a branch's last one, those after the branch."""
    parent = source.parent(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block:
            at = block.index(node)
            after = block[at + 1 :]
            if not after and isinstance(parent, ast.If | ast.With):
                after = _neighbours(source, parent)[1]
            return block[:at], after
    return [], []


def _before(source: Source, node: ast.stmt) -> list[ast.stmt]:
    """Return the statements of the function, or of the file, that come before one, in all blocks around it."""
    found = _neighbours(source, node)[0]
    above = source.parent(node)
    while isinstance(above, ast.stmt) and not isinstance(above, (*FUNCTIONS, ast.ClassDef)):
        found = [*_neighbours(source, above)[0], *found]
        above = source.parent(above)
    return found


def _has_fallback(node: ast.Try | ast.TryStar, after: list[ast.stmt]) -> bool:
    """Return whether success leaves the block, so that the code after it is for the case of an error."""
    last = node.body[-1]
    is_left = isinstance(last, ast.Raise | ast.Break | ast.Continue) or any(
        isinstance(one, ast.Return) for statement in node.body for one in ast.walk(statement)
    )
    return is_left and bool(after) and not _returns_none(after[0])


def _tries_others(source: Source, node: ast.Try | ast.TryStar) -> bool:
    """Return whether a loop tries one candidate after the other until one works."""
    above = source.parent(node)
    if not isinstance(above, ast.For):
        return False
    return any(isinstance(one, ast.Return | ast.Break) for one in ast.walk(above))


def _returns_none(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Return):
        return False
    return statement.value is None or (isinstance(statement.value, ast.Constant) and statement.value.value is None)


def _has_default(node: ast.Try | ast.TryStar, before: list[ast.stmt]) -> bool:
    """Return whether all that the block does is to replace values that were set just before it."""
    given = {name for one in before for name in _bound(one)} | {"_"}
    if not all(isinstance(one, ast.Assign | ast.AnnAssign | ast.If | ast.ImportFrom) for one in node.body):
        return False
    bound = {name for statement in node.body for one in ast.walk(statement) for name in _bound(one)}
    return bool(bound) and given.issuperset(bound)


def _bound(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    return [ast.unparse(one) for one in (node.targets if isinstance(node, ast.Assign) else [node.target])]


def _ends_something(statement: ast.stmt) -> bool:
    """Return whether a statement closes or removes something, or does so with each of several."""
    if isinstance(statement, ast.For):
        return all(map(_ends_something, statement.body))
    value = statement.value if isinstance(statement, ast.Expr) else None
    value = value.value if isinstance(value, ast.Await) else value
    return isinstance(value, ast.Call) and not ENDING.isdisjoint(name_of(value).split("_"))


def _has_reason(source: Source, node: ast.Try | ast.TryStar, handler: ast.ExceptHandler) -> bool:
    """Return whether a comment in the handler or above the block gives a reason."""
    before = handler.lineno - 1
    first = before if source.lines[before - 1].lstrip().startswith("#") else handler.lineno
    after = end_of(handler) + 1
    last = after if source.lines[after - 1 : after] and source.lines[after - 1].lstrip().startswith("#") else after - 1
    body = source.comments(node.lineno, end_of(node.body[0])) if len(node.body) == 1 else ""
    remarks = body, source.comments(first, last), source.comments(node.lineno - 2, node.lineno)
    told = (NO_REASON.sub("", FOR_TOOLS.sub("", one)) for one in remarks)
    is_allowed = any(map(ALLOWED.search, remarks))
    return is_allowed or any(len(one.split()) >= REASON_WORDS or IGNORING.search(one) for one in told)


def _reports_error(statement: ast.stmt) -> bool:
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
