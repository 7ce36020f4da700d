"""Find public classes, functions and methods without a docstring (rule CODE_003).

A definition needs no docstring if

- it is private: its name (or its class's, file's or folder's) begins with an underscore or is not in ``__all__``;
- it is a nested function, a special method, an override, an overload, a setter or a test, has an empty body, or is one
  of several definitions of the same name;
- it is described elsewhere: in a comment above it, in the docstring of ``__init__``, by a decorator, or by an assigned
  ``__doc__``;
- its file is below a folder ``scripts``, because nobody imports such files.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, is_convention, is_nothing, name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function, Source

UNDOCUMENTED = frozenset("overload override setter deleter getter wraps register deprecated hookimpl".split())
DESCRIBING = re.compile(r"(?i)doc|inherit|copy|help|wrap|substit|append|variant|deprecat")
"""Names of decorators that supply the docstring of a function, for example by copying it from another one."""
EXEMPTED = re.compile(r"#\s*noqa\b(?!\s*:)|#\s*noqa\s*:.*\bD1\d\d\b|#\s*pylint:\s*disable=.*missing-[\w-]*docstring")
"""Comments by which authors tell a linter that a definition needs no docstring."""
DISPATCHED = re.compile(r"(?:visit|depart|leave|on|do|handle|dump|load|p|t)_\w+|(?:setUp|tearDown)(?:Class)?")
"""Names of methods that a framework calls by their names, such as ``visit_Call`` for one kind of syntax node."""
TRYING_OUT = re.compile(r"(?:self_?)?test|demo|example")
"""Names of functions that test or demonstrate their module when it is run as a program."""
INNER = frozenset(("Meta", "Config", "Params", "Media"))
"""Names of classes that only contain settings for the class around them."""
DESCRIPTIONS = frozenset(("__doc__", "DESCRIPTION", "description", "help", "HELP", "help_text"))
INTERNAL = re.compile(
    r"(?i)implementation\s+detail|(?:not\s+part\s+of|no)\s+(?:the\s+)?public\s+API|for\s+internal\s+use"
)
"""Words in the docstring of a class which say that only its own package may use it."""
COMMENT_WORDS = 4
"""A comment above a definition counts as its description if it has at least this many words."""
KNOWN_BASES = frozenset(
    """object Generic ABC NamedTuple TypedDict Enum IntEnum StrEnum Flag Exception ValueError
    RuntimeError TypeError KeyError LookupError OSError""".split()
)
SUGGESTION = "write one sentence that says what it is for"


def find_undocumented(source: Source) -> Iterator[CodeFinding]:
    """Yield the public definitions that have no docstring."""
    *folders, file = PurePath(source.file).parts or ("",)
    is_other = source.is_test or source.is_example or source.is_migration or "scripts" in folders
    is_private = any(one.startswith("_") for one in folders) or (file.startswith("_") and not file.startswith("__"))
    if is_other or is_private:
        return
    exported = _exported(source.tree)
    described = _described(source)
    for node in source.nodes:
        if (
            isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name not in described
            and _is_wanted(source, node, exported)
            and not _is_described(source, node)
        ):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            # The finding covers the header, which ends above the body or, in "def f(): …", with it.
            start = node.body[0].lineno if node.body[0].lineno > node.lineno else node.lineno + 1
            yield CodeFinding(
                node.lineno, start - 1, f"public {kind} {_full_name(source, node)} has no docstring", SUGGESTION
            )


def _described(source: Source) -> set[str]:
    """Return the names to whose ``__doc__`` the file assigns a docstring."""
    assigned = [one for node in source.nodes if isinstance(node, ast.Assign) for one in node.targets]
    return {name_of(one.value) for one in assigned if isinstance(one, ast.Attribute) and one.attr == "__doc__"}


def _is_described(source: Source, node: Function | ast.ClassDef) -> bool:
    """Return whether something other than a docstring describes the definition, or its body is empty."""
    above = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
    header = source.lines[node.lineno - 1 : max(node.lineno, node.body[0].lineno - 1)]
    if len(source.comments(above, above).split()) >= COMMENT_WORDS or any(map(EXEMPTED.search, header)):
        return True
    for one in node.decorator_list:
        given = [keyword.arg or "" for keyword in one.keywords] if isinstance(one, ast.Call) else []
        if DESCRIBING.search(name_of(one)) or "help" in given:
            return True
    first = node.body[0]
    # A docstring that is composed ("…" % x, f"…", "…".format(x)), which Python does not count as one.
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.BinOp | ast.JoinedStr | ast.Call):
        return isinstance(node, ast.ClassDef) or not isinstance(first.value, ast.Call)
    if isinstance(node, ast.ClassDef):
        if node.keywords and "cls" in _described(source):  # its metaclass assigns the docstring
            return True
        # The keys of a TypedDict describe it; a class with the name of its base class is described by that.
        if any(name == "TypedDict" for name, _ in _bases(node, source)) or node.name in map(name_of, node.bases):
            return True
        bound = {name_of(target) for one in node.body if isinstance(one, ast.Assign) for target in one.targets}
        makers = [one for one in node.body if isinstance(one, FUNCTIONS) and one.name in ("__init__", "__new__")]
        return not bound.isdisjoint(DESCRIPTIONS) or any(map(docstring_of, makers))
    return all(map(is_nothing, node.body))


def _bases(owner: ast.ClassDef, source: Source) -> Iterator[tuple[str, ast.ClassDef | None]]:
    """Yield the name of each direct or indirect base of a class, and that class if it is in the same file."""
    classes = {one.name: one for one in source.nodes if isinstance(one, ast.ClassDef)}
    waiting, seen = [owner], {owner.name}
    while waiting:
        for base in waiting.pop().bases:
            name = name_of(base)
            bare = base.value if isinstance(base, ast.Subscript) else base  # Base of Base[int]
            known = classes.get(name) if isinstance(bare, ast.Name) else None  # in other.Base, it is another file's
            if known is None:
                yield name, None
            elif name not in seen:
                yield name, known
                seen.add(name)
                waiting.append(known)


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """Return the names that the module lists as string literals in ``__all__``; None if there are none."""
    names: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and "__all__" in map(name_of, targets):
            # In "token.__all__ + [...]", only the literals are names of this module.
            names.update(text_of(one) for one in ast.walk(node) if isinstance(one, ast.Constant))
    return frozenset(names - {""}) or None


def _is_wanted(source: Source, node: Function | ast.ClassDef, exported: frozenset[str] | None) -> bool:
    if docstring_of(node) or node.name.startswith("_") or source.is_for_type_checkers(node):
        return False
    if isinstance(source.parent(node), ast.Try | ast.ExceptHandler):
        return False  # one of several definitions, such as those for two versions of a library
    decorators = [name_of(decorator) for decorator in node.decorator_list]
    if not UNDOCUMENTED.isdisjoint(decorators):
        return False
    outermost: ast.AST = node
    for above in source.ancestors(node):
        # A definition under a condition is one of several, or needed only if the file is run as a script.
        if isinstance(above, (*FUNCTIONS, ast.If)) or (isinstance(above, ast.ClassDef) and _is_private(above)):
            return False
        outermost = above if isinstance(above, ast.ClassDef) else outermost
    if exported is not None and getattr(outermost, "name", "") not in exported:
        return False
    owner = source.parent(node)
    classes_around = sum(isinstance(above, ast.ClassDef) for above in source.ancestors(node))
    if classes_around > isinstance(node, FUNCTIONS):  # nested in a class, or a method of a nested one
        return False
    if isinstance(owner, ast.ClassDef) and (node.name in INNER or DISPATCHED.fullmatch(node.name)):
        return False
    if not isinstance(node, FUNCTIONS):
        return True
    if not isinstance(owner, ast.ClassDef):
        return not (TRYING_OUT.fullmatch(node.name) or is_convention(source.path, node.name))
    return not (_may_override(node, owner, source) or _only_accesses(node) or _is_of_property(node, owner))


def _is_of_property(node: Function, owner: ast.ClassDef) -> bool:
    """Return whether the class makes a property from the method: ``size = property(get_size, set_size)``."""
    made = [one.value for one in owner.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)]
    return any(
        name_of(argument) == node.name
        for call in made
        if name_of(call.func) == "property"
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
    )


def _only_accesses(node: Function) -> bool:
    """Return whether a method ``set_…`` or ``get_…`` only assigns or returns an attribute."""
    step = node.body[0]
    if len(node.body) > 1:
        return False
    if isinstance(step, ast.Assign):
        return node.name.startswith("set_") and isinstance(step.targets[0], ast.Attribute)
    return node.name.startswith("get_") and isinstance(step, ast.Return) and isinstance(step.value, ast.Attribute)


def _is_private(owner: ast.ClassDef) -> bool:
    return owner.name.startswith("_") or owner.name in INNER or bool(INTERNAL.search(docstring_of(owner)))


def _may_override(node: Function, owner: ast.ClassDef, source: Source) -> bool:
    """Return whether the method may override a method of a base class, which is then the place for the docstring.

    That is also assumed for the methods of a protocol, and for a class with a base that is not known here.
    """
    if any(
        isinstance(one, ast.Call) and name_of(one.func) == node.name and _is_super(one.func) for one in ast.walk(node)
    ):
        return True
    for base, known in _bases(owner, source):
        if base == "Protocol" or (known is None and base not in KNOWN_BASES):
            return True
        if known and any(one.name == node.name for one in known.body if isinstance(one, FUNCTIONS)):
            return True
    return False


def _is_super(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Call) and name_of(called.value) == "super"


def _full_name(source: Source, node: Function | ast.ClassDef) -> str:
    owner = source.parent(node)
    return f"{owner.name}.{node.name}" if isinstance(owner, ast.ClassDef) else node.name
