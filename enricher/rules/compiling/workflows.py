"""Read the workflow catalogues, and compile them into two parts of the rules: when to choose a workflow, and its plan.

A catalogue has an index (``WORKFLOWS.md``) and one file for each workflow (``workflows/ID.md``).

A workflow of a higher layer replaces a lower layer's workflow with the same id. An id without a file is left out, with
an error that ``enricher check`` reports; the other workflows stay in use.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from enricher.respond.hydration import PLACEHOLDERS
from enricher.rules.compiling.document import Problem, RuleBlock, read_front_matter
from enricher.rules.compiling.named_files import found_path, named_file
from storage.base.fast_stdlib import dumps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from enricher.rules.compiling.named_files import Files

WORKFLOW, WORKFLOWS = "workflow", "workflows"
FOLDER = "workflows"
TREE = "tree"  # a heading with this word begins the decision tree; the list items above it are the index
# A list item or table row that begins with a link or code: "- [[debugging]] — find the cause".
ENTRY = re.compile(
    r"^\s*(?:[-*]|\|)\s*(?:\[\[|\[|`)([a-z][a-z0-9-]*)(?:\.md)?(?:\]\]|\]|`)(?:\([^)]*\))?[\s:—|-]*(.*?)[\s|]*$"
)
NAMED = re.compile(r"(?:\[\[|\[|`)([a-z][a-z0-9-]*)(?:\.md)?(?:\]\]|\]|`)")  # such a link or code anywhere in a line
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
REQUIRED = ("title", "description", "quality_gate", "steps")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(slots=True)
class Index:
    """The index of one catalogue: the workflows that it lists, and those to which its decision tree leads.

    ``entries`` maps the id of each listed workflow to its line and summary. ``tree`` maps each id in the decision tree
    to its line.
    """

    path: str
    entries: dict[str, tuple[int, str]] = field(default_factory=dict)
    tree: dict[str, int] = field(default_factory=dict)
    has_tree: bool = False

    def file_of(self, identity: str) -> str:
        """Return the path of a workflow's file."""
        return os.path.join(os.path.dirname(self.path), FOLDER, f"{identity}.md")


def _read_index(path: str, text: str) -> Index:
    # Comments count as empty lines.
    index = Index(path)
    # As many lines, so that the numbers of the later ones stay.
    blank = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    for number, line in enumerate(blank.splitlines(), 1):
        if line.startswith("#"):
            index.has_tree = TREE in line.lower()
        elif index.has_tree:
            for name in NAMED.findall(line):
                index.tree.setdefault(name, number)
        elif found := ENTRY.match(line):
            index.entries.setdefault(found.group(1), (number, found.group(2)))
    index.has_tree = bool(index.tree)
    return index


def index_of(rule: RuleBlock, files: Files, problems: list[Problem], *, is_whole: bool) -> Index | None:
    """Return the workflow index that a rule ``## Workflows`` names; None if it names none, or if it is missing."""
    if not rule.data.get("file"):
        return None
    path = found_path(named_file(rule, "file"), files, problems, is_whole=is_whole, what="the workflow index")
    if not path:
        return None
    return _read_index(path, files.read(path, problems, "the workflow index"))


def missing(index: Index, files: Files) -> list[Problem]:
    """Return an error for each workflow of the index that has no file."""
    return [
        Problem(
            index.path,
            line,
            "error",
            f"workflow '{identity}' has no file {FOLDER}/{identity}.md, so it is not used; write it, or remove this",
        )
        for identity, (line, _said) in index.entries.items()
        if not files.has(index.file_of(identity))
    ]


def workflows_of(index: Index, files: Files, problems: list[Problem]) -> Iterable[RuleBlock]:
    """Yield the workflows of an index as rules; add a problem for each mistake in their files."""
    for identity in index.entries:
        path = index.file_of(identity)
        if not files.has(path):
            continue
        text = files.read(path, problems, f"the workflow '{identity}'")
        data, lines, found = read_front_matter(path, text)
        problems += found
        if found:
            continue
        own = data.get("id", identity)
        if own != identity:
            message = f"the id is '{own}', but the file is {identity}.md; write the same name in both"
            problems.append(Problem(path, lines.get(("id",), 1), "error", message))
            continue
        for key in REQUIRED:
            if not data.get(key):
                problems.append(
                    Problem(path, 1, "error", f"'{key}' is missing; every workflow has {', '.join(REQUIRED)}")
                )
        yield RuleBlock(
            id=f"{WORKFLOW}.{identity}",
            kind=WORKFLOW,
            name=identity,
            part="Output",
            prose=text.rpartition("\n---\n")[2].strip(),
            data=data,
            file=path,
            line=1,
            lines=lines,
        )


def with_signals(rule: RuleBlock) -> RuleBlock:
    """Return the workflow with its ``triggers`` divided into ``signals`` and the points of ``task_types``."""
    signals: list[Any] = []
    task_types: dict[str, Any] = {}
    lines = dict(rule.lines)
    for at, trigger in enumerate(rule.data.get("triggers", [])):
        if isinstance(trigger, dict) and "task_type" in trigger:
            task_types[str(trigger["task_type"])] = trigger.get("weight", 0)
            continue
        for path, line in rule.lines.items():
            if path[:2] == ("triggers", at):
                lines[("signals", len(signals), *path[2:])] = line
        lines["signals",] = lines.get(("triggers",), rule.line)
        signals.append(trigger)
    return replace(rule, data={**rule.data, "signals": signals, "task_types": task_types}, lines=lines)


def compiled_workflows(
    rules: Sequence[RuleBlock], values: Mapping[str, Any], *, task_types: Collection[str], problems: list[Problem]
) -> dict[str, Any]:
    """Return two parts of the compiled rules: ``workflows``, by which one is chosen, and ``plans``, the steps of each.

    ``plans`` is a JSON string within the rules, which the hook parses only for the few prompts that get a plan.
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
    # [texts to choose from, text while the step runs, evidence that it is done, whether it is a checkpoint]
    for step in rule.data.get("steps", []):
        base = step.get("use", "")
        if base and base in known and base not in (*above, rule.name):  # bases may use each other in a circle
            yield from _steps(known[base], known, (*above, rule.name))
        elif not base:
            yield [
                [" ".join(one.split()) for one in step.get("do", [])],
                step.get("now", "Working"),
                " ".join(step.get("evidence", "").split()),
                step.get("checkpoint", False),
            ]


def _dangling(known: Mapping[str, RuleBlock], *, task_types: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each base (a workflow to build on), placeholder or task type that is named but undefined."""
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
