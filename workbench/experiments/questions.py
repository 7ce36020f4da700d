"""Read the prompts that both arms of an experiment answer, with their inputs and, if known, the right task type.

For a prompt from a file, the channels are called once, under the current rules, so that both arms decide from the same
inputs; a recorded prompt has its recorded inputs.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.interfaces.api import enrich
from enricher.rules.cache import NoRulesError
from storage.evaluation import corpus
from storage.evaluation.corpus import RecordedPrompt
from workbench.importing.lines import json_objects
from workbench.replay.corpus import why_left_out

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from enricher.classify import Rules
    from storage.traces.selection import Selection
    from workbench.replay.rulesets.versions import Versions

REMEDY = (
    'write one {"id", "prompt", "cwd"?, "session_id"?, "task_type"?} a line, or what "enricher trace export" writes'
)


class QuestionError(ValueError):
    """Raised if a line of a file of prompts cannot be used; the message gives file, line and what to write instead."""


@dataclass(frozen=True, slots=True)
class ExperimentPrompt:
    """One prompt of an experiment; ``right`` and ``wrong`` are the task types that labels declare right or wrong.

    ``base`` has the rules under which the prompt's inputs were collected; it is None if they were not stored.
    ``is_recorded`` means that the prompt comes from a trace, whose inputs include what its session was shown before.
    """

    row: RecordedPrompt
    base: Rules | None
    is_recorded: bool
    right: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()

    @property
    def session(self) -> str:
        """Return the id of the prompt's session; if it has none, return an id that no other prompt has."""
        return self.row.session_id or f"prompt {self.row.id}"

    def quality(self, task_type: str) -> float | None:
        """Return 1 if the labels declare the task type right, 0 if wrong, and None if they declare neither."""
        if self.right:
            return float(task_type in self.right)
        return 0.0 if task_type in self.wrong else None


class Questions:
    """A reader of an experiment's prompts.

    ``left_out`` has the number of prompts that cannot be used, by reason.
    """

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self.left_out: Counter[str] = Counter()

    def of_log(self, db: sqlite3.Connection, selection: Selection, *, limit: int) -> Iterator[ExperimentPrompt]:
        """Yield the recorded prompts, newest first, with their labels; ``limit`` 0 means all."""
        for page in corpus.rows(db, selection, limit=limit):
            labels = corpus.labels_of(db, [row.id for row in page])
            for row in page:
                if reason := why_left_out(row):
                    self.left_out[reason] += 1
                else:
                    yield self._labelled(row, *labels.get(row.id, ("", "")))

    def of_file(self, path: str) -> Iterator[ExperimentPrompt]:
        """Yield the prompts of a JSONL file in order; raises QuestionError if a line cannot be used."""
        seen: set[str] = set()
        for place, value in lines(path):
            question = self._trace(value, place) if "prompt_hmac" in value else self._plain(value, place)
            if question is None:
                continue
            if question.row.id in seen:
                raise QuestionError(f"{place}: the id {question.row.id!r} occurs there twice; give each prompt its own")
            seen.add(question.row.id)
            yield question

    def _trace(self, value: dict[str, Any], place: str) -> ExperimentPrompt | None:
        try:
            row = RecordedPrompt(**{name: _column(name, value[name]) for name in corpus.COLUMNS})
        except (KeyError, TypeError) as error:
            raise QuestionError(f"{place}: the trace has no {error}; {REMEDY}") from error
        if reason := why_left_out(row):
            self.left_out[reason] += 1
            return None
        label = value.get("label") or {}
        return self._labelled(row, label.get("verdict", ""), label.get("task_type", ""))

    def _plain(self, value: dict[str, Any], place: str) -> ExperimentPrompt | None:
        prompt = value.get("prompt", value.get("text"))
        if not isinstance(prompt, str):
            raise QuestionError(f"{place}: the row has no prompt; {REMEDY}")
        session, cwd = str(value.get("session_id") or ""), str(value.get("cwd") or "")
        try:
            asked = enrich(prompt, cwd=cwd, session_id=session)
        except NoRulesError as error:
            raise QuestionError(f"{place}: {error}; see: enricher check") from error
        if asked.skipped:
            self.left_out[f"skipped: {asked.skipped}"] += 1
            return None
        row = _row_of(
            id=str(value.get("id") or place.rpartition(":")[2]),  # or the number of the line
            session_id=session,
            cwd=cwd,
            prompt=asked.prompt,
            inputs=json.dumps(asked.inputs.to_json()),
            rules_hash=asked.rules.hash,
        )
        right = (value.get("task_type"), value.get("alt_task_type"))  # some prompts have two that are right
        return ExperimentPrompt(row, asked.rules, is_recorded=False, right=frozenset(str(one) for one in right if one))

    def _labelled(self, row: RecordedPrompt, verdict: str, task_type: str) -> ExperimentPrompt:
        right = {"ok": row.task_type, "class": task_type}.get(verdict, "")
        wrong = row.task_type if verdict == "wrong" else ""
        base = self._versions.rules(row.rules_hash)
        known = (frozenset(filter(None, [one])) for one in (right, wrong))
        return ExperimentPrompt(row, base, True, *known)


def lines(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place (``file:line``) of each non-empty line and the JSON object on it.

    Raises QuestionError if a line has no JSON object.
    """
    return json_objects(path, QuestionError, remedy=REMEDY)


def _column(name: str, value: object) -> Any:
    if name == "inputs":  # an export has it as an object, the database as JSON text
        return json.dumps(value)
    return int(value) if name == "uncertain" and isinstance(value, bool) else value


def _row_of(**known: str) -> RecordedPrompt:
    numbers = {"uncertain": 0, "intent_confidence": None, "output_tokens": 0}
    values: dict[str, Any] = {name: known.get(name, numbers.get(name, "")) for name in corpus.COLUMNS}
    return RecordedPrompt(**values)
