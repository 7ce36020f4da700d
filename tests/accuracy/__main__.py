"""``python -m tests.accuracy``: the accuracy table of the README, from labelled prompts outside the project."""

from __future__ import annotations

import sys

from tests.accuracy.labelled_files import evaluation_files
from tests.accuracy.labelled_sources import INVENTED, SET_APART
from workbench.tuning.accuracy import leave_repositories_out, report


def main() -> None:
    labelled = evaluation_files()
    if not labelled:
        sys.exit("no labelled prompts: set ENRICHER_EVAL to the folder that holds prompts_tune.jsonl")
    print(report(leave_repositories_out(labelled, also=[INVENTED], apart=SET_APART)))


main()
