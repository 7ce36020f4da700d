"""Translate events (``chat.message``) and answers of OpenCode, where a plugin of Prompt Enricher starts the hook.

OpenCode cannot start a command by itself, so the plugin, ``prompt-enricher.js``, sends the event and reads the answer:
it turns ``additionalContext`` into a synthetic text part and ``systemMessage`` into a toast.
"""

from __future__ import annotations

from enricher.hosts import common_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

EVENT = "chat.message"
TITLE = "OpenCode"
HOME_VARIABLE = "OPENCODE_CONFIG_DIR"
HOME_FOLDER = ".config/opencode"
USER_FILE = "plugins/prompt-enricher.js"
PROJECT_FILE = ".opencode/plugins/prompt-enricher.js"


def parse(payload: object) -> PromptEvent:
    """Return the prompt event that the plugin sent."""
    event = common_event(payload, "opencode")
    event.prompt = _as_typed(event.prompt)
    return event


def _as_typed(prompt: str) -> str:
    """Remove the quotes that ``opencode run`` puts around a prompt of several words."""
    # A quote inside that is not escaped, or an escaped last quote, means that the user typed the outer quotes.
    inside = prompt[1:-1].replace('\\"', "")
    if len(prompt) < 3 or prompt[0] != '"' or prompt[-1] != '"' or '"' in inside or inside.endswith("\\"):
        return prompt
    return prompt[1:-1].replace('\\"', '"')


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print for the plugin, with ``context`` for the model and ``notice`` for the user."""
    shaped: dict[str, object] = {}
    if notice:
        shaped["systemMessage"] = notice
    if context:
        shaped["additionalContext"] = context
    return shaped or None
