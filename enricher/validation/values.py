"""Find values that belong into a setting (CODE_002) and secrets (SEC_003).

A value that has a name, as a constant, a default or a field of a class, is not reported, and neither is prose.
"""

from __future__ import annotations

import ast
import ipaddress
import re
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from enricher.prompt.redaction import found_in
from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, name_of

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
PASSWORD_NAMES = re.compile(r"(?i)passw(?:or)?d|passphrase|pwd|secret_?key|client_?secret|api_?secret")
TOKEN = re.compile(r"(?=(?:.*\d){3})(?=(?:.*[A-Za-z]){3})[A-Za-z0-9+/=_.-]{20,}")
VARIETY = 8
"""A token has at least so many different characters."""
SECRET_NAMES = re.compile(r"(?i)pass|secret|token|key|auth|pwd|credential")
NO_SECRET_NAMES = re.compile(
    r"(?i)namespace|prefix|suffix|header|param$|field|label|pattern|regex|format|_type$|algorithm"
    r"|_id$|::|public|not_?so|anonym|fake|dummy|test|example|_url$|_uri$|path$|_name$|file$|verification|continuation|captcha|site_?key|page_?token|next_?token"
)
WITH_PASSWORD = re.compile(r"[\w+.-]+://[^/@\s]*:[^/@\s]+@")
PUBLISHED = re.compile(r"(?i)\b(?:not (?:a |really )?secret|isn't (?:a )?secret|public(?:ly)?)\b")
SHOWING = re.compile(r"(?i)example|sample|demo|mock|fake|dummy|schema|description|help")
"""Parameters, keys and classes for values that are shown, or that stand in for real ones in a test."""
PATTERN = re.compile(
    r".*(?:\[[^\]]+\]|\\[dws]|\{\d+,?\d*\}).*|arn:.*|ssh-.*|AAAA[A-Z]3N.*|.*[|^$].*[|$]|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\w+.-]+://(?P<user>[^/@:\s]*):(?:(?P=user)|pass|password)@.*|[^\s@:/]+@[\w.-]+\.\w+",
    re.DOTALL,
)
"""A regular expression, the name of a resource, the public half of a key, or a UUID."""
TABLE_ROWS = 8
"""From so many values of one length on, a dictionary is a table of checksums or codes."""
PLACEHOLDER = re.compile(
    r"(?i).*(?:example|dummy|placeholder|change.?me|your|xxx|\*\*\*|\.\.\.|redacted|fake|sample|todo|<|\$\{|\{|%\().*"
    r"|(?:test|foo|bar|none|null|true|false|default|password|secret|token)[-_]?\w*"
)
IS_A_NAME = re.compile(
    r".*[\[\\(].*|[A-Za-z]+(?:[-_.:/ ][A-Za-z0-9]+)*|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][A-Z_0-9]*"
    r"|(?:[A-Z]\d{1,2})?(?:[A-Z][a-z]{2,}\d?|[A-Z]{2,4}\d?)+|_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+|.*::.*|[-/.]+\w*"
)
NUMBERS = re.compile(
    r"(?i)(?:\w*_)?(?:timeout|port|retries|attempts|ttl|backoff|max_?age|expir\w*)"
    r"(?:_(?:s|ms|sec|secs|seconds|minutes|hours|days))?"
)
WAITING = ("sleep", "settimeout")
SMALL = 10
"""A limit of time or number below this is the choice of the place where it is used."""
PAUSE_S = 30
"""A shorter pause is the rhythm of a loop."""
DAY_S = 86_400
PRIVILEGED_PORTS = 1024
"""A port below this belongs to a protocol."""
READING = frozenset(
    """add_argument option Option Argument add_option Field startswith endswith
    replace removeprefix removesuffix split partition rpartition find index compile match search sub fullmatch strip
    lstrip rstrip count fromkeys""".split()
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
ADDRESS_FILES = re.compile(
    r"(?i)(?:\w+_)?(?:placeholders?|fixtures?|mocks?|links?|urls?|endpoints?|constants?|settings|defaults?)"
)
"""Files that are the one place for addresses and numbers."""
IN_EXAMPLE = re.compile(r"(?i).*(?:example|sample|demo|default|help|docs|link|about).*|_*test(?:_\w*)?")
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
PAGE = re.compile(
    r"(?i)(?:docs?|console|developers?|support|help|wiki)\..*|.*\.(?:html?|md|rst|pdf)|.*/(?:docs?|wiki|installation|getting-started|terms|privacy|blog|pricing|help|guides?|blob|tree|issues|discussions|browse|tickets?|bugs?|pulls?|commits?|auth|\.default)(?:/.*)?"
)
"""Host or path of an address that a person reads, or of a permission."""
WORDS = frozenset(
    ("help", "description", "epilog", "message", "doc", "docs", "usage", "documentation", "title", "default")
)
TO_SETTING = "give it a name: a constant, a parameter or a setting"
TO_STORE = "read it from the environment or a secret store, and revoke it if it was published"
LONGEST = 2_000
MOST_WORDS = 2
"""Words of a string that may be a secret, as in "Bearer TOKEN"; more are prose."""


def find_hardcoded(source: Source) -> Iterator[CodeFinding]:
    """Yield addresses, home folders, limits of time and number, and secrets that stand in the middle of code."""
    yield from find_secrets(source)
    if source.is_test or source.is_example or ADDRESS_FILES.fullmatch(PurePath(source.file).stem):
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            what = "" if _is_computed_host(source, node) else _place(node.value)
            if (
                what
                and not FOR_PEOPLE.search(_names_around(source, node))
                and _is_in_code(source, node)
                and _is_used(source, node)
                and not ANY_VALUE.search(source.comments(node.lineno - 1, end_of(node)))
                and not found_in(node.value[:LONGEST])
            ):
                yield CodeFinding(node.lineno, end_of(node), f"{what} is fixed in the code", TO_SETTING)
        elif isinstance(node, ast.Call):
            yield from _limits(source, node)


def find_secrets(source: Source) -> Iterator[CodeFinding]:
    """Yield the strings that the screen for prompts takes for a secret; the message does not repeat them."""
    if source.is_example:
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 6 <= len(node.value) <= LONGEST:
            kind = _secret(source, node, node.value)
            if kind:
                yield CodeFinding(node.lineno, end_of(node), f"{kind} is written into the code", TO_STORE)


def _secret(source: Source, node: ast.Constant, value: str) -> str:
    words = len(value.split())
    if words > MOST_WORDS or _is_docstring(source, node):
        return ""
    found = found_in(value)
    if ("://" in value and not WITH_PASSWORD.match(value)) or value.startswith("/") or "?" in value:
        return ""
    is_most = "://" in value or 2 * sum(map(len, found)) >= len(value)
    is_real = found and is_most and not any(map(PLACEHOLDER.fullmatch, found)) and not _is_harmless(source, node)
    if is_real and not (source.is_test and "://" in value):
        return "a password in an address" if "://" in value else "a token or key"
    name = "" if isinstance(source.parent(node), ast.BinOp | ast.JoinedStr) else _name_of_value(source, node)
    is_password = PASSWORD_NAMES.search(name)
    if (
        words > 1
        or source.is_test
        or not (is_password or (SECRET_NAMES.search(name) and TOKEN.fullmatch(value) and len(set(value)) >= VARIETY))
        or NO_SECRET_NAMES.search(name)
        or _words(name) in _words(value)
        or _words(value) in _words(name)
        or _is_harmless(source, node)
        or PLACEHOLDER.fullmatch(value)
        or IS_A_NAME.fullmatch(value)
    ):
        return ""
    return f"the value of {name}" if value in found_in(f'{name} = "{value}"') else ""


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _is_harmless(source: Source, node: ast.Constant) -> bool:
    """Return whether a value is a pattern, the name of a resource, one row of a table of such values, or published."""
    if PATTERN.fullmatch(str(node.value)) or PUBLISHED.search(source.comments(node.lineno - 4, end_of(node))):
        return True
    if SHOWING.search(_names_around(source, node)):
        return True
    parent = source.parent(node)
    texts = (
        [one.value for one in parent.values if isinstance(one, ast.Constant)] if isinstance(parent, ast.Dict) else []
    )
    return len(texts) >= TABLE_ROWS and len({len(str(one)) for one in texts}) == 1


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


def _names_around(source: Source, node: ast.Constant) -> str:
    """Return the names, keywords and keys to which a value is given within its statement."""
    names = [_name_of_value(source, node)]
    below: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, ast.keyword):
            names.append(above.arg or "")
        if isinstance(above, ast.Dict):
            names += [_key(key) for key, own in zip(above.keys, above.values, strict=True) if own is below]
        below = above
        if isinstance(above, ast.stmt):
            names += map(ast.unparse, above.targets if isinstance(above, ast.Assign) else [])
            break
    return "\n".join(names)


def _parameter(given: ast.arguments, node: ast.expr) -> str:
    positional = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(reversed(positional), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return next((parameter.arg for parameter, default in pairs if default is node), "")


def _key(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


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
        if isinstance(above, ast.arguments | ast.Raise | ast.Compare | ast.Assert | ast.MatchValue):
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
        return bool(HOLDS_ADDRESS.fullmatch(name_of(target)))
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


def _limits(source: Source, call: ast.Call) -> Iterator[CodeFinding]:
    """Yield the numbers that a call in a function gives to something that is usually a setting."""
    given = [(one.arg or "", one.value) for one in call.keywords if NUMBERS.fullmatch(one.arg or "")]
    if name_of(call.func) in WAITING and call.args:
        given.append((name_of(call.func), call.args[0]))
    for name, value in given:
        number = value.value if isinstance(value, ast.Constant) else None
        if isinstance(number, bool) or not isinstance(number, int | float) or _is_choice(name, number):
            continue
        if _is_in_the_middle(source, call, number) and not _is_rhythm(source, call, name):
            yield CodeFinding(value.lineno, end_of(value), f"{number} for {name} is fixed in the code", TO_SETTING)


def _is_in_the_middle(source: Source, call: ast.Call, number: float) -> bool:
    """Return whether a call is in a function, and neither that nor a name for the call's result explains the number."""
    above = source.ancestors(call)
    around = [one for one in above if isinstance(one, FUNCTIONS)]
    if not around or name_of(call.func) in READING or _is_in_decorator([call, *above]):
        return False
    if name_of(call.func) in ("__init__", "super") or any(isinstance(one, ast.BoolOp) for one in above):
        return False  # what a subclass is about; or a value for one that was not given
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
    return abs(number) < (PAUSE_S if name == "sleep" else SMALL)


def _is_rhythm(source: Source, call: ast.Call, name: str) -> bool:
    """Return whether a pause repeats in a loop, or has no end."""
    if name != "sleep":
        return False
    is_endless = isinstance(call.args[0], ast.Constant) and float(str(call.args[0].value)) > DAY_S
    return is_endless or any(isinstance(one, ast.While | ast.For | ast.AsyncFor) for one in source.ancestors(call))


def _is_docstring(source: Source, node: ast.Constant) -> bool:
    return isinstance(source.parent(node), ast.Expr)
