"""Check Python files, or only their lines that changed since a revision of git.

At the end of an agent's turn, the code that it wrote is checked; violations are stored with the recorded prompt.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from enricher.home import project_root
from enricher.prompt.redaction import redact
from enricher.rules import cache
from enricher.settings import KEEPS_TEXT, with_environment
from enricher.sources import git, transcripts
from enricher.validation.rules import SYNTAX, PromptRuleEngine, Violation
from storage.db import database
from storage.traces import queries, violations
from storage.traces.violations import PromptRuleViolation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from enricher.prompt.event import PromptEvent
    from enricher.validation.rules import PromptRule

    Spans = list[tuple[int, int]]
    Shown = Sequence[tuple[str, str]]

LARGEST_BYTES = 8 * 1024 * 1024
"""Maximum bytes of a file that is checked; also used as a line number that no such file reaches."""
_SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages", "venv", "build", "dist"))
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")  # "@@ -12,0 +13,2 @@": first new line, and how many (if not 1)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")  # in quoted names, git writes special bytes as in C
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


class UnknownRevisionError(ValueError):
    """Raised if git cannot compare the files with a revision; the message gives the reason."""


def python_files(paths: Iterable[str]) -> list[str]:
    """Return the files in ``paths``, and all Python files below the folders in ``paths``.

    Files that git ignores are left out; outside of git repositories, hidden files and installed packages are left out.
    """
    found: dict[str, None] = {}
    for path in paths:
        found.update(dict.fromkeys(_in_folder(path) if os.path.isdir(path) else [path]))
    return list(found)


def _in_folder(folder: str) -> list[str]:
    try:
        listed = git.ask(folder, "ls-files", "-co", "--exclude-standard", "-z", "--", "*.py")
    except git.GitError:
        return sorted(_walked(folder))
    names = {os.path.normpath(os.path.join(folder, os.fsdecode(name))) for name in listed.split(b"\0") if name}
    return sorted(filter(os.path.isfile, names))  # git also lists a file that is deleted, but still in its index


def _walked(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED
            and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))  # a virtual environment of any name
        ]
        yield from (os.path.normpath(os.path.join(place, name)) for name in names if name.endswith(".py"))


def changed_lines(folder: str, revision: str) -> dict[str, Spans]:
    """Return the ranges of lines that were added or changed since a git revision, by the absolute path of their file.

    Only Python files are compared; all lines of an untracked file count as added. Raises UnknownRevisionError.
    """
    try:
        top = os.fsdecode(git.ask(folder, "rev-parse", "--show-toplevel").rstrip(b"\n"))
        commit = _commit_of(revision, folder)
        # Settings of the user or the repository must not change the format of the diff that is parsed below.
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/")
        difference = git.ask(top, "diff", *plain, commit, "--", "*.py")
        untracked = git.ask(top, "ls-files", "-o", "--exclude-standard", "-z", "--", "*.py")
    except git.GitError as error:
        raise UnknownRevisionError(str(error)) from None
    found = {os.path.join(top, os.fsdecode(name)): [(1, LARGEST_BYTES)] for name in untracked.split(b"\0") if name}
    spans: Spans = []
    for line in difference.split(b"\n"):
        if line.startswith((b"+++ b/", b'+++ "b/')):
            spans = found.setdefault(os.path.join(top, _path(line[4:])), [])
        elif line.startswith(b"@@ ") and (hunk := _HUNK.match(line.decode("utf-8", "replace"))):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            spans.extend([(first, first + count - 1)] if count else [])  # 0: lines were only deleted here
    return found


def _commit_of(revision: str, folder: str) -> str:
    try:
        return git.ask(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except git.GitError as error:
        if not error.is_refusal:
            raise
        raise UnknownRevisionError("no commit, branch or tag of this repository has that name") from None


def _path(name: bytes) -> str:
    """Return the path in a line of git's diff, without its prefix and without the quotes around unusual names."""
    name = name.rstrip(b"\t")  # git ends a name that contains spaces with a tab
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_character, name[1:-1])
    return os.fsdecode(name[2:])


def _character(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPED.get(code, code)


def validate_files(
    engine: PromptRuleEngine,
    files: Iterable[str],
    rules: Sequence[PromptRule] | None = None,
    *,
    changed: Mapping[str, Spans] | None,
    root: str = "",
) -> Iterator[Violation]:
    """Yield the violations in files; with ``changed``, only those that concern a changed line.

    The paths in ``files`` and in the violations are relative to ``root``, or to the current folder if that is empty.
    A file that cannot be read or parsed counts as one violation; the others are still checked.
    """
    for file in files:
        spans = None if changed is None else changed.get(os.path.abspath(os.path.join(root, file)), [])
        if spans == []:
            continue
        for one in _in_file(engine, file, rules, root=root):
            if spans is None or one.rule_id == SYNTAX or _touches(one, spans):
                yield one


def _in_file(engine: PromptRuleEngine, file: str, rules: Sequence[PromptRule] | None, *, root: str) -> list[Violation]:
    path = os.path.join(root, file)
    try:
        with open(path, "rb") as opened:
            content = opened.read(LARGEST_BYTES + 1)
    except OSError as error:
        return [_unread(file, error.strerror or str(error))]
    if len(content) > LARGEST_BYTES:
        return [_unread(file, f"larger than {LARGEST_BYTES >> 20} MiB")]
    return engine.validate(content, rules, file=file, path=path)


def _unread(file: str, reason: str) -> Violation:
    message = f"cannot be read: {reason}"
    return Violation(SYNTAX, "NOT_PYTHON", "", "critical", file, 1, 1, message, "make it readable, or leave it out")


def _touches(violation: Violation, spans: Spans) -> bool:
    return any(first <= violation.end_line and violation.line <= last for first, last in spans)


def check_turn(event: PromptEvent, state: str) -> int:
    """Check the Python files that the agent changed in the last turn; return how many violations were stored.

    Only lines that changed since the last commit before the prompt are checked, or all lines of a file that git does
    not track. Nothing is stored if the prompt was not recorded, or if the setting ``log`` forbids storing texts.
    Raises StorageError.
    """
    settings = with_environment(cache.load(event.cwd)[0].body["settings"], os.environ)[0]
    root = os.path.realpath(project_root(event.cwd)) if event.cwd else ""
    # Without a changed Python file, the database need not be opened.
    changed = _python_files(root, transcripts.changed_files(event)) if root else []
    if not changed or not settings["enabled"] or settings["log"] not in KEEPS_TEXT:
        return 0
    with database.opened(state) as db:
        try:
            trace = queries.show(db, queries.last(db, session_id=event.session_id))
        except queries.UnknownTraceError:
            return 0
        shown = [(str(one["guardrail_id"]), str(one["title"])) for one in _rows(trace["guardrails"])]
        engine = PromptRuleEngine.load()
        lines = _changed_lines(root, str(trace["at"]))
        found = validate_files(engine, changed, changed=lines, root=root)
        rows = list(_stored(engine, found, shown))
        violations.store(db, str(trace["id"]), rows)
    return len(rows)


def _python_files(root: str, paths: Sequence[str]) -> list[str]:
    """Return the paths, relative to ``root``, of the Python files in ``paths`` that exist in the project."""
    absolute = [os.path.realpath(os.path.join(root, path)) for path in paths if path.endswith(".py")]
    inside = [path for path in dict.fromkeys(absolute) if path.startswith(root + os.sep) and os.path.isfile(path)]
    return [os.path.relpath(path, root) for path in inside]


def _changed_lines(root: str, at: str) -> dict[str, Spans] | None:
    """Return the lines of each file changed since the UTC time ``at``; None, for all lines, if git cannot tell."""
    try:
        commit = git.ask(root, "rev-list", "-1", f"--before={at}", "HEAD").decode().strip()
        found = changed_lines(root, commit) if commit else None
    except (git.GitError, UnknownRevisionError):
        return None
    return found and {os.path.realpath(path): spans for path, spans in found.items()}


def _rows(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []


def _stored(engine: PromptRuleEngine, found: Iterator[Violation], shown: Shown) -> Iterator[PromptRuleViolation]:
    for one in found:
        related = [] if one.rule_id == SYNTAX else _guardrails_that_ask_the_same(engine, one.rule_id, shown)
        yield PromptRuleViolation(
            rule_id=one.rule_id,
            rule_name=one.rule_name,
            rule_domain=one.rule_domain,
            severity=one.severity,
            file=redact(one.file)[0],
            line=one.line,
            message=redact(one.message)[0],
            suggestion=one.suggestion,
            guardrails=" ".join(related),
        )


def _guardrails_that_ask_the_same(engine: PromptRuleEngine, rule_id: str, shown: Shown) -> list[str]:
    """Return the ids of the guardrails in ``shown``, each with its title, that make the same demand as the rule."""
    rule = engine.rule(rule_id)
    return [one for one, title in shown if one in rule.guardrails or rule.id in title or rule.name in title]
