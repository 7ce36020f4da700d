"""Read labelled prompts from JSONL files: plain rows, or traces as ``enricher trace export`` writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REMEDY = 'write one {"prompt": …, "task_type": …} a line, or label traces and give what "enricher trace export" writes'


LETTERS_COMPARED = 200


@dataclass(frozen=True, slots=True)
class LabelledRow:
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


def read_labelled(paths: Iterable[str | Path]) -> list[LabelledRow]:
    """Return the labelled prompts of JSONL files; raises LabelError."""
    return [prompt for path in paths for prompt in read_rows(path) if prompt is not None]


def without_copies(prompts: list[LabelledRow]) -> list[LabelledRow]:
    """Return the prompts without copies of prompts of the same repository in an earlier file.

    Compared are the first LETTERS_COMPARED letters and digits, ignoring case.
    """
    first: dict[tuple[str, str], str] = {}
    kept = []
    for prompt in prompts:
        letters = "".join(char for char in prompt.text.lower() if char.isalnum())[:LETTERS_COMPARED]
        if first.setdefault((prompt.repository, letters), prompt.file) == prompt.file:
            kept.append(prompt)
    return kept


def read_rows(path: str | Path) -> Iterator[LabelledRow | None]:
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


def _prompt(line: str, place: str) -> LabelledRow | None:
    row = _row(line, place)
    is_trace = "prompt_hmac" in row
    task_type = _label_of(row) if is_trace else row.get("task_type")
    if is_trace and not task_type:
        return None
    text = row.get("text", row.get("prompt"))
    for name, value in (("prompt", text), ("task_type", task_type)):
        if not isinstance(value, str) or not value:
            raise LabelError(f"{place}: the row has no {name}; {REMEDY}")
    return LabelledRow(
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


def _label_of(trace: dict[str, Any]) -> object:
    """Return the task type that a user gave to a trace or confirmed; None for «wrong» or without a label."""
    label = trace.get("label") or {}
    return {"class": label.get("task_type"), "ok": trace.get("task_type")}.get(label.get("verdict", ""))
