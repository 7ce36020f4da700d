"""Explain why a recorded prompt got its outcome, with the file and line of every signal and rule."""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.interfaces.explanation import Explanation, of_trace
from enricher.rules.compiling.compiler import PACKAGED
from enricher.rules.layers import packaged_file
from storage.evaluation import corpus as stored
from workbench.coverage.rule_positions import LocatedRules, RulePosition
from workbench.replay.compare import current_rules
from workbench.replay.outcome import reevaluated
from workbench.replay.rulesets.compared_rules import SideError
from workbench.replay.rulesets.versions import compile_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.classify import Evidence
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.coverage.rule_positions import LocatedSignal
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.compared_rules import Side


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a recorded prompt's outcome, with the positions of its rules in their files.

    ``written`` has the rules with these positions; it is None if the files were not stored.
    """

    trace_id: str
    explained: Explanation
    written: LocatedRules | None

    def signals(self, facet: str, name: str) -> Iterator[tuple[Evidence, RulePosition | None]]:
        """Yield each signal that gave points to the class ``name`` of ``facet``, and where in a file it is written.

        The position is None if it is unknown, and for the combined score of many plain words. Several signals with the
        same label and weight are assigned to their positions in the order in which the compiled table has them.
        """
        own = [one for one in self._fired() if (one.facet, one.name) == (facet, name)]
        for one in self.explained.enrichment.classification.evidence:
            if (one.facet, one.name) != (facet, name):
                continue
            found = next((s for s in own if (s.label, s.weight) == (one.signal, one.weight)), None)
            if found is not None:
                own.remove(found)  # the next evidence with the same label and weight belongs to another signal
            yield one, found.place if found else None

    def _fired(self) -> list[LocatedSignal]:
        if self.written is None:
            return []
        judged = self.explained.enrichment.classification
        fired = self.written.fired(self.explained.prompt, judged.task_type)
        return sorted((one for one in self.written.signals if one.condition in fired), key=lambda one: one.condition)

    def place_of(self, kind: str, name: str) -> RulePosition | None:
        """Return the position of a rule; None if it is unknown."""
        if self.written is None:
            return None
        if kind == "guardrail":
            return self.written.guardrail_titles().get(name, ("", None))[1]
        found = (block for of, block in self.written.rules_of(kind) if of == name)
        return next((RulePosition(block.file, block.line) for block in found), None)

    def threshold_place(self) -> RulePosition | None:
        """Return the position of the rule with the thresholds for task types; None if it is unknown."""
        block = self.written.compiled.rules.get("task_type") if self.written else None
        return RulePosition(block.file, block.line) if block else None

    def text_of(self, file: str) -> str:
        """Return the text of a file as it was when the prompt was recorded; empty if that is unknown."""
        texts = self.written.compiled.texts if self.written else ()
        return next((text for _layer, path, text in texts if path == file), "")

    def file_now(self, file: str) -> str:
        """Return the path at which a file of the recorded rules is found today.

        For a packaged file of another installation, that is the same file in this installation; any other path is
        unchanged.
        """
        texts = self.written.compiled.texts if self.written else ()
        packaged = next((os.path.dirname(path) for layer, path, _text in texts if layer == PACKAGED), "")
        if not packaged or not file.startswith(packaged + os.sep):
            return file
        ours = os.path.join(os.path.dirname(packaged_file()), os.path.relpath(file, packaged))
        return ours if os.path.isfile(ours) else file


def why(corpus: Corpus, trace_id: str) -> Why:
    """Explain the outcome of a recorded prompt; raises ``enricher.interfaces.explanation.ExplanationError``."""
    explained = of_trace(corpus.db, trace_id)
    texts = corpus.versions.texts(explained.rules.hash)
    compiled = compile_texts(texts) if texts else None
    return Why(trace_id, explained, LocatedRules(compiled) if compiled and compiled.is_usable else None)


def outcome_today(corpus: Corpus, trace_id: str) -> str:
    """Return in words how the currently saved rules classify a prompt.

    The text is empty if that is unknown or does not differ from what was recorded. If these rules are broken, return
    the error message.
    """
    row = corpus.find(trace_id)
    if row is None or not row.has_inputs:
        return ""
    try:
        now = _other_outcome(corpus, row, current_rules(row.cwd))
    except SideError as error:
        return str(error)
    if now is None:
        return ""
    return f"{now.task_type}, {'certain enough to be shown' if now.shown else 'too uncertain to be shown'}"


def task_types_today(corpus: Corpus, trace_ids: Sequence[str]) -> dict[str, str]:
    """Return, by trace id, the task types that the currently saved rules give to recorded prompts.

    A task type is empty if it is unknown or does not differ from the recorded one.
    """
    found, sides = dict.fromkeys(trace_ids, ""), dict[str, "Side | None"]()  # compiled once for each folder
    for row in stored.rows_of(corpus.db, trace_ids):
        if row.cwd not in sides:
            with contextlib.suppress(SideError):
                sides[row.cwd] = current_rules(row.cwd)
        side = sides.setdefault(row.cwd, None)
        if row.has_inputs and side is not None and side.hash != row.rules_hash:  # under the same rules it cannot differ
            now = _other_outcome(corpus, row, side)
            found[row.id] = now.task_type if now and now.task_type != row.task_type else ""
    return found


def _other_outcome(corpus: Corpus, row: RecordedPrompt, side: Side) -> Outcome | None:
    """Return the outcome of a prompt under the rules of ``side``; None if its task type is as it was recorded."""
    rules = side.rules_for(row.rules_hash)
    if rules is None:
        return None
    now = reevaluated(row, rules, recorded=corpus.versions.rules(row.rules_hash))
    return None if (now.task_type, now.shown) == (row.task_type, not row.uncertain) else now


def line_now(line: int, before: str, now: str) -> int:
    """Return the line number (from 1) that a line of ``before`` has in ``now``; a nearby line if it was changed."""
    if before == now or not before:
        return line
    changes = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False).get_opcodes()
    for _kind, start, end, start_now, end_now in changes:
        if start <= line - 1 < end:
            # A changed range may be shorter now, or empty.
            return min(start_now + line - 1 - start, max(end_now - 1, start_now)) + 1
    return line  # beyond the end of ``before``
