"""Store in the code index how a project commits, tests, builds and releases, with the source of each fact.

Updated in the background whenever a relevant file has changed; read by ``enricher.context.channels.ways`` and
``enricher.context.channels.tests``. Each fact is a row: one sentence or command, with its file and line.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from enricher.prompt.redaction import redact, without_secrets
from enricher.sources.code import meta
from enricher.sources.code.indexing import set_meta
from enricher.sources.code.indexing.commands import (
    LONGEST_COMMAND,
    ONE_TEST,
    TASK_SCRIPT,
    Command,
    ProjectFiles,
    commands,
    line_of,
)
from enricher.sources.code.indexing.conventions import (
    DEEPEST,
    MOST_DOCUMENTS,
    additions,
    conventions,
    is_document,
)
from enricher.sources.code.indexing.documents import as_markdown, titles
from enricher.sources.code.indexing.runners import Runner, runners
from enricher.sources.code.indexing.ways.workflows import listed, started_by_pushes
from storage.base import private

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from enricher.sources.code.indexing.listing import ListedFile

SCHEMA = """
create table ways (action text not null, kind text not null, said text not null, label text not null,
    path text not null, line integer not null, folder text not null, rank real not null);
create table runners (folder text not null, ends text not null, template text not null);
create index ways_by_action on ways (action);
"""
DOES = {
    "test": "runs the tests", ONE_TEST: "runs one test", "lint": "checks the code", "run": "starts it",
    "build": "builds it", "deploy": "deploys", "release": "releases", "dependency": "adds or updates a dependency",
    "migration": "for migrations", "changelog": "for the changelog",
}  # fmt: skip
WORKFLOWS = ".github/workflows"
SENTENCE, COMMAND, FILE, HISTORY = "sentence", "command", "file", "history"

MOST_BYTES = 200_000
MOST_MANIFESTS = 120
MOST_STORED = 4
"""Maximum facts that are stored per action (such as "test"), kind of fact and folder."""
_MANIFESTS = frozenset(
    "package.json pyproject.toml setup.cfg tox.ini pytest.ini makefile gnumakefile justfile .justfile go.mod cargo.toml"
    " mix.exs gemfile composer.json pubspec.yaml build.gradle build.gradle.kts pom.xml requirements-dev.txt"
    " requirements.txt .releaserc .releaserc.json .goreleaser.yml .goreleaser.yaml .pre-commit-config.yaml"
    " release-please-config.json".split()
)
_ASIDE = re.compile(
    r"(?:^|/)(?:node_modules|fixtures?|templates?|examples?|samples?|testdata|tests?|vendor)/", re.IGNORECASE
)
_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_\w+|\w+_test|tests)\.py$")
_WORKFLOW = re.compile(r"^\.github/workflows/[^/]+\.ya?ml$")
_TEMPLATE = re.compile(r"^(?:\.github/|docs/|)(?:pull_request_template(?:\.md|/[^/]+\.md)?)$", re.IGNORECASE)
_CHANGELOG = re.compile(
    r"^(?:[\w@.-]+/){0,2}(?:(?:CHANGELOG|CHANGES|HISTORY|NEWS)\.(?:md|rst|txt)|(?-i:CHANGELOG|CHANGES|NEWS))$",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"unreleased|unpublished|not (?:yet )?released|pending|upcoming|in (?:development|progress)|snapshot|\bdev\d*\b"
    r"|\bnext(?: release| version)?$|\bt\.?b\.?[ad]\b|x{3,}",
    re.IGNORECASE,
)
"""Words in the heading of a changelog's section for what was not released yet."""
_GIT_HOOK = re.compile(r"^\.(?:husky|githooks)/(pre-commit|commit-msg)$")
_NAMED = (TASK_SCRIPT, _WORKFLOW, _GIT_HOOK, _TEMPLATE, _CHANGELOG)
_OF_EVERY_PROJECT = re.compile(
    r"^(?:trailing-|end-of-file-|check-|mixed-line-|fix-|detect-|debug-|no-commit-|forbid-|file-)"
)
"""Pre-commit hooks that are not specific to a project, such as those for whitespace."""
_MIGRATION = re.compile(
    r"(?:^|/)(?:migrations|migrate|alembic/versions)/(?:[^/]+/){0,2}\d[\w.-]*\.(?:py|sql|ts|js|rb|php|exs)$|/prisma/migrations/\d+\w+/migration\.sql$"
)
_PUBLISHES = re.compile(
    r"npm publish|pypi-publish|twine upload|cargo publish|goreleaser|action-gh-release|gh release|semantic-release"
    r"|butler push"
)
_ONLY_TAGS = re.compile(r"^\s*if:.*(?:refs/tags|ref_type\s*==\s*'tag'|github\.ref,\s*'tags)", re.MULTILINE)
"""The condition of a job that runs for tags only, however its workflow was started."""
_GUIDE = re.compile(
    r"(?:^(deploy)|(?:^|/)(?:releas|publish))\w*(?:[-_](?:process|procedure|guide|checklist))?\.\w+$", re.IGNORECASE
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
MOST_CALLS = 3
FRAGMENTS = (
    "newsfragments", "changelog.d", "changes.d", "changelog/unreleased", "changelogs/unreleased", ".changes/unreleased",
)  # fmt: skip
"""Folders with a file for each change that the next release will have."""
RELEASE_TOOLS = {".releaserc": "semantic-release", ".goreleaser": "goreleaser", "release-please": "release-please"}
"""Tools that make releases, by how the name of their configuration file begins."""
GIT_HOOKS = {"pre-commit": 5.0, "commit-msg": 4.5}
"""Ranks of facts from git hooks, by the hook."""
HABIT = 5.5
"""The rank of a habit in the commits; a sentence of a document has 7 or more."""
LATEST, FEWEST_COMMITS, MOSTLY = 60, 10, 0.7
"""How many latest commits are searched for a habit, how many there must be, and what share of them must follow it."""


class Row(NamedTuple):
    """A fact about an ``action`` such as "release": the sentence, command or path that it consists of, and its source.

    ``label`` is the text that is shown for it. A fact about one folder only has this ``folder``.
    """

    action: str
    kind: str
    said: str
    label: str
    path: str = ""
    line: int = 0
    folder: str = ""
    rank: float = 0.0


def write(db: sqlite3.Connection, root: str, files: list[ListedFile]) -> bool:
    """Store in the index how the project commits, tests, builds and releases; return whether anything was stored.

    Nothing is stored if the latest commit and the relevant files among ``files`` are the same as at the last call.
    """
    commits = db.execute("select sha, subject from commits order by at desc, id desc limit ?", (LATEST,)).fetchall()
    concerned = _concerned(files)
    mark = f"{_hash_of(concerned)} {commits[0][0] if commits else ''}"
    if meta(db, "ways") == mark:
        return False
    texts = {file.path: text for file in concerned if (text := _read(root, file))}
    project = ProjectFiles([file.path for file in files], texts, _a_python_test(root, files))
    rows = [
        *_of_commands(commands(project)),
        *_of_documents(texts),
        *_of_files(project),
        *_of_history([subject for _sha, subject in commits]),
    ]
    known = runners(project)
    db.execute("delete from ways")
    db.execute("delete from runners")
    db.executemany("insert into ways values (?, ?, ?, ?, ?, ?, ?, ?)", _best([*rows, *_of_runners(known, project)]))
    db.executemany("insert into runners values (?, ?, ?)", [(one.folder, one.ends, one.template) for one in known])
    set_meta(db, ways=mark, imported=_imported(root, texts), dependencies=" ".join(_dependencies(texts)))
    return True


def _dependencies(texts: dict[str, str]) -> list[str]:
    """Return the names, in small letters, of what the manifests among ``texts`` give a version."""
    manifests = (text for path, text in texts.items() if path.rpartition("/")[2].lower() in _MANIFESTS)
    names = {name.lower() for text in manifests for name in _DEPENDENCY.findall(text)}
    return sorted(names - _NO_DEPENDENCIES)[:MOST_DEPENDENCIES]


def _concerned(files: list[ListedFile]) -> list[ListedFile]:
    documents = _uppermost([file for file in files if is_document(file.path)])
    manifests = _uppermost([file for file in files if _is_manifest(file.path)])
    return documents[:MOST_DOCUMENTS] + manifests[:MOST_MANIFESTS]


def _uppermost(files: list[ListedFile]) -> list[ListedFile]:
    return sorted(files, key=lambda file: (file.path.count("/"), file.path))


def _is_manifest(path: str) -> bool:
    if path.count("/") > DEEPEST:
        return False
    if path.rpartition("/")[2].lower() in _MANIFESTS:
        return not _ASIDE.search(path)
    return path == ".env.example" or any(pattern.match(path) and not _ASIDE.search(path) for pattern in _NAMED)


def _hash_of(files: Iterable[ListedFile]) -> str:
    content = "\n".join(f"{file.path} {file.mtime_ns} {file.size}" for file in files)
    return blake2b(content.encode(errors="surrogateescape"), digest_size=12).hexdigest()


def _read(root: str, file: ListedFile) -> str:
    if file.size > MOST_BYTES and not _CHANGELOG.match(file.path):  # of a changelog, the beginning is enough
        return ""
    try:
        content = private.read_file(f"{root}/{file.path}", MOST_BYTES)
    except OSError:
        return ""
    text = "" if b"\0" in content else without_secrets(content.decode(errors="replace"))
    return as_markdown(text) if file.path.endswith(".rst") and is_document(file.path) else text


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
        label = f"{where} — {DOES[one.action]}: {place}`{one.command}`{means}"
        rows.append(Row(one.action, COMMAND, one.command, label, one.path, one.line, one.folder, one.rank))
    return rows


def _of_runners(found: list[Runner], project: ProjectFiles) -> list[Row]:
    """Return rows with the commands that run one test file, ranked by how many such files there are.

    Those that every agent tries first (of Go, and a bare ``pytest``) say nothing about the project and are left out.
    """
    tests = [path for path in project.paths if "test" in path.lower() or "spec" in path.lower()]
    rows = []
    for one in found:
        ends = tuple(f".{end}" for end in one.ends.split())
        count = sum(path.endswith(ends) and path.startswith(one.folder) for path in tests)
        command = one.template.format(path="FILE", dir="FOLDER", stem="NAME", dotted="MODULE")
        if count and one.ends != "go" and not command.startswith("pytest "):
            label = f"{f'in {one.folder}/: ' if one.folder else ''}`{command}` runs one test file"
            rank = count / (len(tests) + 1)
            rows.append(Row(ONE_TEST, COMMAND, command, label, folder=one.folder, rank=rank))
    return rows


def _of_documents(texts: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    for path, text in texts.items():
        if not is_document(path):
            continue
        if made := _GUIDE.search(path):
            action = "deploy" if made[1] else "release"
            parts = [title for title in titles(text)[1:] if len(title) <= LONGEST_TITLE]
            if len(parts) >= FEWEST_PARTS:
                label = f"{path} — describes how this project {DOES[action]}: {', '.join(parts[:5])}"
                rows.append(_row(action, path, label, GUIDE, folder=_folder_of(path)))
        folder = _folder_of(path)
        rows += [
            Row(one.action, SENTENCE, one.text, f"{path}:{one.line}", path, one.line, folder, one.score)
            for one in [*conventions(path, text), *additions(path, text)]
        ]
    return rows


def _row(action: str, path: str, label: str, rank: float, *, line: int = 0, said: str = "", folder: str = "") -> Row:
    """Return the row for a fact that follows from the existence of the file ``path`` or from something in it."""
    return Row(action, FILE, said or path, label, path, line, folder, rank)


def _of_files(project: ProjectFiles) -> list[Row]:
    """Return facts from files with a single purpose, such as pull request templates, workflows and git hooks."""
    rows: list[Row] = []
    for path, text in project.texts.items():
        if _TEMPLATE.match(path):
            asks = titles(text)
            label = f"{path} — the template of pull requests" + (f" asks for: {', '.join(asks[:5])}" if asks else "")
            rows.append(_row("pull-request", path, label, 8.0))
        elif _WORKFLOW.match(path):
            rows += _of_workflow(path, text)
        elif _CHANGELOG.match(path):
            rows += _of_changelog(project, path, text)
        elif path == ".env.example":
            count = sum("=" in line and not line.startswith("#") for line in text.splitlines())
            rows.append(_row("setting", path, f"{path} — lists the environment variables ({count})", 6.0))
        elif tool := next((tool for start, tool in RELEASE_TOOLS.items() if path.startswith(start)), ""):
            rows.append(_row("release", path, f"{path} — releases are made by {tool}", 5.0))
        elif path == ".pre-commit-config.yaml":
            named = re.findall(r"^\s*- id:\s*([\w-]+)", text, re.MULTILINE)
            hooks = [name for name in dict.fromkeys(named) if not _OF_EVERY_PROJECT.match(name)]
            if hooks:
                label = f"{path} — hooks that run at each commit: {', '.join(hooks[:6])}"
                rows.append(_row("commit", path, label, 4.0))
        elif (hook := _GIT_HOOK.match(path)) and (calls := _calls(text)):
            when = "runs before each commit" if hook[1] == "pre-commit" else "checks each commit's message"
            rows.append(_row("commit", path, f"{path} — {when}: `{calls}`", GIT_HOOKS[hook[1]]))
    return rows + _of_names(project)


def _calls(script: str) -> str:
    """Return the commands of a git hook on one line; empty if there are more than MOST_CALLS."""
    lines = [line.strip() for line in script.splitlines()]
    # Left out is what only prepares the commands: ". husky.sh", "set -e", '[ -n "$CI" ] && exit 0'.
    own = [line for line in lines if line and not line.startswith(("#", ".", "set ", "export ", "["))]
    calls = " && ".join(own)
    return calls if len(own) <= MOST_CALLS and len(calls) <= LONGEST_COMMAND else ""


def _of_names(project: ProjectFiles) -> list[Row]:
    rows: list[Row] = []
    rows += _of_migrations(project.paths)
    if started := started_by_pushes({path: text for path, text in project.texts.items() if _WORKFLOW.match(path)}):
        rows.append(_row("trigger", WORKFLOWS, f"{WORKFLOWS}/ — {started}", 7.0))
    if ".all-contributorsrc" in project.present:
        label = ".all-contributorsrc — the list of contributors is kept by all-contributors"
        rows.append(_row("contributor", ".all-contributorsrc", label, 6.0, said=label))
    for path in project.paths:
        if re.fullmatch(r"(?:CONTRIBUTORS|AUTHORS|CREDITS)(?:\.md|\.txt|\.rst)?", path):
            rows.append(_row("contributor", path, f"{path} — lists the contributors", 5.0))
    if ".changeset/config.json" in project.present:
        label = ".changeset/ — a change is noted in a file of its own there (changesets)"
        rows.append(_row("changelog", ".changeset/config.json", label, 7.0, said=label))
        rows.append(_row("release", ".changeset/config.json", label, 4.5, said=label))
    for folder in FRAGMENTS:
        if any(path.startswith(f"{folder}/") for path in project.paths):
            label = f"{folder}/ — a change is noted in a file of its own there"
            rows.append(_row("changelog", folder, label, 7.0, said=label))
    return rows


def _of_migrations(paths: Iterable[str]) -> list[Row]:
    """Return a row that names the newest migration; where several parts of a project have migrations, one for each."""
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        if match := _MIGRATION.search(path):
            found.setdefault(path[: match.start()], []).append(path)
    rows = []
    for folder, own in found.items():
        newest = max(own, key=lambda path: _numbers(path.rpartition("/")[2]))
        label = f"{newest} — the newest of {len(own)} migrations"
        rows.append(_row("migration", newest, label, 6.0, folder=folder if len(found) > 1 else ""))
    return rows


def _numbers(name: str) -> tuple[list[int], str]:
    """Return the key that sorts migrations by age: the numbers at the beginning of a file's name, then the name."""
    head = name.removesuffix(name.lstrip("0123456789._-"))
    return [int(digits) for digits in re.findall(r"\d+", head)], name


def _of_workflow(path: str, text: str) -> list[Row]:
    """Return a row that says what starts the workflow in the file ``path``, if this releases or deploys; else none."""
    head = text.partition("\njobs:")[0]  # where the events are that start the workflow
    name = path.rpartition("/")[2].rpartition(".")[0].lower()
    tags, branches = listed(head, r"tags"), listed(head, r"push:\s*\n\s*branches")
    when = [f"a pushed tag `{tags}`"] if tags else []
    when += ["a published GitHub release"] if re.search(r"^\s*release:\s*\n\s*types:", head, re.MULTILINE) else []
    releases = bool(re.search(r"release|publish", name) and not re.search(r"draft|notes|label|check", name)) or (
        bool(when) and bool(_PUBLISHES.search(text))
    )
    when += [f"a push to {branches}"] if branches and not tags else []
    when += ["a start by hand"] if "workflow_dispatch" in head and not (tags and _ONLY_TAGS.search(text)) else []
    if not when:
        return []
    line = line_of(text, "tags:") if tags else line_of(text, "on:")
    where = f"{path}:{line}"
    deploys = bool(re.search(r"deploy|pages", name))
    does = "deploys" if deploys else "releases" if releases else ""
    rows = [_row("deploy", path, f"{where} — deploys on {' or '.join(when)}", 7.0, line=line)] if deploys else []
    if releases:  # one that deploys by its name may publish the package as well
        rank = 7.1 if name in ("release", "publish") else 7.0  # not "docker-release" where there are both
        rows.append(_row("release", path, f"{where} — releases on {' or '.join(when)}", rank, line=line))
    if does and branches and not tags:
        some = " that changes some paths" if re.search(r"^\s*paths(?:-ignore)?:", head, re.MULTILINE) else ""
        rows.append(
            _row("push", path, f"{where} — {does} on a push to {branches}{some}", 6.0, line=line, said=branches)
        )
    return rows


def _of_changelog(project: ProjectFiles, path: str, text: str) -> list[Row]:
    if ".changeset/config.json" in project.present:
        return []
    lines = text.splitlines()[:80]  # the newest section is at the top
    for number, line in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        if not line.startswith(("#", "[")) and not re.match(r"([=~^*-])\1{2,}\s*$", below):
            continue
        title = re.sub(r"[\[\]#*]|\(http\S*\)", "", line).strip()
        if _NEXT.search(title):
            folder = _folder_of(path)
            label = f"{path}:{number} — the section {title[:40]} takes the next entry"
            changelog = _row("changelog", path, label, 6.0, line=number, folder=folder)
            return [changelog] if folder else [changelog, _row("release", path, label, 3.0, line=number)]
        if re.search(r"\d\.\d", title):  # the newest section is of a version that was released
            return []
    return []


def _folder_of(path: str) -> str:
    """Return the folder for which a document holds; empty for one of the whole project."""
    folder = path.rpartition("/")[0]
    return "" if folder.startswith((".", "docs", "doc")) else folder


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
