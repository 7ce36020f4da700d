"""The cases of an experiment that asks a model: what is put into a prompt template, from JSONL or from the log.

A case of a file is a JSON object whose keys are the template's variables, apart from ``id`` and ``session_id``. In a
case from a recorded prompt, the text that a template is about is the prompt, by whatever name the template calls it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storage.evaluation import corpus
from workbench.experiments.questions import QuestionError, lines

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from storage.evaluation.corpus import RecordedPrompt
    from storage.traces.selection import Selection

NOT_VARIABLES = ("id", "session_id")
MAIN_VARIABLES = ("prompt", "task", "question", "error", "material", "code")
"""Names by which the templates call the text that they are about."""


@dataclass(frozen=True, slots=True)
class ModelCase:
    """One input that both arms answer; a case without a session counts as a session of its own."""

    id: str
    session: str
    variables: dict[str, Any]


def of_file(path: str) -> Iterator[ModelCase]:
    """Yield the cases of a JSONL file in their order; raises QuestionError."""
    seen: set[str] = set()
    for place, value in lines(path):
        case_id = str(value.get("id") or place.rpartition(":")[2])
        if case_id in seen:
            raise QuestionError(f"{place}: the id {case_id!r} occurs twice; give each case its own")
        seen.add(case_id)
        variables = {name: one for name, one in value.items() if name not in NOT_VARIABLES}
        if "prompt_hmac" in value:  # an exported trace
            variables = dict.fromkeys(MAIN_VARIABLES, str(value.get("prompt", "")))
        yield ModelCase(case_id, str(value.get("session_id") or f"case {case_id}"), variables)


def of_log(db: sqlite3.Connection, selection: Selection, *, limit: int = 0) -> Iterator[ModelCase]:
    """Yield the recorded prompts that have a text, newest first; ``limit`` 0 means all."""
    for page in corpus.rows(db, selection, limit=limit):
        yield from _with_text(page)


def of_traces(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[ModelCase]:
    """Yield the recorded prompts of these traces, as far as they still exist."""
    yield from _with_text(corpus.rows_of(db, ids))


def _with_text(rows: Iterable[RecordedPrompt]) -> Iterator[ModelCase]:
    for row in rows:
        if row.prompt.strip():
            yield ModelCase(row.id, row.session_id or f"prompt {row.id}", dict.fromkeys(MAIN_VARIABLES, row.prompt))
