"""The search of Datasette's page of the traces: the newest prompts that contain all the words.

Datasette's own search collects every match before it shows one. Here the index is read newest first and only as far
as needed, so a word that is in every prompt costs no more than a rare one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasette.filters import FilterArguments

from workbench.web.native.functions import searched

if TYPE_CHECKING:
    from datasette.utils.asgi import Request

MOST_FOUND = 1_000
WHICH_HOLD_THE_WORDS = f"""id in (
    select trace_numbers.trace_id from trace_numbers where trace_numbers.number in (
        select rowid from prompts_fts where prompts_fts match :searched_words order by rowid desc limit {MOST_FOUND}
    )
)"""


def filtered(request: Request) -> FilterArguments:
    """Return the SQL condition for the words of ``?_search=``, with its description; no condition without words."""
    words = request.args.get("_search") or ""
    box = {"supports_search": True, "search": words}
    if not words:
        return FilterArguments([], extra_context=box)
    said = f'where the prompt holds "{words}", of the newest {MOST_FOUND:,} that do'
    return FilterArguments([WHICH_HOLD_THE_WORDS], {"searched_words": searched(words)}, [said], box)
