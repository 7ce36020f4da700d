"""The house is the one that docs/house.md draws, and no package has too many modules beside each other."""

from __future__ import annotations

import re
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
