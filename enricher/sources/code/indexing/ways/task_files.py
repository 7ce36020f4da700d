"""Find the tasks in the files of mise (``mise.toml``) and Task (``Taskfile.yml``), which may have descriptions.

Does not run in the hook.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from enricher.sources.code import TASK
from enricher.sources.code.indexing.actions import action_of_task, task_named
from enricher.sources.code.indexing.commands import Command, rank_of_target, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

MISE = ("mise.toml", ".mise.toml")
TASKFILES = ("taskfile.yml", "taskfile.yaml", "taskfile.dist.yml", "taskfile.dist.yaml")
_ARTICLES = re.compile(r"\b(?:the|an?|all)\b", re.IGNORECASE)
_OF_TASKFILE = re.compile(r"^  ([\w:.-]+):(?: +(\S.*))?$")  # below "tasks:"
_STEP = re.compile(r"^    (?:  )?(?:- |cmd: |cmds: )(?:cmd: )?(\S.*)$")


class _Task(NamedTuple):
    name: str
    calls: str
    description: str
    line: int


def tasks(texts: dict[str, str]) -> list[Command]:
    """Return the tasks in the task files among ``texts``, which maps paths to contents."""
    found: list[Command] = []
    for path, text in texts.items():
        folder, _, name = path.rpartition("/")
        if name.lower() in MISE:
            program, own = "mise run", list(_of_mise(text))
        else:
            program, own = "task", list(_of_taskfile(text)) if name.lower() in TASKFILES else []
        for one in own:
            call, means = f"{program} {one.name}", shortened(one.calls)
            rank = rank_of_target(one.name)
            found += [Command(action, call, path, one.line, folder, rank, means) for action in _actions(one)]
    return found


def _actions(task: _Task) -> list[str]:
    """Return the actions of a task: a usual one by its name, else the words of its name and those of its description.

    A name of one word says less than the description: "generate" may generate anything.
    """
    named = action_of_task(task.name, task.calls)
    if not named.startswith(TASK) or not task.description:
        return [named] if named else []
    described = task_named(_ARTICLES.sub("", task.description))
    return [one for one in dict.fromkeys((named if " " in named.removeprefix(TASK) else "", described)) if one]


def _of_mise(text: str) -> Iterator[_Task]:
    try:
        found = tomllib.loads(text).get("tasks")
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    begin = max(text.find("[tasks"), 0)
    for name, value in found.items() if isinstance(found, dict) else ():
        task = value if isinstance(value, dict) else {"run": value}
        run = task.get("run")
        steps = [one for one in (run if isinstance(run, list) else [run]) if isinstance(one, str)]
        calls = "; ".join(line.strip() for step in steps for line in step.strip().splitlines())
        head = re.compile(rf"^\s*(?:\[tasks\.)?[\"']?{re.escape(name)}[\"']?\s*[\]=]", re.MULTILINE)
        match = head.search(text, begin)
        line = text.count("\n", 0, match.end()) + 1 if match else 0
        yield _Task(name, calls, str(task.get("description", "")), line)


def _of_taskfile(text: str) -> Iterator[_Task]:
    lines = text.splitlines()
    begin = lines.index("tasks:") + 1 if "tasks:" in lines else len(lines)
    end = next((at for at, line in enumerate(lines[begin:], begin) if line[:1].strip(" #")), len(lines))
    heads = [at for at in range(begin, end) if _OF_TASKFILE.match(lines[at])]
    for at, after in zip(heads, [*heads[1:], end], strict=True):
        head, own = _OF_TASKFILE.match(lines[at]), lines[at + 1 : after]
        if head is None or "    internal: true" in own:  # can only be called by other tasks
            continue
        described = next((line.partition(":")[2].strip(" \"'") for line in own if line.startswith("    desc:")), "")
        steps = [match[1] for line in own if (match := _STEP.match(line)) and match[1] not in "|>"]
        yield _Task(head[1], (head[2] or "") if not own else "; ".join(steps[:1]), described, at + 1)
