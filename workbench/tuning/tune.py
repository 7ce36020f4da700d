"""Propose weights for the instructions file, as a diff that a person reviews.

The named signals stay as they are: only the figures behind ``weight:`` change, the plain
words with their strengths, and the thresholds where repositories can be left out to choose them.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.classify.table import Table
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import read_document
from enricher.rules.compiling.signals import LEAST_WEIGHT, condition_numbers
from enricher.rules.layers import Layer
from workbench.tuning.calibration import calibrate, points_left_out
from workbench.tuning.fitting import fit, scores
from workbench.tuning.labelled import (
    LEAST_REPOSITORIES,
    Prompt,
    as_written,
    check_labels,
    observe,
    part,
    read_labelled,
    with_intent,
    without_copies,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from enricher.rules.compiling.compiler import Compiled
    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.signals import ClassRule
    from workbench.tuning.calibration import Thresholds
    from workbench.tuning.labelled import Numbers

WEIGHT = re.compile(r"weight: \d+")
FIGURE = re.compile(r"[\d.]+")
PLAIN = re.compile(r"[a-z][a-z0-9-]*")
RESERVED = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null"})
WIDTH = 138


class TuningError(Exception):
    """The instructions cannot be tuned as they stand."""


def propose(
    labelled: str | Path,
    instructions: str | Path,
    *,
    also: Sequence[str | Path] = (),
    without: Collection[str] = (),
) -> str:
    """Return a unified diff of ``instructions`` with the weights that fit the labelled prompts best.

    The examples of the file and the prompts of ``also`` take part, those of the repositories
    ``without`` do not. The same files give the same diff; it is empty if nothing would change.
    Weights of search intents stay where no prompt tells its own. Raises TuningError and LabelError.
    """
    path = Path(instructions)
    compiled = compile_layers([Layer("tuned", str(path))])
    if compiled.broken:
        raise TuningError("\n".join(map(str, compiled.broken)))
    table = Table(compiled.body["classes"])
    given = [one for one in without_copies(read_labelled([labelled, *also])) if one.repository not in without]
    check_labels(given, table)
    observed = observe(given + _examples(compiled.classes), table)
    tasks = fit(observed, table, TASK_TYPE, least=1)
    task_types = [tasks.names[at] for at in scores(tasks, observed).argmax(1)]
    proposed = [(TASK_TYPE, tasks)]
    if any(prompt.search_intent for prompt in given):
        rows = with_intent(observed)
        known = [task_types[at] for at in rows]
        proposed.insert(0, (SEARCH_INTENT, fit(part(observed, rows), table, SEARCH_INTENT, task_types=known, least=1)))
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines()
    blocks = {rule.id: rule for rule in read_document(str(path), before).rules}
    numbers = dict(zip((_id(rule) for rule in compiled.classes), _numbers(compiled), strict=True))
    for facet, weights in proposed:
        for column, name in reversed(list(enumerate(weights.names))):
            block = blocks[f"{facet}.{name}"]
            _write_signals(lines, block, weights.signals[numbers[block.id], column])
            if weights.vocabulary:
                _write_leanings(lines, block, weights.words[:, column], weights.vocabulary)
    if len({prompt.repository for prompt in given if prompt.repository}) >= LEAST_REPOSITORIES:
        _write_thresholds(lines, blocks[TASK_TYPE], calibrate(points_left_out(observed, table), observed, table))
    after = "\n".join(lines) + "\n"
    return "".join(
        difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), path.name, path.name)
    )


def _id(rule: ClassRule) -> str:
    return f"{rule.facet}.{rule.name}"


def _numbers(compiled: Compiled) -> list[list[int]]:
    lists = {rule.name: rule.data["words"] for rule in compiled.rules.values() if rule.kind == "words"}
    return condition_numbers(compiled.classes, lists)


def _write_signals(lines: list[str], block: RuleBlock, weights: Numbers) -> None:
    for index, weight in enumerate(weights):
        at = block.line_of("signals", index) - 1
        lines[at] = WEIGHT.sub(f"weight: {max(LEAST_WEIGHT, int(weight))}", lines[at])


def _write_leanings(lines: list[str], block: RuleBlock, strengths: Numbers, vocabulary: list[str]) -> None:
    if "leanings" not in block.data:
        return
    begin = block.line_of("leanings", next(iter(block.data["leanings"]))) - 1
    end = begin
    while lines[end].startswith("  "):
        end += 1
    rows: list[str] = []
    for strength in sorted({int(figure) for figure in strengths if figure}, reverse=True):
        words = [_as_yaml(word) for word, figure in zip(vocabulary, strengths, strict=True) if figure == strength]
        rows += textwrap.wrap(
            f"{strength}: [{', '.join(words)}]", WIDTH, initial_indent="  ", subsequent_indent="      ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    lines[begin:end] = rows


def _write_thresholds(lines: list[str], block: RuleBlock, thresholds: Thresholds) -> None:
    for key, value in asdict(thresholds).items():
        if key in block.data:
            at = block.line_of(key) - 1
            lines[at] = FIGURE.sub(f"{value:g}", lines[at], count=1)


def _as_yaml(word: str) -> str:
    name = as_written(word)
    return name if PLAIN.fullmatch(name) and name not in RESERVED else f'"{name}"'


def _examples(rules: Sequence[ClassRule]) -> list[Prompt]:
    return [
        Prompt(example, rule.name, "", "none", "", is_picked=False)
        for rule in rules
        if rule.facet == TASK_TYPE
        for example in rule.examples
    ]
