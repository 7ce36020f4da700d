"""Labelled prompts with their signals and points, from which the effect of one changed weight is computed quickly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE, Observation, scanned_part, verdict
from enricher.respond.decision import Inputs
from storage.evaluation.corpus import labels_of
from workbench.gate.case import Excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from enricher.rules.cache import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.corpus import Corpus
    from workbench.tuning.labelled_rows import LabelledRow

SILENCED = "\0"
"""Placeholder for a word that the classifier ignores, so that no phrase spans it."""


@dataclass(frozen=True, slots=True)
class LabelledPrompt:
    """A prompt and its right task types; related prompts (of one session or repository) have the same ``session``."""

    id: str
    session: str
    text: str
    earlier: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled prompt classified by some rules: points by class in tie-breaking order, signals that fired, words."""

    prompt: LabelledPrompt
    scores: Mapping[str, int]
    fired: frozenset[int]
    words: tuple[str, ...]

    def predicted_class(self, name: str = "", points: int = 0) -> str:
        """Return the class with the most points, after adding ``points`` to the class ``name``."""
        return max(self.scores, key=lambda one: self.scores[one] + (points if one == name else 0))

    def is_right(self, name: str = "", points: int = 0) -> bool:
        """Return whether the class that ``predicted_class`` returns is right."""
        return self.predicted_class(name, points) in self.prompt.right


@dataclass(slots=True)
class Log:
    """Labelled recorded prompts; ``unclear`` counts the labels «wrong», which do not name the right class."""

    prompts: list[LabelledPrompt]
    unclear: int = 0


def from_log(corpus: Corpus) -> Log:
    """Return the prompts of the corpus whose class users corrected or confirmed."""
    found = Log([])
    for page in corpus.pages():
        labels = labels_of(corpus.db, [row.id for row in page])
        for row in page:
            verdict, task_type = labels.get(row.id, ("", ""))
            found.unclear += verdict == "wrong"
            if verdict in ("ok", "class"):
                found.prompts.append(_recorded(row, task_type or row.task_type))
    return found


def _recorded(row: RecordedPrompt, right: str) -> LabelledPrompt:
    conversation = Inputs.from_json(row.prompt, json.loads(row.inputs)).conversation
    return LabelledPrompt(
        row.id, row.session_id or row.id, row.prompt, conversation.basis(row.prompt), frozenset([right])
    )


def from_rows(rows: Iterable[LabelledRow]) -> Iterator[LabelledPrompt]:
    """Yield the prompts of these rows; prompts of the same repository get the same ``session``."""
    for row in rows:
        right = frozenset(filter(None, (row.task_type, row.alternative)))
        yield LabelledPrompt(row.place, row.repository or row.place, row.text, "", right)


def example(prompt: LabelledPrompt, rules: Rules) -> Example:
    """Classify a prompt by the rules; return its points, signals and words."""
    judged = verdict(prompt.text, rules, Excerpt(prompt.earlier), is_explained=False)
    seen = Observation(scanned_part(prompt.text), rules.table)
    words = tuple(SILENCED if at in seen.read.quiet else word for at, word in enumerate(seen.read.words))
    return Example(prompt, judged.scores[TASK_TYPE], frozenset(seen.found), words)


def task_type(prompt: LabelledPrompt, rules: Rules) -> str:
    """Return the task type that the rules give to a prompt, computed by the classifier itself."""
    return verdict(prompt.text, rules, Excerpt(prompt.earlier), is_explained=False).task_type
