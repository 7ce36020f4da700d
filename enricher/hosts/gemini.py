"""Translate events (``BeforeAgent``) and answers of Gemini CLI.

Its timeouts are in milliseconds. It shows any output that is not JSON to the user, and any exit code except 0
and 1 cancels the turn.
"""

from __future__ import annotations

from enricher.hosts import common_event, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

EVENT = "BeforeAgent"
TITLE = "Gemini CLI"
HANDLER = {"type": "command", "name": "prompt-enricher", "command": "", "timeout": 5000}  # milliseconds
COMMAND_KEY = "command"
IS_GROUPED = True
HAS_COMMENTS = True
ROOT: dict[str, object] = {}
HOME_VARIABLE = ""
HOME_FOLDER = ".gemini"
USER_FILE = "settings.json"
PROJECT_FILE = ".gemini/settings.json"


def parse(payload: object) -> PromptEvent:
    """Return the prompt event that the client sent."""
    return common_event(payload, "gemini")


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print, with ``context`` for the model and ``notice`` for the user."""
    return nested(EVENT, context, notice)
