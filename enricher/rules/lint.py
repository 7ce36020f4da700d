"""What a maintainer should know about instructions beyond what the compiler refuses.

Examples are run, and signals that can never matter are named. Used by
``enricher check``, never on the hook's path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.classify import classify
from enricher.classify.table import Table
from enricher.rules.compiler import compile_layers
from enricher.rules.document import Problem
from enricher.rules.idle import idle_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.rules.compiler import Compiled
    from enricher.rules.layers import Layer
    from enricher.rules.signals import ClassRule


def check(instructions: Sequence[Layer], configuration: Sequence[Layer] = ()) -> Compiled:
    """Return the compiled layers with the problems of compiler and lint, sorted by file and line."""
    compiled = compile_layers(instructions, configuration)
    compiled.problems = findings(compiled)
    return compiled


def findings(compiled: Compiled) -> list[Problem]:
    """Return the problems that the compiler found and those of lint, sorted by file and line."""
    found = list(compiled.problems)
    if not compiled.broken:
        found += _failing_examples(compiled)
        found += _idle_signals(compiled)
    return sorted(found)


def _failing_examples(compiled: Compiled) -> Iterator[Problem]:
    table = Table(compiled.body["classes"])
    for rule in compiled.classes:
        block = compiled.rules[f"{rule.facet}.{rule.name.replace(' ', '-')}"]
        for index, example in enumerate(rule.examples):
            found = _found(rule, example, table)
            if found != rule.name:
                came_out = f"example {example!r} comes out as {found or 'nothing'}, not {rule.name}"
                file, line = block.place_of("examples", index)
                written = "" if file == rule.file else f" (written in {file}:{line})"
                message = f"{came_out}{written}; add a signal or mend the example"
                yield Problem(rule.file, block.line if written else line, "error", message)


def _idle_signals(compiled: Compiled) -> Iterator[Problem]:
    lists = {rule.name: rule.data["words"] for rule in compiled.rules.values() if rule.kind == "words"}
    for rule in compiled.classes:
        block = compiled.rules[f"{rule.facet}.{rule.name.replace(' ', '-')}"]
        for index, reason in idle_signals(rule, lists):
            yield Problem(*block.place_of("signals", index), "warning", f"signal {reason}")


def _found(rule: ClassRule, example: str, table: Table) -> str:
    judged = classify(example, table)
    if rule.facet == "task_type":
        return judged.task_type
    if rule.facet == "search_intent":
        return judged.search_intent or "none"
    scores = judged.scores.get(rule.facet, {})
    return rule.name if scores.get(rule.name, 0) >= 1 else ""
