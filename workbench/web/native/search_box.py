"""The search of Datasette's own table of the traces: the newest prompts that hold all the words.

Datasette's own would gather every match before it shows one. The index is read newest first and no further than
needed, so a word that stands in every prompt costs no more than a rare one.
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
    """Return the condition for ``?_search=``, with what it says of itself."""
    words = request.args.get("_search") or ""
    box = {"supports_search": True, "search": words}
    if not words:
        return FilterArguments([], extra_context=box)
    said = f'where the prompt holds "{words}", of the newest {MOST_FOUND:,} that do'
    return FilterArguments([WHICH_HOLD_THE_WORDS], {"searched_words": searched(words)}, [said], box)
