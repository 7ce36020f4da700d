"""Find problems in the workflow catalogues that leave the other rules usable."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.workflows.catalogue import FOLDER, WORKFLOW
from enricher.rules.compiling.workflows.linking import names_of_guardrails

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.rules.compiling.compiler import Compiled
    from enricher.rules.compiling.document import RuleBlock

ENDING = ".md"


def catalogue_problems(compiled: Compiled) -> Iterator[Problem]:
    """Yield the problems of all catalogues: between index, tree and files, then of each workflow."""
    rules = [rule for rule in compiled.rules.values() if rule.kind == WORKFLOW and rule.name]
    yield from _of_the_indices(compiled, {rule.name for rule in rules})
    plans = json.loads(compiled.body["workflows"]["plans"])
    known = {*compiled.guardrails.ids, *compiled.guardrails.catalogue}
    triggers: dict[str, RuleBlock] = {}
    for rule in rules:
        steps = plans[rule.name]["steps"]
        if rule.data.get("modifies_files") and not any(is_checkpoint for *_rest, is_checkpoint in steps):
            message = f"workflow '{rule.name}' changes files without a checkpoint; add a step with 'checkpoint: true'"
            yield Problem(*rule.place_of("steps"), "error", message)
        elif len(steps) > 1 and not any(is_checkpoint for *_rest, is_checkpoint in steps):
            message = f"workflow '{rule.name}' has several steps and no checkpoint; add 'checkpoint: true' to one"
            yield Problem(*rule.place_of("steps"), "error", message)
        for at, name in names_of_guardrails(rule):
            if name not in known:
                message = f"the guardrail '{name}' is in no catalogue; add it, or an alias in guardrails.md"
                yield Problem(*rule.place_of("guardrails", at), "error", message)
        written = json.dumps(rule.data.get("triggers", []), sort_keys=True, default=str)
        if not rule.data.get("triggers"):
            message = f"workflow '{rule.name}' has no triggers, so that it is never chosen"
            yield Problem(rule.file, rule.line, "warning", message)
        elif (other := triggers.setdefault(written, rule)) is not rule:
            message = f"workflows '{other.name}' and '{rule.name}' have the same triggers, so that neither is certain"
            yield Problem(*rule.place_of("triggers"), "error", message)


def _of_the_indices(compiled: Compiled, names: set[str]) -> Iterator[Problem]:
    for index in compiled.workflows:
        for name, line in index.tree.items():
            if name not in names:
                message = f"the decision tree names '{name}', which is no workflow"
                yield Problem(index.path, line, "error", message)
        for name, (line, _said) in index.entries.items():
            if index.has_tree and name not in index.tree:
                message = f"the decision tree does not lead to workflow '{name}'"
                yield Problem(index.path, line, "warning", message)
        folder = os.path.join(os.path.dirname(index.path), FOLDER)
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            name = file.removesuffix(ENDING)
            if file.endswith(ENDING) and name not in index.entries:
                message = f"the index {os.path.basename(index.path)} has no line for '{name}', so the file is not used"
                yield Problem(os.path.join(folder, file), 1, "warning", message)
