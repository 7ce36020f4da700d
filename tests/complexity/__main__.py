"""``python -m tests.complexity``: does the estimate order real prompts by the files that the agent then touched?

Reads recorded sessions (``$ENRICHER_EVAL/sessions``) and prints Spearman's rank correlation for the score, the
estimated files and the length of the prompt, with whole repositories resampled.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from enricher.classify.verdict import verdict
from enricher.complexity.estimate import estimate
from enricher.interfaces.api import rules_for
from enricher.interfaces.compat.complexity import load_thresholds
from tests.complexity.ranking import Row, with_interval

COLUMNS = ("score", "estimated files", "characters")


def main() -> None:
    data = os.environ.get("ENRICHER_EVAL", "")
    file = Path(data) / "sessions" / "sessions.jsonl"
    if not data or not file.is_file():
        where = f"there is no {file}" if data else "ENRICHER_EVAL is not set"
        sys.exit(f"no recorded sessions: {where}; set it to the folder that holds sessions/ (see CONTRIBUTING.md)")
    rows = [
        row
        for session in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for turn in session["turns"]
        if turn.get("scored") and (row := row_of(session, turn))
    ]
    print(report(rows))


def row_of(session: dict[str, Any], turn: dict[str, Any]) -> Row | None:
    """Return what is known of a prompt: estimates, files touched and edited; None if a tool's files are unknown."""
    if not turn["touched"] and turn.get("unnamed"):
        return None
    prompt = turn["prompt"]
    judged = verdict(prompt, rules_for("")[0], is_explained=False)
    task_type = "" if judged.uncertain else judged.task_type
    found = estimate(prompt, THRESHOLDS, task_type=task_type)
    edited = {one["path"] for one in turn["touched"] if one["how"] == "edit"}
    return {
        "repo": session["repo"],
        "score": found.score,
        "estimated files": found.files,
        "characters": len(prompt),
        "touched": len({one["path"] for one in turn["touched"]}),
        "edited": len(edited),
        "parts": len(found.parts),
        "should_split": found.should_split,
    }


def report(rows: list[Row]) -> str:
    """Return the table of correlations, and how many files were touched with and without a suggestion to split."""
    some = [row for row in rows if row["touched"]]
    title = (
        f"{len(rows)} prompts of {len({row['repo'] for row in rows})} repositories, {len(some)} with files touched;"
        " Spearman's rho, 2.5 to 97.5 % of resampled repositories in brackets"
    )
    lines = [title]
    for title, chosen, wanted in (
        ("files touched, all prompts", rows, "touched"),
        ("files edited, all prompts", rows, "edited"),
        ("files touched, prompts that touched any", some, "touched"),
    ):
        shown = (f"{name} {with_interval(chosen, name, wanted)}" for name in COLUMNS)
        lines.append(f"{title}: {'; '.join(shown)}")
    for is_suggested in (True, False):
        own = sorted(row["touched"] for row in rows if row["should_split"] is is_suggested)
        if own:
            name = "splitting suggested" if is_suggested else "not suggested"
            at_least_five = sum(count >= MANY for count in own)
            lines.append(
                f"{name}: {len(own)} prompts, median {own[len(own) // 2]} files, {at_least_five} with {MANY} or more"
            )
    listed = sum(row["parts"] > 0 for row in rows)
    lines.append(f"the prompt lists parts: {listed} of {len(rows)}")
    return "\n".join(lines)


MANY = 5
THRESHOLDS = load_thresholds()

if __name__ == "__main__":
    main()
