"""The candidates of a search for edits: each gives a signal another weight, adds a phrase, or raises a floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.tuning.steps import title_of
from workbench.tuning.wishes.wish import GUARDRAIL

if TYPE_CHECKING:
    from workbench.coverage.rule_positions import LocatedSignal
    from workbench.tuning.wishes.floors import Floor


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate edit that gives a signal another weight (0 removes it), adds a phrase to a class, or raises a floor.

    ``facet`` and ``name`` are the class whose points change by ``points``. The weight of a signal in a file that must
    not be edited is raised by adding the same signal to a layer above it (``is_added``). A floor is the least number of
    points with which a guardrail is shown.
    """

    facet: str
    name: str
    points: int
    signal: LocatedSignal | None = None
    phrase: str = ""
    is_added: bool = False
    floor: Floor | None = None
    file: str = ""
    """The file into which a floor, or a phrase that excludes the class, is written; empty for other candidates."""
    others: tuple[Step, ...] = ()
    """Steps for further guardrails that belong to the same edit."""

    @property
    def weight(self) -> int:
        return (self.signal.weight if self.signal else 0) + self.points

    @property
    def new_signal(self) -> dict[str, Any]:
        """Return the signal to add, in the form that it has in instructions files."""
        said = {"phrase": self.phrase} if self.signal is None else self.signal.signal
        return {**said, "weight": self.points}

    def title(self) -> str:
        if self.floor is not None:
            return "; ".join(one.floor.title() for one in (self, *self.others) if one.floor)
        if self.file:
            names = ", ".join(one.name for one in (self, *self.others))
            kind = f"guardrail{'s' * bool(self.others)} " if self.facet == GUARDRAIL else ""
            return f'{kind}{names}: not with "{self.phrase}"'
        return title_of(self.name, self.signal, self.phrase, self.weight)

    @property
    def note(self) -> str:
        """Return what the edit writes, if that is not the new weight itself; otherwise an empty text."""
        if self.signal is None or not self.is_added:
            return ""
        return f"writes a weight of {self.points}, which is added to the {self.signal.weight}"
