"""Find functions that are declared but not implemented (CODE_001).

An empty function is no stub where Python or its author means it to be empty: abstract methods, protocols, overloads,
hooks that say so, an override that switches something off, a fallback for a missing module. An empty method in a class
with other methods may belong to an interface of another file, so it is reported only if it owes its caller a result.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, end_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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
UNFINISHED_BY_MESSAGE = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b|(?i:\b(?:yet|later|coming soon|your code here|to be implemented|placeholder)\b"
    r"|\bimplement (?:this|me|later|here|it)\b)"
)
UNFINISHED_BY_DOCSTRING = re.compile(
    r"\b(?:TODO|FIXME)\b|(?im:^\W*(?:not (?:yet )?implemented\b|.* is not implemented yet))"
)
INTENTIONAL = re.compile(
    r"(?i)\b(?:nothing|no-?op|noop|ignor\w*|intentional\w*|deliberate\w*|on purpose|overrid\w*|overload\w*|subclass\w*"
    r"|derived|hook|callback|abstract|by default|default implementation|unused|not needed|not used|not necessary"
    r"|no \w+ needed"
    r"|no need|does not|doesn't|don't|do not|never|optional\w*|may be|for compatibility|compatib\w*|backwards?"
    r"|deprecated|obsolete|silen\w*|suppress\w*|disabl\w*|quiet\w*|skip\w*|empty|dummy|marker|sentinel|must be"
    r"|should be|called|triggered|invoked|no longer|not supported|unsupported|during tests?|for tests?"
    r"|internal function|entry ?points?|required?|reserved"
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
    r"(?i)upgrade|downgrade|_*(?:\w+_)?(?:no_?op|nop|do_?nothing|dummy|null|ignore|nothing|not_impl)(?:_\w*)?|_?default_\w+|_*"
)
EMPTY_CLASSES = re.compile(
    r"(?i)_*(?:null|dummy|no_?op|nop|fake|mock|stub|silent|disabled|empty|base|abstract|void|quiet|non|black_?hole|sink)\w*"
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
    r"|\w*_?(?:callback|hook|end)|check_\w+|default_\w+|exec_module|upgrade|downgrade"
)
OWES_RESULT = re.compile(r"(?i)_*(?:get|find|list|fetch|calculate|compute|parse|count|is|has|search|query)_\w+")
"""Names of methods whose callers expect a value."""
CASE_REFUSED = re.compile(r"(?i)\bnot implemented (?:for|in|on|with|by|when)\b")
HOOK_NAMES = re.compile(
    r"_*(?:(?:at|on|pre|post|before|after|test|setup|teardown)_\w+|(?:re)?start|stop|enable|disable|init\w*|close|shutdown"
    r"|setup|teardown|configure|(?:un)?register|cleanup|main|empty\w*)$"
)
HOOK_FILES = re.compile(
    r"(?i)_?(?:posix|unix|linux|windows|win32|win|nt|darwin|macos|osx|mac|android|emscripten|wasm|other|pure\w*"
    r"|\w*hooks?|\w*template|\w*skeleton|plugins?)(?:\.py)?"
)
"""Files and folders whose functions stand in for those of another platform, or are there to be filled in by a user."""
LONG_DOCSTRING = 4
"""Line ends in the docstring of a method that describes an interface."""
OUTPUT_CALLS = ("print", "debug", "info", "warning", "warn", "error", "log", "echo")
LOGS = re.compile(r"(?i)log|^click$|^console$|^warnings$")
SUGGESTION = "implement it, or remove it until it is needed"


def find_stubs(source: Source) -> Iterator[CodeFinding]:
    """Yield the functions and methods that hold no implementation."""
    classes = {node.name: node for node in source.nodes if isinstance(node, ast.ClassDef)}
    for function in source.functions():
        kind = _kind(source, function)
        if kind and not _is_intentional(source, function, kind, classes):
            yield CodeFinding(function.lineno, end_of(function), f"{_named(source, function)} {kind}", SUGGESTION)


RAISES = "only raises NotImplementedError"
EMPTY = "has an empty body"
ANNOUNCES = "only announces its implementation"


def _kind(source: Source, function: Function) -> str:
    """Return in which way a function is not implemented, empty if it is."""
    body = [statement for statement in function.body if not _is_nothing(statement)]
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


def _is_output(statement: ast.stmt) -> bool:
    """Return whether a statement prints or logs; an object's own method ``error`` may report to a user for good."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    is_log = isinstance(called, ast.Name) or (isinstance(called, ast.Attribute) and LOGS.search(name_of(called.value)))
    return bool(is_log) and name_of(called) in OUTPUT_CALLS


def _reports_missing(statement: ast.stmt) -> bool:
    """Return whether a statement only prints or logs that something is not implemented."""
    if not _is_output(statement) or not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    texts = list(map(_text, statement.value.args))
    return any(map(UNFINISHED.search, texts)) and not any(map(CASE_REFUSED.search, texts))


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) for value in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _remarks(source: Source, function: Function) -> str:
    return f"{source.comments(function.lineno, end_of(function))}\n{docstring_of(function)}"


def _is_intentional(source: Source, function: Function, kind: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a function without an implementation is meant to have none."""
    if source.is_for_type_checkers(function) or source.file.endswith(".pyi") or _is_declared(function):
        return True
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef) and _is_interface(source, function, owner, classes):
        return True
    if kind == ANNOUNCES:
        return isinstance(owner, ast.ClassDef) and _is_base(owner)
    if kind == RAISES:
        return _refuses_for_good(source, function, owner)
    return _is_empty_on_purpose(source, function, owner, classes)


def _is_interface(source: Source, function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether the method only describes what other classes implement."""
    is_alternative = isinstance(source.parent(owner), ast.If | ast.Try | ast.ExceptHandler)
    is_described = docstring_of(function).count("\n") >= LONG_DOCSTRING
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
    text = f"{messages} {_remarks(source, function)}"
    if LASTING.search(text) or (given and not messages.strip()):
        return True
    if messages.strip():
        if CASE_REFUSED.search(messages) and isinstance(owner, ast.ClassDef) and owner.bases:
            return True  # an inherited method that this class does not have
        is_general = not isinstance(owner, ast.ClassDef) and not CASE_REFUSED.search(messages)
        return not UNFINISHED_BY_MESSAGE.search(messages) and not (is_general and UNFINISHED.search(messages))
    if "pragma: no" in _remarks(source, function) or _is_in(source, BASE_FILES):
        return True
    if INTENTIONAL.search(text):
        return True
    if source.is_test:
        return not function.name.startswith("test")
    if not isinstance(owner, ast.ClassDef):
        return _is_conditional(source, function) or _is_decorated(function)
    return _is_base(owner) or bool(owner.bases) or not _is_alone(owner)


def _is_base(owner: ast.ClassDef) -> bool:
    """Return whether a class is there to be derived from: by its name, its docstring, or because it is all empty."""
    methods = [one for one in owner.body if isinstance(one, FUNCTIONS)]
    is_all_empty = len(methods) > 1 and all(all(map(_is_nothing, one.body)) for one in methods)
    return is_all_empty or bool(EMPTY_CLASSES.fullmatch(owner.name) or BASE_CLASS.search(docstring_of(owner)))


def _is_alone(owner: ast.ClassDef) -> bool:
    """Return whether a class has one method only."""
    return sum(isinstance(one, FUNCTIONS) for one in owner.body) == 1


def _is_conditional(source: Source, function: Function) -> bool:
    """Return whether a function is one of several definitions, such as the one for a missing module."""
    return isinstance(source.parent(function), ast.If | ast.Try | ast.ExceptHandler | ast.With)


def _is_empty_on_purpose(
    source: Source, function: Function, owner: ast.AST | None, classes: dict[str, ast.ClassDef]
) -> bool:
    above = source.comments(max(1, function.lineno - 2), function.lineno - 1)
    text = f"{_remarks(source, function)}\n{above}"
    if ">>> " in docstring_of(function):
        return True  # its examples are run by doctest
    if INTENTIONAL.search(text) or EMPTY_NAMES.fullmatch(function.name) or _is_in(source, EMPTY_FILES):
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
    if isinstance(owner, FUNCTIONS):
        return not docstring_of(function)
    if _is_decorated(function) or any(one.arg.startswith("unused") for one in _parameters(function)):
        return True
    if not isinstance(owner, ast.ClassDef):
        is_hook = HOOK_NAMES.match(function.name) or _is_in(source, HOOK_FILES)
        return bool(is_hook) or _is_value_somewhere(source, function)
    return isinstance(source.parent(owner), FUNCTIONS) or _is_empty_method(function, owner, classes)


def _is_in(source: Source, names: re.Pattern[str]) -> bool:
    return any(map(names.fullmatch, PurePath(source.file).parts[-2:]))


def _parameters(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _is_replaced(source: Source, function: Function) -> bool:
    """Return whether the name is deleted or bound again in the same scope, as that of a function made for its type."""
    scope = source.scope(function)
    for node in source.nodes:
        bound = node.targets if isinstance(node, ast.Assign | ast.Delete) else ()
        is_again = isinstance(node, FUNCTIONS) and node is not function and node.name == function.name
        is_bound = any(isinstance(one, ast.Name) and one.id == function.name for one in bound)
        if (is_bound or (is_again and not isinstance(scope, ast.ClassDef))) and source.scope(node) is scope:
            return True
    return False


def _is_value_somewhere(source: Source, function: Function) -> bool:
    """Return whether the file hands the function on as a value or by its name, as one does with a callback."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and node.value == function.name:
            return True
        if isinstance(node, ast.Name) and node.id == function.name:
            parent = source.parent(node)
            if not (isinstance(parent, ast.Call) and parent.func is node):
                return True
    return False


def _is_decorated(function: Function) -> bool:
    return any(name_of(decorator) not in PLAIN_DECORATORS for decorator in function.decorator_list)


def _is_empty_method(function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether an empty method is no stub: it is of an interface, handles an event, or overrides another."""
    if _is_base(owner) or EVENT_NAMES.fullmatch(function.name.lstrip("_")):
        return True
    if not any(isinstance(one, ast.Pass) or _is_ellipsis(one) for one in function.body):
        return True  # a docstring alone is how authors write a method that does nothing by default
    known = _all_bases(owner, classes)
    if any(one.name == function.name for base in known for one in base.body if isinstance(one, FUNCTIONS)):
        return True
    if any(name_of(base) not in classes and name_of(base) not in ("object", "Generic") for base in owner.bases):
        return True
    return not (_is_alone(owner) or _owes_result(function))


def _owes_result(function: Function) -> bool:
    """Return whether the annotation or the name of a method promises a value other than None."""
    given = function.returns
    if given is None:
        return bool(OWES_RESULT.fullmatch(function.name))
    return "None" not in ast.unparse(given) and name_of(given) not in ("Optional", "Any", "NoReturn", "Never")


def _named(source: Source, function: Function) -> str:
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef):
        return f"method {owner.name}.{function.name}"
    return f"function {function.name}"
