"""What git remembers of late: the newest commits with their files, and which of them were taken back.

Not on the hook's path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from enricher.code.listing import git

MOST_COMMITS = 500
MOST_FILES = 60
"""Of one commit; one that touches more is a sweep and says nothing about any of them."""
HALF_LIFE = 100.0
"""In commits."""
_FORMAT = "--format=%x01%H%x02%ct%x02%s%x02%b%x02"


@dataclass(slots=True)
class Commit:
    """A commit; ``at`` in seconds since 1970."""

    sha: str
    at: int
    subject: str
    body: str
    files: list[str] = field(default_factory=list)
    is_reverted: bool = False


def newest_commits(root: str) -> list[Commit]:
    """Return the newest commits, newest first; raises ListingError where git does not answer."""
    printed = git(root, "log", f"-n{MOST_COMMITS}", "--no-renames", "--name-only", "--relative", _FORMAT)
    found = []
    for record in printed.decode(errors="replace").split("\x01")[1:]:
        parts = record.split("\x02")
        if len(parts) < 5 or not parts[1].isdigit():
            continue
        files = [line for line in parts[4].split("\n") if line]
        found.append(Commit(parts[0], int(parts[1]), parts[2][:200], parts[3][:2000], files))
    _mark_reverted(found)
    return found


def _mark_reverted(commits: list[Commit]) -> None:
    """A commit that a later one takes back is no news, nor is the one that does it."""
    for number, commit in enumerate(commits):
        sha = commit.body.partition("This reverts commit ")[2][:40].rstrip(". \n")
        subject = commit.subject.partition('Revert "')[2].rpartition('"')[0]
        if not sha and not subject:
            continue
        commit.is_reverted = True
        for earlier in commits[number + 1 :]:
            if (sha and earlier.sha.startswith(sha)) or (not sha and earlier.subject == subject):
                earlier.is_reverted = not earlier.is_reverted
                break


def recency(commits: list[Commit]) -> dict[str, float]:
    """Return for each file how often and how lately it was changed."""
    found: dict[str, float] = {}
    for age, commit in enumerate(commits):
        if len(commit.files) <= MOST_FILES:
            for path in commit.files:
                found[path] = found.get(path, 0.0) + math.exp(-age / HALF_LIFE)
    return found
