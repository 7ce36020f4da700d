"""OpenCode: no command hooks, so our own plugin ``prompt-enricher.js`` calls us from ``chat.message``.

Both sides of this conversation are ours; the plugin turns ``additionalContext``
into a synthetic text part and ``systemMessage`` into a toast.
"""

from __future__ import annotations

from enricher.event import PromptEvent
from enricher.hosts import presentable, text

EVENT = "chat.message"
TITLE = "OpenCode"
HOME_VARIABLE = "OPENCODE_CONFIG_DIR"
HOME_FOLDER = ".config/opencode"
USER_FILE = "plugins/prompt-enricher.js"
PROJECT_FILE = ".opencode/plugins/prompt-enricher.js"


def parse(payload: object) -> PromptEvent:
    """Return the event as our plugin sends it."""
    return PromptEvent(
        text(payload, "prompt"),
        host="opencode",
        session_id=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        agent=text(payload, "agent_id"),
    )


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object that the plugin reads."""
    shaped: dict[str, object] = {}
    if notice:
        shaped["systemMessage"] = presentable(notice)
    if context:
        shaped["additionalContext"] = presentable(context)
    return shaped or None
