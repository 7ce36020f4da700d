"""Draw a sample of replayed outputs for people to judge line by line (``--reading`` of ``python -m tests.usefulness``).

Pure. An item holds what a reader needs: the last turns, the prompt, the text that was added (empty if none), and the
files that the agent touched afterwards.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from tests.usefulness.replaying import SET_APART

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.usefulness.figures import Row

LAST_TURNS = 3
LONGEST_PROMPT, LONGEST_EARLIER, LONGEST_ANSWER = 3000, 400, 800
"""Characters kept of the prompt, of earlier prompts, and of the end of earlier answers."""
MOST_KNOWN = 40


def sample(
    rows: Sequence[Row], sessions: Iterable[Row], *, size: int, silent: int, each: int, seed: int = 1
) -> list[Row]:
    """Return ``size`` items, ``silent`` of them without a text, shuffled; half from the repositories set apart.

    At most ``each`` items with a text and as many silent ones come from one repository. If one half has too few
    outputs with a text, the other half fills up.
    """
    turns = {one["id"]: one["turns"] for one in sessions}
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    chosen: list[Row] = []
    for wanted, has_text in ((size - silent, True), (silent, False)):
        fitting = [row for row in shuffled if bool(row["added"]) == has_text]
        apart = list(_spread((row for row in fitting if row["repo"] in SET_APART), each))
        others = list(_spread((row for row in fitting if row["repo"] not in SET_APART), each))
        of_others = min(len(others), max(wanted // 2, wanted - len(apart)))
        chosen += others[:of_others] + apart[: wanted - of_others]
    random.Random(seed + 1).shuffle(chosen)
    return [_item(number, row, turns[row["session"]]) for number, row in enumerate(chosen, 1)]


def _spread(rows: Iterable[Row], each: int) -> Iterator[Row]:
    taken: Counter[str] = Counter()
    for row in rows:
        taken[row["repo"]] += 1
        if taken[row["repo"]] <= each:
            yield row


def _item(number: int, row: Row, turns: Sequence[Mapping[str, object]]) -> Row:
    turn = turns[row["number"]]
    conversation = turn.get("conversation")
    before = [one for one in turns[: row["number"]] if one.get("conversation") == conversation]
    last = [
        {"user": str(one["prompt"])[:LONGEST_EARLIER], "assistant": str(one["assistant"])[-LONGEST_ANSWER:]}
        for one in before[-LAST_TURNS:]
    ]
    return {
        "n": number,
        "id": f"{row['session']}:{row['number']}",
        "repository": row["repo"],
        "last_turns": last,
        "prompt": str(turn["prompt"])[:LONGEST_PROMPT],
        "text": row["added"],
        "touched": row["touched"],
        "known_before": row["known_before"][:MOST_KNOWN],
    }
