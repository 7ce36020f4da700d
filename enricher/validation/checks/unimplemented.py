"""In which way a function has no implementation: an empty body, a refusal, or the announcement of code to come."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.validation.source import docstring_of, end_of, name_of

if TYPE_CHECKING:
    from enricher.validation.source import Function, Source


UNFINISHED = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b|(?i:\bnot (?:yet |been )?implemented|\bunimplemented\b|\bplaceholder\b"
    r"|\bimplement (?:this|me|later|here|it)\b|\bto be implemented\b|\bcoming soon\b|\byour code here\b"
    r"|^\s*implement\b|^\s*(?:add|write|insert) \w+ (?:logic|implementation|code)\b)",
    re.MULTILINE,
)
"""A comment or message that announces code which is still to be written."""
PLACEHOLDER = re.compile(
    r"(?i)\bplaceholder\b|\bnot (?:yet |been )?implemented\b|\bunimplemented\b|\bcoming soon\b|\byour code here\b"
    r"|\bto be implemented\b|\bimplement (?:this|me|later|here|it)\b"
)
"""A comment that calls a returned value, other than none or an empty container, a stand-in."""
OTHER_REMARK = re.compile(
    r".*(?:[Ss]ubclass|[Oo]verrid|[Dd]erive|[Uu]sers? |must ).*"
    r"|\w+(?:\.\w+)*\s*(?:=|\().*|(?:raise|return|print|if|for)\b.*"
)
"""A comment that asks a question, names subclasses, or is code that was switched off: none announces code."""
UNFINISHED_BY_DOCSTRING = re.compile(
    r"\b(?:TODO|FIXME)\b|(?im:^\W*(?:not (?:yet )?implemented\b|.* is not implemented yet))"
)
CASE_REFUSED = re.compile(r"(?i)\bnot implemented (?:for|in|on|with|by|when)\b")
OUTPUT_CALLS = ("print", "debug", "info", "warning", "warn", "error", "log", "echo")
LOGS = re.compile(r"(?i)log|^click$|^console$|^warnings$")
RAISES = "only raises NotImplementedError"
EMPTY = "has an empty body"
ANNOUNCES = "only announces its implementation"


def kind_of(source: Source, function: Function) -> str:
    """Return in which way a function is not implemented, empty if it is."""
    body = [statement for statement in function.body if not is_nothing(statement)]
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return RAISES if name_of(body[0].exc) == "NotImplementedError" else ""
    if len(body) == 1 and _reports_missing(body[0]):
        return ANNOUNCES
    if len(body) > 1 and _is_output(body[0]) and all(_returns_nothing(one) for one in body[1:]):
        return ANNOUNCES if _reports_missing(body[0]) else ""
    if all(_returns_nothing(statement) for statement in body):
        if _announces(source, function, body) or UNFINISHED_BY_DOCSTRING.search(docstring_of(function)):
            return ANNOUNCES
        return "" if body else EMPTY
    return ""


def _announces(source: Source, function: Function, body: list[ast.stmt]) -> bool:
    """Return whether a comment in the function announces its code."""
    remarks = source.comments(function.lineno, end_of(function)).splitlines()
    is_value = any(isinstance(one, ast.Return) and _is_value(one.value) for one in body)
    owner = source.parent(function)
    is_override = bool(body) and isinstance(owner, ast.ClassDef) and bool(owner.bases)
    wanted = PLACEHOLDER if is_value or is_override else UNFINISHED
    if any(one.rstrip().endswith("?") for one in remarks):
        return False
    return any(wanted.search(one) and not OTHER_REMARK.fullmatch(one) for one in remarks)


def _is_value(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value not in (None, "TODO", "FIXME")


def is_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _returns_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement returns a value that needed no work: none, a constant or an empty container."""
    if not isinstance(statement, ast.Return):
        return False
    value = statement.value
    is_empty_call = (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not (value.args or value.keywords)
    )
    is_empty = isinstance(value, ast.List | ast.Tuple | ast.Set) and not value.elts
    return (
        value is None
        or isinstance(value, ast.Constant)
        or is_empty
        or (is_empty_call and name_of(value) in ("dict", "list", "set", "tuple"))
        or (isinstance(value, ast.Dict) and not value.keys)
    )


def _is_output(statement: ast.stmt) -> bool:
    """Return whether a statement prints or logs.

    Another object's method ``error`` does not count: it may be how the program reports errors to its user.
    """
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    is_log = isinstance(called, ast.Name) or (isinstance(called, ast.Attribute) and LOGS.search(name_of(called.value)))
    return bool(is_log) and name_of(called) in OUTPUT_CALLS


def _reports_missing(statement: ast.stmt) -> bool:
    """Return whether a statement only prints or logs that something is not implemented."""
    if not _is_output(statement) or not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    texts = list(map(text_of, statement.value.args))
    return any(map(UNFINISHED.search, texts)) and not any(map(CASE_REFUSED.search, texts))


def text_of(node: ast.expr | None) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(value) for value in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
