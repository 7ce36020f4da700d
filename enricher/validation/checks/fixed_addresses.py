"""Find addresses of servers and home folders that are fixed in the middle of a function (CODE_002)."""

from __future__ import annotations

import ast
import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from enricher.prompt.redaction import found_in
from enricher.validation.checks.given_names import IN_EXAMPLE, READING, TO_SETTING, names_around
from enricher.validation.source import FUNCTIONS, CodeFinding, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source


URL = re.compile(
    r"(?:https?|wss?|ftps?|amqps?|mongodb(?:\+srv)?|rediss?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|grpc)://[^\s\"'<>{}|]+"
)
HOME = re.compile(
    r"(?:/home/(?!(?:user|username|me|you)\b)[a-z][\w.-]*|/Users/(?!(?:user|username|me|you)\b)[A-Za-z][\w.-]*|[A-Z]:\\Users\\\w+)(?:[/\\].*)?"
)
PUBLIC_DNS = ("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9")
SERVICE_HOME = re.compile(
    r"/home/(?:ubuntu|debian|ec2-user|runner|app|appuser|jovyan|node|vagrant|pi|vscode|site|git|docker|container|ray"
    r"|airflow|spark|hadoop|jenkins|nonroot|worker|server|service)\b"
)
"""Home folders that an image or a service gives to everyone."""
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?")
EXAMPLE_HOSTS = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|org|net)|example|test|invalid|w3\.org|schema\.org|json-schema\.org|purl\.org"
    r"|xmlsoap\.org|axschema\.org|(?:specs\.)?openid\.net|openxmlformats\.org|(?:schemas|ns|xmlns)\..*|(?:www\.)?rfc-editor\.org|peps\.python\.org"
    r"|(?:\w+\.)?wikipedia\.org|(?:dx\.)?doi\.org|creativecommons\.org|opensource\.org|host|hostname|your.*|my.*|\.+)"
)
CONNECTING = re.compile(
    r"(?i)_*(?:\w+_)?(?:get|post|put|patch|head|delete|requests?|fetch|urlopen|urlretrieve|urljoin|connect\w*|create_\w*engine"
    r"|clone|download\w*|call|send\w*|open|ping|query|\w*client|\w*session|stream|websocket\w*)(?:_\w+)?"
)
"""Functions that are given an address, or a folder, to work with it."""
HOLDS_ADDRESS = re.compile(
    r"(?i)_*(?:\w+_)?(?:url|uri|base|host|hostname|endpoint|server|address|addr|ip|api|gateway|webhook)"
)
GIVES_ADDRESS = re.compile(r"(?i)url|uri|issuer|audience|scope|origin|link|host|endpoint|address|base|server|path|dir")
"""Functions whose names say that what they return is an address, so that it has a name."""
NO_USER = re.compile(
    r"(?i)(?:config\w*|settings?|options?|defaults?|error|exception)$|example|sample|demo|mock|fake|dummy"
)
"""Classes whose attributes are settings, errors, or stand in for real ones."""
READS_SETTING = re.compile(r"(?i)default|env(?:_|$)|environ|config|setting|option")
WITH_DEFAULT = frozenset("get getenv setdefault getattr pop".split())
OUTPUT_CALLS = frozenset(
    """print debug info warning warn error exception critical log echo write secho fail exit add_parser ArgumentParser
    help format_help showwarning skip skipif xfail launch""".split()
)
OUTPUT_NAMES = re.compile(r"(?i)assert|fail|warn|error|message|notify|hint|complain")
FOR_PEOPLE = re.compile(
    r"(?im)link|docs?(?:_|$)|help|reference|source|issue|homepage|website|source_?url|information|console|browser|about|readme"
    r"|tutorial|namespace|schema|issuer?$|audience|scopes?|_id(?:_|$)|referer|origin$|href"
    r"|refuri|(?:^|_)type$|profile|feature|claim|default|manufacturer|placeholder|configuration_url|fallback|allow|trusted|known|install|release|terms|privacy|pricing|blog|home"
    r"|badge|logo|icon|image|img|font|avatar|thumbnail|upgrade|changelog|permalink|xmlns|(?:^|_)rel$"
)
"""Names of addresses that a person opens, or that only identify something."""
ANY_VALUE = re.compile(
    r"(?i)\b(?:arbitrary|random|ma[kd]e up|dummy|fake|unroutable|any (?:address|host)|doesn't matter|does not matter)\b"
)
"""A comment that calls the value one of many."""
FOR_VISITORS = re.compile(
    r"(?:www\.)?(?:twitter|x|facebook|youtube|instagram|linkedin|reddit|discord|patreon|medium|t)\.(?:com|gg|me)"
)
"""Sites that people visit; programs use other hosts of the same owners, such as ``api.twitter.com``."""
PAGE = re.compile(
    r"(?i)(?:docs?|console|developers?|support|help|wiki)\..*|.*\.(?:html?|md|rst|pdf)|.*/(?:docs?|wiki|installation|getting-started|terms|privacy|blog|pricing|help|guides?|blob|tree|issues|discussions|browse|tickets?|bugs?|pulls?|commits?|auth|\.default)(?:/.*)?"
)
"""Host or path of an address that a person reads, or of a permission."""
WORDS = frozenset(
    ("help", "description", "epilog", "message", "doc", "docs", "usage", "documentation", "title", "default")
)


def find_addresses(source: Source) -> Iterator[CodeFinding]:
    """Yield the addresses of servers and the home folders that code in a function works with."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            what = "" if _is_computed_host(source, node) else _place(node.value)
            if what and _is_for_program(source, node) and not found_in(node.value):
                yield CodeFinding(node.lineno, end_of(node), f"{what} is fixed in the code", TO_SETTING)


def _is_for_program(source: Source, node: ast.Constant) -> bool:
    """Return whether the program itself uses the value, and no comment calls it one of many."""
    if FOR_PEOPLE.search(names_around(source, node)) or not _is_in_code(source, node) or not _is_used(source, node):
        return False
    return not ANY_VALUE.search(source.comments(node.lineno - 1, end_of(node)))


def _is_computed_host(source: Source, node: ast.Constant) -> bool:
    """Return whether the text after an address's ``://`` goes on with a value before the host ends."""
    found = URL.match(node.value) if isinstance(node.value, str) else None
    if not found or "/" in found.group().partition("://")[2]:
        return False
    parent = source.parent(node)
    goes_on = isinstance(parent, ast.JoinedStr) and parent.values[-1] is not node
    return goes_on or str(node.value)[found.end() : found.end() + 1] == "{"


def _place(value: str) -> str:
    """Return what a string names: the address of a server, or a folder of one machine; empty if neither."""
    if "://" in value and (found := URL.match(value)) and len(value.split()) == 1:
        return _host(found.group())
    if ADDRESS.fullmatch(value):
        return _number(value.partition(":")[0])
    if HOME.fullmatch(value) and not SERVICE_HOME.match(value):
        return "the home folder of one person"
    return ""


def _host(url: str) -> str:
    """Return the server of an address in words, empty for an example, a namespace, and this machine without a port."""
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError:
        return ""
    if (
        host.startswith(("169.254.", "metadata."))
        or PAGE.fullmatch(host)
        or PAGE.fullmatch(found.path)
        or found.fragment
    ):
        return ""  # the same on every machine of a cloud; or for people
    is_here = host == "localhost" or host.startswith("127.")
    is_real = "." in host or is_here or port is not None
    if (
        not host
        or "%" in host
        or "*" in host
        or EXAMPLE_HOSTS.fullmatch(host.rstrip("."))
        or FOR_VISITORS.fullmatch(host)
        or (is_here and port is None)
        or not is_real
    ):
        return ""
    return f"the address of {host.strip('.')}"


def _number(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    is_plain = (
        address in PUBLIC_DNS
        or address.startswith(("0.", "255."))
        or found.is_loopback
        or found.is_unspecified
        or found.is_multicast
        or address.endswith(".0")
    )
    return "" if is_plain else f"the address {address}"


def _is_in_code(source: Source, node: ast.Constant) -> bool:
    """Return whether a string is used in the middle of a function: not named, not a default, not a text for people."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, ast.Compare | ast.Assert | ast.MatchValue):
            return False
        if isinstance(above, ast.keyword) and above.arg in WORDS:
            return False
        if isinstance(above, ast.Tuple) and _is_row(above):
            return False
        if isinstance(above, ast.Set) or (isinstance(above, ast.Dict) and below in above.keys):
            return False
        if isinstance(above, ast.ClassDef) and NO_USER.search(above.name):
            return False
        if isinstance(above, ast.Call) and below is not above.func and name_of(above.func) in READING | OUTPUT_CALLS:
            return False
        if isinstance(above, ast.Call) and below in above.args[1:] and _takes_default(above):
            return False
        if isinstance(above, ast.Call) and name_of(getattr(above.func, "value", None)) == "webbrowser":
            return False
        if isinstance(above, ast.Call) and below is not above.func and OUTPUT_NAMES.search(name_of(above.func)):
            return False
        if isinstance(above, ast.Attribute | ast.BoolOp) or _is_for_missing(above, below):
            return False
        if isinstance(above, FUNCTIONS) and IN_EXAMPLE.fullmatch(above.name):
            return False
        if isinstance(above, FUNCTIONS):
            return below not in above.decorator_list and below is not above.returns and not _is_only_value(above)
        if isinstance(above, ast.ClassDef | ast.Lambda) or (
            isinstance(above, ast.AnnAssign) and below is above.annotation
        ):
            return False
        if isinstance(above, ast.Assign | ast.AnnAssign) and (_is_constant(above) or _is_replaced(source, above)):
            return False
        if isinstance(above, ast.Expr) and above.value is node:
            return False
        below = above
    return False


def _is_used(source: Source, node: ast.Constant) -> bool:
    """Return whether a program connects with an address, keeps it as one, or returns it under another name."""
    kept: ast.AST | None = None
    for above in source.ancestors(node):
        if isinstance(above, ast.Call):
            return bool(CONNECTING.fullmatch(name_of(above.func)))
        if isinstance(above, ast.stmt):
            kept = above
            break
    if isinstance(kept, ast.Assign | ast.AnnAssign):
        target = kept.targets[0] if isinstance(kept, ast.Assign) else kept.target
        is_made = isinstance(source.parent(node), ast.JoinedStr | ast.BinOp)
        is_of_record = is_made and isinstance(target, ast.Attribute) and target.attr in ("url", "uri")
        return bool(HOLDS_ADDRESS.fullmatch(name_of(target))) and not is_of_record
    scope = source.scope(node)
    return isinstance(kept, ast.Return) and not GIVES_ADDRESS.search(getattr(scope, "name", ""))


def _is_row(node: ast.Tuple) -> bool:
    """Return whether a tuple puts an address beside a name, as a list for people does."""
    texts = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any("://" not in one for one in texts)


def _takes_default(call: ast.Call) -> bool:
    name = name_of(call.func)
    return name in WITH_DEFAULT or bool(READS_SETTING.search(name))


def _is_for_missing(above: ast.AST, below: ast.AST) -> bool:
    """Return whether ``below`` is the branch for a value that was not given, such as ``if url is None``."""
    if not isinstance(above, ast.If | ast.IfExp):
        return False
    is_in_body = below is above.body if isinstance(above, ast.IfExp) else below in above.body
    test = above.test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        test = test.values[0]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_in_body and isinstance(test.operand, ast.Name | ast.Attribute | ast.Subscript)
    if not isinstance(test, ast.Compare) or not isinstance(test.comparators[0], ast.Constant):
        return isinstance(test, ast.Name | ast.Attribute) and not is_in_body
    is_missing = test.comparators[0].value in (None, "")
    return is_missing and isinstance(test.ops[0], ast.Is | ast.Eq if is_in_body else ast.IsNot | ast.NotEq)


def _is_replaced(source: Source, assignment: ast.Assign | ast.AnnAssign) -> bool:
    """Return whether the next statement gives the variable another value under a condition."""
    target = assignment.targets[0] if isinstance(assignment, ast.Assign) else assignment.target
    block = getattr(source.parent(assignment), "body", [])
    following = block[block.index(assignment) + 1 :][:1] if assignment in block else []
    return any(
        isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == ast.unparse(target)
        for statement in following
        if isinstance(statement, ast.If)
        for one in statement.body
    )


def _is_constant(assignment: ast.Assign | ast.AnnAssign) -> bool:
    target = assignment.targets[0] if isinstance(assignment, ast.Assign) else assignment.target
    return isinstance(target, ast.Name) and target.id.isupper()


def _is_only_value(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function only returns a fixed value, which makes its name that of the value."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    return not any(isinstance(one, ast.Call | ast.FormattedValue | ast.BinOp) for one in ast.walk(body[0]))
