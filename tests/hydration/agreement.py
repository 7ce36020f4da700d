"""``python -m tests.hydration.agreement FILE``: how often the chosen workflow is the one that a reader chose.

FILE holds a JSON object a line: ``prompt``, ``workflow`` (the reader's choice), and optionally ``second`` (another that
the reader would accept). Prints the agreement with its 95 % interval, and each confusion, but no prompt.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.classify.verdict import verdict
from enricher.interfaces.api import rules_for
from enricher.respond.guidance import choose_workflow, shares_of
from enricher.respond.hydration.plan import workflow_for
from enricher.respond.hydration.reading.requests import read_requests
from workbench.statistics.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

Choice = tuple[str, str, str]
"""The reader's workflow, the reader's second choice or an empty text, and ours."""


def main(arguments: Sequence[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python -m tests.hydration.agreement FILE (labelled prompts, a JSON object a line)")
    try:
        choices = read_choices(Path(arguments[0]))
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    print(report(choices))


def read_choices(file: Path) -> list[Choice]:
    """Return the choices for all prompts of a file; ``ValueError`` names the line that cannot be read."""
    choices: list[Choice] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            prompt, expected = row["prompt"], row["workflow"]
        except (ValueError, KeyError, TypeError) as error:
            trouble = f"not a JSON object with prompt and workflow ({error})"
            raise ValueError(f"{file}:{number}: {trouble}; correct or remove the line") from None
        choices.append((expected, row.get("second") or "", suggested(prompt)))
    if not choices:
        raise ValueError(f"{file}: no labelled prompts; each line is a JSON object with prompt and workflow")
    return choices


def suggested(prompt: str) -> str:
    """Return the workflow of the plan that a prompt gets in the mode ``hydrate``."""
    rules = rules_for("")[0]
    scores = verdict(prompt, rules, is_explained=False).scores
    shares = shares_of(scores.get("task_type", {}), rules.table.facets)
    workflows = rules.body["workflows"]
    name, _reason = choose_workflow(workflows, signal_scores=scores.get("workflow", {}), shares=shares)
    return workflow_for(name, read_requests(prompt), rules)


def report(choices: Sequence[Choice]) -> str:
    """Return the agreement with the first choice and with either choice, then the confusions, most frequent first."""
    total = len(choices)
    lines = []
    for words, agreed in (
        ("first choice", sum(ours == first for first, _second, ours in choices)),
        ("either choice", sum(ours in (first, second) for first, second, ours in choices)),
    ):
        share = wilson(agreed, total)
        interval = f"{share.low:.2f}-{share.high:.2f}"
        lines.append(f"agreement with the reader's {words}: {agreed} of {total} = {agreed / total:.2f} ({interval})")
    confused = Counter((first, ours) for first, _second, ours in choices if ours != first)
    lines += [f"{count:3}  reader {first}, chosen {ours}" for (first, ours), count in confused.most_common()]
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
