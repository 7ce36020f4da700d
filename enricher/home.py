"""Find the folders that the hook uses: its code, the user's state, configuration and skills, and the project's root.

The folders for state and configuration are the same as those of the library platformdirs on each system. Loading it
would cost the hook more time than all its other work, so only a test uses it, to compare the results.
"""

import os
import sys

APP = "prompt-enricher"
SKILL_FOLDERS = {
    "claude": (".claude/skills",),
    "codex": (".codex/skills", ".agents/skills"),
    "gemini": (".gemini/skills",),
    "copilot": (".copilot/skills", ".github/skills", ".claude/skills"),
    "cursor": (".cursor/skills", ".claude/skills"),
    "opencode": (".opencode/skills", ".claude/skills"),
}
"""The folders in which each client looks for skills, relative to the user's home and to a project."""


def root_dir() -> str:
    """Return the folder that contains the packages ``enricher``, ``storage`` and the folder ``instructions``."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def state_dir() -> str:
    """Return the folder for database, spool, compiled rules and log; ``$ENRICHER_HOME`` can name another."""
    named = os.environ.get("ENRICHER_HOME")
    if named:
        return named if os.path.isabs(named) else os.path.abspath(named)
    return _user_dir("XDG_DATA_HOME", ".local/share")


def config_dir() -> str:
    """Return the folder for ``config.toml`` and the user's rules; ``$ENRICHER_CONFIG_HOME`` can name another."""
    named = os.environ.get("ENRICHER_CONFIG_HOME")
    return named or _user_dir("XDG_CONFIG_HOME", ".config")


def _user_dir(variable: str, unix: str) -> str:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.join(os.path.expanduser("~"), "Library/Application Support")
    else:
        named = os.environ.get(variable, "")
        # The XDG specification says to ignore relative paths.
        base = named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), unix)
    return os.path.join(base, APP)


def project_root(cwd: str) -> str:
    """Return the nearest folder at or above ``cwd`` that contains ``.git``, else ``cwd`` itself."""
    folder = os.path.abspath(cwd) if cwd else os.getcwd()
    for candidate in ancestors(folder):
        if os.path.lexists(os.path.join(candidate, ".git")):  # a folder, or a file in worktrees and submodules
            return candidate
    return folder


def from_home(path: str) -> str:
    """Return the path as people write it: with ``~`` if it is below their home."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def ancestors(folder: str) -> list[str]:
    """Return ``folder`` and the folders above it, nearest first."""
    found = [folder]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def skill_folders(host: str, project: str) -> list[str]:
    """Return the existing folders with skills: those in which the client ``host`` looks for them, and ``$AOPS/skills``.

    The client looks in the user's home folder and in the folder ``project``.
    """
    bases = [os.path.expanduser("~"), project] if project else [os.path.expanduser("~")]
    folders = [os.path.join(base, folder) for base in bases for folder in SKILL_FOLDERS.get(host, ())]
    if aops := os.environ.get("AOPS"):
        folders.append(os.path.join(aops, "skills"))
    return [folder for folder in folders if os.path.isdir(folder)]
