"""Translate the filter of a Datasette table page to a filter of our list of prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from workbench.web import filters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.web.reading.history import History

EXACT = {column: field for field, column in filters.COLUMNS.items()}
BEGINNINGS = {column: field for field, column in filters.BEGINNINGS.items()}
NUMBERS = {column: field for field, column in filters.NUMBERS.items()}
SIGNS = {name: sign for sign, name in filters.SIGNS.items()}
CHANGES_THE_ROWS = ("_where", "_through")


def in_the_list(history: History, pairs: Iterable[tuple[str, str]]) -> str | None:
    """Return the address of our list with the same filter; None if our filter cannot express it."""
    parts: list[str] = []
    for key, value in pairs:
        if key == "_search":
            parts.extend(word for word in value.replace('"', " ").split() if ":" not in word)
        elif key in CHANGES_THE_ROWS:
            return None
        elif not key.startswith("_"):
            part = _part(*key.partition("__")[::2], value)
            if part is None:
                return None
            parts.append(part)
    return history.path(f"traces?{urlencode({'q': ' '.join(parts)})}" if parts else "traces")


def _part(column: str, lookup: str, value: str) -> str | None:
    if not value or '"' in value:
        return None
    if column in EXACT and lookup in ("", "exact", "not", "in"):
        return "-" * (lookup == "not") + filters.part(EXACT[column], value)
    if column in BEGINNINGS and lookup in ("", "exact", "startswith"):
        return filters.part(BEGINNINGS[column], value)
    if column in NUMBERS and lookup in SIGNS:
        return f"{NUMBERS[column]}{SIGNS[lookup]}{value}"
    return None
