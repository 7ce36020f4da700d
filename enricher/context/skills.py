"""The skills that this host really has installed: name and description of each, as inputs of the approach."""

from __future__ import annotations

import os

MOST_SKILLS = 64
HEAD_BYTES = 2048
LONGEST_NAME = 64
"""A name stands in the text that the agent reads; anything but a name stays out of it."""


def installed_skills(folders: list[str]) -> list[tuple[str, str]]:
    """Return (name, description) of the skills in these folders, sorted by name; the first of a name counts."""
    found: dict[str, str] = {}
    for folder in folders:
        for name in _names(folder):
            skill = _read(os.path.join(folder, name, "SKILL.md"), name)
            if skill and len(found) < MOST_SKILLS:
                found.setdefault(*skill)
    return sorted(found.items())


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(path: str, folder_name: str) -> tuple[str, str] | None:
    """Name and description from the frontmatter's first kilobytes."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except OSError:
        return None
    fields = {"name": folder_name, "description": ""}
    for line in head.partition("\n---")[0].splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() in fields and value.strip():
            fields[key.strip()] = value.strip().strip("\"'")
    name = fields["name"]
    is_plain = len(name) <= LONGEST_NAME and name.replace("-", "").replace("_", "").replace(":", "").isalnum()
    return name if is_plain else folder_name[:LONGEST_NAME], fields["description"]
