"""Find values that belong into a setting (CODE_002) and secrets (SEC_003).

A value that has a name, as a constant, a default or a field of a class, is not reported, and neither is prose.
"""

from __future__ import annotations

import ast
import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from enricher.prompt.redaction import found_in
from enricher.validation.source import FUNCTIONS, Finding, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source

URL = re.compile(
    r"(?:https?|wss?|ftps?|amqps?|mongodb(?:\+srv)?|rediss?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|grpc)://[^\s\"'<>{}|]+"
)
HOME = re.compile(
    r"(?:/home/(?!(?:user|username|me|you)\b)[a-z][\w.-]*|/Users/(?!(?:user|username|me|you)\b)[A-Za-z][\w.-]*|[A-Z]:\\Users\\\w+)(?:[/\\].*)?"
)
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?")
EXAMPLE_HOSTS = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|org|net)|example|test|invalid|w3\.org|schema\.org|json-schema\.org|purl\.org"
    r"|xmlsoap\.org|openxmlformats\.org|(?:schemas|ns|xmlns)\..*|(?:www\.)?rfc-editor\.org|peps\.python\.org"
    r"|(?:\w+\.)?wikipedia\.org|(?:dx\.)?doi\.org|creativecommons\.org|opensource\.org|host|hostname|your.*|my.*|\.+)"
)
SECRET_NAMES = re.compile(r"(?i)pass|secret|token|key|auth|pwd|credential")
PLACEHOLDER = re.compile(
    r"(?i).*(?:example|dummy|placeholder|change.?me|your[-_]|xxx|\*\*\*|\.\.\.|redacted|fake|sample|todo|<|\$\{|\{|%\().*"
    r"|(?:test|foo|bar|none|null|true|false|default|password|secret|token)[-_]?\w*"
)
IS_A_NAME = re.compile(
    r".*[\[\\(].*|[A-Za-z]+(?:[-_.:/ ][A-Za-z0-9]+)*|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][A-Z_0-9]*|[-/.]+\w*"
)
NUMBERS = re.compile(
    r"(?i)(?:\w*_)?(?:timeout|port|retries|attempts|ttl|backoff|max_?age|expir\w*)"
    r"(?:_(?:s|ms|sec|secs|seconds|minutes|hours|days))?"
)
WAITING = ("sleep", "settimeout")
SMALL = 10
"""A limit of time or number below this is the choice of the place where it is used."""
READING = frozenset(
    """add_argument option Option Argument add_option Field startswith endswith
    replace removeprefix removesuffix split partition rpartition find index compile match search sub fullmatch strip
    lstrip rstrip count fromkeys""".split()
)
WITH_DEFAULT = frozenset("get getenv setdefault getattr pop".split())
SAYING = frozenset(
    """print debug info warning warn error exception critical log echo write secho fail exit add_parser ArgumentParser
    help format_help showwarning skip skipif xfail""".split()
)
SAID_BY_NAME = re.compile(r"(?i)fail|warn|error|message|notify|hint|complain")
FOR_PEOPLE = re.compile(r"(?i)link|docs?(?:_|$)|help|reference|issue|homepage|website")
"""Names of addresses that a person opens."""
WORDS = frozenset(
    ("help", "description", "epilog", "message", "doc", "docs", "usage", "documentation", "title", "default")
)
TO_SETTING = "give it a name: a constant, a parameter or a setting"
TO_STORE = "read it from the environment or a secret store, and revoke it if it was published"
LONGEST = 2_000
MOST_WORDS = 2
"""Words of a string that may be a secret, as in "Bearer TOKEN"; more are prose."""


def find_hardcoded(source: Source) -> Iterator[Finding]:
    """Yield addresses, home folders, limits of time and number, and secrets that stand in the middle of code."""
    yield from find_secrets(source)
    if source.is_test:
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            what = _place(node.value)
            name = _name_of_value(source, node)
            if (
                what
                and not FOR_PEOPLE.search(name)
                and _is_in_code(source, node)
                and not found_in(node.value[:LONGEST])
            ):
                yield Finding(node.lineno, end_of(node), f"{what} is fixed in the code", TO_SETTING)
        elif isinstance(node, ast.Call):
            yield from _limits(source, node)


def find_secrets(source: Source) -> Iterator[Finding]:
    """Yield the strings that the screen for prompts takes for a secret; the message does not repeat them."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 6 <= len(node.value) <= LONGEST:
            kind = _secret(source, node, node.value)
            if kind:
                yield Finding(node.lineno, end_of(node), f"{kind} is written into the code", TO_STORE)


def _secret(source: Source, node: ast.Constant, value: str) -> str:
    words = len(value.split())
    if words > MOST_WORDS or _is_docstring(source, node):
        return ""
    found = found_in(value)
    is_most = "://" in value or 2 * sum(map(len, found)) >= len(value)
    is_real = found and is_most and not any(map(PLACEHOLDER.fullmatch, found))
    if is_real and not (source.is_test and "://" in value):
        return "a password in an address" if "://" in value else "a token or key"
    name = "" if isinstance(source.parent(node), ast.BinOp | ast.JoinedStr) else _name_of_value(source, node)
    if (
        words > 1
        or source.is_test
        or not SECRET_NAMES.search(name)
        or PLACEHOLDER.fullmatch(value)
        or IS_A_NAME.fullmatch(value)
    ):
        return ""
    return f"the value of {name}" if value in found_in(f'{name} = "{value}"') else ""


def _name_of_value(source: Source, node: ast.Constant) -> str:
    """Return the variable, keyword, parameter or key to which a constant, or a text made from it, is given."""
    value: ast.expr = node
    parent = source.parent(node)
    while isinstance(parent, ast.BinOp | ast.JoinedStr):
        value, parent = parent, source.parent(parent)
    if isinstance(parent, ast.Assign):
        target = parent.targets[0]
        return _key(target.slice) if isinstance(target, ast.Subscript) else name_of(target)
    if isinstance(parent, ast.AnnAssign):
        return name_of(parent.target)
    if isinstance(parent, ast.keyword):
        return parent.arg or ""
    if isinstance(parent, ast.Dict):
        return next((_key(key) for key, own in zip(parent.keys, parent.values, strict=True) if own is value), "")
    if isinstance(parent, ast.arguments):
        return _parameter(parent, value)
    return ""


def _parameter(given: ast.arguments, node: ast.expr) -> str:
    positional = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(reversed(positional), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return next((parameter.arg for parameter, default in pairs if default is node), "")


def _key(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _place(value: str) -> str:
    """Return what a string names: the address of a server, or a folder of one machine; empty if neither."""
    if "://" in value and (found := URL.match(value)) and len(value.split()) == 1:
        return _host(found.group())
    if ADDRESS.fullmatch(value):
        return _number(value.partition(":")[0])
    if HOME.fullmatch(value):
        return "the home folder of one person"
    return ""


def _host(url: str) -> str:
    """Return the server of an address in words, empty for an example, a namespace, and this machine without a port."""
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError:
        return ""
    if host.startswith("169.254.") or "/issues" in found.path:  # the same on every machine of a cloud; for people
        return ""
    is_here = host == "localhost" or host.startswith("127.")
    is_real = "." in host or is_here or port is not None
    if not host or "%" in host or EXAMPLE_HOSTS.fullmatch(host) or (is_here and port is None) or not is_real:
        return ""
    return f"the address of {host.strip('.')}"


def _number(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    is_plain = (
        found.is_loopback
        or found.is_unspecified
        or found.is_multicast
        or address.startswith("255.")
        or address.endswith(".0")
    )
    return "" if is_plain else f"the address {address}"


def _is_in_code(source: Source, node: ast.Constant) -> bool:
    """Return whether a string is used in the middle of a function: not named, not a default, not a text for people."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, ast.arguments | ast.Raise | ast.Compare | ast.Assert | ast.MatchValue):
            return False
        if isinstance(above, ast.keyword) and above.arg in WORDS:
            return False
        if isinstance(above, ast.Call) and below is not above.func and name_of(above.func) in READING | SAYING:
            return False
        if isinstance(above, ast.Call) and name_of(above.func) in WITH_DEFAULT and below in above.args[1:]:
            return False
        if isinstance(above, ast.Call) and below is not above.func and SAID_BY_NAME.search(name_of(above.func)):
            return False
        if isinstance(above, ast.Attribute | ast.BoolOp) or _is_for_missing(above, below):
            return False
        if isinstance(above, FUNCTIONS):
            return below not in above.decorator_list and below is not above.returns and not _is_only_value(above)
        if isinstance(above, ast.ClassDef | ast.Lambda) or (
            isinstance(above, ast.AnnAssign) and below is above.annotation
        ):
            return False
        if isinstance(above, ast.Assign | ast.AnnAssign) and _is_constant(above):
            return False
        if isinstance(above, ast.Expr) and above.value is node:
            return False
        below = above
    return False


def _is_for_missing(above: ast.AST, below: ast.AST) -> bool:
    """Return whether ``below`` is the branch for a value that was not given, such as ``if url is None``."""
    if not isinstance(above, ast.If | ast.IfExp):
        return False
    test, is_in_body = above.test, below is above.body if isinstance(above, ast.IfExp) else below in above.body
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_in_body and isinstance(test.operand, ast.Name | ast.Attribute)
    if not isinstance(test, ast.Compare) or not isinstance(test.comparators[0], ast.Constant):
        return isinstance(test, ast.Name | ast.Attribute) and not is_in_body
    is_none = test.comparators[0].value is None
    return is_none and isinstance(test.ops[0], ast.Is if is_in_body else ast.IsNot)


def _is_constant(assignment: ast.Assign | ast.AnnAssign) -> bool:
    target = assignment.targets[0] if isinstance(assignment, ast.Assign) else assignment.target
    return isinstance(target, ast.Name) and target.id.isupper()


def _is_only_value(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function only returns a fixed value, which makes its name that of the value."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    return not any(isinstance(one, ast.Call | ast.FormattedValue | ast.BinOp) for one in ast.walk(body[0]))


def _limits(source: Source, call: ast.Call) -> Iterator[Finding]:
    """Yield the numbers that a call in a function gives to something that is usually a setting."""
    given = [(one.arg or "", one.value) for one in call.keywords if NUMBERS.fullmatch(one.arg or "")]
    if name_of(call.func) in WAITING and call.args:
        given.append((name_of(call.func), call.args[0]))
    for name, value in given:
        if (
            not isinstance(value, ast.Constant)
            or isinstance(value.value, bool)
            or not isinstance(value.value, int | float)
        ):
            continue
        if abs(value.value) < SMALL or not any(isinstance(one, FUNCTIONS) for one in source.ancestors(call)):
            continue
        if name_of(call.func) in READING:
            continue
        yield Finding(value.lineno, end_of(value), f"{value.value} for {name} is fixed in the code", TO_SETTING)


def _is_docstring(source: Source, node: ast.Constant) -> bool:
    return isinstance(source.parent(node), ast.Expr)
