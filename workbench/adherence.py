"""Measure whether agents follow the plans that the hook gives them (the specification "seed 003" requires this).

Only recorded prompts for which the hook chose a workflow (such as "debugging") are examined. What the agent did after
the prompt is read from its client's transcript and checked against that workflow by several criteria, for example
whether it committed. Each criterion is met, is not met, or does not apply; ``docs/hydration.md`` explains them to
users. Prompts to which no plan was added are counted, too: they show what agents do without being asked.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from enricher.interfaces.api import rules_for
from enricher.prompt.redaction import redact
from enricher.sources.transcripts import Extract, take_one
from enricher.sources.transcripts.wording import plain_status
from storage.traces import queries
from workbench.importing import Turn
from workbench.importing.conversation_files import STORED_AT, stored_files
from workbench.importing.transcripts import Transcript

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from storage.traces.selection import Selection
    from workbench.importing import ConversationFile, Event

    Row = Mapping[str, Any]

CHANGE, READ, COMMAND, ERROR = "change", "read", "command", "error"
INLINE, IN_FILE = "## Prompt Hydration", "claude-hydrator/hydrate_"
STEP = re.compile(r'^\s*(?:TaskCreate\()?\{(?:content|subject|step|description): ("(?:[^"\\]|\\.)*")', re.MULTILINE)
"""Matches one step of a plan that was added to a prompt; a step is written as a call of the client's task tool."""
# Both words in one command, as in «git -C folder commit»; behind ; & or |, another command begins.
COMMIT = re.compile(r"\bgit\b[^\n;&|]*\bcommit\b")
NO_CHECK = re.compile(r"\s*(?:git|ls|cd|cat|pwd|echo|mkdir|touch|cp|mv|rm|sed -i)\b")
"""Matches the beginning of a shell command that does not show whether a change of the code works."""
CLOSE_US = 10_000_000
"""If a prompt was recorded without its text, it is the transcript's prompt within this many microseconds."""
ABOUT_THE_LIST = ("task_list", "as_planned", "kept_up")
DECISIVE = ("evidence", "within_limits", "commit")
"""The criteria that decide whether a plan was followed; the others are about task lists, which some clients lack."""
CRITERIA = (*ABOUT_THE_LIST, *DECISIVE)
Steps = list[tuple[str, str]]
"""An agent's task list: for each step its status ("pending", "in_progress" or "completed") and its text."""


@dataclass(slots=True)
class Actions:
    """The actions of an agent after one prompt, read from a transcript; ``host`` is the name of the agent's client.

    ``done`` has the actions in order, as pairs such as ("command", "pytest tests"); an error follows the action that
    failed. ``lists`` has a copy of the agent's whole task list after each change of that list. ``at`` is the time of
    the prompt in microseconds since 1970.
    """

    host: str
    session_id: str
    at: int
    prompt: str
    done: list[tuple[str, str]] = field(default_factory=list)
    lists: list[Steps] = field(default_factory=list)

    def kinds(self, kind: str) -> list[str]:
        """Return the values of the actions of this kind (the commands, the paths of changed files, …), in order."""
        return [value for one, value in self.done if one == kind]


class _OneRecord(Extract):
    """Collects the agent's actions in one record of a transcript; ``take_one`` calls its methods, last action first."""

    __slots__ = ("done", "steps")

    def __init__(self) -> None:
        super().__init__("", "")
        self.done: list[tuple[str, str]] = []
        self.steps: Steps | None = None

    def file(self, path: object, *, is_change: bool, code: object = "") -> None:
        del code
        if isinstance(path, str) and path:
            self.done.insert(0, (CHANGE if is_change else READ, path))

    def command(self, command: object) -> None:
        if isinstance(command, str) and command.strip():
            self.done.insert(0, (COMMAND, command.strip()))

    def error(self, text: object) -> None:
        if isinstance(text, str):
            self.done.append((ERROR, text))

    def plan(self, steps: list[tuple[object, object]]) -> None:
        self.steps = [(plain_status(status), text) for status, text in steps if isinstance(text, str)]

    def is_new(self, identifier: object) -> bool:
        del identifier
        return True


class ActedTranscript(Transcript):
    """A transcript reader that also collects the agent's actions, as one entry in ``turns`` for each prompt.

    The transcript must be read only once, from start to end.
    """

    def __init__(self, source: ConversationFile) -> None:
        super().__init__(source)
        self.turns: list[Actions] = []
        self._tasks: dict[str, list[str]] = {}  # status and text of each task since the prompt, by its number

    def _record(self, record: dict[str, Any], *, size: int, line: int, offset: int) -> Iterator[Event]:
        for event in super()._record(record, size=size, line=line, offset=offset):
            if isinstance(event, Turn):
                self.turns.append(Actions(event.host, event.session_id, event.at, redact(event.text)[0]))
                self._tasks = {}  # the list of the previous prompt says nothing about this one
            yield event
        if self.turns:
            self._add(record, self.turns[-1])

    def _add(self, record: dict[str, Any], turn: Actions) -> None:
        found = _OneRecord()
        take_one(self.reader, record, found)
        turn.done += found.done
        for number, (status, text) in found.tasks.items():
            known = self._tasks.setdefault(number, ["pending", ""])
            self._tasks[number] = [status or known[0], text or known[1]]  # an update may name only what it changes
        if found.tasks:
            found.steps = [(plain_status(status), text) for status, text in self._tasks.values()]
        if found.steps is not None:
            turn.lists.append(found.steps)


def read_actions(source: ConversationFile) -> list[Actions]:
    """Return what the agent did after each prompt of a recorded conversation; empty if its file cannot be read."""
    transcript = ActedTranscript(source)
    for _event in transcript.events(lambda _bytes: None):  # fills ``turns``
        pass
    return transcript.turns


@dataclass(frozen=True, slots=True)
class Workflow:
    """What a workflow asks of the agent, as far as it can be checked in a transcript.

    ``has_checkpoint`` means that a step asks for evidence that the work is done, ``commits`` that the plan ends with a
    commit, and ``changes`` that files may be changed.
    """

    has_checkpoint: bool
    commits: bool
    changes: bool

    @classmethod
    def of(cls, compiled: Mapping[str, Any]) -> Workflow:
        """Return the workflow for ``compiled``, an entry in the catalogue of workflows of the compiled rules."""
        steps = compiled["steps"]
        is_checked = any(is_checkpoint for *_rest, is_checkpoint in steps)
        return cls(is_checked, bool(compiled["commits"]), bool(compiled["changes"]))


@dataclass(slots=True)
class CriterionShare:
    """How often one criterion was met: after ``held`` of the prompts to which it applied, whose number is ``of``."""

    held: int = 0
    of: int = 0

    def add(self, holds: bool | None) -> None:
        """Count one prompt; ``holds`` says whether the criterion was met, and is None if it does not apply."""
        if holds is not None:
            self.held += holds
            self.of += 1


@dataclass(slots=True)
class Adherence:
    """How often agents did what one workflow asks, counted separately for prompts with and without a plan.

    Of ``prompts`` recorded prompts, ``found`` were found in a transcript. ``followed`` counts those for which all
    decisive criteria that apply were met, and ``criteria`` counts each criterion on its own.
    """

    workflow: str
    had_plan: bool
    prompts: int = 0
    found: int = 0
    followed: CriterionShare = field(default_factory=CriterionShare)
    criteria: dict[str, CriterionShare] = field(default_factory=lambda: {name: CriterionShare() for name in CRITERIA})

    def add(self, criteria: Mapping[str, bool | None]) -> None:
        """Count one prompt that was found in a transcript; ``criteria`` is the result of ``judge`` for it."""
        self.found += 1
        for name, holds in criteria.items():
            self.criteria[name].add(holds)
        decisive = [holds for name in DECISIVE if (holds := criteria[name]) is not None]
        self.followed.add(all(decisive) if decisive else None)


def planned_steps(text: str) -> list[str]:
    """Return the steps that the agent should copy into its task list, from the text that was added to its prompt.

    The result is empty if that text contains no plan.
    """
    return [json.loads(found) for found in STEP.findall(text)] if INLINE in text else []


def _has_plan(row: Row) -> bool:
    """Return whether a plan was added to a recorded prompt, in its text or in a file that the text names."""
    text = str(row["output_text"] or "")
    return row["status"] in ("ok", "partial") and (INLINE in text or IN_FILE in text)


def judge(turn: Actions, workflow: Workflow, steps: list[str]) -> dict[str, bool | None]:
    """Return whether the agent's actions meet each criterion, keyed by its name; None for one that does not apply.

    ``steps`` are the steps of the plan in the added text, and empty if the text has no plan.
    """
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
    """Return whether a command that checks something, such as a test, ran without an error after the last change.

    If no file was changed, it is enough that the agent read a file or ran a command.
    """
    changes = [at for at, (kind, _value) in enumerate(turn.done) if kind == CHANGE]
    if not changes:
        return any(kind in (READ, COMMAND) for kind, _value in turn.done)
    after = [*turn.done[changes[-1] + 1 :], ("", "")]  # the pair that follows the last action
    return any(
        kind == COMMAND and not NO_CHECK.match(value) and following[0] != ERROR
        for (kind, value), following in pairwise(after)
    )


def measure(db: sqlite3.Connection, selection: Selection | None, cwd: str) -> list[Adherence]:
    """Read the user's transcripts, and return how often agents did what each workflow asks.

    The figures are of the selected recorded prompts with a workflow of the rules that apply in the folder ``cwd``;
    those of prompts with a plan come first. Raises NoRulesError or OSError if there are no rules.
    """
    plans: dict[str, Any] = rules_for(cwd)[0].packed("plans")
    workflows = {name: Workflow.of(plan) for name, plan in plans.items()}
    found = queries.export(db, selection, with_children=False)
    rows = [row for row in found if row["workflow"] in workflows and row["status"] != "skipped"]
    turns = _turns({str(row["host"]) for row in rows}, {str(row["session_id"]) for row in rows})
    figures: dict[tuple[str, bool], Adherence] = {}
    for row in sorted(rows, key=lambda one: str(one["at"])):
        key = str(row["workflow"]), _has_plan(row)
        one = figures.setdefault(key, Adherence(*key))
        one.prompts += 1
        turn = _take(turns[str(row["host"]), str(row["session_id"])], row)
        if turn is not None:
            one.add(judge(turn, workflows[one.workflow], planned_steps(str(row["output_text"] or ""))))
    return sorted(figures.values(), key=lambda one: (not one.had_plan, -one.prompts, one.workflow))


def _turns(hosts: set[str], sessions: set[str]) -> dict[tuple[str, str], list[Actions]]:
    """Read the transcripts, and return what the agents did in the sessions.

    The last prompt of a session is left out if nothing was done after it, because its agent may not have acted yet.
    """
    found: dict[tuple[str, str], list[Actions]] = defaultdict(list)
    for host in sorted(hosts.intersection(STORED_AT)):
        for source in stored_files(host):
            for turn in read_actions(source):
                if turn.session_id in sessions:
                    found[turn.host, turn.session_id].append(turn)
    for turns in found.values():
        if not turns[-1].done and not turns[-1].lists:
            turns.pop()
    return found


def _take(turns: list[Actions], row: Row) -> Actions | None:
    """Return what the agent did after the recorded prompt ``row``; None if it is not found.

    ``turns`` has what the agent did in the session of the prompt. It is searched for the first prompt with the same
    text, or, if the text was not recorded, the first at about the same time; what is found is removed from ``turns``.
    """
    at = datetime.fromisoformat(str(row["at"])).timestamp() * 1_000_000
    prompt = str(row["prompt"] or "").strip()
    same = [one for one in turns if prompt and one.prompt.strip() == prompt]
    close = [] if prompt else [one for one in turns if abs(one.at - at) <= CLOSE_US]
    found = next(iter(same or close), None)
    if found is not None:
        turns.remove(found)  # the same words that were typed again are another prompt
    return found
