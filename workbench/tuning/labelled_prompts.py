"""Read labelled prompts from JSONL files or from the trace history, and classify them by a set of rules.

A file contains plain rows, or traces as ``enricher trace export`` writes them. The points of a class are a sum, so the
effect of one changed weight on a classified prompt (``Example``) can be computed without classifying it again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enricher.classify import TASK_TYPE
from enricher.classify.verdict import Observation, scanned_part, verdict
from enricher.prompt.conversation.followup import basis
from enricher.respond import Inputs
from storage.evaluation.corpus import labels_of
from workbench.gate.case import Excerpt
from workbench.importing.lines import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from enricher.classify import Rules
    from workbench.replay.corpus import Corpus

REMEDY = 'write one {"prompt": …, "task_type": …} a line, or label traces and give what "enricher trace export" writes'
LETTERS_COMPARED = 200
SILENCED = "\0"
"""Replaces a word of a prompt that the classifier ignores, so that no proposed phrase includes it."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One labelled prompt; a field is empty if its value is unknown.

    ``alternative`` is a second task type that is also right. ``is_picked`` marks a prompt that was chosen because its
    class is rare. ``place`` is the file and line from which it was read.
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
        """Return the name of the file from which the prompt was read."""
        return Path(self.place.rpartition(":")[0]).name


class LabelError(ValueError):
    """Raised if a row of a file of labelled prompts cannot be used; the message gives file, line and remedy."""


def read_labelled(paths: Iterable[str | Path]) -> list[LabelledRow]:
    """Return the labelled prompts of JSONL files; raises LabelError if a row cannot be used."""
    return [prompt for path in paths for prompt in read_rows(path) if prompt is not None]


def without_copies(prompts: list[LabelledRow]) -> list[LabelledRow]:
    """Return the prompts without those that repeat a prompt of the same repository from an earlier file.

    Only the first LETTERS_COMPARED letters and digits are compared, ignoring case.
    """
    first: dict[tuple[str, str], str] = {}
    kept = []
    for prompt in prompts:
        letters = "".join(char for char in prompt.text.lower() if char.isalnum())[:LETTERS_COMPARED]
        if first.setdefault((prompt.repository, letters), prompt.file) == prompt.file:
            kept.append(prompt)
    return kept


def read_rows(path: str | Path) -> Iterator[LabelledRow | None]:
    """Yield the labelled prompt in each row of a JSONL file; None for a trace whose label does not name a class.

    A row has ``text`` (or ``prompt``), ``task_type`` and, if known, the other labels, or it is a trace as ``enricher
    trace export`` writes it. Raises LabelError if a row cannot be used.
    """
    for place, row in json_objects(path, LabelError, remedy=REMEDY):
        yield _prompt(row, place)


def _prompt(row: dict[str, Any], place: str) -> LabelledRow | None:
    is_trace = "prompt_hmac" in row  # a column of every exported trace, and of nothing else
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
        str(row.get("source") or row.get("project") or "").partition("@")[0],  # "repository@commit:path"
        row.get("sample") == "rare",
        place,
    )


def _label_of(trace: dict[str, Any]) -> object:
    """Return the task type that a user gave to a trace or confirmed.

    Return None if the trace has no label, or only the label «wrong».
    """
    label = trace.get("label") or {}
    return {"class": label.get("task_type"), "ok": trace.get("task_type")}.get(label.get("verdict", ""))


@dataclass(frozen=True, slots=True)
class LabelledPrompt:
    """A prompt and the task types that are right for it.

    ``earlier`` has the words of earlier turns that the prompt refers back to. ``session`` is the key of a group of
    related prompts: those of the same session, or of the same repository.
    """

    id: str
    session: str
    text: str
    earlier: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled prompt as a set of rules classifies it.

    ``scores`` has the points of each task type; of those with equal points, the first one wins. ``fired`` has the
    numbers, in the compiled table, of the signals that fired, and ``words`` the words of the prompt.
    """

    prompt: LabelledPrompt
    scores: Mapping[str, int]
    fired: frozenset[int]
    words: tuple[str, ...]

    def is_right(self, name: str = "", points: int = 0) -> bool:
        """Return whether the class with the most points is right after ``points`` are added to the class ``name``."""
        predicted = max(self.scores, key=lambda one: self.scores[one] + (points if one == name else 0))
        return predicted in self.prompt.right


def from_log(corpus: Corpus) -> tuple[list[LabelledPrompt], int]:
    """Return the prompts of the corpus (recorded prompts) whose class a user has corrected or confirmed.

    Also return the number of further prompts whose label is only «wrong», without the right class.
    """
    found, unclear = [], 0
    for page in corpus.pages():
        labels = labels_of(corpus.db, [row.id for row in page])
        for row in page:
            verdict, task_type = labels.get(row.id, ("", ""))
            unclear += verdict == "wrong"
            if verdict in ("ok", "class"):
                earlier = basis(Inputs.from_json(row.prompt, json.loads(row.inputs)).conversation, row.prompt)
                right = frozenset([task_type or row.task_type])
                found.append(LabelledPrompt(row.id, row.session_id or row.id, row.prompt, earlier, right))
    return found, unclear


def from_rows(rows: Iterable[LabelledRow]) -> Iterator[LabelledPrompt]:
    """Yield the prompts of these rows; prompts of one repository get the same ``session``."""
    for row in rows:
        right = frozenset(filter(None, (row.task_type, row.alternative)))
        yield LabelledPrompt(row.place, row.repository or row.place, row.text, "", right)


def example(prompt: LabelledPrompt, rules: Rules) -> Example:
    """Classify a prompt by the rules, and return it with its points, signals and words."""
    judged = verdict(prompt.text, rules, Excerpt(prompt.earlier), is_explained=False)
    seen = Observation(scanned_part(prompt.text), rules.table)
    return Example(prompt, judged.scores[TASK_TYPE], frozenset(seen.found), heeded_words(seen))


def heeded_words(seen: Observation) -> tuple[str, ...]:
    """Return the words of an observed prompt, with ``SILENCED`` in place of those that the classifier ignores."""
    return tuple(SILENCED if at in seen.read.quiet else word for at, word in enumerate(seen.read.words))


def task_type(prompt: LabelledPrompt, rules: Rules) -> str:
    """Return the task type that the rules give to a prompt, by running the classifier."""
    return verdict(prompt.text, rules, Excerpt(prompt.earlier), is_explained=False).task_type
