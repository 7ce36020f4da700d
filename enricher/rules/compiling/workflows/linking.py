"""Turn the workflows of all layers into what the hook reads: rows to choose by, and the plans as one text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from enricher.respond.hydration import PLACEHOLDERS
from enricher.rules.compiling.document import Problem
from storage.base.fast_stdlib import dumps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from enricher.rules.compiling.document import RuleBlock

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def compiled_workflows(
    rules: Sequence[RuleBlock], values: Mapping[str, Any], *, task_types: Collection[str], problems: list[Problem]
) -> dict[str, Any]:
    """Return the parts ``workflows`` and ``plans`` of the compiled rules.

    The plans are one JSON text inside the JSON: most prompts need none, so that the hook does not parse them.
    """
    known = {rule.name: rule for rule in rules}
    problems += _dangling(known, task_types=task_types)
    uncertain = ("fallback", "ordered", "stated")
    for key in uncertain if rules else ():
        if values[key] and values[key] not in known:
            message = f"{key}: '{values[key]}' is no workflow; known: {', '.join(known)}"
            problems.append(Problem(rules[0].file, 1, "error", message))
    plans = {name: _plan(rule, known) for name, rule in known.items()}
    selection = {key: values[key] for key in ("min_score", "min_lead", *uncertain)}
    selection["rules"] = [(rule.name, rule.data["task_types"]) for rule in rules]
    return {"workflows": selection, "plans": dumps(plans)}


def _plan(rule: RuleBlock, known: Mapping[str, RuleBlock]) -> dict[str, Any]:
    data = rule.data
    return {
        "title": data.get("title", ""),
        "description": " ".join(data.get("description", "").split()),
        "gate": data.get("quality_gate", ""),
        "commits": data.get("commit_required", False),
        "changes": data.get("modifies_files", False),
        "tracked": data.get("tracked", False),
        "guardrails": [
            [one["name"], one.get("task_types", [])] if isinstance(one, dict) else [one, []]
            for one in data.get("guardrails", [])
        ],
        "steps": list(_steps(rule, known, ())),
    }


def _steps(rule: RuleBlock, known: Mapping[str, RuleBlock], above: tuple[str, ...]) -> Iterator[list[Any]]:
    """Yield a workflow's steps as [wordings, form while it runs, evidence, whether it is a checkpoint]."""
    for step in rule.data.get("steps", []):
        base = step.get("use", "")
        if base and base in known and base not in (*above, rule.name):
            yield from _steps(known[base], known, (*above, rule.name))
        elif not base:
            yield [
                [" ".join(one.split()) for one in step.get("do", [])],
                step.get("now", "Working"),
                " ".join(step.get("evidence", "").split()),
                step.get("checkpoint", False),
            ]


def _dangling(known: Mapping[str, RuleBlock], *, task_types: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each name in a workflow that nothing defines."""
    for rule in known.values():
        for at, base in enumerate(rule.data.get("bases", [])):
            if base not in known:
                yield Problem(
                    *rule.place_of("bases", at), "error", f"the base '{base}' is no workflow of the catalogue"
                )
        for at, step in enumerate(rule.data.get("steps", [])):
            place = rule.place_of("steps", at)
            base = step.get("use", "")
            if base and base not in rule.data.get("bases", []):
                yield Problem(*place, "error", f"the step uses '{base}', which is not among the bases")
            if not base and not step.get("do"):
                yield Problem(*place, "error", "the step has neither 'do' nor 'use'")
            for name in {name for one in step.get("do", []) for name in PLACEHOLDER.findall(one)} - set(PLACEHOLDERS):
                known_names = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                yield Problem(*place, "error", f"unknown placeholder '{{{name}}}'; known: {known_names}")
        for kind in rule.data["task_types"]:
            if kind not in task_types:
                message = f"unknown task type '{kind}'; known: {', '.join(sorted(task_types))}"
                yield Problem(*rule.place_of("triggers"), "warning", message)


def names_of_guardrails(rule: RuleBlock) -> list[tuple[int, str]]:
    """Return the guardrails that a workflow names, each with its position in the list."""
    named = rule.data.get("guardrails", [])
    return [(at, one.get("name", "") if isinstance(one, dict) else one) for at, one in enumerate(named)]
