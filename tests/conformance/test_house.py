"""The house is the one that docs/house.md draws, and no package has too many modules beside each other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("storage", "enricher", "workbench")
MOST_MODULES = 11
DRAWING = (ROOT / "docs" / "house.md").read_text(encoding="utf-8").split("```")[1]


def test_the_drawing_names_every_room_and_no_other() -> None:
    parts = re.split(r"^(\w+)/.*\n", DRAWING, flags=re.MULTILINE)
    drawn = {
        f"{name}/{room}"
        for name, rooms in zip(parts[1::2], parts[2::2], strict=True)
        for room in re.findall(r"^  (\w+)/", rooms, re.MULTILINE)
    }

    assert drawn == {f"{name}/{file.parent.name}" for name in PACKAGES for file in (ROOT / name).glob("*/__init__.py")}


def test_no_package_has_many_modules_beside_each_other() -> None:
    folders = {file.parent for name in PACKAGES for file in (ROOT / name).rglob("__init__.py")}
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("[!_]*.py"))) for folder in folders}

    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_imports_run_in_a_circle_also_not_late_or_for_a_type() -> None:
    imports = _imports()
    reached = {module: _reached(module, imports) for module in imports}
    in_circles = {module for module, found in reached.items() if module in found}

    # The app opens its screens, and a screen asks its app.
    assert {module for module in in_circles if not module.startswith("workbench.tui.")} == set()


def _imports() -> dict[str, set[str]]:
    """Return which of our modules each of them imports, anywhere in its text."""
    files = {_module(file): file for name in PACKAGES for file in (ROOT / name).rglob("*.py")}
    found: dict[str, set[str]] = defaultdict(set)
    for module, file in files.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found[module] |= files.keys() & {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{one.name}" for one in node.names]
                found[module] |= files.keys() & {name if name in files else str(node.module) for name in names}
    return found


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _reached(module: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [module]
    while waiting:
        news = imports.get(waiting.pop(), set()) - found
        found |= news
        waiting += news
    return found
