"""Find functions that are declared but not implemented (CODE_001).

An empty function is no stub where Python or its author means it to be empty: abstract methods, protocols, overloads,
hooks that say so, an override that switches something off, a fallback for a missing module.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, Finding, documented, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function, Source

UNFINISHED = re.compile(
    r"\b(?:TODO|FIXME|XXX|TBD)\b|(?i:\bnot (?:yet |been )?implemented|\bunimplemented\b|\bplaceholder\b"
    r"|\bimplement (?:this|me|later|here|it)\b|\bto be implemented\b|\bcoming soon\b|\byour code here\b"
    r"|^\s*implement\b|^\s*(?:add|write|insert) \w+ (?:logic|implementation|code)\b)",
    re.MULTILINE,
)
"""A comment or message that announces code which is still to be written."""
UNFINISHED_BY_MESSAGE = re.compile(rf"{UNFINISHED.pattern}|\b(?:yet|later)\b", re.MULTILINE)
UNFINISHED_BY_DOCSTRING = re.compile(r"\b(?:TODO|FIXME)\b|(?i:\bnot yet implemented|\bis not implemented yet)")
MEANT = re.compile(
    r"(?i)\b(?:nothing|no-?op|noop|ignor\w*|intentional\w*|deliberate\w*|on purpose|overrid\w*|overload\w*|subclass\w*"
    r"|derived|hook|callback|abstract|by default|default implementation|unused|not needed|not used|not necessary"
    r"|no \w+ needed"
    r"|no need|does not|doesn't|don't|do not|never|optional\w*|may be|for compatibility|compatib\w*|backwards?"
    r"|deprecated|obsolete|silen\w*|suppress\w*|disabl\w*|quiet\w*|skip\w*|empty|dummy|marker|sentinel|must be"
    r"|should be|called (?:when|before|after|by|for)|internal function|entry ?point"
    r"|command group|group of|subcommands?)\b"
)
"""A docstring or comment that gives a reason for an empty function."""
LASTING = re.compile(
    r"(?i)\b(?:subclass\w*|overrid\w*|abstract|must|should|support\w*|unsupported|cannot|can't|only|unknown|available"
    r"|virtual|derived|invalid|unrecogni[sz]ed|don't know|use \w+|instead|requires?)\b"
)
"""The message of a NotImplementedError that refuses a case for good, or leaves it to a subclass."""
DECLARING = frozenset(
    """abstractmethod abstractproperty abstractclassmethod abstractstaticmethod overload singledispatch
    singledispatchmethod hookspec hookimpl fixture group callback command_group given when then step external jit
    validator listens_for receiver implemented_by stub declare_extend""".split()
)
PLAIN_DECORATORS = frozenset(
    "property staticmethod classmethod setter getter deleter cached_property lru_cache cache contextmanager".split()
)
OPEN_BASES = frozenset(("Protocol", "ABC", "Interface", "TypedDict", "NamedTuple"))
EMPTY_NAMES = re.compile(
    r"(?i)_*(?:\w+_)?(?:no_?op|nop|do_?nothing|dummy|null|ignore|nothing|not_impl)(?:_\w*)?|_?default_\w+|_*"
)
EMPTY_CLASSES = re.compile(
    r"(?i)_*(?:null|dummy|no_?op|nop|fake|mock|stub|silent|disabled|empty|base|abstract|void|quiet|non)\w*"
    r"|\w*(?:base|mixin|interface|stub|mock|dummy|null|noop|fake|protocol|abc|nothing|observer|listener|visitor|hooks"
    r"|callbacks?|plugin)\d?|(?-i:_*No[A-Z]\w*|\w*(?:Base|Abstract)[A-Z]\w*|_\w)"
)
EMPTY_FILES = re.compile(r"(?i)(?:\w+_)?(?:dummy|fake|mock|stub|null|noop|hookspec)s?(?:\.py)?")
BASE_FILES = re.compile(r"(?i)_?(?:base|abc|abstract|interface|protocol|port)s?(?:\.py)?")
"""Names of a file or its folder whose classes are there to be replaced, or to be derived from."""
REMARK = re.compile(r"(?:pragma|noqa|type:|pylint|mypy|nosec)")
BASE_CLASS = re.compile(
    r"(?i)\b(?:abstract|base class|generic|subclass\w*|interface|inherit\w*|derive\w*|overrid\w*)\b"
)
EVENT_NAMES = re.compile(
    r"(?:on|handle|visit|before|after|pre|post|setup|setUp|teardown|tearDown|unknown|notify|end|start|finish|init)_?\w*"
    r"|a?close|wait|join|kill|destroy|task_done|flush|reset|clear|cleanup|stop|shutdown|update|begin|register|unregister|acquire|release|abort|cancel"
    r"|write|isatty|fileno|writelines|emit|report\w*|log\w*|process_\w+|configure\w*|refresh|load|save|validate|clean"
    r"|\w*_?(?:callback|hook|end)|check_\w+|default_\w+|exec_module"
)
LONG_DOCSTRING = 4
"""Line ends in the docstring of a method that describes an interface."""
SPOKEN = ("print", "debug", "info", "warning", "warn", "error", "log", "echo")
SUGGESTION = "implement it, or remove it until it is needed"


def find_stubs(source: Source) -> Iterator[Finding]:
    """Yield the functions and methods that hold no implementation."""
    classes = {node.name: node for node in source.nodes if isinstance(node, ast.ClassDef)}
    for function in source.functions():
        kind = _kind(source, function)
        if kind and not _is_meant(source, function, kind, classes):
            yield Finding(function.lineno, end_of(function), f"{_named(source, function)} {kind}", SUGGESTION)


RAISES = "only raises NotImplementedError"
EMPTY = "has an empty body"
ANNOUNCES = "only announces its implementation"


def _kind(source: Source, function: Function) -> str:
    """Return in which way a function is not implemented, empty if it is."""
    body = [statement for statement in function.body if not _is_nothing(statement)]
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return RAISES if name_of(body[0].exc) == "NotImplementedError" else ""
    if len(body) == 1 and _speaks_of_missing(body[0]):
        return ANNOUNCES
    if len(body) > 1 and _is_spoken(body[0]) and all(_returns_nothing(one) for one in body[1:]):
        return ANNOUNCES if _speaks_of_missing(body[0]) else ""
    if all(_returns_nothing(statement) for statement in body):
        remarks = source.comments(function.lineno, end_of(function))
        if UNFINISHED.search(remarks) or UNFINISHED_BY_DOCSTRING.search(documented(function)):
            return ANNOUNCES
        return "" if body else EMPTY
    return ""


def _is_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _is_ellipsis(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
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


def _is_spoken(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and name_of(statement.value) in SPOKEN
    )


def _speaks_of_missing(statement: ast.stmt) -> bool:
    """Return whether a statement only prints or logs that something is not implemented."""
    if not _is_spoken(statement) or not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return any(UNFINISHED.search(_text(argument)) for argument in statement.value.args)


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) for value in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _remarks(source: Source, function: Function) -> str:
    return f"{source.comments(function.lineno, end_of(function))}\n{documented(function)}"


def _is_meant(source: Source, function: Function, kind: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a function without an implementation is meant to have none."""
    if source.is_for_type_checkers(function) or source.file.endswith(".pyi") or _is_declared(function):
        return True
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef) and _is_interface(source, function, owner, classes):
        return True
    if kind == ANNOUNCES:
        return False
    if kind == RAISES:
        return _refuses_for_good(source, function, owner)
    return _is_empty_on_purpose(source, function, owner, classes)


def _is_interface(source: Source, function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether the method only describes what other classes implement."""
    is_alternative = isinstance(source.parent(owner), ast.If | ast.Try | ast.ExceptHandler)
    is_described = documented(function).count("\n") >= LONG_DOCSTRING
    return is_alternative or is_described or _is_abstract(owner) or _has_override(function, owner, classes)


def _is_declared(function: Function) -> bool:
    names = [name_of(decorator) for decorator in function.decorator_list]
    return not DECLARING.isdisjoint(names)


def _is_abstract(owner: ast.ClassDef) -> bool:
    bases = [*map(name_of, owner.bases), *(name_of(one.value) for one in owner.keywords)]
    return not OPEN_BASES.isdisjoint(bases) or "ABCMeta" in bases or any("Protocol" in base for base in bases)


def _has_override(function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a subclass of ``owner`` in the same file implements the method."""
    return any(
        function.name in (one.name for one in other.body if isinstance(one, FUNCTIONS))
        for other in classes.values()
        if other is not owner and owner in _all_bases(other, classes)
    )


def _all_bases(owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    found: list[ast.ClassDef] = []
    waiting = [owner]
    while waiting:
        for base in waiting.pop().bases:
            known = classes.get(base.id) if isinstance(base, ast.Name) else None
            if known is not None and known not in found:
                found.append(known)
                waiting.append(known)
    return found


def _refuses_for_good(source: Source, function: Function, owner: ast.AST | None) -> bool:
    raised = next(one for one in function.body if isinstance(one, ast.Raise))
    given = raised.exc.args if isinstance(raised.exc, ast.Call) else []
    messages = " ".join(map(_text, given))
    said = f"{messages} {_remarks(source, function)}"
    if LASTING.search(said) or (given and not messages.strip()):
        return True
    if messages.strip():
        return not UNFINISHED_BY_MESSAGE.search(messages)
    if "pragma: no" in _remarks(source, function) or _is_in(source, BASE_FILES):
        return True
    if MEANT.search(said):
        return True
    if source.is_test:
        return not function.name.startswith("test")
    if not isinstance(owner, ast.ClassDef):
        return _is_conditional(source, function)
    is_base = EMPTY_CLASSES.fullmatch(owner.name) or BASE_CLASS.search(documented(owner))
    return bool(is_base or owner.bases) or _is_for_subclasses(function, owner)


def _is_for_subclasses(function: Function, owner: ast.ClassDef) -> bool:
    """Return whether the class works with the method itself, or is a documented interface of several such methods."""
    methods = [one for one in owner.body if isinstance(one, FUNCTIONS)]
    raising = [one for one in methods if isinstance(one.body[-1], ast.Raise) and len(one.body) <= 2]
    if len(raising) > 1 and all(map(documented, raising)):
        return True
    own = f"self.{function.name}"
    return any(isinstance(one, ast.Attribute) and ast.unparse(one) == own for one in ast.walk(owner))


def _is_conditional(source: Source, function: Function) -> bool:
    """Return whether a function is one of several definitions, such as the one for a missing module."""
    return isinstance(source.parent(function), ast.If | ast.Try | ast.ExceptHandler | ast.With)


def _is_empty_on_purpose(
    source: Source, function: Function, owner: ast.AST | None, classes: dict[str, ast.ClassDef]
) -> bool:
    above = source.comments(max(1, function.lineno - 2), function.lineno - 1)
    said = f"{_remarks(source, function)}\n{above}"
    if MEANT.search(said) or EMPTY_NAMES.fullmatch(function.name) or _is_in(source, EMPTY_FILES):
        return True
    comments = source.comments(function.lineno, end_of(function)).splitlines()
    if any(not REMARK.match(one) for one in comments) or _is_replaced(source, function):
        return True
    if function.name.startswith("__") and function.name.endswith("__"):
        return True
    if source.is_test:
        return not function.name.startswith("test") or isinstance(owner, FUNCTIONS)
    if _is_conditional(source, function):
        return True
    if isinstance(owner, FUNCTIONS) or _is_decorated(function):
        return not documented(function)
    if not isinstance(owner, ast.ClassDef):
        return False
    return isinstance(source.parent(owner), FUNCTIONS) or _is_empty_method(function, owner, classes)


def _is_in(source: Source, names: re.Pattern[str]) -> bool:
    return any(map(names.fullmatch, PurePath(source.file).parts[-2:]))


def _is_replaced(source: Source, function: Function) -> bool:
    """Return whether the name is deleted or bound again in the same scope, as that of a function made for its type."""
    for node in ast.iter_child_nodes(source.scope(function)):
        bound = node.targets if isinstance(node, ast.Assign | ast.Delete) else ()
        if any(isinstance(one, ast.Name) and one.id == function.name for one in bound):
            return True
    return False


def _is_decorated(function: Function) -> bool:
    return any(name_of(decorator) not in PLAIN_DECORATORS for decorator in function.decorator_list)


def _is_empty_method(function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    if EMPTY_CLASSES.fullmatch(owner.name) or not any(
        isinstance(one, ast.Pass) or _is_ellipsis(one) for one in function.body
    ):
        return True  # a docstring alone is how authors write a method that does nothing by default
    known = _all_bases(owner, classes)
    if any(one.name == function.name for base in known for one in base.body if isinstance(one, FUNCTIONS)):
        return True
    is_derived = any(
        name_of(base) not in classes and name_of(base) not in ("object", "Generic") for base in owner.bases
    )
    if is_derived or any(base.bases for base in known):
        return not documented(function)
    return bool(EVENT_NAMES.fullmatch(function.name.lstrip("_"))) and not documented(function)


def _named(source: Source, function: Function) -> str:
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef):
        return f"method {owner.name}.{function.name}"
    return f"function {function.name}"
