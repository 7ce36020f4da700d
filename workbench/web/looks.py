"""Addresses of style sheets and scripts that change with their content, so that browsers may cache them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasette.app import Datasette

FOLDER = Path(__file__).parent / "plugin" / "static"
MARK_DIGITS = 10


def address(datasette: Datasette, name: str) -> str:
    """Return the address of one of our static files, with a hash of its content appended."""
    return f"{datasette.urls.static_plugins('prompt-enricher', name)}?{_mark(name)}"


@cache
def _mark(name: str) -> str:
    return sha256((FOLDER / name).read_bytes()).hexdigest()[:MARK_DIGITS]
