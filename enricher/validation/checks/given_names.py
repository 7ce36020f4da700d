"""Which names a value is given in a program: those of variables, keywords, parameters and keys."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.validation.source import name_of

if TYPE_CHECKING:
    from enricher.validation.source import Source


READING = frozenset(
    """add_argument option Option Argument add_option Field startswith endswith
    replace removeprefix removesuffix split partition rpartition find index compile match search sub fullmatch strip
    lstrip rstrip count fromkeys""".split()
)
IN_EXAMPLE = re.compile(r"(?i).*(?:example|sample|demo|default|help|docs|link|about).*|_*test(?:_\w*)?")
TO_SETTING = "give it a name: a constant, a parameter or a setting"


def name_given_to(source: Source, node: ast.Constant) -> str:
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


def names_around(source: Source, node: ast.Constant) -> str:
    """Return the names, keywords and keys to which a value is given within its statement."""
    names = [name_given_to(source, node)]
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
