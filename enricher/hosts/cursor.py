"""Translate events (``beforeSubmitPrompt``) and answers of Cursor.

``additional_context`` is undocumented for this event but accepted by current
clients; ``continue`` is documented and must never be false.
"""

from __future__ import annotations

from enricher.hosts import common_event, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

EVENT = "beforeSubmitPrompt"
TITLE = "Cursor"
HANDLER = {"command": ""}  # no timeout: sources disagree about its unit, and our own deadline is shorter
COMMAND_KEY = "command"
IS_GROUPED = False
HAS_COMMENTS = True
ROOT = {"version": 1}
HOME_VARIABLE = ""
HOME_FOLDER = ".cursor"
USER_FILE = "hooks.json"
PROJECT_FILE = ".cursor/hooks.json"


def parse(payload: object) -> PromptEvent:
    """Return the prompt event; of several workspace folders, the first counts as the working folder."""
    event = common_event(payload, "cursor")
    event.session_id = text(payload, "conversation_id") or event.session_id
    event.cwd = event.cwd or _first_root(payload)
    return event


def _first_root(payload: object) -> str:
    roots = payload.get("workspace_roots") if isinstance(payload, dict) else None
    first = roots[0] if isinstance(roots, list) and roots else ""
    return first if isinstance(first, str) else ""


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print, with ``context`` for the model and ``notice`` for the user."""
    if not (context or notice):
        return None
    shaped: dict[str, object] = {"continue": True}
    if notice:
        shaped["user_message"] = notice
    if context:
        shaped["additional_context"] = context
    return shaped
