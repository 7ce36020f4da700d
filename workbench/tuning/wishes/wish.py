"""Describe the outcome that a user wants for a recorded prompt, the golden case for it, and the files to edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from workbench.edits import instructions_file as files
from workbench.gate import cases, gate, labelling
from workbench.gate.case import OK, Decided

if TYPE_CHECKING:
    import sqlite3

    from workbench.replay.outcome import Outcome

GUARDRAIL, WITHOUT, SILENT = "guardrail", "without_guardrail", "silent"


class FulfilledError(ValueError):
    """Raised if the prompt already has the desired outcome under the current rules."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The outcome that a user wants for a prompt.

    Depending on ``kind``, the prompt should have the task type ``name`` (TASK_TYPE), have the guardrail ``name``
    (GUARDRAIL), not have that guardrail (WITHOUT), or get no added text at all (SILENT).
    """

    kind: str
    name: str = ""

    def holds(self, outcome: Outcome) -> bool:
        """Return whether ``outcome`` is what the user wants.

        If a text is added to the prompt, a desired task type must also be certain enough to be shown.
        """
        if self.kind == SILENT:
            return not outcome.text
        if self.kind == GUARDRAIL:
            return self.name in outcome.guardrails
        if self.kind == WITHOUT:
            return self.name not in outcome.guardrails
        return outcome.task_type == self.name and (outcome.shown or not outcome.text)

    def is_told(self, outcome: Outcome) -> bool:
        """Return whether ``holds`` is true of ``outcome``, and a desired task type is certain enough to be shown."""
        return self.holds(outcome) and (self.kind != TASK_TYPE or outcome.shown)

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} {self.name}".rstrip()


def wanted(db: sqlite3.Connection, trace_id: str, wish: Wish) -> Decided:
    """Return the result that a golden case of a recorded prompt should expect, according to the user's wish.

    For a wish about a guardrail, this includes the prompt's other guardrails under the project's rules, unless those
    rules do not choose the desired guardrail yet. Raises CasesError or GateError if no golden case is possible.
    """
    if wish.kind == TASK_TYPE:
        return Decided(task_type=wish.name)
    if wish.kind == SILENT:
        return Decided(guardrails=(), approach="")
    rules = gate.work_tree_rules(labelling.folder_of(db, trace_id))
    guardrails = cases.case_of(db, trace_id, OK).decided_by(rules).guardrails or ()
    if wish.kind == WITHOUT:
        return Decided(guardrails=tuple(one for one in guardrails if one != wish.name))
    return Decided(guardrails=guardrails if wish.name in guardrails else (wish.name,))


def target_files(cwd: str, *, given: str = "", chosen: str = "") -> list[str]:
    """Return the paths of the files into which new phrases can be written; the first is the one to propose.

    If possible, it is the file that the user chose before (``chosen``), otherwise the one that the user named
    (``given``), otherwise one that the gate judges, and otherwise the highest layer.
    """
    path, layers = files.nearest(cwd, given=given), [layer.path for layer in files.layers_for_edits(cwd)]
    if files.saves_as_layer(path, cwd):
        found = layers
    else:
        is_gated = bool(given) or files.layer_of(path, cwd) == "packaged" or len(layers) == 1
        found = list(dict.fromkeys([path, *layers] if is_gated else [*layers, path]))
    return sorted(found, key=lambda one: one != chosen)
