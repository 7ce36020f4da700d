"""Find functions that are declared but not implemented (rule CODE_001).

Two kinds of functions are reported:

- functions that are said to be unfinished: a comment, docstring, message or error has TODO or "not yet implemented";
- bare functions: they do nothing, or only raise NotImplementedError, and neither their file nor neighbouring modules
  show a reason, such as a base class, a hook, a table of functions or a convention of plug-ins.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import (
    FUNCTIONS,
    CodeFinding,
    Source,
    docstring_of,
    end_of,
    is_implemented_elsewhere,
    is_nothing,
    name_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function

SUGGESTION = "implement it, or remove it until it is needed"
RAISES = "only raises NotImplementedError"
EMPTY = "has an empty body"
ANNOUNCES = "only announces its implementation"
TODO = re.compile(
    r"(?:TODO|FIXME|TBD)\b(?!.*(?:\?|(?i:\b(?:remov\w*|delet\w*|keep|kept|no|not|since|because|need to|confirm"
    r"|compat\w*|future|deprecat\w*|if|whether|why|maybe|look into|consider|investigate|support\w*|disabled|check)\b)))"
)
"""A TODO that names missing work, but not one with a question, a doubt or a reason: its code may be complete."""
MISSING = re.compile(
    r"(?i)(?:not (?:yet |been )?implemented|unimplemented|to be implemented|placeholder|coming soon|your code here"
    r"|implement (?:this|me|later|here|it))(?: yet)?\W*$"
)
"""A comment that only states that the code is missing; a longer comment often gives a reason."""
PLACEHOLDER = re.compile(r"(?i)placeholder\W*$")
MISSING_BY_DOCSTRING = re.compile(r"(?i)\W*(?-i:TODO|FIXME)\b|\W*not (?:yet )?implemented(?: yet)?\W*$")
MISSING_BY_MESSAGE = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b|(?i:\b(?:yet|later|coming soon|your code here|to be implemented)\b"
    r"|\bimplement (?:this|me|later|here|it)\b)"
)
LASTING = re.compile(
    r"(?i)\b(?:sub.?class\w*|overrid\w*|abstract|must|should|support\w*|unsupported|cannot|can't|only|unknown|available|for|in|with|when|if|unless|using|backward|currently|by|disabled"
    r"|virtual|derived|invalid|unrecogni[sz]ed|don't know|use \w+|instead|requires?|no longer|compatib\w*)\b"
)
"""Words in the message of a NotImplementedError that rejects a case for good, or leaves it to a subclass."""
OUTPUT_CALLS = ("print", "debug", "info", "warning", "warn", "error", "log", "echo")
LOGS = re.compile(r"(?i)log|^click$|^console$|^warnings$")
INTENTIONAL = re.compile(
    r"(?i)\b(?:nothing|not implemented|no-?op|noop|ignor\w*|intentional\w*|deliberate\w*|on purpose|overrid\w*"
    r"|overload\w*|sub.?class\w*|derived|hook|callback|abstract|default|unused|needed|used|necessary|does not"
    r"|doesn't|don't|do not|never|optional\w*|may be|compatib\w*|backwards?|deprecated|obsolete|silen\w*"
    r"|suppress\w*|disabl\w*|quiet\w*|skip\w*|empty|dummy|marker|sentinel|must|should|called|triggered|invoked"
    r"|no longer|not supported|unsupported|tests?|entry ?points?|required?|reserved|group|subcommands?|fake"
    r"|stand-?in)\b|>>> "
)
"""Words in the docstring of a function that is empty for a reason, or the start of an example for doctest."""
DECLARED = 3
"""A file with at least this many bare functions declares an interface, such as the handlers of events."""
LONG_DOCSTRING = 4
"""A docstring with at least this many line ends describes an interface, so its function is not bare."""
# Decorators of functions that others implement, or that are called in another way than by their name.
DECLARING = frozenset(
    """abstractmethod abstractproperty abstractclassmethod abstractstaticmethod overload singledispatch
    singledispatchmethod hookspec hookimpl""".split()
)
PLAIN_DECORATORS = frozenset("property staticmethod classmethod cached_property lru_cache cache contextmanager".split())
"""Decorators that are no reason for an empty body; any other may register the function or replace its body."""
INTERFACE_NAMES = re.compile(r"I[A-Z][a-z]")
OPEN_BASES = frozenset(("ABC", "ABCMeta", "Interface", "TypedDict", "NamedTuple"))
EMPTY_NAMES = re.compile(
    r"(?i)_*(?:(?:\w+_)?(?:no_?op|nop|do_?nothing|dummy|null|ignore|nothing|not_impl\w*|none)(?:_\w*)?|default_\w+"
    r"|(?:at|on|pre|post|before|after|test|setup|teardown|handle|visit)_\w+|(?:re)?start\w*|stop|enable|disable|init\w*"
    r"|\w+_init|close|shutdown|setup|teardown|configure|(?:un)?register\w*|cleanup|main|demo|empty\w*|(?:up|down)grade"
    r"|run|update|reset|flush|__\w+__|_*)"
)
"""Names of functions that must exist because others call them, even if there is nothing to do."""
EMPTY_CLASSES = re.compile(
    r"(?i)_*(?:null|dummy|no_?op|nop|fake|mock|stub|silent|disabled|empty|base|abstract|void|quiet|non|pseudo)\w*"
    r"|\w*(?:base|mixin|interface|stub|mock|dummy|null|noop|fake|protocol|abc|nothing|observer|listener|visitor|hooks"
    r"|callbacks?|plugin|handler)\d?|(?-i:_*No[A-Z]\w*|\w*(?:Base|Abstract)[A-Z]\w*|_\w)"
)
EMPTY_FILES = re.compile(
    r"(?i)(?:\w+_)?(?:dummy|fake|mock|stub|null|noop|hook|hookspec|template|skeleton|plugin|base|abc|abstract|interface"
    r"|protocol)s?(?:\.py)?|_?(?:posix|unix|linux|windows|win32|win|nt|darwin|macos|osx|mac|android|wasm|pure\w*)(?:\.py)?"
)
"""Names of files and folders of which the functions are to be replaced, or replace those for another platform."""
FOR_TOOLS = re.compile(r"(?:pragma|noqa|type:(?! \()|pylint|mypy|nosec)")


def find_stubs(source: Source) -> Iterator[CodeFinding]:
    """Yield the functions and methods that are not implemented."""
    if source.file.endswith(".pyi"):  # no function in it has a body
        return
    kinds = [(one, kind) for one in source.functions() if (kind := _kind(source, one))]
    announced = [(one, kind) for one, kind in kinds if kind == ANNOUNCES]
    bare = [(one, kind) for one, kind in kinds if kind != ANNOUNCES and _is_bare(source, one)]
    # Several bare functions in one file declare an interface, so none of them is reported.
    for function, kind in announced + (bare if len(bare) < DECLARED else []):
        if not _is_interface(source, function):
            yield CodeFinding(function.lineno, end_of(function), f"{_named(source, function)} {kind}", SUGGESTION)


def _named(source: Source, function: Function) -> str:
    owner = source.parent(function)
    return f"method {owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else f"function {function.name}"


def _kind(source: Source, function: Function) -> str:
    """Return the sign that a function is not implemented: ANNOUNCES (a text in it), RAISES or EMPTY.

    Returns an empty string for an implemented function, and for one that refuses to do something on purpose.
    """
    body = [statement for statement in function.body if not is_nothing(statement)]
    if len(body) == 1 and isinstance(body[0], ast.Raise) and name_of(body[0].exc) == "NotImplementedError":
        given = body[0].exc.args if isinstance(body[0].exc, ast.Call) else []
        message = " ".join(map(text_of, given))
        if MISSING_BY_MESSAGE.search(message) and not LASTING.search(message):
            owner = source.parent(function)
            return "" if isinstance(owner, ast.ClassDef) and owner.bases else ANNOUNCES  # the base may require it
        return RAISES if not given else ""
    if body and _reports_missing(body[0]) and all(map(_returns_nothing, body[1:])):
        return ANNOUNCES
    if not all(map(_returns_nothing, body)):
        return ""
    if MISSING_BY_DOCSTRING.match(docstring_of(function)) or _announces(source, function, body):
        return ANNOUNCES
    return "" if body else EMPTY


def _announces(source: Source, function: Function, body: list[ast.stmt]) -> bool:
    """Return whether the only comment in a function says that its code is still to be written.

    If the function returns a value, a TODO does not count, because it may be about something else.
    """
    returned = [one.value for one in body if isinstance(one, ast.Return)]
    is_value = any(isinstance(one, ast.Constant) and one.value is not None for one in returned)
    remarks = [one for one in source.remarks(function).splitlines() if not FOR_TOOLS.match(one)]
    remark = remarks[0] if len(remarks) == 1 else ""  # several lines explain something, or are disabled code
    if _ignores_arguments(function):
        return False
    return bool((PLACEHOLDER if is_value else MISSING).match(remark) or (TODO.match(remark) and not is_value))


def _returns_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement returns None, a constant or an empty container."""
    if not isinstance(statement, ast.Return):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return name_of(value) in ("dict", "list", "set", "tuple") and not (value.args or value.keywords)
    return (
        value is None
        or isinstance(value, ast.Constant)
        or (isinstance(value, ast.List | ast.Tuple | ast.Set) and not value.elts)
        or (isinstance(value, ast.Dict) and not value.keys)
    )


def _reports_missing(statement: ast.stmt) -> bool:
    """Return whether a statement only prints or logs that something is not implemented.

    A method such as ``error`` counts only on a logger; otherwise, it may be how the program reports errors to its user.
    """
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    is_log = isinstance(called, ast.Name) or (isinstance(called, ast.Attribute) and LOGS.search(name_of(called.value)))
    texts = map(text_of, statement.value.args) if is_log and name_of(called) in OUTPUT_CALLS else ()
    return any(TODO.match(one) or MISSING.match(one) for one in texts)


def _is_interface(source: Source, function: Function) -> bool:
    """Return whether the function is only declared for others to implement, or is one of several definitions."""
    owner = source.parent(function)
    above = source.parent(owner) if isinstance(owner, ast.ClassDef) else owner
    if isinstance(above, ast.If | ast.Try | ast.ExceptHandler | ast.With):
        return True
    if not DECLARING.isdisjoint(map(name_of, function.decorator_list)) or source.is_migration:
        return True
    if not isinstance(owner, ast.ClassDef):
        return False
    bases = [*map(name_of, owner.bases), *(name_of(one.value) for one in owner.keywords)]
    if INTERFACE_NAMES.match(owner.name):
        return True
    return any(one in OPEN_BASES or "Protocol" in one for one in bases) or _is_derived_from(source, owner)


def _is_derived_from(source: Source, owner: ast.ClassDef) -> bool:
    """Return whether another class of the file has ``owner`` as a base."""
    classes = (one for one in source.nodes if isinstance(one, ast.ClassDef))
    return any(name_of(base) == owner.name for one in classes for base in one.bases)


def _is_bare(source: Source, function: Function) -> bool:
    """Return whether neither an unimplemented function nor the code around it shows why it is not implemented."""
    docstring = docstring_of(function)
    comments = f"{source.comments(function.lineno - 2, function.lineno - 1)}\n{source.remarks(function)}".split("\n")
    names = {*map(name_of, function.decorator_list)}
    if source.is_test or source.is_example or any(map(EMPTY_FILES.fullmatch, PurePath(source.file).parts[-2:])):
        return False
    if any(one and not FOR_TOOLS.match(one) for one in comments) or not names <= PLAIN_DECORATORS:
        return False
    if INTENTIONAL.search(docstring) or docstring.count("\n") >= LONG_DOCSTRING:
        return False
    if EMPTY_NAMES.fullmatch(function.name) or _ignores_arguments(function):
        return False
    owner = source.parent(function)
    is_alone = _is_whole(owner, function) if isinstance(owner, ast.ClassDef) else isinstance(owner, ast.Module)
    is_used = _is_bound_or_passed(source, function) or _has_twin(source, function)
    return is_alone and not is_used and not (source.path and is_implemented_elsewhere(source.path, function.name))


def _has_twin(source: Source, function: Function) -> bool:
    """Return whether an implemented function of the file has the same parameters, and at least two of them.

    If so, both may be meant to be looked up by their names and called in the same way.
    """
    given = ast.unparse(function.args)
    same = [one for one in source.functions() if len(one.args.args) > 1 and ast.unparse(one.args) == given]
    return any(one is not function and not all(map(is_nothing, one.body)) for one in same)


def _ignores_arguments(function: Function) -> bool:
    """Return whether a function accepts any arguments (``*args``), or the name of a parameter begins with "unused"."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg not in ("self", "cls")]
    return ((given.vararg or given.kwarg) is not None and not names) or any(one.startswith("unused") for one in names)


def _is_whole(owner: ast.ClassDef, function: Function) -> bool:
    """Return whether a method is the only content of a plain class without a base.

    In any other class, the method may be a part of an interface.
    """
    is_plain = not (owner.bases or owner.keywords or owner.decorator_list or EMPTY_CLASSES.fullmatch(owner.name))
    return is_plain and owner.body == [function]


def _is_bound_or_passed(source: Source, function: Function) -> bool:
    """Return whether the file defines the function again, passes it on, or calls it and ignores its result."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and node.value == function.name:  # it is looked up by its name
            return True
        if isinstance(node, FUNCTIONS) and node is not function and node.name == function.name:
            return True
        if isinstance(node, ast.Name) and node.id == function.name:
            parent = source.parent(node)
            if not (isinstance(parent, ast.Call) and parent.func is node) or isinstance(
                source.parent(parent), ast.Expr
            ):
                return True  # a caller that ignores the result does not need an implementation
    return False
