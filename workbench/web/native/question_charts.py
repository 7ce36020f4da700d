"""Charts above the tables of questions; the template that Datasette looks for by a question's name shows its chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.web import charts
from workbench.web.charts import ChartDay
from workbench.web.pages.home import Lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from workbench.web.reading.history import History

PARTS = {"shown": "text added", "silent": "silent", "skipped": "skipped", "": "only recorded", "failed": "failed"}
"""The parts of a day's prompts by column; the prompts in none of these columns were only recorded."""


def prompts_by_day(history: History, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Return a chart of the rows of ``how_many_prompts_by_day``, newest first; each day links to its prompts."""
    lists = Lists(history.path("traces"), "")
    days = []
    for cells in reversed(rows):
        one = dict(zip(columns, map(str, cells), strict=True))
        counts = {column: int(one[column]) for column in PARTS if column}
        counts[""] = int(one["prompts"]) - sum(counts.values())
        days.append(ChartDay(one["day"], tuple(counts[column] for column in PARTS), lists.on(one["day"])))
    return charts.columns("Prompts by day", tuple(PARTS.values()), days, bad=PARTS["failed"]).svg
