"""No module imports one that imports it, not even inside a function: each can be read, tested and moved by itself."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from simulator import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT = {("enricher.cli.memory_forget", "enricher.cli.memory"), ("storage.spool", "storage.traces")}
"""Known circles, each by one of its imports."""


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield what is imported when the code runs, at any depth; what only a type checker reads is not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        yield from imports(node)


def names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [f"{node.module}.{one.name}" for one in node.names]


def test_no_module_imports_what_imports_it() -> None:
    files = [file for package in ("enricher", "workbench", "storage") for file in (ROOT / package).rglob("*.py")]
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(file.read_text())
        for file in files
    }
    graph = TopologicalSorter[str]()
    for module, tree in modules.items():
        for imported in [name for node in imports(tree) for name in names(node)]:
            below = imported if imported in modules else imported.rpartition(".")[0]
            if below in modules and below != module and (module, below) not in LEFT:
                graph.add(module, below)

    graph.prepare()  # raises CycleError, which names the circle
