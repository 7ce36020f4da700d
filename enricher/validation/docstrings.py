"""Find public classes, functions and methods without a docstring (CODE_003).

Not asked for: what a leading underscore or ``__all__`` makes private, nested functions, special methods, overrides,
overloads, setters, and tests.
"""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.source import FUNCTIONS, Finding, documented, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Function, Source

UNDOCUMENTED = frozenset(("overload", "override", "setter", "deleter", "getter"))
KNOWN_BASES = frozenset(
    """object Generic ABC NamedTuple TypedDict Enum IntEnum StrEnum Flag BaseModel Exception ValueError
    RuntimeError TypeError KeyError LookupError OSError""".split()
)
SUGGESTION = "write one sentence that says what it is for"


def find_undocumented(source: Source) -> Iterator[Finding]:
    """Yield the public definitions that have no docstring."""
    name = PurePath(source.file).name
    if source.is_test or (name.startswith("_") and not name.startswith("__")):
        return
    exported = _exported(source.tree)
    for node in source.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _is_wanted(
            source, node, exported
        ):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            start = node.body[0].lineno if node.body[0].lineno > node.lineno else node.lineno + 1
            yield Finding(
                node.lineno, start - 1, f"public {kind} {_full_name(source, node)} has no docstring", SUGGESTION
            )


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
    if documented(node) or node.name.startswith("_") or source.is_for_type_checkers(node):
        return False
    decorators = [name_of(decorator) for decorator in node.decorator_list]
    if not UNDOCUMENTED.isdisjoint(decorators):
        return False
    outermost: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, FUNCTIONS) or (isinstance(above, ast.ClassDef) and above.name.startswith("_")):
            return False
        outermost = above if isinstance(above, ast.ClassDef) else outermost
    if exported is not None and getattr(outermost, "name", "") not in exported:
        return False
    owner = source.parent(node)
    return not (isinstance(owner, ast.ClassDef) and isinstance(node, FUNCTIONS) and _may_override(node, owner, source))


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
