"""Store in the code index how a project commits, tests, builds and releases, with the source of each fact.

Updated in the background whenever a relevant file has changed; read by ``enricher.context.channels.ways`` and
``enricher.context.channels.tests``. Each fact is a row: one sentence or command, with its file and line.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from enricher.prompt.wording.actions.versions import plain_name
from enricher.sources.code import ONE_TEST, meta
from enricher.sources.code.indexing import read_text, set_meta
from enricher.sources.code.indexing.commands import Command, ProjectFiles, commands
from enricher.sources.code.indexing.conventions import DEEPEST, MOST_DOCUMENTS, conventions, is_document
from enricher.sources.code.indexing.documents import as_markdown, titles
from enricher.sources.code.indexing.listing import uppermost
from enricher.sources.code.indexing.runners import Runner, runners
from enricher.sources.code.indexing.ways import pins
from enricher.sources.code.indexing.ways.changelogs import CHANGELOG, of_changelogs
from enricher.sources.code.indexing.ways.files import (
    BY_HASH,
    COMMAND,
    HISTORY,
    NAMED,
    SENTENCE,
    Row,
    file_row,
    folder_of,
    of_files,
)
from enricher.sources.code.indexing.ways.named import BUILD_FILES, named_checks, named_tests
from enricher.sources.code.indexing.ways.new_things import additions, may_explain, names, prose
from enricher.sources.code.indexing.ways.task_files import tasks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from enricher.sources.code.indexing.listing import ListedFile

SCHEMA = (
    """
create table ways (action text not null, kind text not null, said text not null, label text not null,
    path text not null, line integer not null, folder text not null, rank real not null);
create table runners (folder text not null, ends text not null, template text not null);
create index ways_by_action on ways (action);
"""
    + pins.SCHEMA
)
DOES = {
    "test": "runs the tests", ONE_TEST: "runs one test", "lint": "checks the code", "run": "starts it",
    "build": "builds it", "deploy": "deploys", "release": "releases", "dependency": "adds or updates a dependency",
    "migration": "for migrations", "changelog": "for the changelog",
    "install": "builds it and installs it on the connected device",
}  # fmt: skip
MOST_BYTES = 200_000
MOST_MANIFESTS = 120
MOST_BUILD_FILES = 60
GIT_HOOK = ".git/hooks/pre-commit"
MOST_STORED = 4
"""Maximum facts that are stored per action (such as "test"), kind of fact and folder."""
_MANIFESTS = frozenset(
    "package.json pyproject.toml setup.cfg tox.ini pytest.ini makefile gnumakefile justfile .justfile go.mod cargo.toml"
    " mix.exs gemfile composer.json pubspec.yaml build.gradle build.gradle.kts pom.xml requirements-dev.txt"
    " requirements.txt .releaserc .releaserc.json .goreleaser.yml .goreleaser.yaml .pre-commit-config.yaml"
    " release-please-config.json mise.toml .mise.toml taskfile.yml taskfile.yaml taskfile.dist.yml"
    " taskfile.dist.yaml .borp.yaml .borp.yml .mocharc.yml .mocharc.yaml .mocharc.json .mocharc.jsonc .mocharc.js"
    " .mocharc.cjs".split()
)
_ASIDE = re.compile(
    r"(?:^|/)(?:node_modules|fixtures?|templates?|examples?|samples?|testdata|tests?|vendor)/", re.IGNORECASE
)
_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_\w+|\w+_test|tests)\.py$")
_GUIDE = re.compile(
    r"(?:^(deploy)|(?:^|/)(?:how[-_]?to[-_])?(?:releas|publish))\w*(?:[-_](?:process|procedure|guide|checklist))?\.\w+$",
    re.IGNORECASE,
)
"""A document that is about releasing or deploying as a whole; in a folder, one on deploying is for users."""
GUIDE = 8.5
"""The rank of such a document."""
LONGEST_TITLE, FEWEST_PARTS = 60, 3
_DEPENDENCY = re.compile(
    # "requests[socks]>=2.28"; "lodash": "^4.17"; serde = { version = "1" }; gem "rack", "~> 3"; golang.org/x/net v0.1
    r"""^\s*(?:[\w.-]+ = \[|gem |require |- )?["']?(?:[\w-]+\.[\w.-]+/(?:\S+/)?)?"""
    r"""(@?[a-z][\w./-]*)(?:\[[\w, -]+\])?["']?"""
    r"""(?:\s*[<>=~!]=|\s*(?:[:,]|= ?)\s*(?:["'][~^<>= ]*\d|\{)| v\d)""",
    re.MULTILINE | re.IGNORECASE,
)
_NO_DEPENDENCIES = frozenset("edition node npm php python python_version ruby rust-version version".split())
MOST_DEPENDENCIES = 600
_CONVENTIONAL = re.compile(r"^(\w{2,12})(\([^)]{1,40}\))?!?: \S")  # "fix(parser)!: Accept tabs"
_TICKET = re.compile(r"^(?:\[?[A-Z]{2,10}-\d+\]?)[: ]")  # "SHOP-12: Accept tabs", "[SHOP-12] Accept tabs"
AGENT_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
HABIT = 5.5
"""The rank of a habit in the commits; a sentence of a document has 7 or more."""
LATEST, FEWEST_COMMITS, MOSTLY = 60, 10, 0.7
"""How many latest commits are searched for a habit, how many there must be, and what share of them must follow it."""


def write(db: sqlite3.Connection, root: str, files: list[ListedFile]) -> bool:
    """Store in the index how the project commits, tests, builds and releases; return whether anything was stored.

    Nothing is stored if the latest commit and the relevant files among ``files`` are the same as at the last call.
    """
    are_pins_new = pins.write(db, root, files)
    commits = db.execute("select sha, subject from commits order by at desc, id desc limit ?", (LATEST,)).fetchall()
    concerned = _concerned(files)
    guides = uppermost([file for file in files if may_explain(file.path)])[:MOST_DOCUMENTS]
    builds = uppermost([file for file in files if _is_build_file(file.path)])[:MOST_BUILD_FILES]
    has_hook = os.path.exists(f"{root}/{GIT_HOOK}")
    tags = [name for (name,) in db.execute("select name from tags order by at desc")]
    hashed = _hash_of([*concerned, *guides, *builds])
    mark = f"{hashed} {has_hook} {commits[0][0] if commits else ''} {' '.join(tags[:1])}"
    if meta(db, "ways") == mark:
        return are_pins_new
    texts = {file.path: text for file in concerned if (text := _read(root, file))}
    by_hash = {file.path: _read(root, file) for file in files if BY_HASH.search(file.path)}
    project = ProjectFiles(
        [file.path for file in files], texts | by_hash, _a_python_test(root, files), has_hook=has_hook
    )
    rows = [
        *_of_commands([*commands(project), *tasks(texts)]),
        *_of_documents(texts),
        *_of_additions(texts | {file.path: _read(root, file) for file in guides}, project.paths),
        *of_files(project),
        *of_changelogs(project, tags),
        *_of_history([subject for _sha, subject in commits]),
        *named_tests({file.path: _read(root, file) for file in builds}),
        *named_checks(project.present, texts),
    ]
    known = runners(project)
    db.execute("delete from ways")
    db.execute("delete from runners")
    db.executemany("insert into ways values (?, ?, ?, ?, ?, ?, ?, ?)", _best([*rows, *_of_runners(known, project)]))
    db.executemany("insert into runners values (?, ?, ?)", [(one.folder, one.ends, one.template) for one in known])
    set_meta(db, ways=mark, imported=_imported(root, texts), dependencies=" ".join(_dependencies(texts)))
    return True


def _dependencies(texts: dict[str, str]) -> list[str]:
    """Return the lower-case names of the packages whose versions the manifests among ``texts`` state."""
    manifests = (text for path, text in texts.items() if path.rpartition("/")[2].lower() in _MANIFESTS)
    names = {plain_name(name) for text in manifests for name in _DEPENDENCY.findall(text)}
    return sorted(names - _NO_DEPENDENCIES)[:MOST_DEPENDENCIES]


def _concerned(files: list[ListedFile]) -> list[ListedFile]:
    documents = uppermost([file for file in files if is_document(file.path)])
    manifests = uppermost([file for file in files if _is_manifest(file.path)])
    return documents[:MOST_DOCUMENTS] + manifests[:MOST_MANIFESTS]


def _is_build_file(path: str) -> bool:
    return path.rpartition("/")[2].lower() in BUILD_FILES


def _is_manifest(path: str) -> bool:
    if path.count("/") > DEEPEST:
        return False
    if path.rpartition("/")[2].lower() in _MANIFESTS:
        return not _ASIDE.search(path)
    is_named = any(pattern.match(path) for pattern in (*NAMED, CHANGELOG))
    return path == ".env.example" or (is_named and not _ASIDE.search(path))


def _hash_of(files: Iterable[ListedFile]) -> str:
    content = "\n".join(f"{file.path} {file.mtime_ns} {file.size}" for file in files)
    return blake2b(content.encode(errors="surrogateescape"), digest_size=12).hexdigest()


def _read(root: str, file: ListedFile) -> str:
    if file.size > MOST_BYTES and not CHANGELOG.match(file.path):  # the beginning of a changelog is enough
        return ""
    text = read_text(root, file.path, MOST_BYTES)
    is_prose = is_document(file.path) or (may_explain(file.path) and not CHANGELOG.match(file.path))
    return as_markdown(text) if is_prose and file.path.endswith(".rst") else text


def _a_python_test(root: str, files: list[ListedFile]) -> str:
    tests = [file for file in files if _PYTHON_TEST.search(file.path)]
    return _read(root, min(tests, key=lambda file: (len(file.path), file.path))) if tests else ""


def _best(rows: list[Row]) -> list[Row]:
    """Return the facts in ``rows`` that are to be stored, with secrets redacted.

    All facts from files for agents, such as CLAUDE.md, are stored. Of the others, only the best few are stored for each
    action (such as "release"), kind (such as "sentence" or "command") and folder.
    """
    kept: list[Row] = []
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in sorted(rows, key=lambda row: -row.rank):
        group = row.action, row.kind, row.folder
        counts[group] += 1
        if counts[group] <= MOST_STORED or row.path.rpartition("/")[2] in AGENT_FILES:
            kept.append(row._replace(said=redact(row.said)[0], label=redact(row.label)[0]))
    return kept


def _of_commands(found: list[Command]) -> list[Row]:
    rows: list[Row] = []
    for one in found:
        where = f"{one.path}:{one.line}" if one.line else one.path
        place = f"in {one.folder}/: " if one.folder else ""
        means = f" ({one.means})" if one.means and one.means not in one.command else ""
        does = f"{DOES[one.action]}: " if one.action in DOES else ""
        label = (
            f"{where} — {does}{place}`{one.command}`{means}" if one.line or does else f"{one.path} — the script for it"
        )
        rows.append(Row(one.action, COMMAND, one.command, label, one.path, one.line, one.folder, one.rank))
    return rows


def _of_runners(found: list[Runner], project: ProjectFiles) -> list[Row]:
    """Return a row for each command that runs a single test file; those that can run more files rank higher.

    Commands that every agent tries first (those of Go, and ``pytest`` without options) are left out.
    """
    tests = [path for path in project.paths if "test" in path.lower() or "spec" in path.lower()]
    rows = []
    for one in found:
        ends = tuple(f".{end}" for end in one.ends.split())
        count = sum(path.endswith(ends) and path.startswith(one.folder) for path in tests)
        command = one.template.format(path="FILE", dir="FOLDER", stem="NAME", dotted="MODULE", module="")
        if count and one.ends != "go" and not command.startswith("pytest "):
            label = f"{f'in {one.folder}/: ' if one.folder else ''}`{command}` runs one test file"
            rank = count / (len(tests) + 1)
            rows.append(Row(ONE_TEST, COMMAND, command, label, folder=one.folder, rank=rank))
    return rows


def _of_documents(texts: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    for path, text in texts.items():
        if not is_document(path) or (CHANGELOG.match(path) and _has_versions(text)):
            continue
        if made := _GUIDE.search(path):
            action = "deploy" if made[1] else "release"
            parts = [title for title in titles(text)[1:] if len(title) <= LONGEST_TITLE]
            is_about = made[1] or "releas" in text.lower()  # the program itself may publish something
            if len(parts) >= FEWEST_PARTS and is_about:
                label = f"{path} — describes how this project {DOES[action]}: {', '.join(parts[:5])}"
                rows.append(file_row(action, path, label, GUIDE, folder=folder_of(path)))
        folder = folder_of(path)
        rows += [
            Row(one.action, SENTENCE, one.text, f"{path}:{one.line}", path, one.line, folder, one.score)
            for one in conventions(path, text)
        ]
    return rows


def _of_additions(texts: dict[str, str], paths: list[str]) -> list[Row]:
    present = names(paths)
    return [
        Row(one.action, SENTENCE, one.text, f"{path}:{one.line}", path, one.line, folder_of(path), one.score)
        for path, text in texts.items()
        if (is_document(path) or may_explain(path)) and not CHANGELOG.match(path)
        for one in additions(path, prose(path, text), present)
    ]


def _has_versions(text: str) -> bool:
    """Return whether at least half of a document's headings are versions, as in release notes, which state no rules."""
    heads = titles(text)[1:]
    return 0 < len(heads) <= 2 * sum(bool(re.search(r"\d\.\d", head)) for head in heads)


def _of_history(latest: list[str]) -> list[Row]:
    """Return a row that says how the subjects of the latest commits are written, if most have the same form."""
    subjects = [subject for subject in latest if not subject.startswith(("Merge ", "Revert "))]
    if len(subjects) < FEWEST_COMMITS:
        return []
    alike = [match for subject in subjects if (match := _CONVENTIONAL.match(subject))]
    if len(alike) >= MOSTLY * len(subjects):
        types = ", ".join(name for name, _count in Counter(match[1] for match in alike).most_common(5))
        scoped = sum(bool(match[2]) for match in alike) >= len(alike) / 2
        form = "type(scope): summary" if scoped else "type: summary"
        label = (
            f"git log — {len(alike)} of the last {len(subjects)} commit subjects read `{form}` ({types}), the newest"
        )
        return [Row("commit", HISTORY, alike[0].string, label, rank=HABIT)]
    tickets = [subject for subject in subjects if _TICKET.match(subject)]
    if len(tickets) >= MOSTLY * len(subjects):
        label = f"git log — {len(tickets)} of the last {len(subjects)} commit subjects begin with a ticket, the newest"
        return [Row("commit", HISTORY, tickets[0], label, rank=HABIT)]
    return []


def _imported(root: str, texts: dict[str, str]) -> str:
    """Return which agent instruction files import other files, one pair per line, such as "CLAUDE.md AGENTS.md".

    The first file of a pair imports the second with "@" or is a symbolic link to it. ``texts`` maps paths to contents.
    """
    found = []
    for name in AGENT_FILES:
        for other in re.findall(r"(?:^|\s)@([\w./-]+\.md)\b", texts.get(name, "")):
            found.append(f"{name} {other.removeprefix('./')}")
        if os.path.islink(f"{root}/{name}"):
            target = os.path.relpath(os.path.realpath(f"{root}/{name}"), root)
            if not target.startswith(".."):
                found.append(f"{name} {target}")
    return "\n".join(found)
