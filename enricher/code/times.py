"""Commits of the time that a prompt speaks of: "since yesterday", "this week", or one by its name.

Loaded only for prompts that speak of time; reads what the index stored of the history.
"""

from __future__ import annotations

import time

from enricher.code.words import GENERAL, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context.query import Query

DAY = 86_400
MOST_COMMITS = 2
MOST_READ = 60
_SPANS = (
    ("since yesterday", 2), ("yesterday", 2), ("since today", 1), ("today", 1), ("this morning", 1), ("tonight", 1),
    ("last night", 2), ("since last week", 8), ("last week", 8), ("this week", 7), ("past week", 8), ("a week ago", 9),
    ("last few days", 5), ("past few days", 5), ("couple of days", 4), ("since monday", 7), ("since tuesday", 7),
    ("since wednesday", 7), ("since thursday", 7), ("since friday", 7), ("since last month", 32), ("last month", 32),
    ("this month", 31), ("just now", 1), ("since this afternoon", 1), ("recent commit", 14), ("latest commit", 14),
    ("last commit", 14), ("recent change", 14), ("latest change", 14), ("last change", 14), ("recently", 14),
    ("seit gestern", 2), ("depuis hier", 2), ("desde ayer", 2),
)  # fmt: skip


def since(prompt: str, now: float) -> float:
    """Return the moment from which on a prompt asks, in seconds since the epoch; 0 where it names no time."""
    lowered = f" {' '.join(prompt[:4000].lower().split())} "
    for words, days in _SPANS:
        at = lowered.find(words)
        if at > 0 and not lowered[at - 1].isalnum():
            return now - days * DAY
    return 0.0


def commits(
    db: Connection, query: Query, files: list[str], *, start: float, now: float
) -> list[tuple[str, str, str, float]]:
    """Return at most two commits as (sha, day, subject, score) that fit the prompt's words or files; none reverted."""
    read = "select sha, at, subject, files from commits where is_reverted = 0 and "
    rows = db.execute(
        f"{read}at between ? and ? order by at desc limit ?", (start or now + DAY, now + DAY, MOST_READ)
    ).fetchall()
    named = tuple(query.commits)
    if named:
        rows += db.execute(
            f"{read}({' or '.join('sha like ?' for _ in named)})", [f"{name}%" for name in named]
        ).fetchall()
    found: dict[str, tuple[float, int, str]] = {}
    for sha, at, subject, touched in rows:
        words = {term for word in subject.split() for term in terms(word.strip("\"'`.,:;()[]!"))}
        shared = sum(min(query.weights[term], 2.0) for term in words - GENERAL if term in query.weights)
        touches = len({*files} & {*touched.split("\n")})
        score = 0.95 if sha.startswith(named or " ") else min(0.9, 0.12 * min(shared, 4.0) + 0.25 * touches + 0.2)
        found[sha] = (-score, -at, subject)
    best = sorted((*rest, sha) for sha, rest in found.items())[:MOST_COMMITS]
    return [(sha, time.strftime("%Y-%m-%d", time.gmtime(-at)), subject, -score) for score, at, subject, sha in best]
