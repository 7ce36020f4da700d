"""Read labelled prompts, and turn them into matrices for fitting: signals that fire in each, its wordings, its labels.

Cross-validation leaves out whole repositories, since prompts of one repository are alike.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE, Observation, matching, reading, scanned_part
from enricher.rules.compiling.signals import MARKERS, leaning_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from enricher.classify.table import Table

Numbers = np.ndarray[Any, np.dtype[Any]]

LEAST_PROMPTS, LEAST_REPOSITORIES = 10, 6
"""A wording in fewer prompts or repositories is a subject, or the habit of one user."""

NAMES = {marker: name for name, marker in MARKERS.items()}
WORD = re.compile(r"[^\W\d_][\w'.+-]*")
SIGNS = reading.MARKS | {*MARKERS.values()}
"""Tokens without a letter that may be listed under ``leanings``."""
REMEDY = 'write one {"prompt": …, "task_type": …} a line, or label traces and give what "enricher trace export" writes'
LETTERS_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Observed:
    """Labelled prompts and their features, one row per prompt; ``foreign`` is 1 for prompts that are not English.

    ``wordings`` are those that ``leanings`` may list: words, pairs of words, and words as a lead or an object.
    """

    prompts: list[Prompt]
    signals: Numbers
    wordings: list[frozenset[str]]
    foreign: Numbers


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
    """Return the indices of the rows whose search intent is known."""
    return [at for at, prompt in enumerate(observed.prompts) if prompt.search_intent]


def part(observed: Observed, rows: Iterable[int]) -> Observed:
    """Return the rows with these indices, in this order."""
    rows = list(rows)
    prompts, wordings = [observed.prompts[at] for at in rows], [observed.wordings[at] for at in rows]
    return Observed(prompts, observed.signals[rows], wordings, observed.foreign[rows])


def joined(one: Observed, other: Observed) -> Observed:
    """Return the rows of ``one`` followed by those of ``other``."""
    return Observed(
        one.prompts + other.prompts,
        np.vstack([one.signals, other.signals]),
        one.wordings + other.wordings,
        np.hstack([one.foreign, other.foreign]),
    )


def observe(prompts: list[Prompt], table: Table) -> Observed:
    """Return the prompts with the signals that fire in them and the wordings that they contain."""
    signals = np.zeros((len(prompts), len(table.places)))
    foreign = np.zeros(len(prompts))
    wordings = []
    for row, prompt in enumerate(prompts):
        seen = Observation(scanned_part(prompt.text), table)
        signals[row, list(seen.found)] = 1
        foreign[row] = "non_english" in seen.features
        wordings.append(frozenset(map(intern, matching.wordings(seen.read))))
    return Observed(prompts, signals, wordings, foreign)


def vocabulary(observed: Observed) -> list[str]:
    """Return the wordings that occur in at least LEAST_PROMPTS prompts and LEAST_REPOSITORIES repositories, sorted."""
    prompts: dict[str, int] = {}
    repositories: dict[str, set[str]] = {}
    for prompt, wordings in zip(observed.prompts, observed.wordings, strict=True):
        for wording in wordings:
            prompts[wording] = prompts.get(wording, 0) + 1
            if prompt.repository:
                repositories.setdefault(wording, set()).add(prompt.repository)
    least = min(LEAST_REPOSITORIES, len({prompt.repository for prompt in observed.prompts if prompt.repository}))
    return sorted(
        wording
        for wording, count in prompts.items()
        if count >= LEAST_PROMPTS and len(repositories.get(wording, ())) >= least and is_writable(wording)
    )


def is_writable(wording: str) -> bool:
    """Return whether the instructions can list a wording, and reading it back yields the same wording."""
    word, _, rest = wording.partition(" ")
    words = [word] if rest.startswith("@") else wording.split(" ")
    is_plain = all(one in SIGNS or WORD.fullmatch(one) for one in words)
    is_mark_alone = rest == "" or word not in reading.MARKS
    return is_plain and is_mark_alone and leaning_key(as_written(wording)) == (word, rest)


def as_written(wording: str) -> str:
    """Return a wording in the syntax of the instructions: ``add@lead``, ``can you``, ``<file>``."""
    return " ".join(NAMES.get(one, one) for one in wording.split(" ")).replace(" @", "@")


def columns_of(observed: Observed, known: list[str]) -> Numbers:
    """Return a row per prompt: 1 / sqrt(n) for each of the n known wordings in it, 0 for the others."""
    column = {wording: at for at, wording in enumerate(known)}
    found = np.zeros((len(observed.wordings), len(known)), np.float32)
    for row, wordings in enumerate(observed.wordings):
        found[row, [column[wording] for wording in wordings if wording in column]] = 1
    return np.asarray(found / np.sqrt(np.maximum(1, found.sum(1, keepdims=True))))


def with_task_type(signals: Numbers, task_types: list[str], table: Table) -> Numbers:
    """Return the signals plus those that require a task type, given the task type predicted for each prompt."""
    found = signals.copy()
    for row, task_type in enumerate(task_types):
        before = dict.fromkeys(np.flatnonzero(signals[row]).tolist(), (-1, -1))
        found[row, list(matching.fired_late(before, task_type, table))] = 1
    return found


def classes_of(table: Table, facet: str) -> list[tuple[int, str]]:
    """Return number in the table and name of each class of a facet."""
    return [(at, name) for at, (of, name) in enumerate(table.classes) if table.facets[of]["name"] == facet]


def weights_of(table: Table, facet: str) -> Numbers:
    """Return the weights in the instructions: one row per signal, one column per class of the facet."""
    column = {at: index for index, (at, _) in enumerate(classes_of(table, facet))}
    found = np.zeros((len(table.places), len(column)))
    for number in range(len(table.places)):
        for class_at, weight in table.condition(number)[2]:
            if class_at in column:
                found[number, column[class_at]] += weight
    return found


def targets(prompts: list[Prompt], names: list[str], facet: str) -> Numbers:
    """Return the target shares, a row per prompt: 1 for its label, or 0.75 and 0.25 if an alternative is also right."""
    found = np.zeros((len(prompts), len(names)))
    for row, prompt in enumerate(prompts):
        label = prompt.task_type if facet == TASK_TYPE else prompt.search_intent
        other = prompt.alternative if facet == TASK_TYPE else ""
        found[row, names.index(label)] = 1.0
        if other and other != label:
            found[row, names.index(label)], found[row, names.index(other)] = 0.75, 0.25
    return found


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt; a field is empty if its value is unknown.

    ``alternative`` is a second task type that is also right, ``is_picked`` marks a prompt that was chosen because its
    class is rare, ``place`` is file and line.
    """

    text: str
    task_type: str
    alternative: str
    search_intent: str
    repository: str
    is_picked: bool
    place: str = ""

    @property
    def file(self) -> str:
        """The name of the file from which the prompt was read."""
        return Path(self.place.rpartition(":")[0]).name


class LabelError(ValueError):
    """A row of labelled prompts that cannot be used, with file, line and remedy."""


def read_labelled(paths: Iterable[str | Path]) -> list[Prompt]:
    """Return the labelled prompts of JSONL files; raises LabelError."""
    return [prompt for path in paths for prompt in read_rows(path) if prompt is not None]


def without_copies(prompts: list[Prompt]) -> list[Prompt]:
    """Return the prompts without copies of prompts of the same repository in an earlier file.

    Compared are the first LETTERS_COMPARED letters and digits, ignoring case.
    """
    first: dict[tuple[str, str], str] = {}
    kept = []
    for prompt in prompts:
        said = "".join(char for char in prompt.text.lower() if char.isalnum())[:LETTERS_COMPARED]
        if first.setdefault((prompt.repository, said), prompt.file) == prompt.file:
            kept.append(prompt)
    return kept


def read_rows(path: str | Path) -> Iterator[Prompt | None]:
    """Yield the prompt of each row, None for a trace without a label that names a class; raises LabelError.

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
    """Return the task type that a user gave to a trace or confirmed; None for «wrong» or without a label."""
    label = trace.get("label") or {}
    return {"class": label.get("task_type"), "ok": trace.get("task_type")}.get(label.get("verdict", ""))
