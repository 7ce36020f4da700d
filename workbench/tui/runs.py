"""The last complete run of an app, written by the Instructions screen and read by the Compare screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from workbench.edits.progress import ChangeCause, Figures
    from workbench.tui.app import Workbench


@dataclass(frozen=True, slots=True)
class CompletedRun:
    """The figures of a run, the cause of each change by trace id, and the path of the edited file."""

    path: str
    figures: Figures
    causes: dict[str, ChangeCause] = field(default_factory=dict)


_LAST: WeakKeyDictionary[Workbench, CompletedRun] = WeakKeyDictionary()
_WANTED: WeakKeyDictionary[Workbench, str] = WeakKeyDictionary()


def put(app: Workbench, run: CompletedRun) -> None:
    """Store the run as the app's last run."""
    _LAST[app] = run


def last(app: Workbench) -> CompletedRun | None:
    """Return the last run of the app, None if there was none."""
    return _LAST.get(app)


def want(app: Workbench, trace_id: str) -> None:
    """Store the request to show this changed prompt of the last run under that run's two sides."""
    _WANTED[app] = trace_id


def is_wanted(app: Workbench, trace_id: str) -> bool:
    """Return whether this changed prompt was requested, and clear the request."""
    return _WANTED.pop(app, "") == trace_id
