"""Find hard-coded values that belong in a setting: addresses, home folders, time limits and counts (rule CODE_002).

Secrets in strings are reported as well. Not reported are prose and values that have a name in the code, because they
are assigned to a constant or to a field of a class, or are the default of a parameter.
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
from enricher.validation.checks.secret_values import find_secrets
from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, name_of, names_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source

READING = frozenset(
    """add_argument option Option Argument add_option Field startswith endswith
    replace removeprefix removesuffix split partition rpartition find index compile match search sub fullmatch strip
    lstrip rstrip count fromkeys""".split()
)
"""Names of calls that declare an option or take a text apart; the numbers in them are not settings."""
IN_EXAMPLE = re.compile(r"(?i).*(?:example|sample|demo|default|help|docs|link|about).*|_*test(?:_\w*)?")
TO_SETTING = "give it a name: a constant, a parameter or a setting"
URL = re.compile(
    r"(?:https?|wss?|ftps?|amqps?|mongodb(?:\+srv)?|rediss?|postgres(?:ql)?(?:\+\w+)?|mysql(?:\+\w+)?|grpc)://[^\s\"'<>{}|]+"
)
HOME = re.compile(
    r"(?:/home/(?!(?:user|username|me|you)\b)[a-z][\w.-]*|/Users/(?!(?:user|username|me|you)\b)[A-Za-z][\w.-]*|[A-Z]:\\Users\\\w+)(?:[/\\].*)?"
)
PUBLIC_DNS = ("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9")
"""Name servers that Google, Cloudflare and Quad9 offer to everyone."""
SERVICE_HOME = re.compile(
    r"/home/(?:ubuntu|debian|ec2-user|runner|app|appuser|jovyan|node|vagrant|pi|vscode|site|git|docker|container|ray"
    r"|airflow|spark|hadoop|jenkins|nonroot|worker|server|service)\b"
)
"""Home folders that a system image, a container or a service fixes, so that they are the same for all its users."""
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?")
EXAMPLE_HOSTS = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|org|net)|example|test|invalid|w3\.org|schema\.org|json-schema\.org|purl\.org"
    r"|xmlsoap\.org|axschema\.org|(?:specs\.)?openid\.net|openxmlformats\.org|(?:schemas|ns|xmlns)\..*|(?:www\.)?rfc-editor\.org|peps\.python\.org"
    r"|(?:\w+\.)?wikipedia\.org|(?:dx\.)?doi\.org|creativecommons\.org|opensource\.org|host|hostname|your.*|my.*|\.+)"
)
CONNECTING = re.compile(
    r"(?i)(?!_*(?:[gs]et|store|save)_)"  # get_client, store_session
    r"_*(?:\w+_)?(?:get|post|put|patch|head|delete|requests?|fetch|urlopen|urlretrieve|urljoin|connect\w*|create_\w*engine"
    r"|clone|download\w*|call|send\w*|open|ping|query|\w*client|\w*session|stream|websocket\w*)(?:_\w+)?"
)
"""Names of functions that connect to, request or open the address or folder that is passed to them."""
HOLDS_ADDRESS = re.compile(
    r"(?i)_*(?:\w+_)?(?:url|uri|base|host|hostname|endpoint|server|address|addr|ip|api|gateway|webhook)"
)
GIVES_ADDRESS = re.compile(
    r"(?i)url|_api$|uri|issuer|audience|scope|origin|link|host|endpoint|address|base|server|path|dir"
)
"""Names of functions that return an address; an address that they return has a name and is not reported."""
NO_USER = re.compile(
    r"(?i)(?:config\w*|settings?|options?|defaults?|error|exception)$|example|sample|demo|mock|fake|dummy"
)
"""Names of classes and functions for settings, examples, test doubles or errors; they may contain addresses."""
READS_SETTING = re.compile(r"(?i)default|env(?:_|$)|environ|config|setting|option")
WITH_DEFAULT = frozenset("get getenv setdefault getattr pop".split())
FOR_PEOPLE = re.compile(
    r"(?im)link|docs?(?:_|$)|help|reference|source|issue|homepage|website|source_?url|information|console|browser|about|readme"
    r"|tutorial|namespace|schema|issuer?$|audience|scopes?|_id(?:_|$)|referer|origin$|href"
    r"|refuri|(?:^|_)type$|profile|feature|claim|default|manufacturer|placeholder|configuration_url|fallback|allow|trusted|known|install|release|terms|privacy|pricing|blog|home"
    r"|badge|logo|icon|image|img|font|avatar|thumbnail|upgrade|changelog|permalink|xmlns|(?:^|_)rel$|picture|photo|thumb|browser"
)
"""Names of variables, keywords or keys for addresses that people open in a browser, or that only identify."""
ANY_VALUE = re.compile(
    r"(?i)\b(?:arbitrary|random|mock|ma[kd]e up|dummy|fake|unroutable|any (?:address|host)"
    r"|doesn't matter|does not matter)\b"
)
"""Words of a comment which say that any other value would do as well as the one in the code."""
FOR_VISITORS = re.compile(
    r"(?:www\.)?(?:twitter|x|facebook|youtube|instagram|linkedin|reddit|discord|patreon|medium|t)\.(?:com|gg|me)"
)
"""Hosts of websites that people visit; for programs, the same companies have other hosts (``api.twitter.com``)."""
REPOSITORY = re.compile(r"https://git(?:hub|lab)\.com/[\w.-]+/[\w.-]+(?<!\.git)/?")
"""The address of a repository's web page; an address for ``git clone`` ends in ``.git``."""
PAGE = re.compile(
    r"(?i)(?:docs?|console|developers?|support|help|wiki)\..*|.*\.(?:html?|md|rst|pdf|png|svg|jpe?g|ico|gif)|.*/(?:docs?|wiki|installation|getting-started|terms|privacy|blog|pricing|help|guides?|blob|tree|issues|discussions|browse|tickets?|bugs?|pulls?|commits?|auth|\.default)(?:/.*)?"
)
"""The host or the path of a page that people read, or the address of an OAuth permission."""
ADDRESS_FILES = re.compile(
    r"(?i)(?:\w+_)?(?:placeholders?|fixtures?|mocks?|fakes?|dumm(?:y|ies)|links?|urls?|endpoints?|constants?|settings|defaults?)"
)
"""Names of files whose purpose is to define addresses or settings; nothing but secrets is reported in them."""

NUMBERS = re.compile(
    r"(?i)(?:\w*_)?(?:timeout|port|retries|attempts)"
    r"(?:_(?:s|ms|sec|secs|seconds|minutes|hours|days))?"
)
WAITING = ("sleep", "settimeout")
ENDING = frozenset("join close stop shutdown terminate flush set set_many add get_or_set".split())
"""Calls that wait for something to end, or store a value for a limited time; their time limits are not reported."""
SMALL = 30
"""Smaller time limits and counts are not reported; they may be written where they are used."""
DAY_S = 86_400
"""A day in seconds; a longer ``sleep`` is meant to last for ever."""
PRIVILEGED_PORTS = 1024
"""Smaller port numbers are fixed by a protocol, so they are not reported."""


def find_hardcoded(source: Source) -> Iterator[CodeFinding]:
    """Yield each secret in the file, and each address, home folder, time limit or count that a function hard-codes."""
    yield from find_secrets(source)
    if source.is_test or source.is_example or ADDRESS_FILES.fullmatch(PurePath(source.file).stem):
        return
    yield from _addresses(source)
    for node in source.nodes:
        if isinstance(node, ast.Call):
            yield from _numbers_of(source, node)


def _addresses(source: Source) -> Iterator[CodeFinding]:
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            what = "" if _is_computed_host(source, node) else _place(node.value)
            # An address with a password is reported as a secret.
            if what and _is_for_program(source, node) and not found_in(node.value):
                yield CodeFinding(node.lineno, end_of(node), f"{what} is fixed in the code", TO_SETTING)


def _is_for_program(source: Source, node: ast.Constant) -> bool:
    """Return whether the program itself uses the value ``node``, and no comment justifies that it is hard-coded."""
    above = source.ancestors(node)
    around = [one for one in above if isinstance(one, (*FUNCTIONS, ast.ClassDef))]
    if not any(isinstance(one, FUNCTIONS) for one in around) or FOR_PEOPLE.search(names_around(source, node)):
        return False
    if any(NO_USER.search(one.name) or IN_EXAMPLE.fullmatch(one.name) for one in around):
        return False
    is_remarked = source.is_explained(node) or ANY_VALUE.search(source.comments(node.lineno - 1, end_of(node)))
    return not is_remarked and _is_used(source, node)


def _is_computed_host(source: Source, node: ast.Constant) -> bool:
    """Return whether a part of the host in an address is inserted at run time, as in ``f"https://{name}.net/"``."""
    found = URL.match(node.value) if isinstance(node.value, str) else None
    if not found or "/" in found.group().partition("://")[2]:  # the slash ends the host
        return False
    parent = source.parent(node)
    goes_on = isinstance(parent, ast.JoinedStr) and parent.values[-1] is not node
    return goes_on or str(node.value)[found.end() : found.end() + 1] == "{"


def _place(value: str) -> str:
    """Return a description of a server address or home folder that belongs in a setting; empty for any other string."""
    if "://" in value and (found := URL.match(value)) and len(value.split()) == 1:
        return _host(found.group())
    if ADDRESS.fullmatch(value):
        return _number(value.partition(":")[0])
    if HOME.fullmatch(value) and not SERVICE_HOME.match(value):
        return "the home folder of one person"
    return ""


def _host(url: str) -> str:
    """Return a description of the server in ``url``; empty if the URL may be hard-coded.

    Examples, namespaces, pages that people read, and this machine without a port may be hard-coded.
    """
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError:  # an invalid port or IPv6 address
        return ""
    if (
        host.startswith(("169.254.", "metadata."))
        or PAGE.fullmatch(host)
        or PAGE.fullmatch(found.path)
        or REPOSITORY.fullmatch(url)
        or found.fragment
    ):
        return ""  # the metadata service of a cloud, the same on all its machines; or a page that people open
    is_here = host == "localhost" or host.startswith("127.")
    is_real = "." in host or is_here or port is not None
    if (
        not host
        or "%" in host
        or "*" in host
        or host.endswith(".")
        or EXAMPLE_HOSTS.fullmatch(host)
        or FOR_VISITORS.fullmatch(host)
        or (is_here and port is None)
        or not is_real
    ):
        return ""
    return f"the address of {host}"


def _number(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    is_plain = (
        address in PUBLIC_DNS
        or address.startswith(("0.", "255."))  # a mask or a network, no server
        or found.is_loopback
        or found.is_unspecified
        or found.is_multicast
        or address.endswith(".0")
    )
    return "" if is_plain else f"the address {address}"


def _is_used(source: Source, node: ast.Constant) -> bool:
    """Return whether the code uses the address in ``node``: it connects to it, keeps it, or returns a longer one."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, ast.Call):
            return _connects(above, below)
        if isinstance(above, ast.Assign) and len(above.targets) == 1:
            return _is_address(source, above, above.targets[0])
        if isinstance(above, ast.Return):
            is_made = isinstance(below, ast.JoinedStr | ast.BinOp)
            return is_made and not _gives_address(source.scope(node))
        if not isinstance(above, ast.JoinedStr | ast.BinOp | ast.Dict | ast.List | ast.keyword):
            return False
        below = above
    return False


def _connects(call: ast.Call, given: ast.AST) -> bool:
    """Return whether ``given`` is an argument of a call that connects to it."""
    name = name_of(call.func)
    is_default = given in call.args[1:] and (name in WITH_DEFAULT or READS_SETTING.search(name))
    is_for_people = name_of(getattr(call.func, "value", None)) == "webbrowser" or "browser" in name
    return bool(CONNECTING.fullmatch(name)) and given is not call.func and not is_default and not is_for_people


def _is_address(source: Source, assignment: ast.Assign, target: ast.expr) -> bool:
    """Return whether ``target`` holds a fixed address, to which the code connects.

    It must be named like an address, and its function must assign it only once and use it to connect.
    """
    if not HOLDS_ADDRESS.fullmatch(name_of(target)):
        return False
    scope = source.scope(target)
    same = [one for one in ast.walk(scope) if isinstance(one, ast.expr) and ast.unparse(one) == ast.unparse(target)]
    parameters = [one.arg for one in ast.walk(scope) if isinstance(one, ast.arg)]
    uses = [one for one in same if isinstance(getattr(one, "ctx", None), ast.Load)]
    if len(same) - len(uses) > 1 or name_of(target) in parameters:
        return False
    if isinstance(target, ast.Attribute):  # any method may use it
        return isinstance(assignment.value, ast.Constant) and source.parent(assignment) is scope
    return any(_reaches_connection(source, use) for use in uses)


def _reaches_connection(source: Source, use: ast.expr) -> bool:
    """Return whether the variable ``use`` is passed to a call that connects, or forms part of a returned address."""
    below: ast.AST = use
    for above in source.ancestors(use):
        if isinstance(above, ast.Call) and _connects(above, below):
            return True
        if isinstance(above, ast.Return):
            return isinstance(below, ast.JoinedStr | ast.BinOp) and not _gives_address(source.scope(use))
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False


def _gives_address(scope: ast.AST) -> bool:
    """Return whether a function exists to give an address: a property, or one named like ``base_url`` or ``link``."""
    name = getattr(scope, "name", "")
    is_property = any("property" in name_of(one) for one in getattr(scope, "decorator_list", ()))
    return bool(is_property or GIVES_ADDRESS.search(name) or FOR_PEOPLE.search(name))


def _numbers_of(source: Source, call: ast.Call) -> Iterator[CodeFinding]:
    """Yield the numbers that a call in a function gives to parameters that are usually settings, such as timeouts."""
    given = [(one.arg or "", one.value) for one in call.keywords if NUMBERS.fullmatch(one.arg or "")]
    if name_of(call.func) in WAITING and call.args:
        given.append((name_of(call.func), call.args[0]))
    for name, value in given:
        number = value.value if isinstance(value, ast.Constant) else None
        if isinstance(number, bool) or not isinstance(number, int | float) or _is_choice(name, number):
            continue
        if name == "sleep" and (number > DAY_S or source.is_in_loop(call)):  # the rhythm of the loop
            continue
        if _is_in_the_middle(source, call, number) and not source.is_explained(value):
            yield CodeFinding(value.lineno, end_of(value), f"{number} for {name} is fixed in the code", TO_SETTING)


def _is_in_the_middle(source: Source, call: ast.Call, number: float) -> bool:
    """Return whether the number that is passed to a call is hard-coded inside a function without an explanation."""
    above = source.ancestors(call)
    around: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]
    around = [one for one in above if isinstance(one, FUNCTIONS)]
    if not around or name_of(call.func) in READING | ENDING or _is_in_decorator([call, *above]):
        return False
    if name_of(call.func) in ("__init__", "super") or any(isinstance(one, ast.BoolOp) for one in above):
        return False  # a subclass fixes a value of its base class; or the number is the default for a missing value
    around += [one for one in above if isinstance(one, ast.ClassDef)]
    if any(IN_EXAMPLE.fullmatch(one.name) or str(number) in docstring_of(one) for one in around):
        return False
    kept = source.parent(call)
    return not (isinstance(kept, ast.Assign) and NUMBERS.fullmatch(name_of(kept.targets[0])))


def _is_in_decorator(path: list[ast.AST]) -> bool:
    """Return whether a value is an argument of a decorator; ``path`` is its node, followed by its ancestors."""
    return any(below in above.decorator_list for below, above in pairwise(path) if isinstance(above, FUNCTIONS))


def _is_choice(name: str, number: float) -> bool:
    """Return whether the number may be hard-coded as the value of the parameter ``name``."""
    if "default" in name.lower():
        return True
    if "port" in name.lower():
        return number < PRIVILEGED_PORTS
    return abs(number) < SMALL
