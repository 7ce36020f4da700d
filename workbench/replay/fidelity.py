"""Replay recorded prompts under their own rules: the text must equal the recorded one byte for byte.

All other figures of the workbench rest on this, so every trace is checked before anything is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from storage.traces.selection import Selection
from workbench.replay.corpus import opened
from workbench.replay.outcome import judged_again

EVERYTHING = Selection("1")
"""All prompts, including those of tests: their recorded texts must be reproduced, too."""


@dataclass(slots=True)
class Fidelity:
    """Count of traces whose text is as recorded; ``differing`` lists the others, ``left_out`` counts the skipped."""

    same: int = 0
    differing: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        """Count a trace that cannot be run again."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def verify(state_dir: str, selection: Selection = EVERYTHING, *, limit: int = 0) -> Fidelity:
    """Replay every trace, or the ``limit`` newest, with its recorded rules and inputs; raises ``StorageError``."""
    outcome = Fidelity()
    with opened(state_dir, selection, limit=limit) as corpus:
        for row in (row for page in corpus.pages() for row in page):
            rules = corpus.versions.rules(row.rules_hash)
            if rules is None:
                outcome.leave_out("rules version not stored, or of another release")
            elif judged_again(row, rules, recorded=rules).text == row.output_text:
                outcome.same += 1
            else:
                outcome.differing.append(row.id)
        for reason, count in corpus.left_out.items():
            outcome.left_out[reason] = count
    return outcome
