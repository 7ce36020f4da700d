"""Turn the merged rules into the body that the hook reads, a plain JSON object."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from enricher.context import CHANNELS, DECLARED, UNDECLARED
from enricher.rules.compiling import schema
from enricher.rules.compiling.class_table import compile_classes
from enricher.rules.compiling.compiled import LONE_LAYER
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.guardrails import files_of_lone, link
from enricher.rules.compiling.named_files import read_thresholds
from enricher.rules.compiling.signals import ClassRule, check_signal, check_word_weights
from enricher.rules.compiling.workflows import PLACEHOLDER, WORKFLOW, WORKFLOWS, compiled_workflows, missing
from enricher.settings import AS_SPECIFIED, CODER, EMBEDDING
from storage.base.fast_stdlib import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.guardrails import Guardrails

FACETS = ("task_type", "search_intent")
GUIDANCE = ("guardrail", "approach", WORKFLOW)
FACTS = ("frame", "error", "count", "listed", "skill")
"""Facts that the hook may find about a prompt.

The sentence of an approach may need some of them, and may insert one by its name in braces.
"""
PIPELINE_CHANNELS: dict[str, dict[str, Any]] = {
    "summarization": {"model": True, "priority": 5},
    "code_analysis": {"model": True, "priority": 4},
    "similarity": {"model": True, "priority": 3, "endpoint": EMBEDDING},
}
"""Default values of the channels that the original specification requires (seed 004); their rules may set others."""
HANDLERS = {"summarization": CODER, "code_analysis": CODER, "similarity": EMBEDDING}
"""Channels whose program is in the package (``enricher.model.handlers``).

Each has the name of the environment variable with the address of its model. A rule with a command replaces the program.
"""
FORMS = {"summarization": "narrative", "code_analysis": "structure"}
"""Which form of the prompt template ``enrichment`` each of these channels sends to a model."""


def class_rules(result: Compiled) -> Iterator[ClassRule]:
    """Yield a ``ClassRule`` for each class, guardrail, approach and workflow, with the signals that give it points."""
    for facet in (*FACETS, *GUIDANCE):
        for rule in result.of_kind(facet):
            signals = _guarded(rule.data.get("signals", []), rule.data.get("unless", []))
            examples = rule.data.get("examples", [])
            leanings = rule.data.get("leanings", {})
            least = rule.data.get("min_confidence", 0.0)
            yield ClassRule(facet, rule.name, signals, examples, leanings, least)


def _guarded(signals: list[dict[str, Any]], unless: list[str]) -> list[dict[str, Any]]:
    """Return the signals of a rule, with the rule's own ``unless`` conditions added to those of each signal."""
    return [{**one, "unless": [*one.get("unless", []), *unless]} for one in signals] if unless else signals


def check_signals(result: Compiled, lists: dict[str, list[str]]) -> None:
    """Add a problem to ``result`` for each signal and each weight of a word (``leanings``) that cannot be compiled."""
    for rule in result.classes:
        block = result.block_of(rule)
        for index, phrase in enumerate(block.data.get("unless", [])):
            for message in check_signal({"phrase": "x", "unless": [phrase]}, lists):
                result.problems.append(Problem(*block.place_of("unless", index), "error", message))
        for index, signal in enumerate(block.data.get("signals", [])):
            for message in check_signal(signal, lists):
                result.problems.append(Problem(*block.place_of("signals", index), "error", message))
        for message in check_word_weights(rule.word_weights):
            result.problems.append(Problem(*block.place_of("leanings"), "error", message))


def build_body(result: Compiled, lists: dict[str, list[str]], prompts: dict[str, Any]) -> None:
    """Compile the merged rules, word ``lists`` and model ``prompts`` into ``result.body``, which the hook reads."""
    guardrails = result.guardrails = _link_guardrails(result)
    classes = [rule for rule in result.classes if rule.facet != "guardrail"]
    classes += [
        replace(rule, name=guardrails.id_of(rule.name))
        for rule in result.classes
        if rule.facet == "guardrail" and guardrails.takes_signals_of(rule.name)
    ]
    result.body = {
        "classes": compile_classes(classes, facets={name: result.values(name) for name in FACETS}, lists=lists),
        "never_show": result.values("task_type")["silent"],
        "guardrails": {
            **result.values("guardrail"),
            "rules": guardrails.rows,
            "sentences": guardrails.sentences,
            "asking_for_run": guardrails.asking_for_run,
            AS_SPECIFIED: guardrails.as_specified,
        },
        "approaches": {**result.values("approach"), **_approaches(result)},
        "channels": list(_channels(result, prompts)),
        "budgets": {f"budgets.{key}": value for key, value in result.values("budgets").items()},
        "class_line": result.values("lines")["class_line"],
        "meanings": result.meanings(),
        "prompts": dumps(prompts),
        **_workflows(result),
    }


def _workflows(result: Compiled) -> dict[str, Any]:
    for index in result.workflows:
        result.problems += missing(index, result.files)
    task_types = result.task_types
    rules = list(result.of_kind(WORKFLOW))
    values = result.values(WORKFLOWS)
    return compiled_workflows(rules, values, task_types=task_types, problems=result.problems)


def _channels(result: Compiled, prompts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for rule in result.of_kind("channel"):
        data = {**PIPELINE_CHANNELS.get(rule.name, {}), **rule.data}
        values = schema.DeclaredChannel.model_validate(data).model_dump(exclude={"disabled", "extend"})
        if rule.name in HANDLERS and not values["command"]:
            yield _handler(rule.name, rule.data, prompts, is_declared=True)
        elif values["command"] or rule.name in CHANNELS:
            yield {"name": rule.name, **values}
        else:
            ours = ", ".join((*CHANNELS, *HANDLERS))
            message = f"channel '{rule.name}' has no command, and none of ours has that name ({ours})"
            result.problems.append(Problem(rule.file, rule.line, "error", message))
    for name in HANDLERS:
        if f"channel.{name}" not in result.rules.keys() | result.disabled.keys():
            yield _handler(name, {}, prompts, is_declared=False)


def _handler(
    name: str, declared: Mapping[str, Any], prompts: Mapping[str, Any], *, is_declared: bool
) -> dict[str, Any]:
    endpoint = declared.get("endpoint") or HANDLERS[name]
    data = {**PIPELINE_CHANNELS[name], **declared, "model": True, "endpoint": endpoint}
    values = schema.DeclaredChannel.model_validate(data).model_dump(exclude={"disabled", "extend"})
    prompt = prompts["enrichment"]["forms"][FORMS[name]] if name in FORMS else ""
    return {"name": name, **values, "handler": DECLARED if is_declared else UNDECLARED, "prompt": prompt}


def _link_guardrails(result: Compiled) -> Guardrails:
    named = result.catalogues
    if result.texts[0][0] == LONE_LAYER:
        named = result.catalogues = files_of_lone(result.sources[0], named, result.files, result.problems)
    result.sources += [one.path for one in named if one.path not in result.sources]
    rules = list(result.of_kind("guardrail"))
    disabled = [rule for rule in result.disabled.values() if rule.kind == "guardrail" and rule.name]
    layers = [path for _layer, path, _text in result.texts]
    found = link(named, rules, disabled, layers=layers, files=result.files, problems=result.problems)
    task_types = result.task_types
    for row in found.shorthands:
        for kind in row.task_types:
            if kind not in task_types:
                message = f"'{row.slug}' names the task type '{kind}', which no rule defines"
                result.problems.append(Problem(row.file, row.line, "warning", message))
    for rule in rules:
        for index, kind in enumerate(rule.data.get("task_types", [])):
            if kind not in task_types:
                place = rule.place_of("task_types", index)
                result.problems.append(Problem(*place, "warning", _unknown_task_type(kind, task_types)))
    return found


def _approaches(result: Compiled) -> dict[str, list[tuple[str, str, list[str], dict[str, int]]]]:
    task_types = result.task_types
    rows: dict[str, list[tuple[str, str, list[str], dict[str, int]]]] = {"rules": [], AS_SPECIFIED: []}
    for rule in result.of_kind("approach"):
        data = schema.Approach.model_validate(rule.data)
        for fact in data.needs:
            if fact not in FACTS:
                message = f"unknown fact '{fact}'; known: {', '.join(FACTS)}"
                result.problems.append(Problem(rule.file, rule.line_of("needs"), "error", message))
        for name in PLACEHOLDER.findall(data.say):
            if name not in FACTS:
                message = f"unknown placeholder '{{{name}}}'; known: {', '.join(f'{{{fact}}}' for fact in FACTS)}"
                result.problems.append(Problem(rule.file, rule.line_of("say"), "error", message))
        for kind in data.task_types:
            if kind not in task_types:
                place = rule.line_of("task_types", kind)
                result.problems.append(Problem(rule.file, place, "warning", _unknown_task_type(kind, task_types)))
        rows[data.profile or "rules"].append((rule.name, " ".join(data.say.split()), data.needs, data.task_types))
    return rows


def effort_thresholds(result: Compiled) -> dict[str, Any]:
    """Return the compiled thresholds for the effort of a prompt; empty without a rule ``## Complexity``."""
    rule = next(result.of_kind("complexity", named=False), None)
    if rule is None:
        return {}
    is_whole = rule.file in result.whole_files()
    result.thresholds, body = read_thresholds(rule, result.files, result.problems, is_whole=is_whole)
    result.sources.append(result.thresholds)
    known = result.task_types | {"default"}
    for kind in body.get("task_types", ()):
        if kind not in known:
            result.problems.append(Problem(result.thresholds, 1, "warning", _unknown_task_type(kind, known)))
    return body


def _unknown_task_type(kind: str, known: Iterable[str]) -> str:
    return f"unknown task type '{kind}'; known: {', '.join(sorted(known))}"
