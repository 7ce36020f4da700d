"""``python -m tests.accuracy``: the accuracy table of the README, from labelled prompts outside the project."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.accuracy import evaluation_file, leave_repositories_out, report

INVENTED = Path(__file__).with_name("invented_prompts.jsonl")


def main() -> None:
    labelled = evaluation_file()
    if labelled is None:
        sys.exit("no labelled prompts: set ENRICHER_EVAL to the folder that holds prompts_tune.jsonl")
    print(report(leave_repositories_out([labelled], also=[INVENTED])))


main()
