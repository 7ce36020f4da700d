"""Choose the instructions file to edit, and run an external editor on it."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from enricher.home import config_dir
from enricher.rules.layers import HEURISTICS, find_layers
from storage.base import private
from workbench.tui.working_folder import here

if TYPE_CHECKING:
    from workbench.tui.app import Workbench

FIRST_LINES = "# Classification\n\n# Context\n\n# Guardrails\n\n# Output\n"


def file_to_edit(given: str = "") -> str:
    """Return the instructions file to edit: ``given``, else the highest layer not shipped with us, else the user's."""
    if given:
        return given
    own = [layer.path for layer in find_layers(here()).instructions if layer.name not in ("packaged", HEURISTICS)]
    return own[-1] if own else os.path.join(config_dir(), "instructions.md")


def open_editor(app: Workbench, path: str) -> str:
    """Run ``$VISUAL`` or ``$EDITOR`` on the file in this terminal; return an error message, empty if there is none."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if app.is_web:
        return f"A browser has no editor to open; edit {path} on the machine that serves this."
    is_new = not os.path.exists(path)
    if is_new:
        private.make_directory(os.path.dirname(path))
        private.write_file(path, FIRST_LINES.encode())
    try:
        with app.suspend():
            ended = subprocess.run([*command, path], check=False).returncode
    except SuspendNotSupported:
        return f"This terminal cannot be given to an editor; edit {path} elsewhere, a save is seen here."
    except OSError as failure:
        return f"{command[0]} cannot be started ({failure.strerror}); set EDITOR to an editor that is installed."
    if is_new:
        _take_away_unwritten(path)
    return f"{command[0]} ended with {ended}" if ended else ""


def _take_away_unwritten(path: str) -> None:
    with contextlib.suppress(OSError):
        if private.read_file(path, len(FIRST_LINES) + 1) == FIRST_LINES.encode():
            os.unlink(path)
