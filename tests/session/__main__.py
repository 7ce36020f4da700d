"""``python -m tests.session``: of 100 prompts with nothing related among the tasks, how many are offered one.

The tasks are what people asked for in one public repository, the prompts come from the
others: labelled prompts outside the project (``$ENRICHER_EVAL``), taken with a fixed seed.
"""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

from enricher.sources.tasklists import Task, TaskQuery, score
from tests.accuracy.labelled_files import evaluation_files

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS = 100
MOST_TASKS, FEWEST_TASKS = 80, 25
LONGEST_TITLE_WORDS = 16
FLOORS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)


def main() -> None:
    """Print a table: for each floor the share of prompts that are offered an unrelated task."""
    files = evaluation_files()
    if not files:
        sys.exit("no prompts: set ENRICHER_EVAL to the folder that holds prompts_tune.jsonl")
    by_project: dict[str, list[str]] = {}
    for line in files[0].read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        by_project.setdefault(record["source"].partition("@")[0], []).append(record["text"])
    best = list(_best_scores(by_project, random.Random(0)))
    print(f"| floor | of 100 prompts get one ({len(best)} prompts, {len(by_project)} repositories) |\n|---|---|")
    for floor in FLOORS:
        print(f"| {floor} | {100 * sum(1 for value in best if value >= floor) / len(best):.1f} |")


def _best_scores(by_project: dict[str, list[str]], chance: random.Random) -> Iterator[float]:
    for project, texts in sorted(by_project.items()):
        titles = [text.strip().splitlines()[0] for text in texts if text.strip()]
        titles = [title for title in titles if 3 <= len(title.split()) <= LONGEST_TITLE_WORDS][:MOST_TASKS]
        if len(titles) < FEWEST_TASKS:
            continue
        tasks = [Task(str(at), title, status="open", where="list") for at, title in enumerate(titles)]
        others = [text for name, more in sorted(by_project.items()) if name != project for text in more]
        for prompt in chance.sample(others, PROMPTS):
            wanted = TaskQuery(prompt)
            yield max(score(task, wanted) for task in tasks)


main()
