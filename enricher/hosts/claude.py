"""Translate events (``UserPromptSubmit``) and answers of Claude Code; also used for unknown clients.

Claude Code uses ``additionalContext`` only inside ``hookSpecificOutput`` with the right
event name; at the top level of the answer it silently ignores it.
"""

from __future__ import annotations

import os

from enricher.hosts import common_event, nested, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

EVENT = "UserPromptSubmit"
TITLE = "Claude Code"
HANDLER = {"type": "command", "command": "", "timeout": 20}  # seconds; a plan by a model may take 15
COMMAND_KEY = "command"
IS_GROUPED = True
HAS_COMMENTS = False
ROOT: dict[str, object] = {}
HOME_VARIABLE = "CLAUDE_CONFIG_DIR"
HOME_FOLDER = ".claude"
USER_FILE = "settings.json"
PROJECT_FILE = ".claude/settings.json"


def parse(payload: object) -> PromptEvent:
    """Return the prompt event; also accept the two older payload forms (``project_path``, ``hookSpecificData``)."""
    event = common_event(payload, "claude")
    event.prompt = event.prompt or text(payload, "hookSpecificData", "userPromptContent")
    event.cwd = event.cwd or text(payload, "project_path")
    return event


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print, with ``context`` for the model and ``notice`` for the user."""
    return nested(EVENT, context, notice)


def task_folder(session_id: str) -> str:
    """Return the folder of a session's tasks, or an empty string if the id is unsafe as a folder name."""
    if not session_id or "/" in session_id or "\\" in session_id or "\0" in session_id or session_id.startswith("."):
        return ""
    # Not ``hosts.servers.home_folder``, whose module a prompt in the default profile does not load.
    home = os.environ.get(HOME_VARIABLE) or os.path.join(os.path.expanduser("~"), HOME_FOLDER)
    return os.path.join(home, "tasks", session_id)
