"""Store git's history in the index: the newest commits, which of them were reverted, and the tags.

``enricher.sources.code.indexing.changes`` then reads what the commits did to names. Neither runs in the hook.
"""

from __future__ import annotations

import math
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from enricher.sources import git
from enricher.sources.code import clone, meta
from enricher.sources.code.indexing import changes, set_meta
from storage.base import private, reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.prompt.project import Project

MOST_COMMITS = 3_000
MOST_RECENT = 500
"""Number of the newest commits that determine which files count as changed recently."""
MOST_TAGS = 2_000
MOST_FILES = 60
"""Maximum files of a commit that counts as a recent change of its files; a larger one is a mass edit."""
LIFETIME = 100.0
"""Number of commits after which a change counts 37 % (1 / e) of a new one in a file's score for recent changes."""
_FORMAT = "--format=%x01%H%x02%ct%x02%s%x02%b%x02"  # git prints the file names after the last %x02


@dataclass(slots=True)
class Commit:
    """A git commit to be stored in the index; ``at`` is its time in seconds since 1970."""

    sha: str
    at: int
    subject: str
    body: str
    files: list[str] = field(default_factory=list)
    is_reverted: bool = False


def head(root: str) -> str:
    """Return the id of the commit that is checked out; raises ``git.GitError`` if git fails or there is no commit."""
    return git.ask(root, "rev-parse", "--verify", "HEAD^{commit}").decode(errors="replace").strip()


def boundary(git_dir: str) -> frozenset[str]:
    """Return the ids of the oldest commits of a shallow clone, whose parents are missing."""
    try:
        return frozenset(private.read_file(f"{git_dir}/shallow", 1 << 20).decode(errors="replace").split())
    except OSError:
        return frozenset()


def tags(root: str) -> list[tuple[str, int, str]]:
    """Return (name, time of the commit, id of the commit) of the newest tags; raises ``git.GitError`` if git fails."""
    fields = "%(refname:strip=2)%00%(*committerdate:unix)%00%(committerdate:unix)%00%(*objectname)%00%(objectname)"
    words = ("for-each-ref", "--sort=-creatordate", f"--count={MOST_TAGS}", f"--format={fields}", "refs/tags")
    found = []
    for line in git.ask(root, *words).decode(errors="replace").splitlines():
        name, peeled, own, its_commit, itself = line.split("\0")
        if (moment := peeled or own).isdigit():
            found.append((name, int(moment), its_commit or itself))
    return found


def newest_commits(root: str) -> list[Commit]:
    """Return the latest MOST_COMMITS commits, newest first; raises ``git.GitError`` if git fails."""
    printed = git.ask(root, "log", f"-n{MOST_COMMITS}", "--no-renames", "--name-only", "--relative", _FORMAT)
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
    """Mark the commits that a later commit reverted, and the reverting commits, so that neither are shown."""
    for number, commit in enumerate(commits):
        sha = commit.body.partition("This reverts commit ")[2][:40].rstrip(". \n")
        subject = commit.subject.partition('Revert "')[2].rpartition('"')[0]
        if not sha and not subject:
            continue
        commit.is_reverted = True
        for earlier in commits[number + 1 :]:
            if (sha and earlier.sha.startswith(sha)) or (not sha and earlier.subject == subject):
                earlier.is_reverted = not earlier.is_reverted  # a revert of a revert restores the first commit
                break


def recency(changed: Iterable[list[str]]) -> dict[str, float]:
    """Return for each path a score that grows with each commit that changed the file; recent commits count more.

    ``changed`` has the paths that each of the latest commits changed, newest first.
    """
    found: dict[str, float] = {}
    for age, paths in enumerate(changed):
        for path in paths if len(paths) <= MOST_FILES else ():
            found[path] = found.get(path, 0.0) + math.exp(-age / LIFETIME)
    return found


class GitHistory:
    """The current git history of a project, to be written into its index.

    ``commits`` is None if the index already contains them, which saves reading thousands of commits.
    """

    def __init__(self, project: Project, path: str, problems: list[str]) -> None:
        self.project = project
        self.problems = problems
        self.head, self.tags_stamp = "", ""
        self.commits: list[Commit] | None = []
        if not project.git_dir or problems:
            return
        self.tags_stamp = _stamp(project.git_dir)
        try:
            self.head = head(project.root)
            has_moved = _kept(path, "head") != self.head or _kept(path, "clone") != clone(project.git_dir)
            self.commits = newest_commits(project.root) if has_moved else None
        except git.GitError as failure:
            self._note(failure)

    def _note(self, failure: git.GitError) -> None:
        if not failure.is_refusal:  # a repository without commits is no problem to report
            self.problems.append(str(failure))

    def write(self, db: sqlite3.Connection, paths: Iterable[str]) -> int:
        """Store the tags and commits in the index; return 1 if the commit that is checked out has changed, else 0.

        If the index already has the commits, only the scores for recent changes are set, for the files in ``paths``.
        """
        self._write_tags(db)
        if self.commits is None:
            rows = db.execute("select files from commits order by at desc, id desc limit ?", (MOST_RECENT,)).fetchall()
            changed = (files.split("\n") if files else [] for (files,) in rows)
            # A list of MOST_FILES entries may be truncated; treat its commit as a mass edit.
            lately = recency(paths if len(paths) < MOST_FILES else [] for paths in changed)
            fresh = [(lately[name], name) for name in paths if name in lately]
            db.executemany("update files set recency = ? where path = ?", fresh)
            return 0
        was = meta(db, "head")
        set_meta(db, head=self.head, clone=clone(self.project.git_dir))
        self._write_commits(db, self.commits)
        db.execute("update files set recency = 0 where recency <> 0")
        lately = recency(commit.files for commit in self.commits[:MOST_RECENT])
        db.executemany("update files set recency = ? where path = ?", [(value, name) for name, value in lately.items()])
        return int(was != self.head)

    def keep(self, db: sqlite3.Connection, path: str) -> None:
        """Copy the history from the index at ``path`` into a rebuilt index, so that no diff has to be read again."""
        if not (_kept(path, "head") and _kept(path, "cut_at")):  # an older index lacks "cut_at"
            return
        db.execute("attach database ? as old", (path,))
        for table in ("commits", "name_changes", "file_changes", "tags"):
            db.execute(f"insert into main.{table} select * from old.{table}")
        kept = "('head', 'clone', 'tags', 'diff_bytes', 'is_whole', 'cut_at')"
        db.execute(f"insert into main.meta select * from old.meta where key in {kept}")
        db.execute("detach database old")

    def _write_commits(self, db: sqlite3.Connection, commits: list[Commit]) -> None:
        """Insert the new commits, and delete those that are no longer among ``commits``.

        The oldest is inserted first, so that the row ids give the order of commits made in the same second.
        """
        known = dict(db.execute("select sha, id from commits").fetchall())
        present = {one.sha for one in commits}
        gone = [number for sha, number in known.items() if sha not in present]
        changes.forget(db, gone)
        db.executemany("delete from commits where id = ?", [(number,) for number in gone])
        db.executemany(
            "insert into commits (sha, at, subject, files, is_reverted) values (?, ?, ?, ?, ?)"
            " on conflict (sha) do update set is_reverted = excluded.is_reverted",
            [
                (one.sha, one.at, redact(one.subject)[0], "\n".join(one.files[:MOST_FILES]), int(one.is_reverted))
                for one in reversed(commits)
            ],
        )

    def _write_tags(self, db: sqlite3.Connection) -> None:
        if meta(db, "tags") == self.tags_stamp:
            return
        try:
            found = tags(self.project.root) if self.head else []
        except git.GitError as failure:
            self._note(failure)
            return
        db.execute("delete from tags")
        db.executemany("insert or ignore into tags values (?, ?, ?)", found)
        set_meta(db, tags=self.tags_stamp)

    def read_changes(self, path: str) -> int:
        """Read the diffs that have not been read yet into the index at ``path``; return 1 if any was read, else 0."""
        if not self.head:
            return 0
        with closing(sqlite3.connect(path, timeout=2.0, isolation_level=None)) as db:
            if not db.execute("select 1 from commits where state = ?", (changes.UNREAD,)).fetchone():
                return 0
            db.execute("pragma synchronous = off")  # as in index._open
            db.execute("begin immediate")
            try:
                done = changes.read(db, self.project.root, boundary(self.project.git_dir))
            except git.GitError as failure:
                self.problems.append(str(failure))
                done = 0
            db.execute("commit")
        return int(bool(done))


def _kept(path: str, key: str) -> str:
    """Return a value from the ``meta`` table of the index at ``path``; empty if there is none."""
    if not os.path.isfile(path):
        return ""
    with closing(sqlite3.connect(reader.address(path), uri=True)) as db:
        return meta(db, key)


def _stamp(git_dir: str) -> str:
    """Return the modification times of git's tag files as one text, which changes if the tags change."""
    seen = []
    for name in ("packed-refs", "refs/tags"):
        try:
            seen.append(str(os.stat(f"{git_dir}/{name}").st_mtime_ns))
        except OSError:
            seen.append("")
    return " ".join(seen)
