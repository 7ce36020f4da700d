"""Read a workflow catalogue: the index (``WORKFLOWS.md``) and one file for each workflow (``workflows/ID.md``).

A workflow of a higher layer replaces the one with the same id. An id without a file is left out, with an error
that ``enricher check`` reports; the other workflows stay in use.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from enricher.rules.compiling.document import Problem, RuleBlock, read_front_matter
from enricher.rules.compiling.named.files import found_path, named_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.rules.compiling.named.files import Files

WORKFLOW, WORKFLOWS = "workflow", "workflows"
FOLDER = "workflows"
TREE = "tree"
"""A heading with this word begins the decision tree; list items above it are the index."""
ENTRY = re.compile(
    r"^\s*(?:[-*]|\|)\s*(?:\[\[|\[|`)([a-z][a-z0-9-]*)(?:\.md)?(?:\]\]|\]|`)(?:\([^)]*\))?[\s:—|-]*(.*?)[\s|]*$"
)
NAMED = re.compile(r"(?:\[\[|\[|`)([a-z][a-z0-9-]*)(?:\.md)?(?:\]\]|\]|`)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
REQUIRED = ("title", "description", "quality_gate", "steps")


@dataclass(slots=True)
class Index:
    """The index of one catalogue: its workflows with line and one sentence each, and the ids in the decision tree."""

    path: str
    entries: dict[str, tuple[int, str]] = field(default_factory=dict)
    tree: dict[str, int] = field(default_factory=dict)
    has_tree: bool = False

    def file_of(self, identity: str) -> str:
        """Return the path of a workflow's file."""
        return os.path.join(os.path.dirname(self.path), FOLDER, f"{identity}.md")


def read_index(path: str, text: str) -> Index:
    """Return the index of a catalogue; comments in it count as empty lines."""
    index = Index(path)
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
    """Return the index that a rule ``## Workflows`` names; None, with a problem, if there is no such file.

    A complete file (``is_whole``) may be a copy of the packaged instructions without their catalogue: then the
    packaged one is used, with a warning.
    """
    if not rule.data.get("file"):
        return None
    path = found_path(named_file(rule, "file"), files, problems, is_whole=is_whole, what="the workflow index")
    if not path:
        return None
    return read_index(path, files.read(path, problems, "the workflow index"))


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
    """Yield the workflows of an index as rules; a file that cannot be read is a problem."""
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
    """Return a workflow whose triggers are divided into ``signals`` and points by ``task_types``."""
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
