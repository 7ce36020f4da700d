"""Tables as CSV, for the ``.csv`` variants of pages."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from datasette.utils.asgi import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CSV_TYPE = "text/csv; charset=utf-8"


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """Return the rows as CSV with a header line."""
    return Response(csv_lines([columns, *rows]), content_type=CSV_TYPE)


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as lines of CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
