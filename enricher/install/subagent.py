"""Install the subagent ``prompt-hydrator``, which finishes the plans that the hook has drafted for an agent.

``install --hydrate`` writes the definition of the subagent, and a permission to read the folder with the drafts. The
permission is needed because this folder is outside of every project, and Claude Code lets no subagent read there
without one. ``uninstall`` removes both.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from enricher.hosts import servers
from enricher.install import files, json_edits, registration
from enricher.install.files import FileChange
from enricher.install.registration import ConfigurationFile, InstallationError
from storage.state import plan_files

if TYPE_CHECKING:
    from collections.abc import Sequence

HAVE_SUBAGENTS = ("claude",)  # the clients that can read our definition of the subagent, a Markdown file
NAME = "prompt-hydrator.md"
# Whatever the folder before it: the one for temporary files may have changed since the installation.
_OURS = re.compile(rf"Read\(//.*/{plan_files.FOLDER}\*/\*\*\)")
_SHIPPED = os.path.join(os.path.dirname(__file__), NAME)


def place(host: str, scope: str, cwd: str) -> ConfigurationFile:
    """Return the file in which the client ``host`` looks for the definition of our subagent."""
    folder = os.path.join(cwd, ".claude") if scope == "project" else servers.home_folder(host)
    return ConfigurationFile(host, scope, os.path.join(folder, "agents", NAME))


def add(where: ConfigurationFile, _earlier: Sequence[FileChange]) -> FileChange:
    """Return the change that writes our subagent; raises InstallationError if its file exists and is not ours."""
    with open(_SHIPPED, encoding="utf-8") as file:
        text = file.read()
    before = _read(where)
    if before is not None and before != text and not files.was_created(where.file):
        raise InstallationError(f"{where.file} is not ours; rename it, then run this again")
    return FileChange(where.file, before, text)


def remove(where: ConfigurationFile, _earlier: Sequence[FileChange]) -> FileChange:
    """Return the change that deletes the definition of our subagent, if the installation created the file."""
    before = _read(where)
    return FileChange(where.file, before, None if files.was_created(where.file) else before)


def permit(where: ConfigurationFile, earlier: Sequence[FileChange]) -> FileChange:
    """Return the change of a client's settings file that permits reading the folder with the drafted plans."""
    return registration.edit_after(where, earlier, lambda text: _permitted(text or "{}\n"))


def withdraw(where: ConfigurationFile, earlier: Sequence[FileChange]) -> FileChange:
    """Return the change that removes the permission to read the drafted plans from a client's settings file."""
    return registration.edit_after(where, earlier, lambda text: text and _withdrawn(text))


def _permitted(text: str) -> str:
    rule = f"Read(/{plan_files.pattern()})"  # "//" in the rule means an absolute path
    text = _withdrawn(text)
    return json_edits.added(text, json_edits.parse(text), ("permissions", "allow"), rule)


def _withdrawn(text: str) -> str:
    """Return the settings without the permission that we added, and without lists and objects that it leaves empty."""
    root = json_edits.parse(text)
    allowed = root.at("permissions", "allow")
    ours = [at for at, rule in enumerate(allowed.value) if _OURS.fullmatch(str(rule))] if allowed else []
    # One at a time, since each removal moves the rest of the text.
    return _withdrawn(json_edits.without(text, root, ("permissions", "allow", ours[0]))) if ours else text


def _read(where: ConfigurationFile) -> str | None:
    try:
        return files.read_text(where.file)
    except (OSError, UnicodeDecodeError) as error:
        raise InstallationError(f"{where.file}: {error}") from None
