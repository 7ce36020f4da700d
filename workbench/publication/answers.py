"""The same as data: what the ``.json`` and ``.csv`` twins of a page send."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from datasette.utils.asgi import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def as_json(value: Any, *, status: int = 200) -> Response:
    """Return the value as JSON."""
    return Response.json(value, status=status)


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """Return the rows as CSV with a line of names."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    return Response(text.getvalue(), content_type="text/csv; charset=utf-8")
