"""Keep what all screens share: values remembered between starts of the app, the last replay, and the working folder."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storage.base import private

if TYPE_CHECKING:
    from workbench.edits.progress import ChangeCause, Figures

NAME = "workbench.json"
LIMIT_BYTES = 64 * 1024
"""A longer file was not written by this app, so it is ignored."""


class AppState:
    """A store of preferences that outlive the app, addressed by section and name, in a small private file.

    A missing or damaged file, or one in another format, counts as empty. If the file cannot be written, the error is
    ignored, because losing preferences is better than stopping the app.
    """

    def __init__(self, state_dir: str) -> None:
        self._path = os.path.join(state_dir, NAME)
        self._sections = _read(self._path)

    def recall(self, section: str, name: str, default: Any) -> Any:
        """Return the value stored as ``name`` in ``section``.

        Return ``default`` instead if no such value is stored, or if it has another type than ``default``.
        """
        value = self._sections.get(section, {}).get(name, default)
        return value if isinstance(value, type(default)) else default  # the file may be of another version

    def remember(self, section: str, **values: Any) -> None:
        """Store ``values`` (strings, numbers, flags or lists) in ``section`` under their argument names.

        If any value differs from the stored one, the file is written immediately.
        """
        known = self._sections.setdefault(section, {})
        if all(name in known and known[name] == value for name, value in values.items()):
            return
        known.update(values)
        kept = _read(self._path)  # read again: a second app writes its values there, too
        kept.setdefault(section, {}).update(values)
        with contextlib.suppress(OSError):
            private.make_directory(os.path.dirname(self._path))
            private.write_file(self._path, json.dumps(kept, indent=1).encode())


def _read(path: str) -> dict[str, dict[str, Any]]:
    try:
        value = json.loads(private.read_file(path, LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):  # the last for JSON that is nested too deeply
        return {}
    if not isinstance(value, dict):
        return {}
    return {section: names for section, names in value.items() if isinstance(names, dict)}


@dataclass(frozen=True, slots=True)
class CompletedRun:
    """The result of a complete replay of the prompts with the edited instructions.

    ``causes`` maps the trace id of each prompt whose outcome changed to the part of the edit that changed it.
    """

    figures: Figures
    causes: dict[str, ChangeCause]


def here() -> str:
    """Return the working folder, or the home folder if the working folder was deleted.

    The working folder determines the current project, and so which instructions apply.
    """
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")
