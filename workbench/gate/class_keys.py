"""Assign a keyboard key to each task type, the same in the app and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def keys_for(names: Sequence[str]) -> dict[str, str]:
    """Assign a key to each name and return the names by key.

    A name gets the first of its letters that no earlier name has, or if all are taken the first free digit.
    """
    found: dict[str, str] = {}
    for name in names:
        spare = (char for char in f"{name}0123456789" if char.isalnum() and char not in found)
        if key := next(spare, ""):
            found[key] = name
    return found
