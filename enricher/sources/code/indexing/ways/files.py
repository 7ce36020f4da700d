"""Derive facts from files with a single purpose: workflows of GitHub, templates, git hooks, changelogs, migrations.

Does not run in the hook.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from enricher.sources.code.indexing.commands import LONGEST_COMMAND, TASK_SCRIPT, line_of
from enricher.sources.code.indexing.conventions import is_document
from enricher.sources.code.indexing.documents import LONGEST_UNIT, titles

if TYPE_CHECKING:
    from enricher.sources.code.indexing.commands import ProjectFiles

WORKFLOWS = ".github/workflows"
SENTENCE, COMMAND, FILE, HISTORY = "sentence", "command", "file", "history"
_WORKFLOW = re.compile(r"^\.github/workflows/[^/]+\.ya?ml$")
_TEMPLATE = re.compile(r"^(?:\.github/|docs/|)(?:pull_request_template(?:\.md|/[^/]+\.md)?)$", re.IGNORECASE)
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{4,60})\*\*$", re.MULTILINE)
_SIGN_OFF = re.compile(r"\bsign[- ]?off (?:your|all|each|every)\b|--signoff\b", re.IGNORECASE)
_GIT_HOOK = re.compile(r"^\.(?:husky|githooks)/(pre-commit|commit-msg)$")
NAMED = (TASK_SCRIPT, _WORKFLOW, _GIT_HOOK, _TEMPLATE)
_OF_EVERY_PROJECT = re.compile(
    r"^(?:trailing-|end-of-file-|check-|mixed-line-|fix-|detect-|debug-|no-commit-|forbid-|file-)"
)
"""Pre-commit hooks that are not specific to a project, such as those for whitespace."""
MOST_HOOKS = 6
_INSTALLS_HOOKS = re.compile(r"\bpre-?commit install\b")
_FORBIDS = re.compile(r"\b(?:not|never|don't|instead|without|avoid)\b", re.IGNORECASE)
_MIGRATION = re.compile(
    r"(?:^|/)(?:migrations|migrate|alembic)/(?:[^/]+/){0,2}(?:\d[\w.-]*\.(?:py|sql|ts|js|rb|php|exs)|[0-9a-f]{12}_\w+\.py)$"
    r"|/prisma/migrations/\d+\w+/migration\.sql$"
)
BY_HASH = re.compile(r"/versions/([0-9a-f]{12})_\w+\.py$")
"""A migration of Alembic, whose name begins with a random number; it says which one it follows."""
_FOLLOWS = re.compile(r"^down_revision\b.*", re.MULTILINE)
_PUBLISHES = re.compile(
    r"npm publish|pypi-publish|twine upload|cargo publish|goreleaser|action-gh-release|gh release|semantic-release"
    r"|butler push"
)
_ONLY_TAGS = re.compile(r"^\s*if:.*(?:refs/tags|ref_type\s*==\s*'tag'|github\.ref,\s*'tags)", re.MULTILINE)
"""The condition of a job that runs for tags only, however its workflow was started."""
MOST_CALLS = 3
RELEASE_TOOLS = {".releaserc": "semantic-release", ".goreleaser": "goreleaser", "release-please": "release-please"}
"""Tools that make releases, by how the name of their configuration file begins."""
GIT_HOOKS = {"pre-commit": 5.0, "commit-msg": 4.5}
"""Ranks of facts from git hooks, by the hook."""
MOST_NAMED = 6
"""Maximum workflows that are named for one event."""


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


def file_row(
    action: str, path: str, label: str, rank: float, *, line: int = 0, said: str = "", folder: str = ""
) -> Row:
    """Return the row for a fact that follows from the existence of the file ``path`` or from something in it."""
    return Row(action, FILE, said or path, label, path, line, folder, rank)


def of_files(project: ProjectFiles) -> list[Row]:
    """Return facts from files with a single purpose, such as pull request templates, workflows and git hooks."""
    rows: list[Row] = []
    for path, text in project.texts.items():
        if _TEMPLATE.match(path):
            asks = titles(text) or _BOLD_LINE.findall(text)
            label = f"{path} — the template of pull requests" + (f" asks for: {', '.join(asks[:5])}" if asks else "")
            rows.append(file_row("pull-request", path, label, 8.0))
            at, line = next((one for one in enumerate(text.splitlines(), 1) if _SIGN_OFF.search(one[1])), (0, ""))
            if said := line.strip(" -*"):
                rows.append(Row("sign-off", SENTENCE, said[:LONGEST_UNIT], f"{path}:{at}", path, at, "", 7.0))
        elif _WORKFLOW.match(path):
            rows += _of_workflow(path, text)
        elif path == ".env.example":
            count = sum("=" in line and not line.startswith("#") for line in text.splitlines())
            rows.append(file_row("setting", path, f"{path} — lists the environment variables ({count})", 6.0))
        elif tool := next((tool for start, tool in RELEASE_TOOLS.items() if path.startswith(start)), ""):
            rows.append(file_row("release", path, f"{path} — releases are made by {tool}", 5.0))
        elif path == ".pre-commit-config.yaml":
            rows += _of_hooks(project, path, text)
        elif (hook := _GIT_HOOK.match(path)) and (calls := _calls(text)):
            when = "runs before each commit" if hook[1] == "pre-commit" else "checks each commit's message"
            rows.append(file_row("commit", path, f"{path} — {when}: `{calls}`", GIT_HOOKS[hook[1]]))
    return rows + _of_names(project)


def _of_hooks(project: ProjectFiles, path: str, text: str) -> list[Row]:
    """Return a row with the hooks of pre-commit, if they are installed or a document says to install them."""
    lines = [line for other, one in project.texts.items() if is_document(other) for line in one.splitlines()]
    if not project.has_hook and not any(_INSTALLS_HOOKS.search(line) and not _FORBIDS.search(line) for line in lines):
        return []
    named = list(dict.fromkeys(re.findall(r"^\s*- id:\s*([\w-]+)", text, re.MULTILINE)))
    own = [name for name in named if not _OF_EVERY_PROJECT.match(name)][:MOST_HOOKS]
    if not own:
        return []
    more = f" and {len(named) - len(own)} more" if len(named) > len(own) else ""
    return [file_row("commit", path, f"{path} — hooks that run at each commit: {', '.join(own)}{more}", 4.0)]


def _calls(script: str) -> str:
    """Return the commands of a git hook on one line; empty if there are more than MOST_CALLS."""
    lines = [line.strip() for line in script.splitlines()]
    # Lines that only prepare the commands are left out: ". husky.sh", "set -e", '[ -n "$CI" ] && exit 0'.
    own = [line for line in lines if line and not line.startswith(("#", ".", "set ", "export ", "["))]
    calls = " && ".join(own)
    return calls if len(own) <= MOST_CALLS and len(calls) <= LONGEST_COMMAND else ""


def _of_names(project: ProjectFiles) -> list[Row]:
    rows = _of_migrations(project)
    if started := _started_by_pushes({path: text for path, text in project.texts.items() if _WORKFLOW.match(path)}):
        rows.append(file_row("trigger", WORKFLOWS, f"{WORKFLOWS}/ — {started}", 7.0))
    if ".all-contributorsrc" in project.present:
        label = ".all-contributorsrc — the list of contributors is kept by all-contributors"
        rows.append(file_row("contributor", ".all-contributorsrc", label, 6.0, said=label))
    for path in project.paths:
        if re.fullmatch(r"(?:CONTRIBUTORS|AUTHORS|CREDITS)(?:\.md|\.txt|\.rst)?", path):
            rows.append(file_row("contributor", path, f"{path} — lists the contributors", 5.0))
    return rows


def _of_migrations(project: ProjectFiles) -> list[Row]:
    """Return a row that names the newest migration; where several parts of a project have migrations, one for each."""
    found: dict[str, list[str]] = {}
    for path in sorted(project.paths):
        if match := _MIGRATION.search(path):
            found.setdefault(path[: match.start()], []).append(path)
    rows = []
    for folder, own in found.items():
        by_hash = {path: match[1] for path in own if (match := BY_HASH.search(path))}
        newest = max(own, key=lambda path: _numbers(path.rpartition("/")[2]))
        if by_hash:
            followed = "".join(said for path in own for said in _FOLLOWS.findall(project.texts.get(path, "")))
            last = [path for path, own_id in by_hash.items() if own_id not in followed]
            newest = last[0] if len(last) == 1 else ""  # of several branches, none is the newest
        if newest:
            label = f"{newest} — the newest of {len(own)} migrations"
            rows.append(file_row("migration", newest, label, 6.0, folder=folder if len(found) > 1 else ""))
    return rows


def _numbers(name: str) -> tuple[list[int], str]:
    """Return the key that sorts migrations by age: the numbers at the beginning of a file's name, then the name."""
    head = name.removesuffix(name.lstrip("0123456789._-"))
    return [int(digits) for digits in re.findall(r"\d+", head)], name


def _of_workflow(path: str, text: str) -> list[Row]:
    """Return a row on the events that start the workflow in the file ``path``; none unless it releases or deploys."""
    head = text.partition("\njobs:")[0]  # where the events are that start the workflow
    name = path.rpartition("/")[2].rpartition(".")[0].lower()
    tags, branches = _listed(head, r"tags"), _listed(head, r"push:\s*\n\s*branches")
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
    rows = [file_row("deploy", path, f"{where} — deploys on {' or '.join(when)}", 7.0, line=line)] if deploys else []
    if releases:  # a workflow named after a deployment may publish the package as well
        rank = 7.1 if name in ("release", "publish") else 7.0  # prefers "release" to "docker-release" if there are both
        rows.append(file_row("release", path, f"{where} — releases on {' or '.join(when)}", rank, line=line))
    if does and branches and not tags:
        some = " that changes some paths" if re.search(r"^\s*paths(?:-ignore)?:", head, re.MULTILINE) else ""
        rows.append(
            file_row("push", path, f"{where} — {does} on a push to {branches}{some}", 6.0, line=line, said=branches)
        )
    return rows


def folder_of(path: str) -> str:
    """Return the folder to which a document applies; empty if it applies to the whole project."""
    folder = path.rpartition("/")[0]
    return "" if folder.startswith((".", "docs", "doc")) else folder


def _started_by_pushes(workflows: dict[str, str]) -> str:
    """Return which event starts which workflow: "a push to main: ci.yml, deploy.yml; a pushed tag `v*`: release.yml".

    ``workflows`` maps paths to texts. The result is empty if neither a push nor a pull request starts one of them.
    """
    started: dict[str, list[str]] = {}
    for path, text in sorted(workflows.items()):
        for event in _events(text.partition("\njobs:")[0]):
            started.setdefault(event, []).append(path.rpartition("/")[2])
    events: dict[str, list[str]] = {}
    for event, names in started.items():
        shown = names[:MOST_NAMED] + ["…"] * (len(names) > MOST_NAMED)
        events.setdefault(", ".join(shown), []).append(event)
    return "; ".join(f"{' or '.join(which)}: {names}" for names, which in events.items())


def _events(head: str) -> list[str]:
    tags, branches = _listed(head, "tags"), _listed(head, r"push:\s*\n\s*branches")
    found = [f"a pushed tag `{tags}`"] if tags else []
    if branches:
        found.append(f"a push to {branches}")
    elif not tags and _has_event(head, "push"):
        found.append("any push")
    return found + (["a pull request"] if _has_event(head, "pull_request") else [])


def _has_event(head: str, event: str) -> bool:
    # "on: push", "on: [push, pull_request]", "  push:", "  - push"
    return bool(re.search(rf"^(?:[\"']?on[\"']?:.*\b{event}\b|\s+(?:- )?{event}(?::|\s*$))", head, re.MULTILINE))


def _listed(head: str, key: str) -> str:
    """Return the items of the YAML list at ``key``, joined by commas; empty if there is no such list.

    ``head`` is the part of a workflow file above its jobs, and ``key`` is a regular expression.
    """
    # "[v1, v2]" on one line, or a line "- v1" for each.
    found = re.search(rf"^\s*{key}:\s*(?:\[(.+?)\]|((?:\n\s*- .+)+))", head, re.MULTILINE)
    # In YAML, "#" begins a comment only after a space.
    values = re.split(r",|\n", re.sub(r"\s#.*", "", found[1] or found[2]) if found else "")
    return ", ".join(value.strip(" -'\"") for value in values if value.strip(" -'\""))
