"""Which functions without an implementation are meant to have none."""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.checks.unimplemented import (
    ANNOUNCES,
    CASE_REFUSED,
    RAISES,
    UNFINISHED,
    is_nothing,
    text_of,
)
from enricher.validation.source import FUNCTIONS, docstring_of, end_of, name_of

if TYPE_CHECKING:
    from enricher.validation.source import Function, Source


UNFINISHED_BY_MESSAGE = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b|(?i:\b(?:yet|later|coming soon|your code here|to be implemented|placeholder)\b"
    r"|\bimplement (?:this|me|later|here|it)\b)"
)
INTENTIONAL = re.compile(
    r"(?i)\b(?:nothing|no-?op|noop|ignor\w*|intentional\w*|deliberate\w*|on purpose|overrid\w*|overload\w*|subclass\w*"
    r"|derived|hook|callback|abstract|by default|default implementation|unused|not needed|not used|not necessary"
    r"|no \w+ needed"
    r"|no need|does not|doesn't|don't|do not|never|optional\w*|may be|for compatibility|compatib\w*|backwards?"
    r"|deprecated|obsolete|silen\w*|suppress\w*|disabl\w*|quiet\w*|skip\w*|empty|dummy|marker|sentinel|must be"
    r"|should be|called|triggered|invoked|no longer|not supported|unsupported|during tests?|for tests?"
    r"|cross-?reference\w*"
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


def _is_ellipsis(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )


def _remarks(source: Source, function: Function) -> str:
    return f"{source.comments(function.lineno, end_of(function))}\n{docstring_of(function)}"


def is_intentional(source: Source, function: Function, kind: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a function without an implementation is meant to have none."""
    if source.is_for_type_checkers(function) or source.file.endswith(".pyi") or _is_declared(function):
        return True
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef) and _is_interface(source, function, owner, classes):
        return True
    if kind == ANNOUNCES:
        return source.is_migration or (isinstance(owner, ast.ClassDef) and _is_base(owner))
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
    messages = " ".join(map(text_of, given))
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
    is_all_empty = len(methods) > 1 and all(all(map(is_nothing, one.body)) for one in methods)
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
    if isinstance(source.parent(owner), FUNCTIONS) or _is_default_of(function, owner):
        return True
    return _is_empty_method(function, owner, classes)


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


def _is_default_of(function: Function, owner: ast.ClassDef) -> bool:
    """Return whether the class keeps the function under another name, as in ``default = staticmethod(on_exit)``."""
    kept = [one.value for one in owner.body if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
    return any(isinstance(one, ast.Name) and one.id == function.name for value in kept for one in ast.walk(value))


def _is_decorated(function: Function) -> bool:
    return any(name_of(decorator) not in PLAIN_DECORATORS for decorator in function.decorator_list)


def _is_empty_method(function: Function, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a method may be empty: as part of an interface, as an event handler, or as an override."""
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
