"""Find higher floors for rules that added lines which users labelled as wrong.

A floor is the least score of a guardrail or fact, or the least confidence in a task type, with which its line is shown.
It is put between the scores of labelled lines. Which lines it really removes is then found by replaying their prompts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from enricher.respond import Inputs
from enricher.respond.decision import verdict_on
from storage.traces import line_labels, queries
from storage.traces.line_labels import APPROACH, GUARDRAIL, OTHER, TASK_TYPE
from workbench.replay.outcome import reevaluated
from workbench.statistics.pairs import mcnemar_midp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from storage.traces.line_labels import Line
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.tuning.rewriting import Rewriter

CHANNEL = "channel"
KEYS = {GUARDRAIL: "min_score", CHANNEL: "min_score", TASK_TYPE: "min_confidence"}
HIGHEST = 1.0
"""The highest score of a fact, and the highest confidence in a task type."""


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A line of the text added to a prompt, which a user labelled as right or wrong.

    ``kind`` and ``name`` identify the rule that added the line. ``score`` is the value that is compared with the rule's
    floor, the least value with which the line is shown. ``ref`` identifies the fact in the line; empty if it has none.
    """

    id: str
    session: str
    text: str
    row: RecordedPrompt
    rules: Rules | None
    """The rules that judged the prompt when it was recorded, None if they are unknown."""
    kind: str
    name: str
    ref: str
    score: float
    is_wrong: bool

    def is_shown(self, outcome: Outcome) -> bool:
        """Return whether the text of an outcome contains the line."""
        if self.kind == GUARDRAIL:
            return self.name in outcome.guardrails
        if self.kind == CHANNEL:
            return (self.name, self.ref) in outcome.items
        return outcome.shown and bool(outcome.text)

    def is_taken_out(self, before: Rules, after: Rules) -> bool:
        """Return whether a change of the rules removes the line: the old text contains it, the new one does not."""
        return self.is_shown(reevaluated(self.row, before, recorded=self.rules)) and not self.is_shown(
            reevaluated(self.row, after, recorded=self.rules)
        )


@dataclass(frozen=True, slots=True)
class Floor:
    """A higher floor (the least score with which a line is shown) for one rule.

    ``wrong`` and ``right`` are the numbers of lines labelled wrong and right whose score is below it.
    """

    kind: str
    name: str
    value: float
    wrong: int
    right: int

    def p_value(self) -> float:
        """Return the mid-p value of McNemar's test on the numbers of wrong and right lines below the floor."""
        return mcnemar_midp(self.wrong, self.right)

    def title(self) -> str:
        """Return a sentence that says to which value the floor is raised."""
        return f"{self.kind.replace('_', ' ')} {self.name}".rstrip() + f": raise {KEYS[self.kind]} to {self.value:g}"

    def written(self, rewriter: Rewriter, written: LocatedRules) -> str | None:
        """Return the text of ``rewriter``'s file with this floor added.

        The floor is written into the section of its rule or, if the file has none, into a new section that extends the
        rule. ``written`` has the current rules. Return None if no rule has this name, or if the layout of its section
        prevents the edit.
        """
        named = (block for name, block in written.rules_of(self.kind) if name == self.name)
        block = next(named, None) if self.name else written.compiled.rules.get(self.kind)
        if block is None:
            return None
        if rewriter.has_rule(block.id):
            return rewriter.with_value(block.id, KEYS[self.kind], self.value)
        heading = self.kind.replace("_", " ").capitalize() + (f": {block.name}" if block.name else "")
        return rewriter.with_section(block.part, heading, block.id, f"{KEYS[self.kind]}: {self.value:g}")


def judged_lines(corpus: Corpus, rules: Rules) -> Iterator[JudgedLine]:
    """Yield the labelled lines of recorded prompts that a floor could remove, with their scores under these rules."""
    labelled = line_labels.labelled_traces(corpus.db)
    for row in corpus.prompts():
        if row.id in labelled:
            yield from _of_prompt(corpus, row, rules)


def _of_prompt(corpus: Corpus, row: RecordedPrompt, rules: Rules) -> Iterator[JudgedLine]:
    trace = queries.show(corpus.db, row.id)
    lines, labels = line_labels.lines(trace), line_labels.of_trace(corpus.db, row.id)
    found = trace["items"]
    kept = [one for one in found if one["kept"]] if isinstance(found, list) else []
    facts = [one.number for one in lines if one.kind not in KEYS and one.kind not in (APPROACH, OTHER)]
    item_of = dict(zip(facts, kept, strict=False))
    points = points_of(row, rules)
    recorded = corpus.versions.rules(row.rules_hash)
    for line in (one for one in lines if one.number in labels):
        item = item_of.get(line.number)
        kind, name, score = (CHANNEL, line.kind, float(item["score"])) if item else _decided(line, points)
        if kind in KEYS:
            ref, is_wrong = str(item["ref"]) if item else "", labels[line.number].verdict == line_labels.WRONG
            place, session = f"{row.id}:{line.number}", row.session_id or row.id
            yield JudgedLine(place, session, line.text, row, recorded, kind, name, ref, score, is_wrong)


def _decided(line: Line, points: dict[tuple[str, str], float]) -> tuple[str, str, float]:
    name = line.rule if line.kind == GUARDRAIL else ""
    return (line.kind, name, points[line.kind, name]) if (line.kind, name) in points else ("", "", 0.0)


def points_of(row: RecordedPrompt, rules: Rules) -> dict[tuple[str, str], float]:
    """Return the points that these rules give each guardrail for a prompt, and their confidence in its task type.

    The keys are (kind, name); the name is empty for the task type.
    """
    judged = verdict_on(Inputs.from_json(row.prompt, json.loads(row.inputs)), rules, is_explained=False)
    shown = "" if judged.uncertain else judged.task_type
    scores, guidance = judged.scores.get(GUARDRAIL, {}), rules.body["guardrails"]
    return {(TASK_TYPE, ""): judged.confidence} | {
        (GUARDRAIL, name): scores.get(name, 0) + (guidance["task_type_weight"] if shown in task_types else 0)
        for name, _title, task_types, *_ in guidance["rules"]
    }


def floors(lines: Sequence[JudgedLine]) -> Iterator[list[Floor]]:
    """Yield for each rule a list of the floors that remove more lines labelled wrong than right ones, best first."""
    ordered = sorted(lines, key=lambda one: (one.kind, one.name, one.score))  # groupby needs equal keys together
    for (kind, name), group in groupby(ordered, key=lambda one: (one.kind, one.name)):
        judged = list(group)
        scores = sorted({one.score for one in judged})
        found = []
        for score, following in zip(scores, [*scores[1:], None], strict=True):
            # Points of a guardrail are whole numbers. Other floors lie midway between two scores; above the highest
            # score, it is the next hundredth.
            value = math.floor(score * 100 + 1) / 100 if following is None else round((score + following) / 2, 4)
            value = score + 1 if kind == GUARDRAIL else value
            below = [one.is_wrong for one in judged if one.score <= score]
            if 2 * sum(below) > len(below) and (kind == GUARDRAIL or value <= HIGHEST):
                found.append(Floor(kind, name, value, sum(below), len(below) - sum(below)))
        yield sorted(found, key=lambda one: (one.right - one.wrong, one.value))
