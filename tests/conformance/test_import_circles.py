"""No module of the three packages imports, by way of others, itself; imports inside functions count too."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGES = ("enricher", "storage", "workbench")


def test_no_imports_go_in_a_circle() -> None:
    try:
        TopologicalSorter(_imports()).prepare()
    except CycleError as circle:
        raise AssertionError(" imports ".join(reversed(circle.args[1]))) from None


def _imports() -> dict[str, set[str]]:
    """Return every module with the modules of ours that it imports when it runs."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    trees = {_name(file): ast.parse(file.read_text(encoding="utf-8")) for file in files}
    return {name: {one for node in _run(tree) for one in _named(node, trees)} for name, tree in trees.items()}


def _name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what lies in a node, but not what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from _run(child)


def _named(node: ast.AST, known: dict[str, ast.Module]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield from ({whole} if whole in known else {node.module} & known.keys())
    elif isinstance(node, ast.Import):
        yield from {alias.name for alias in node.names} & known.keys()
