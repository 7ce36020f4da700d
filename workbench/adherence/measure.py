"""Compare what agents did with the workflows that were chosen for their prompts.

Each criterion holds, does not hold, or does not apply to a turn; ``docs/hydration.md`` explains them to users.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.adherence.actions import CHANGE, COMMAND, ERROR, READ, read_actions
from workbench.importing.conversation_files import STORED_AT, stored_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.adherence.actions import Actions

    Row = Mapping[str, Any]

INLINE, IN_FILE = "## Prompt Hydration", "claude-hydrator/hydrate_"
STEP = re.compile(r'^\s*(?:TaskCreate\()?\{(?:content|subject|step|description): ("(?:[^"\\]|\\.)*")', re.MULTILINE)
"""A step of an inline plan, in the words of any client's task list."""
CHECKPOINT = "CHECKPOINT"
COMMIT = re.compile(r"\bgit\b[^\n;&|]*\bcommit\b")
NO_CHECK = re.compile(r"\s*(?:git|ls|cd|cat|pwd|echo|mkdir|touch|cp|mv|rm|sed -i)\b")
"""Commands that show nothing about whether a change works."""
CLOSE_US = 10_000_000
"""Without a text to compare, a prompt of the transcript this close to the trace is the same one."""
ABOUT_THE_LIST = ("task_list", "as_planned", "kept_up")
DECISIVE = ("evidence", "within_limits", "commit")
"""The criteria that make up ``followed``; the others are about the task list, which not every client has."""
CRITERIA = (*ABOUT_THE_LIST, *DECISIVE)


@dataclass(frozen=True, slots=True)
class Workflow:
    """What a workflow asks of the agent, as far as a transcript can show it."""

    has_checkpoint: bool
    commits: bool
    changes: bool

    @classmethod
    def of(cls, compiled: Mapping[str, Any]) -> Workflow:
        """Return the workflow that this entry of the compiled rules describes."""
        steps = compiled["steps"]
        is_checked = any(is_checkpoint for *_rest, is_checkpoint in steps)
        return cls(is_checked, bool(compiled["commits"]), bool(compiled["changes"]))


@dataclass(slots=True)
class Share:
    """In how many turns a criterion held, of those to which it applied."""

    held: int = 0
    of: int = 0

    def add(self, holds: bool | None) -> None:
        """Count a turn; None if the criterion does not apply to it."""
        if holds is not None:
            self.held += holds
            self.of += 1


@dataclass(slots=True)
class Adherence:
    """The figures of the prompts with one workflow, with a plan or without; ``found`` of them have a transcript."""

    workflow: str
    had_plan: bool
    prompts: int = 0
    found: int = 0
    followed: Share = field(default_factory=Share)
    criteria: dict[str, Share] = field(default_factory=lambda: {name: Share() for name in CRITERIA})


def planned_steps(text: str) -> list[str]:
    """Return the steps of an inline plan, as the agent is to copy them; empty if the text has none."""
    return [json.loads(found) for found in STEP.findall(text)] if INLINE in text else []


def judge(turn: Actions, workflow: Workflow, steps: list[str]) -> dict[str, bool | None]:
    """Return for each criterion whether it held in a turn, None where it does not apply."""
    texts = [[text for _status, text in one] for one in turn.lists]
    has_changed = bool(turn.kinds(CHANGE))
    return {
        "task_list": bool(texts) if steps else None,
        "as_planned": steps in texts if steps else None,
        "kept_up": all(status == "completed" for status, _text in turn.lists[-1]) if texts else None,
        "evidence": _has_evidence(turn) if workflow.has_checkpoint else None,
        "within_limits": None if workflow.changes else not has_changed,
        "commit": any(map(COMMIT.search, turn.kinds(COMMAND))) if workflow.commits and has_changed else None,
    }


def _has_evidence(turn: Actions) -> bool:
    """Return whether, after the last change, a command that checks something ran without an error.

    Where nothing was changed, having looked at a file or run a command is the evidence.
    """
    changes = [at for at, (kind, _value) in enumerate(turn.done) if kind == CHANGE]
    if not changes:
        return any(kind in (READ, COMMAND) for kind, _value in turn.done)
    after = [*turn.done[changes[-1] + 1 :], ("", "")]
    return any(
        kind == COMMAND and not NO_CHECK.match(value) and following[0] != ERROR
        for (kind, value), following in pairwise(after)
    )


def measure(traces: Iterable[Row], workflows: Mapping[str, Workflow]) -> list[Adherence]:
    """Return the figures by workflow, those of prompts with a plan first; reads the transcripts of this account.

    ``traces`` are rows of the table with that name; those without a workflow, or whose workflow the rules no longer
    have, are left out.
    """
    wanted = [row for row in traces if row["workflow"] in workflows and row["status"] != "skipped"]
    turns = _turns({str(row["host"]) for row in wanted}, {str(row["session_id"]) for row in wanted})
    figures: dict[tuple[str, bool], Adherence] = {}
    for row in sorted(wanted, key=lambda one: str(one["at"])):
        text = str(row["output_text"] or "")
        had_plan = row["status"] in ("ok", "partial") and (INLINE in text or IN_FILE in text)
        key = str(row["workflow"]), had_plan
        one = figures.setdefault(key, Adherence(*key))
        one.prompts += 1
        turn = _take(turns[str(row["host"]), str(row["session_id"])], row)
        if turn is not None:
            one.found += 1
            _count(one, judge(turn, workflows[key[0]], planned_steps(text)))
    return sorted(figures.values(), key=lambda one: (not one.had_plan, -one.prompts, one.workflow))


def _count(figures: Adherence, judged: Mapping[str, bool | None]) -> None:
    for name, holds in judged.items():
        figures.criteria[name].add(holds)
    decisive = [holds for name in DECISIVE if (holds := judged[name]) is not None]
    figures.followed.add(all(decisive) if decisive else None)


def _turns(hosts: set[str], sessions: set[str]) -> dict[tuple[str, str], list[Actions]]:
    found: dict[tuple[str, str], list[Actions]] = defaultdict(list)
    for host in sorted(hosts.intersection(STORED_AT)):
        for source in stored_files(host):
            for turn in read_actions(source):
                if turn.session_id in sessions:
                    found[turn.host, turn.session_id].append(turn)
    return found


def _take(turns: list[Actions], row: Row) -> Actions | None:
    """Take the turn of a trace out of those of its session: the first with its text, else one at its time."""
    at = datetime.fromisoformat(str(row["at"])).timestamp() * 1_000_000
    prompt = str(row["prompt"] or "").strip()
    same = [one for one in turns if prompt and one.prompt.strip() == prompt]
    close = [] if prompt else [one for one in turns if abs(one.at - at) <= CLOSE_US]
    found = next(iter(same or close), None)
    if found is not None:
        turns.remove(found)
    return found
