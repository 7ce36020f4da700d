"""The nearest prompts that a person labelled, as examples for the model (few-shot)."""

from __future__ import annotations

import contextlib

from storage import traces
from storage.base.reader import open_reader

MOST_READ = 400
"""Newest labelled prompts that are compared."""
SHORTEST_WORD = 4
LONGEST_PROMPT = 600
"""Characters of an earlier prompt that are compared; longer ones are mostly pasted text."""
LABELLED = """
    select traces.prompt, case labels.verdict when 'class' then labels.task_type else traces.task_type end
    from labels join traces on traces.id = labels.trace_id
    where labels.verdict in ('ok', 'class') and traces.prompt <> ''
    order by labels.id desc limit ?
"""


def nearest(prompt: str, state: str, *, most: int) -> list[tuple[str, str]]:
    """Return at most ``most`` labelled prompts with their task types, nearest first.

    The nearness is the cosine of the sets of words; prompts without a common word are left out. Raises what opening
    or reading the database raises.
    """
    with contextlib.closing(open_reader(f"{state}/{traces.DATABASE}")) as db:
        rows = db.execute(LABELLED, (MOST_READ,)).fetchall()
    own = words(prompt)
    found: dict[str, tuple[float, str]] = {}
    for text, kind in rows:
        if text == prompt or text in found:
            continue
        other = words(text)
        if shared := len(own & other):
            found[text] = shared / (len(own) * len(other)) ** 0.5, kind
    best = sorted(found.items(), key=lambda item: -item[1][0])[:most]
    return [(text, kind) for text, (_nearness, kind) in best]


def words(text: str) -> set[str]:
    """Return the words of a prompt that are compared, in lower case."""
    plain = "".join(char if char.isalnum() else " " for char in text[:LONGEST_PROMPT].lower())
    return {word for word in plain.split() if len(word) >= SHORTEST_WORD}
