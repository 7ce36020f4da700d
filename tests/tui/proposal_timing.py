"""``python -m tests.tui.proposal_timing STATE``: how long a user waits for the edits that are proposed for a prompt.

STATE is a state folder with a history. Prints the seconds until the first edit, and until all of them.
"""

from __future__ import annotations

import os
import sys
import time

from enricher.classify import TASK_TYPE
from workbench.edits import instructions_file as files
from workbench.replay.corpus import opened
from workbench.replay.rulesets.compared_rules import SideError
from workbench.tuning.wishes.search import edits_for
from workbench.tuning.wishes.wish import FulfilledError, Wish

WANTED = ("debug", "question")
"""The task types that are wished for: the first one, or the second for prompts that have the first."""
MOST_TRIED = 50
"""How many of the newest prompts are tried; for some, no edit gives the desired task type."""


def seconds_of_search(state_dir: str) -> tuple[float, float] | None:
    """Search edits for one of the newest prompts; return the seconds until the first edit, and until all of them.

    It is the newest prompt for which an edit is found; return None if there is none.
    """
    with opened(state_dir) as corpus:
        page = next(corpus.pages(), [])[:MOST_TRIED]
        for row in page:
            wish = Wish(TASK_TYPE, WANTED[row.task_type == WANTED[0]])
            began, first = time.perf_counter(), 0.0
            try:
                for _edit in edits_for(
                    corpus, row.id, wish, state_dir=state_dir, path=files.own_file(), cwd=os.getcwd()
                ):
                    first = first or time.perf_counter() - began
            except (FulfilledError, SideError):
                continue
            if first:
                return first, time.perf_counter() - began
    return None


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.tui.proposal_timing STATE (a state folder with a history)")
    print(seconds_of_search(sys.argv[1]))
