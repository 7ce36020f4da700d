"""Labelled prompts as numbers: which signals each fires, what it was labelled.

Prompts of one repository belong together; whatever is fitted is judged on
repositories that were left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE, Observation, matching, scanned_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from enricher.classify.table import Table

Numbers = np.ndarray[Any, np.dtype[np.float64]]

REMEDY = 'write one {"prompt": …, "task_type": …} a line, or label traces and give what "enricher trace export" writes'


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt; what is empty is not known.

    ``alternative`` is a second task type that is also right, ``place`` the file and line.
    """

    text: str
    task_type: str
    alternative: str
    search_intent: str
    repository: str
    is_picked: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Labelled prompts with what the table sees in them: one row per prompt."""

    prompts: list[Prompt]
    signals: Numbers
    words: Numbers
    foreign: Numbers


class LabelError(ValueError):
    """A row of labelled prompts that cannot be used, with file, line and remedy."""


def read_labelled(paths: Iterable[str | Path]) -> list[Prompt]:
    """Return the labelled prompts of JSONL files; raises LabelError."""
    return [prompt for path in paths for prompt in read_rows(path) if prompt is not None]


def read_rows(path: str | Path) -> Iterator[Prompt | None]:
    """Yield the prompt of each row, None for a trace that nobody labelled; raises LabelError.

    A row has ``text`` (or ``prompt``), ``task_type`` and, if known, the other labels,
    or it is a trace as ``enricher trace export`` writes it.
    """
    try:
        lines = Path(path).read_bytes().decode().split("\n")
    except UnicodeDecodeError as error:
        raise LabelError(f"{path}:1: this is no UTF-8 text; {REMEDY}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _prompt(line, f"{path}:{number}")


def _prompt(line: str, place: str) -> Prompt | None:
    row = _row(line, place)
    is_trace = "prompt_hmac" in row
    task_type = _said_of(row) if is_trace else row.get("task_type")
    if is_trace and not task_type:
        return None
    text = row.get("text", row.get("prompt"))
    for name, value in (("prompt", text), ("task_type", task_type)):
        if not isinstance(value, str) or not value:
            raise LabelError(f"{place}: the row has no {name}; {REMEDY}")
    return Prompt(
        str(text),
        str(task_type),
        row.get("alt_task_type") or "",
        "" if is_trace else row.get("search_intent") or "",
        str(row.get("source") or row.get("project") or "").partition("@")[0],
        row.get("sample") == "rare",
        place,
    )


def _row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise LabelError(f"{place}: the line is not JSON ({error}); {REMEDY}") from error
    if not isinstance(row, dict):
        raise LabelError(f"{place}: the line is not a JSON object; {REMEDY}")
    return row


def _said_of(trace: dict[str, Any]) -> object:
    """Return the task type that a person gave a trace; «wrong» does not say what would be right."""
    label = trace.get("label") or {}
    return {"class": label.get("task_type"), "ok": trace.get("task_type")}.get(label.get("verdict", ""))


def check_labels(prompts: Iterable[Prompt], table: Table) -> None:
    """Raise LabelError for a label that no rule defines."""
    for facet, of in (
        (TASK_TYPE, lambda prompt: (prompt.task_type, prompt.alternative)),
        (SEARCH_INTENT, lambda prompt: (prompt.search_intent,)),
    ):
        known = [name for _, name in classes_of(table, facet)]
        for prompt in prompts:
            for label in filter(None, of(prompt)):
                if label not in known:
                    kind = facet.replace("_", " ")
                    raise LabelError(f"{prompt.place}: {label!r} is no {kind}; known: {', '.join(known)}")


def with_intent(observed: Observed) -> list[int]:
    """Return the numbers of the rows whose search intent is known."""
    return [at for at, prompt in enumerate(observed.prompts) if prompt.search_intent]


def part(observed: Observed, rows: list[int]) -> Observed:
    """Return some of the rows."""
    prompts = [observed.prompts[at] for at in rows]
    return Observed(prompts, observed.signals[rows], observed.words[rows], observed.foreign[rows])


def observe(prompts: list[Prompt], table: Table) -> Observed:
    """Return the prompts with the signals they fire and the plain words they hold."""
    vocabulary = {word: at for at, word in enumerate(table.leaning_words())}
    signals = np.zeros((len(prompts), len(table.places)))
    words = np.zeros((len(prompts), len(vocabulary)))
    foreign = np.zeros(len(prompts))
    for row, prompt in enumerate(prompts):
        seen = Observation(scanned_part(prompt.text), table)
        signals[row, list(seen.found)] = 1
        held = {word for at, word in enumerate(seen.read.words) if word in vocabulary and at not in seen.read.quiet}
        words[row, [vocabulary[word] for word in held]] = 1
        foreign[row] = "non_english" in seen.features
    return Observed(prompts, signals, words / np.sqrt(np.maximum(1, words.sum(1, keepdims=True))), foreign)


def with_task_type(signals: Numbers, task_types: list[str], table: Table) -> Numbers:
    """Return the signals with those that rest on a task type, here the one each prompt came out as."""
    found = signals.copy()
    for row, task_type in enumerate(task_types):
        before = dict.fromkeys(np.flatnonzero(signals[row]).tolist(), (-1, -1))
        found[row, list(matching.fired_late(before, task_type, table))] = 1
    return found


def classes_of(table: Table, facet: str) -> list[tuple[int, str]]:
    """Return the classes of a facet: number in the table and name."""
    return [(at, name) for at, (of, name) in enumerate(table.classes) if table.facets[of]["name"] == facet]


def weights_of(table: Table, facet: str) -> Numbers:
    """Return the weights as written: one row per signal, one column per class of the facet."""
    column = {at: index for index, (at, _) in enumerate(classes_of(table, facet))}
    found = np.zeros((len(table.places), len(column)))
    for number in range(len(table.places)):
        for class_at, weight in table.condition(number)[2]:
            if class_at in column:
                found[number, column[class_at]] += weight
    return found


def targets(prompts: list[Prompt], names: list[str], facet: str) -> Numbers:
    """Return what should come out: one for the label, split three to one with a second one that is also right."""
    found = np.zeros((len(prompts), len(names)))
    for row, prompt in enumerate(prompts):
        label = prompt.task_type if facet == TASK_TYPE else prompt.search_intent
        other = prompt.alternative if facet == TASK_TYPE else ""
        found[row, names.index(label)] = 1.0
        if other and other != label:
            found[row, names.index(label)], found[row, names.index(other)] = 0.75, 0.25
    return found


__all__ = [
    "SEARCH_INTENT",
    "TASK_TYPE",
    "LabelError",
    "Numbers",
    "Observed",
    "Prompt",
    "check_labels",
    "classes_of",
    "observe",
    "part",
    "read_labelled",
    "read_rows",
    "targets",
    "weights_of",
    "with_intent",
    "with_task_type",
]
