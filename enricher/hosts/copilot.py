"""Translate events and answers of GitHub Copilot CLI.

Its event is ``userPromptSubmitted``, or ``UserPromptSubmit`` in the form of VS Code. It reads
``additionalContext`` only at the top level of an answer, shows the user no message of a hook,
and does not send the path of the transcript.
"""

from __future__ import annotations

from enricher.hosts import common_event, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

EVENT = "userPromptSubmitted"
TITLE = "GitHub Copilot CLI"
HANDLER = {"type": "command", "bash": "", "timeoutSec": 5}
COMMAND_KEY = "bash"
IS_GROUPED = False
HAS_COMMENTS = False
ROOT = {"version": 1}
HOME_VARIABLE = "COPILOT_HOME"
HOME_FOLDER = ".copilot"
USER_FILE = "hooks/prompt-enricher.json"
PROJECT_FILE = ".github/hooks/prompt-enricher.json"


def parse(payload: object) -> PromptEvent:
    """Return the prompt event, from either form of the payload."""
    event = common_event(payload, "copilot")
    event.session_id = text(payload, "sessionId") or event.session_id
    event.agent = event.agent or text(payload, "agentId")
    return event


def answer(context: str, notice: str) -> dict[str, object] | None:  # noqa: ARG001 (this client shows no notice)
    """Return the object to print, without ``notice``: this client cannot show any; ``enricher doctor`` shows it."""
    return {"additionalContext": context} if context else None
