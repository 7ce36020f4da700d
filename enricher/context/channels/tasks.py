"""The channel ``tasks``: open tasks of the project or the session that this prompt is about.

Most projects have no task lists; there the channel costs a few file-existence checks
and nothing else.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.context import ChannelRule, Request
    from enricher.sources.tasklists import Task, TaskQuery

BEADS = ".beads/issues.jsonl"
"""The list of the tracker beads."""
TODO_FILES = ("TODO.md", "todo.md", "TODO")
"""Names of a checklist; the first of these files that is not empty counts."""
MOST_OFFERED = 5  # how many tasks are offered even if fewer may be shown, so that the trace records which were left out


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the tasks that the prompt is about, best first."""
    if not _has_lists(request):
        return []
    from enricher.prompt.conversation.followup import subject
    from enricher.sources import tasklists

    wanted = tasklists.TaskQuery(request.prompt, subject(request.conversation, request.prompt))
    if not wanted.stems and not wanted.ids:
        return []
    tasks = [*_of_session(request, wanted)]
    if root := request.project.root:
        tasks += [*tasklists.beads(root, BEADS, wanted), *tasklists.checklist(root, TODO_FILES, wanted)]
    best = tasklists.ranked(tasks, wanted)[: max(MOST_OFFERED, channel.most)]
    return [_candidate(task, relevance) for task, relevance in best]


def _of_session(request: Request, wanted: TaskQuery) -> Iterator[Task]:
    """Yield the session's tasks, except tasks that the agent wrote in this session and therefore knows."""
    from enricher.sources.tasklists import Task, claude_tasks

    conversation = request.conversation
    known = {text for _, text in conversation.todos}
    if request.host == "claude" and request.session_id:
        for task in claude_tasks(request.session_id):
            if conversation.resumed or task.title not in known or f"task {task.id}" in wanted.ids:
                yield task
    if conversation.resumed:
        for at, (status, text) in enumerate(conversation.todos):
            yield Task(str(at + 1), text, status=status, where="todo list of this session")


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
