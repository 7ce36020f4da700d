"""Find the prompts of a session at which the task type changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class ClassifiedPrompt(Protocol):
    """What ``drifts`` needs of a prompt: its id, its status, and its task type."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def task_type(self) -> str: ...


def drifts(prompts: Iterable[ClassifiedPrompt]) -> set[str]:
    """Return the ids of prompts whose task type differs from the previous classified prompt's; oldest come first."""
    found, former = set(), ""
    for one in prompts:
        if one.status == "skipped" or not one.task_type:
            continue
        if former and one.task_type != former:
            found.add(one.id)
        former = one.task_type
    return found
