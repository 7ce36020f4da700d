"""Search a project's files by all words of a query, and rate how certain each result is.

Used by the command line and other programs, after building or updating the index; the hook only reads an existing one.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from math import exp
from sys import byteorder
from typing import TYPE_CHECKING

from enricher.prompt.project import identify
from enricher.prompt.wording.query import read
from enricher.prompt.wording.words import generic_stems, pieces, stem
from enricher.sources.code import bare_name, database_file, is_project
from enricher.sources.code.indexing import index
from enricher.sources.code.ranking import (
    DEFINES,
    EXACT,
    FRAME,
    HOLDS,
    KIND_FACTORS,
    MESSAGE,
    NAMED,
    NAMED_REASON,
    TRACE_REASON,
    Ranking,
    rank,
)
from storage.base import reader

if TYPE_CHECKING:
    from enricher.prompt.project import Project
    from enricher.sources.code.indexing.index import RefreshReport
    from enricher.sources.code.ranking import FileHit

FRESH_S = 60.0
"""Seconds during which this process treats an index as fresh after it has checked all files."""
_looked: dict[str, tuple[str, float]] = {}

MOST_COMPARED = 5
"""Maximum hits whose words are compared with the query; each further hit is less certain, unless it has reasons."""


def ensure(cwd: str, state: str) -> tuple[Project, RefreshReport | None]:
    """Return the project around ``cwd``, after updating its index, and a report of the update.

    There is no update, and the report is None, if this process updated the index within the last FRESH_S. Clones of one
    project share an index, so a search in another clone updates it again. Raises OSError if there is no such folder or
    the index cannot be written.
    """
    project = identify(cwd)
    if not os.path.isdir(project.root):
        raise NotADirectoryError(f"{cwd} is not a folder")
    root, looked_at = _looked.get(project.id, ("", 0.0))
    if root == project.root and time.monotonic() - looked_at < FRESH_S:
        return project, None
    report = index.refresh(project, state)
    _looked[project.id] = (project.root, time.monotonic())
    return project, report


def search(query: str, *, cwd: str, state: str, limit: int = 10) -> Ranking:
    """Return the files of the project around ``cwd`` that match ``query``, best first, each with its certainty."""
    project, _report = ensure(cwd, state)
    path = database_file(state, project.id)
    if not os.path.isfile(path):
        if is_project(project.root, project.git_dir):
            return Ranking()
        raise FileNotFoundError(f"{project.root} is not a project: without git, it may hold any file")
    with closing(sqlite3.connect(reader.address(path), uri=True, timeout=5.0)) as db:
        ranking = rank(db, read(query), limit=limit, root=project.root)
    weigh_certainty(ranking)
    return ranking


def features(hit: FileHit, ranking: Ranking) -> tuple[float, float, int, int, float]:
    """Return five measures of how well a file covers the query's specific words.

    They are the share of these words, by weight, that the file contains; the share that is in its path or among the
    names that it defines; how many words are in the first share, and how many in the second; and whether the words make
    up the whole file name (1, or 0.5 for a name of one word, else 0).
    """
    key = hit.id.to_bytes(4, byteorder)
    held: set[str] = set()
    named: set[str] = set()
    for term, content, total, data in ranking.columns:
        if term in generic_stems():
            continue
        if _holds(data, key, 0, 4 * content):
            held.add(term)
        if _holds(data, key, 4 * content, 4 * total):
            named.add(term)
    total_strength = sum(ranking.strengths.values()) + ranking.unknown
    if not total_strength:
        return 0.0, 0.0, 0, 0, 0.0
    own = {stem(piece) for piece in pieces(bare_name(hit.path))}
    whole = (1.0 if len(own) > 1 else 0.5) if own and own <= named else 0.0
    best = sorted(named or held, key=lambda term: (-ranking.strengths[term], term))  # a set has no fixed order
    spoken = list(dict.fromkeys(ranking.words_by_term.get(term, term) for term in best[:3]))
    hit.words = [word for word in spoken if not any(word in other.split() for other in spoken if other != word)]
    in_text = sum(ranking.strengths[term] for term in held | named) / total_strength
    in_name = sum(ranking.strengths[term] for term in named) / total_strength
    return in_text, in_name, len(held | named), len(named), whole


def weigh_certainty(ranking: Ranking) -> None:
    """Set each file's certainty: how certain it is, from 0 to 1, that the prompt is about the file.

    Certainties can be compared between prompts and projects. They come from a logistic regression: nine in ten prompts
    about one of seven projects reach 0.5, and one in a hundred unrelated prompts does.
    """
    best = ranking.hits[0].score if ranking.hits else 0.0
    for number, hit in enumerate(ranking.hits):
        if number >= MOST_COMPARED and not hit.reasons:
            hit.certainty = ranking.hits[number - 1].certainty * 0.9  # certainty decreases with the rank
            continue
        in_text, in_name, count, count_named, whole = features(hit, ranking)
        pointed = max((score for score, _reason in hit.reasons), default=0.0)
        logit = (
            -4.6 + 1.4 * in_text + 1.4 * in_name + 0.36 * min(count, 8) + 0.62 * min(count_named, 5)
            + 0.4 * in_text * min(count, 6) + 0.28 * in_name * min(count_named, 4) + 3.2 * whole
            + 0.7 * min(pointed, 1.5)
        )  # fmt: skip
        certainty = 1.0 / (1.0 + exp(-logit))
        certainty *= 1.0 if KIND_FACTORS[hit.kind] > 0.4 else 0.8
        if best > 0.0:
            certainty *= (max(hit.score, 0.0) / best) ** 0.5
        for score, reason in hit.reasons:
            # A lower score means that the prompt names it in passing, or that several files match.
            floor = 0.95 if reason == NAMED_REASON and score > 0.6 * NAMED else 0.0
            if reason == TRACE_REASON and score >= 0.55 * FRAME:
                floor = 0.85
            elif reason.startswith(DEFINES) and score >= 0.65 * EXACT:
                floor = 0.75
            elif reason.startswith(HOLDS) and score >= MESSAGE / 2**0.5:
                floor = 0.7
            certainty = max(certainty, floor)
        hit.certainty = min(certainty, 0.99)


def _holds(data: bytes, key: bytes, start: int, end: int) -> bool:
    at = data.find(key, start, end)
    while at >= 0 and at % 4:  # the match begins within an id; each id has four bytes
        at = data.find(key, at + 1, end)
    return at >= 0
