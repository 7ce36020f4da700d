"""Propose weights for the instructions file and its files of fitted weights, as a diff for the user to review.

Signals are neither added nor removed. What changes is their ``weight:``, the plain words with their weights
(``leanings:``), and, if the prompts come from enough repositories for cross-validation, the thresholds for showing a
task type.
"""

from __future__ import annotations

import difflib
import os
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.classify.table import Table
from enricher.rules.compiling.class_table import condition_numbers
from enricher.rules.compiling.compiled import FITTED
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.signals import LEAST_WEIGHT
from enricher.rules.layers import Layer
from workbench.tuning.fitting import calibrate, fit, points_left_out, scores
from workbench.tuning.labelled_prompts import LabelledRow, read_labelled, without_copies
from workbench.tuning.matrices import LEAST_REPOSITORIES, as_written, check_labels, observe, part

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.signals import ClassRule
    from workbench.tuning.fitting import Thresholds, Weights
    from workbench.tuning.matrices import Numbers

    Sheets = dict[str, list[str]]

WEIGHT = re.compile(r"weight: \d+")
FIGURE = re.compile(r"[\d.]+")
LEAST = "min_confidence"
PLAIN = re.compile(r"[a-z][a-z0-9-]*")
# YAML reads these words as booleans or null.
RESERVED = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null"})
WIDTH = 138


class TuningError(Exception):
    """Raised if the instructions cannot be tuned because they do not compile."""


def propose(
    labelled: str | Path,
    instructions: str | Path,
    *,
    also: Sequence[str | Path] = (),
    without: Collection[str] = (),
) -> str:
    """Return a unified diff that gives an instructions file, and its files of fitted weights, the best weights.

    The weights are fitted to the prompts in the files ``labelled`` and ``also`` and to the examples in the
    instructions, without prompts of the repositories in ``without``. The same files give the same diff; it is empty if
    nothing would change. Weights of search intents stay unchanged if no prompt has a search intent. Raises TuningError
    if the instructions do not compile, and LabelError if a label cannot be used.
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
        rows = [at for at, prompt in enumerate(observed.prompts) if prompt.search_intent]
        known = [task_types[at] for at in rows]
        proposed.insert(0, (SEARCH_INTENT, fit(part(observed, rows), table, SEARCH_INTENT, task_types=known, least=1)))
    sheets = {
        file: Path(file).read_text(encoding="utf-8").splitlines()
        for layer, file, _text in compiled.texts
        if layer in ("tuned", FITTED)
    }
    if len({prompt.repository for prompt in given if prompt.repository}) >= LEAST_REPOSITORIES:
        thresholds = calibrate(points_left_out(observed, table), observed, table)
        _write_thresholds(sheets, compiled, thresholds)
    _write_weights(sheets, compiled, proposed)
    return "".join(_diff(file, lines, path.parent) for file, lines in sheets.items())


def _write_weights(sheets: dict[str, list[str]], compiled: Compiled, proposed: list[tuple[str, Weights]]) -> None:
    """Write the proposed weights of signals and plain words into ``sheets``, which maps file paths to lines."""
    lists = {rule.name: rule.data["words"] for rule in compiled.rules.values() if rule.kind == "words"}
    ids = (f"{rule.facet}.{rule.name}" for rule in compiled.classes)
    numbers = dict(zip(ids, condition_numbers(compiled.classes, lists), strict=True))
    leanings: list[tuple[RuleBlock, Numbers, list[str]]] = []
    for facet, weights in proposed:
        for column, name in enumerate(weights.names):
            block = compiled.rules[f"{facet}.{name}"]
            _write_signals(sheets, block, weights.signals[numbers[block.id], column])
            if weights.vocabulary and "leanings" in block.data:
                leanings.append((block, weights.words[:, column], weights.vocabulary))
    # From the end of a file to its beginning, so that the line numbers of the rules still to be written stay valid.
    for block, strengths, vocabulary in sorted(leanings, key=lambda one: one[0].place_of("leanings"), reverse=True):
        _write_word_weights(sheets, block, strengths, vocabulary)


def _diff(file: str, lines: list[str], folder: Path) -> str:
    name = os.path.relpath(file, folder)
    before = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, [f"{line}\n" for line in lines], name, name))


def _write_signals(sheets: Sheets, block: RuleBlock, weights: Numbers) -> None:
    for index, weight in enumerate(weights):
        file, line = block.place_of("signals", index)
        lines, at = sheets[file], line - 1
        lines[at] = WEIGHT.sub(f"weight: {max(LEAST_WEIGHT, int(weight))}", lines[at])


def _write_word_weights(sheets: Sheets, block: RuleBlock, strengths: Numbers, vocabulary: list[str]) -> None:
    file, line = block.place_of("leanings", next(iter(block.data["leanings"])))
    lines, begin = sheets[file], line - 1
    end = begin
    while lines[end].startswith("  "):  # every line of the mapping; the fence after it ends the loop at the latest
        end += 1
    rows: list[str] = []
    for strength in sorted({int(figure) for figure in strengths if figure}, reverse=True):
        words = [_as_yaml(word) for word, figure in zip(vocabulary, strengths, strict=True) if figure == strength]
        rows += textwrap.wrap(
            f"{strength}: [{', '.join(words)}]", WIDTH, initial_indent="  ", subsequent_indent="      ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    lines[begin:end] = rows


def _write_thresholds(sheets: Sheets, compiled: Compiled, thresholds: Thresholds) -> None:
    general = {"points_that_double": thresholds.points_that_double, LEAST: thresholds.min_confidence}
    figures = [(compiled.rules[TASK_TYPE], key, value) for key, value in general.items()]
    figures += [(compiled.rules[f"{TASK_TYPE}.{name}"], LEAST, value) for name, value in thresholds.floors.items()]
    for block, key, value in figures:
        if key in block.data:
            file, line = block.place_of(key)
            lines, at = sheets[file], line - 1
            lines[at] = FIGURE.sub(f"{value:g}", lines[at], count=1)  # a comment after it may contain numbers, too


def _as_yaml(word: str) -> str:
    name = as_written(word)
    return name if PLAIN.fullmatch(name) and name not in RESERVED else f'"{name}"'


def _examples(rules: Sequence[ClassRule]) -> list[LabelledRow]:
    return [
        LabelledRow(example, rule.name, "", "none", "", is_picked=False)
        for rule in rules
        if rule.facet == TASK_TYPE
        for example in rule.examples
    ]
