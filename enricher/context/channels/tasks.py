"""The channel ``tasks``: open tasks of the project or the session that this prompt is about.

Most projects have no task lists; there the channel costs a few file-existence checks
and nothing else.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import ChannelRule, Request
    from enricher.sources.tasklists import Task

BEADS = ".beads/issues.jsonl"
TODO_FILES = ("TODO.md", "todo.md", "TODO")
MOST_OFFERED = 5  # how many tasks are offered even if fewer may be shown, so that the trace records which were left out


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the tasks that the prompt is about, best first."""
    if not _has_lists(request):
        return []
    from enricher.sources.tasklists import related

    found = related(request, BEADS, TODO_FILES, most=max(MOST_OFFERED, channel.most))
    return [_candidate(task, relevance) for task, relevance in found]


def _candidate(task: Task, relevance: float) -> Candidate:
    at = f"{task.where}:{task.id}"
    label = f"{at} ({task.status})" if task.is_line else f"task {task.id} ({task.where}, {task.status})"
    ref = at if task.is_line else f"task {task.id} {task.where}"
    return Candidate(task.title, ref, round(relevance, 3), label=label, date=task.date, kind="task")


def _has_lists(request: Request) -> bool:
    if request.conversation.resumed and request.conversation.todos:
        return True
    root = request.project.root
    if root and any(os.path.isfile(os.path.join(root, name)) for name in (BEADS, *TODO_FILES)):
        return True
    if request.host != "claude":
        return False
    from enricher.hosts.claude import task_folder

    folder = task_folder(request.session_id)
    return bool(folder) and os.path.isdir(folder)


CHANNEL = Channel(
    offer=offer,
    question=lambda rule, *_: max(MOST_OFFERED, rule["most"]),
    can_ask_again=True,
    gives=(
        "open tasks about the same matter: the client's own, the session's, `.beads/issues.jsonl`,"
        " `TODO.md` with checkboxes"
    ),
    min_score=0.5,
    most=2,
    priority=7,
    tokens=60,
)
