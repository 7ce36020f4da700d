"""Build the index of a project's files and keep it up to date; this package does not run in the hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.prompt.redaction import without_secrets
from storage.base import private

if TYPE_CHECKING:
    import sqlite3


def set_meta(db: sqlite3.Connection, **values: str) -> None:
    """Store values in the table ``meta`` of an index; ``enricher.sources.code.meta`` reads them."""
    db.executemany("insert or replace into meta values (?, ?)", values.items())


def read_text(root: str, path: str, most: int) -> str:
    """Return the beginning of a project file without its secrets; empty if it cannot be read, or is binary."""
    try:
        content = private.read_file(f"{root}/{path}", most)
    except OSError:
        return ""
    return "" if b"\0" in content else without_secrets(content.decode(errors="replace"))
