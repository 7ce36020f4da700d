"""The channel ``tasks``: open tasks of the project or the session that this prompt is about.

Most prompts come from where nobody keeps such lists: that costs a few looks at the
folders and nothing else.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import Candidate, Channel, Request

BEADS = ".beads/issues.jsonl"
TODO_FILES = ("TODO.md", "todo.md", "TODO")


def offer(request: Request, channel: Channel) -> list[Candidate]:
    """Return the tasks that the prompt is about, best first."""
    if not _has_lists(request):
        return []
    from enricher.context.tasklists import related

    return related(request, most=channel.most)


def _has_lists(request: Request) -> bool:
    if request.conversation.resumed and request.conversation.todos:
        return True
    root = request.project.root
    if root and any(os.path.isfile(os.path.join(root, name)) for name in (BEADS, *TODO_FILES)):
        return True
    folder = claude_folder(request.session_id) if request.host == "claude" else ""
    return bool(folder) and os.path.isdir(folder)


def claude_folder(session_id: str) -> str:
    """Return where Claude Code keeps a session's tasks; empty for an id that could lead elsewhere."""
    if not session_id or "/" in session_id or "\\" in session_id or "\0" in session_id or session_id.startswith("."):
        return ""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return os.path.join(home, "tasks", session_id)
