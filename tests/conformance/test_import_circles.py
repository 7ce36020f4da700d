"""No module of the three packages imports itself by way of others; imports in functions and for types count, too."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGES = ("enricher", "storage", "workbench")
THE_APP = "workbench.tui."
"""The app opens its screens, and the type of a screen's app is the app."""


@pytest.mark.parametrize("with_types", [False, True], ids=["when it runs", "also for types, but those of the app"])
def test_no_imports_go_in_a_circle(*, with_types: bool) -> None:
    try:
        TopologicalSorter(_imports(with_types=with_types)).prepare()
    except CycleError as circle:
        raise AssertionError(" imports ".join(reversed(circle.args[1]))) from None


def _imports(*, with_types: bool) -> dict[str, set[str]]:
    """Return every module with the modules of ours that it imports when it runs, or also only for types."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    trees = {_name(file): ast.parse(file.read_text(encoding="utf-8")) for file in files}
    return {
        name: {one for node in _read(tree, with_types=of_all) for one in _named(node, trees)}
        for name, tree in trees.items()
        for of_all in [with_types and not name.startswith(THE_APP)]
    }


def _name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _read(node: ast.AST, *, with_types: bool) -> Iterator[ast.AST]:
    """Yield what lies in a node; what only a type checker reads is left out unless it is ``with_types``."""
    for child in ast.iter_child_nodes(node):
        if not with_types and isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from _read(child, with_types=with_types)


def _named(node: ast.AST, known: dict[str, ast.Module]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield from ({whole} if whole in known else {node.module} & known.keys())
    elif isinstance(node, ast.Import):
        yield from {alias.name for alias in node.names} & known.keys()
