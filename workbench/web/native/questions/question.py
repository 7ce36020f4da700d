"""A canned query, as Datasette offers it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A query with a name for its address; ``parameters`` describe each input and its default.

    A parameter is passed as text, empty if nothing was typed; the SQL then uses the default.
    """

    name: str
    title: str
    about: str
    sql: str
    parameters: dict[str, str]


DAYS = {"days": "how many days, counted back from that of the newest prompt of the hook; 30 where nothing is typed"}
LIMIT = {"limit": "how many rows at most; 20 where nothing is typed"}
NEWEST = {"newest": "how many of the newest prompts to look at; 10000 where nothing is typed"}

_LAST_OF = "(select max(day) from prompts_by_day where facet = 'status' and origin = '{}')"
_LAST_DAY = f"coalesce({_LAST_OF.format('hook')}, {_LAST_OF.format('import')})"
SINCE = f"date({_LAST_DAY}, '-' || (coalesce(nullif(:days, ''), '30') - 1) || ' days')"
"""The first of the last N days, as on the home page: up to the newest prompt of the hook."""
SINCE_ID = f"printf('%014x', strftime('%s', {SINCE}) * 1000000)"
"""The smallest trace id of that day."""
AT_MOST = "max(0, cast(coalesce(nullif(:limit, ''), '20') as integer))"
THE_NEWEST = "max(0, cast(coalesce(nullif(:newest, ''), '10000') as integer))"


def percent(part: str, whole: str) -> str:
    """Return SQL for a share in percent with one decimal, null for a whole of 0."""
    return f"round(100.0 * {part} / nullif({whole}, 0), 1)"
