"""Find problems in instructions that a maintainer should know about, in addition to the compiler's errors.

The lint classifies each rule's examples, and reports rules that can never take effect. It is used by
``enricher check``, never while a prompt is answered.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from enricher.classify import Rules
from enricher.classify.matching import MOST_WORDS_OF_A_WHOLE
from enricher.classify.verdict import verdict
from enricher.respond.guidance import choose_workflow, shares_of
from enricher.rules.compiling.body import FACETS
from enricher.rules.compiling.compiler import compile_layers, unknown_names
from enricher.rules.compiling.document import PARTS, Problem, read_document
from enricher.rules.compiling.signals import condition_of, tokens
from enricher.rules.compiling.workflows import FOLDER, WORKFLOW, names_of_guardrails
from enricher.rules.layers import Layer, Layers, find_layers, layer_with, packaged_file
from enricher.rules.unused import unused_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.classify import Classification
    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.signals import ClassRule

PARTS_OF_A_WHOLE = frozenset(PARTS) - {"Context"}
"""Parts without which an instructions file cannot be used alone, without other layers; only ``Context`` is optional."""
LENGTHS = ("tiny", "short", "medium", "long", "very_long")  # features; a prompt has at most one of them
ENDING = ".md"


def check(instructions: Sequence[Layer], configuration: Sequence[Layer] = ()) -> Compiled:
    """Compile the layers; return the result with all problems of the compiler and the lint, by file and line."""
    compiled = compile_layers(instructions, configuration)
    found = findings(compiled)
    for layer in configuration:
        found += unknown_names(layer.path, channels=[rule["name"] for rule in compiled.body.get("channels", [])])
    compiled.problems = sorted(found)
    return compiled


def layers_to_check(file: str, cwd: str) -> Layers:
    """Return the layers to compile in order to check an instructions file.

    A file that is a layer itself is checked together with the other layers that apply there. Any other file is checked
    alone if it has all the parts that complete instructions need, otherwise as the highest layer in ``cwd``.
    """
    placed = layer_with(file, cwd)
    if placed is not None:
        return placed
    if not os.path.isfile(file):  # reading a pipe or a device would not end
        return find_layers(cwd, base=file)
    try:
        with open(file, encoding="utf-8") as opened:
            parts = {rule.part for rule in read_document(file, opened.read()).rules}
    except (OSError, UnicodeDecodeError):
        return find_layers(cwd, base=file)
    if parts.issuperset(PARTS_OF_A_WHOLE):
        return find_layers(cwd, base=file)
    layers = find_layers(cwd)
    layers.instructions.append(Layer("given", os.path.abspath(file)))
    return layers


def findings(compiled: Compiled) -> list[Problem]:
    """Return the problems found by the compiler and by the lint, sorted by file and line.

    If a layer replaces or disables a class, packaged examples that fail and warnings about packaged files are left out.
    """
    found = list(compiled.problems)
    if not compiled.broken:
        examples = list(_failing_examples(compiled))
        redefining = (*compiled.disabled.values(), *(rule for rule, _ in compiled.replacing))
        if any(rule.kind in FACETS for rule in redefining):
            ours = os.path.dirname(packaged_file()) + os.sep
            examples = [one for one in examples if not one.file.startswith(ours)]
            found = [one for one in found if one.severity == "error" or not one.file.startswith(ours)]
        found += examples
        found += _idle_signals(compiled)
        found += unused_rules(compiled)
        found += _catalogue_problems(compiled)
    return sorted(found)


def _failing_examples(compiled: Compiled) -> Iterator[Problem]:
    rules = Rules(compiled.hash, compiled.body)
    for rule in compiled.classes:
        block = compiled.block_of(rule)
        for index, example in enumerate(rule.examples):
            found = _found(rule, example, rules, compiled)
            if found != rule.name:
                came_out = f"example {example!r} comes out as {found or 'nothing'}, not {rule.name}"
                file, line = block.place_of("examples", index)
                written = "" if file == block.file else f" (written in {file}:{line})"
                message = f"{came_out}{written}; {_remedy(rule, example, found, rules)}"
                yield Problem(block.file, block.line if written else line, "error", message)


def _remedy(rule: ClassRule, example: str, found: str, rules: Rules) -> str:
    remedy = "add a signal, raise a weight, or correct the example"
    points = verdict(example, rules, is_explained=False).scores.get(rule.facet, {})
    if found not in points:
        return remedy
    return f"{rule.name} has {points.get(rule.name, 0):g} points and {found} {points[found]:g}: {remedy}"


def _idle_signals(compiled: Compiled) -> Iterator[Problem]:
    lists = {rule.name: rule.data["words"] for rule in compiled.rules.values() if rule.kind == "words"}
    for rule in compiled.classes:
        block = compiled.block_of(rule)
        files = [block.place_of("signals", index)[0] for index in range(len(rule.signals))]
        for index, reason in idle_signals(rule, lists, files):
            yield Problem(*block.place_of("signals", index), "warning", f"signal {reason}")


def _found(rule: ClassRule, example: str, rules: Rules, compiled: Compiled) -> str:
    judged = verdict(example, rules, is_explained=False)
    if rule.facet == "task_type":
        return judged.task_type
    if rule.facet == "search_intent":
        return judged.search_intent or "none"
    if rule.facet == WORKFLOW:
        return _workflow_of(judged, compiled)
    return rule.name if _is_triggered(rule, judged, compiled) else ""


def _workflow_of(judged: Classification, compiled: Compiled) -> str:
    shares = shares_of(judged.scores["task_type"], compiled.body["classes"]["facets"])
    return choose_workflow(compiled.body["workflows"], signal_scores=judged.scores[WORKFLOW], shares=shares)[0]


def _is_triggered(rule: ClassRule, judged: Classification, compiled: Compiled) -> bool:
    shown = "" if judged.uncertain else judged.task_type
    scores = judged.scores.get(rule.facet, {})
    if rule.facet == "approach":
        settings = compiled.body["approaches"]
        weight = next((types.get(shown, 0) for name, _say, _needs, types in settings["rules"] if name == rule.name), 0)
        return bool(scores.get(rule.name, 0) + weight >= settings["min_score"])
    settings = compiled.body["guardrails"]
    identity = compiled.guardrails.id_of(rule.name)
    row = next((row for row in settings["rules"] if row[0] == identity), None)
    if row is None:
        return False
    _id, _title, task_types, always, own_threshold = row
    points = scores.get(identity, 0) + (settings["task_type_weight"] if shown in task_types else 0)
    return bool(always or points >= (own_threshold or settings["min_score"]))


def idle_signals(rule: ClassRule, lists: dict[str, list[str]], files: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield (index, reason) for each signal of a rule that has no effect; all signals must pass ``check_signal``.

    Of equal signals, only those in the same one of ``files`` are reported: a layer may repeat a signal to change its
    weight.
    """
    seen: dict[tuple[object, str], int] = {}
    for index, signal in enumerate(rule.signals):
        condition = condition_of(signal), files[index] if files else ""
        if condition in seen:
            yield index, f"is the same as signal {seen[condition] + 1} of this rule; both count, so raise one weight"
        seen.setdefault(condition, index)
        yield from ((index, reason) for reason in _contradictions(signal, lists))


def _contradictions(signal: dict[str, Any], lists: dict[str, list[str]]) -> Iterator[str]:
    wordings = _wordings(signal, lists)
    for guard in signal.get("unless", []):
        if guard == f"<{signal.get('feature')}>" or guard in signal.get("with", []):
            yield f"can never fire: it needs '{guard}' and is off where '{guard}' holds"
        forbidden = (
            [tokens(one) for one in lists.get(guard.strip("[]"), [])] if guard.startswith("[") else [tokens(guard)]
        )
        if "@" not in guard and wordings and all(any(_holds(one, part) for part in forbidden) for one in wordings):
            yield f"can never fire: every wording of it contains '{guard}'"
    yield from _keys_without_effect(signal, wordings)
    if signal.get("at") == "whole" and wordings and min(map(len, wordings)) > MOST_WORDS_OF_A_WHOLE:
        yield f"can never fire: as the whole of a prompt it may have {MOST_WORDS_OF_A_WHOLE} words"


def _keys_without_effect(signal: dict[str, Any], wordings: list[tuple[str, ...]]) -> Iterator[str]:
    if "feature" in signal:
        for key in ("at", "gap", "exact"):
            if key in signal:
                yield f"has no use for '{key}': a feature is of the whole prompt"
        lengths = {f"<{length}>" for length in LENGTHS if length != signal["feature"]}
        if signal["feature"] in LENGTHS and signal.get("with") and lengths.issuperset(signal["with"]):
            yield f"can never fire: a prompt that is '{signal['feature']}' has no other length"
    elif "gap" in signal and not any("…" in wording for wording in wordings):
        yield "has no use for 'gap': no wording of it has a '…'"


def _wordings(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[tuple[str, ...]]:
    if "phrase" in signal:
        return [tokens(signal["phrase"])]
    return [tokens(one) for one in signal.get("any", lists.get(signal.get("words", ""), []))]


def _holds(wording: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(wording[at : at + len(part)] == part for at in range(len(wording) - len(part) + 1))


def _catalogue_problems(compiled: Compiled) -> Iterator[Problem]:
    """Yield the problems of the workflow catalogues: contradictions between index and files, then single mistakes."""
    rules = list(compiled.of_kind(WORKFLOW))
    yield from _of_the_indices(compiled, {rule.name for rule in rules})
    plans = json.loads(compiled.body["plans"])
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
