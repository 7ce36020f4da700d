"""Find public classes, functions and methods without a docstring (CODE_003).

No docstring is demanded of what a leading underscore (its own, its class's, its file's or its folder's) or ``__all__``
makes private, of nested functions, special methods, overrides, overloads, setters, empty bodies, one of several
definitions, and tests; nor of what is described elsewhere: in a comment above, in the docstring of ``__init__``, by a
decorator, or by an assigned ``__doc__``; nor in files below a folder ``scripts``, which nobody imports.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, CodeFinding, docstring_of, is_nothing, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function, Source

UNDOCUMENTED = frozenset("overload override setter deleter getter wraps register deprecated hookimpl".split())
DESCRIBING = re.compile(r"(?i)doc|inherit|copy|help|wrap|substit|append|variant|deprecat")
"""Decorators that give a function the description of another place."""
EXEMPTED = re.compile(r"#\s*noqa\b(?!\s*:)|#\s*noqa\s*:.*\bD1\d\d\b|#\s*pylint:\s*disable=.*missing-[\w-]*docstring")
"""Comments with which authors exempt a definition from having a docstring."""
DISPATCHED = re.compile(r"(?:visit|depart|leave|on|do|handle|dump|load|p|t)_\w+|(?:setUp|tearDown)(?:Class)?")
"""Methods that are found by their name, one for each kind of a thing."""
INNER = frozenset(("Meta", "Config", "Params", "Media"))
"""Classes that only hold the settings of the class around them."""
DESCRIPTIONS = frozenset(("__doc__", "DESCRIPTION", "description", "help", "HELP", "help_text"))
COMMENT_WORDS = 4
"""Words of a comment above a definition that count as its description."""
KNOWN_BASES = frozenset(
    """object Generic ABC NamedTuple TypedDict Enum IntEnum StrEnum Flag Exception ValueError
    RuntimeError TypeError KeyError LookupError OSError""".split()
)
SUGGESTION = "write one sentence that says what it is for"


def find_undocumented(source: Source) -> Iterator[CodeFinding]:
    """Yield the public definitions that have no docstring."""
    parts = PurePath(source.file).parts
    is_other = source.is_test or source.is_example or source.is_migration or "scripts" in parts[:-1]
    if is_other or any(one.startswith("_") and not one.startswith("__") for one in parts):
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
            start = node.body[0].lineno if node.body[0].lineno > node.lineno else node.lineno + 1
            yield CodeFinding(
                node.lineno, start - 1, f"public {kind} {_full_name(source, node)} has no docstring", SUGGESTION
            )


def _described(source: Source) -> set[str]:
    """Return the names whose ``__doc__`` the file assigns."""
    assigned = [one for node in source.nodes if isinstance(node, ast.Assign) for one in node.targets]
    return {name_of(one.value) for one in assigned if isinstance(one, ast.Attribute) and one.attr == "__doc__"}


def _is_described(source: Source, node: Function | ast.ClassDef) -> bool:
    """Return whether something else than a docstring describes the definition, or there is nothing to describe."""
    above = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
    if len(source.comments(above, above).split()) >= COMMENT_WORDS or EXEMPTED.search(source.lines[node.lineno - 1]):
        return True
    for one in node.decorator_list:
        given = [keyword.arg or "" for keyword in one.keywords] if isinstance(one, ast.Call) else []
        if DESCRIBING.search(name_of(one)) or "help" in given:
            return True
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.BinOp | ast.JoinedStr | ast.Call):
        return isinstance(node, ast.ClassDef) or not isinstance(first.value, ast.Call)
    if isinstance(node, ast.ClassDef):
        bound = {name_of(target) for one in node.body if isinstance(one, ast.Assign) for target in one.targets}
        makers = [one for one in node.body if isinstance(one, FUNCTIONS) and one.name in ("__init__", "__new__")]
        return not bound.isdisjoint(DESCRIPTIONS) or any(map(docstring_of, makers))
    return all(map(is_nothing, node.body))


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """Return the names in ``__all__``; None if the module has none, or one that is computed."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(name_of(target) == "__all__" for target in targets) and isinstance(node, ast.Assign | ast.AnnAssign):
            try:
                return frozenset(ast.literal_eval(node.value)) if node.value else None
            except (ValueError, TypeError):
                return None
    return None


def _is_wanted(source: Source, node: Function | ast.ClassDef, exported: frozenset[str] | None) -> bool:
    if docstring_of(node) or node.name.startswith("_") or source.is_for_type_checkers(node):
        return False
    if isinstance(source.parent(node), ast.If | ast.Try | ast.ExceptHandler):
        return False  # one of several definitions, such as those for two versions of Python
    decorators = [name_of(decorator) for decorator in node.decorator_list]
    if not UNDOCUMENTED.isdisjoint(decorators):
        return False
    outermost: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, FUNCTIONS) or (isinstance(above, ast.ClassDef) and _is_private(above)):
            return False
        outermost = above if isinstance(above, ast.ClassDef) else outermost
    if exported is not None and getattr(outermost, "name", "") not in exported:
        return False
    owner = source.parent(node)
    if isinstance(owner, ast.ClassDef) and (node.name in INNER or DISPATCHED.fullmatch(node.name)):
        return False
    return not (isinstance(owner, ast.ClassDef) and isinstance(node, FUNCTIONS) and _may_override(node, owner, source))


def _is_private(owner: ast.ClassDef) -> bool:
    return owner.name.startswith("_") or owner.name in INNER


def _may_override(node: Function, owner: ast.ClassDef, source: Source) -> bool:
    """Return whether the method may override one of a base class, which has the docstring, or belongs to a protocol."""
    classes = {one.name: one for one in source.nodes if isinstance(one, ast.ClassDef)}
    waiting, seen = [owner], {owner.name}
    while waiting:
        for node_of_base in waiting.pop().bases:
            base = name_of(node_of_base)
            known = classes.get(base) if isinstance(node_of_base, ast.Name) else None
            if base == "Protocol" or (known is None and base not in KNOWN_BASES):
                return True
            if known is None or base in seen:
                continue
            if any(one.name == node.name for one in known.body if isinstance(one, FUNCTIONS)):
                return True
            seen.add(base)
            waiting.append(known)
    return False


def _full_name(source: Source, node: Function | ast.ClassDef) -> str:
    owner = source.parent(node)
    return f"{owner.name}.{node.name}" if isinstance(owner, ast.ClassDef) else node.name
