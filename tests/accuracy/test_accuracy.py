"""The targets of the classifier, on repositories that were left out of whatever was fitted."""

from __future__ import annotations

import json

import pytest

from enricher.classify.verdict import classify
from tests.accuracy.labelled_files import evaluation_files
from tests.accuracy.labelled_sources import INVENTED, SET_APART
from workbench.tuning.accuracy import leave_repositories_out, packaged_table, values

LEAST = {
    "task type, strict": 0.59,
    "task type, lenient": 0.70,
    "task type, macro-F1": 0.48,
    "class shown": 0.35,
    "of these right (lenient)": 0.90,
    "chat: nothing shown": 0.94,
    "search intent": 0.70,
    "search intent, macro-F1": 0.54,
}
"""What must not be lost; the measured figures stand in the README."""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.conformance("E36")
def test_accuracy_on_left_out_repositories_is_kept() -> None:
    labelled = evaluation_files()
    if not labelled:
        pytest.skip("no labelled prompts: set ENRICHER_EVAL to the folder that holds prompts_tune.jsonl")

    found = values(leave_repositories_out(labelled, also=[INVENTED], apart=SET_APART))

    assert {name: value for name, value in found.items() if value < LEAST[name]} == {}


def test_our_own_prompts_come_out_as_we_meant_them() -> None:
    table = packaged_table()
    rows = [json.loads(line) for line in INVENTED.read_text(encoding="utf-8").splitlines()]
    right = sum(classify(row["text"], table).task_type == row["task_type"] for row in rows)

    assert right / len(rows) > 0.85
