"""A channel to start from: lines of the project's ``NOTES.md`` that share a long word with the prompt."""

from __future__ import annotations

from enricher.context import Candidate, Channel
from storage.base.private import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import ChannelRule, Request

FILE = "NOTES.md"
LARGEST_FILE = 1 << 20
SHORTEST_WORD = 5


def offer(request: Request, rule: ChannelRule) -> list[Candidate]:
    """Return the lines that share most words with the prompt, best first; nothing where there is no such file.

    A session is not told twice about the same ``ref``, so it holds the line itself: one that changed is told again.
    A channel for some prompts only looks at ``request.task_type`` or the words of ``request.prompt`` first, and returns
    nothing for the others.
    """
    root = request.project.root
    try:
        content = read_file(f"{root}/{FILE}", LARGEST_FILE) if root else b""
    except OSError:
        return []
    words = {word for word in request.prompt.lower().split() if len(word) >= SHORTEST_WORD}
    offered = []
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        if shared := len(words & set(line.lower().split())):
            score = min(1.0, 0.4 + 0.2 * shared)
            offered.append(Candidate(line, f"{FILE} {line}", score, label=f"{FILE}:{number}"))
    return sorted(offered, key=lambda one: -one.score)[: rule.most]


CHANNEL = Channel(
    offer=offer,
    question=lambda rule, *_: rule["most"],
    can_ask_again=True,
    gives=f"lines of `{FILE}` that share a long word with the prompt",
    min_score=0.5,
    most=3,
    priority=5,
    tokens=100,
)
