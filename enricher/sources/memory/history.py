"""Read memories from git: decisions stated in the body of a commit message, and reasons for reverts.

The subject line of a commit describes a change, which the channel ``enricher.context.channels.history`` shows. It does
not count as a decision, and only becomes the heading of a decision in the body. If a commit was reverted later, its
decision is superseded by the reverting commit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enricher.prompt.text import without_last_word
from enricher.sources import git
from enricher.sources.memory.reading import SourceReading, cleaned, headed
from storage.memory.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.project import Project

MOST_COMMITS = 3_000
LONGEST_MESSAGE = 1_500
FORMAT = "%x00%H%x00%cs%x00%B"  # NUL is the only character that no message can contain

_TRAILER = re.compile(
    r"[A-Z][A-Za-z-]{2,30}(?:-[A-Za-z]+)+: |(?:Fixes|Closes|Refs|See|Cc|Bug|Link|PR)(?:[:#]| #)|Pull Request resolved: "
)
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})", re.IGNORECASE)
_DECISION = re.compile(
    r"^(?:Decision|Decided|Rejected|Entscheidung|Beschluss|Décision|Decisión|Decisão|Decisione|Решение|决定|決定)\s*[::]"
    r"|\b(?:we|I|the team)\s+(?:have\s+|had\s+|all\s+)?(?:decided|chose|agreed|opted|rejected|settled\s+on|ruled\s+out)"
    r"\b"
    r"|\bit\s+(?:was|is)\s+(?:decided|agreed)\b"
    r"|\bdecided\s+(?:against|that|not\s+to|in\s+favou?r)\b|\bthe\s+decision\s+(?:is|was|to|that|not)\b"
    r"|\b(?:wir\s+haben\s+(?:uns\s+)?(?:entschieden|beschlossen)|nous\s+avons\s+décidé|(?:hemos\s+)?decidi(?:mos|do)\b"
    r"|abbiamo\s+deciso|решили|我们决定|決めた|決定した)",
    re.IGNORECASE | re.MULTILINE,
)
"""Phrases by which a sentence states a decision instead of describing the change or its benefits."""
_LEARNT = re.compile(r"(?:fix|bugfix|hotfix)(?:\([^)]*\))?!?:|fix(?:e[sd])?\b|turned out|root cause", re.IGNORECASE)
_KINDS = (("perf", "performance"), ("test", "testing"), ("security", "security"), ("docs", ""), ("chore(deps", ""))


def read_history(folder: str, project: Project, *, tick: Callable[[int, int], None] | None = None) -> SourceReading:
    """Return the decisions in the latest commits of the work tree; raises ``git.GitError``."""
    try:
        listed = git.ask(folder, "log", f"--format={FORMAT}", "-n", str(MOST_COMMITS), "HEAD", "--")
    except git.GitError as failure:
        if "bad revision 'HEAD'" in str(failure):  # the repository has no commit yet
            return SourceReading()
        raise
    fields = listed.decode("utf-8", "replace").split("\0")[1:]
    commits = [(fields[at], fields[at + 1], fields[at + 2]) for at in range(0, len(fields) - 2, 3)]
    taken_back = _reverting_commits(commits)
    reading = SourceReading()
    for number, (sha, day, message) in enumerate(commits, 1):
        if text := _decision_text(message):
            memory = _memory(sha, day, text, project=project)
            memory.superseded_by = f"git:{by}" if (by := taken_back.get(sha, "")) else ""
            reading.memories.append(memory)
        if tick:
            tick(number, len(commits))
    return reading


def _reverting_commits(commits: list[tuple[str, str, str]]) -> dict[str, str]:
    """Return the ids of reverted commits, each with that of its revert; reverts that were reverted do not count."""
    shas = [sha for sha, _day, _message in commits]
    by: dict[str, str] = {}
    undone: dict[str, str] = {}
    for sha, _day, message in reversed(commits):
        for named in _REVERTS.findall(message):  # a full or an abbreviated id
            is_full = len(named) >= 40
            target = named if is_full else next((one for one in shas if one.startswith(named)), "")
            if not target:
                continue
            by[target] = sha
            if again := undone.pop(target, ""):  # the revert was itself reverted, so the first commit is valid again
                by.pop(again, None)
            undone[sha] = target
    return by


def _decision_text(message: str) -> str:
    """Return a commit's subject and the paragraphs that state a decision or why it reverts another; empty if none."""
    subject, _, body = message.strip().partition("\n")
    paragraphs = [kept for one in body.strip().split("\n\n") if (kept := _without_trailers(one))]
    is_revert = bool(_REVERTS.search(message))
    reasons = [one for one in paragraphs if not _is_mere_revert(one)]
    decision = "\n\n".join(one for one in reasons if is_revert or _DECISION.search(one))
    return cleaned(_shortened(f"{headed(subject)}\n{decision}")) if decision else ""


def _without_trailers(paragraph: str) -> str:
    return "\n".join(line for line in paragraph.split("\n") if line.strip() and not _TRAILER.match(line.strip()))


def _is_mere_revert(paragraph: str) -> bool:
    words = paragraph.split()
    # The message of a revert has "This reverts commit X."; for a merge, ", reversing changes made to Y." follows X.
    most = 9 if words[4:8] == ["reversing", "changes", "made", "to"] else 5
    return bool(_REVERTS.match(paragraph.strip())) and len(words) <= most


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_MESSAGE:
        return text
    return f"{without_last_word(text[:LONGEST_MESSAGE], window=LONGEST_MESSAGE)} …"


def _memory(sha: str, day: str, text: str, *, project: Project) -> Memory:
    subject = text.partition("\n")[0]
    kind = next((name for prefix, name in _KINDS if subject.lower().startswith(prefix)), "")
    is_learnt = subject.lower().startswith("revert") or _LEARNT.match(subject)
    return Memory(
        text,
        project=project.id,
        namespace=kind or ("learnings" if is_learnt else "decisions"),
        source=f"git:{sha}",
        origin="import:git",
        key=sha,
        created_at=day,
    )
