"""Check the code that an agent wrote in a turn, and store the violations with the trace of the turn's prompt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.home import project_root
from enricher.prompt.redaction import redact
from enricher.rules import cache
from enricher.settings import with_environment
from enricher.sources import git, transcripts
from enricher.validation import files
from enricher.validation.rules import SYNTAX, PromptRuleEngine
from storage.db import database
from storage.traces import queries, violations
from storage.traces.violations import StoredViolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.prompt.event import PromptEvent
    from enricher.validation.rules import Violation

    Shown = Sequence[tuple[str, str]]

KEEPS_TEXT = ("redacted", "full")
"""The ``log`` levels at which names of files may be stored."""


def record(event: PromptEvent, state: str) -> int:
    """Check the Python files that the agent changed in the turn; return how many violations were stored.

    Only lines that changed since the last commit before the prompt count; in a file unknown to git, all lines do.
    Nothing is stored if the prompt has no trace, or if the settings keep no text. Raises StorageError.
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
        found = files.validate_files(engine, changed, changed=lines, root=root)
        rows = list(_stored(engine, found, shown))
        violations.store(db, str(trace["id"]), rows)
    return len(rows)


def _python_files(root: str, paths: Sequence[str]) -> list[str]:
    """Return the Python files of the project that exist, relative to it; the agent may also name them absolutely."""
    absolute = [os.path.realpath(os.path.join(root, path)) for path in paths if path.endswith(".py")]
    inside = [path for path in dict.fromkeys(absolute) if path.startswith(root + os.sep) and os.path.isfile(path)]
    return [os.path.relpath(path, root) for path in inside]


def _changed_lines(root: str, at: str) -> dict[str, files.Spans] | None:
    """Return the lines that changed since a UTC time; None, which means all lines, if git does not know that."""
    try:
        commit = git.ask(root, "rev-list", "-1", f"--before={at}", "HEAD").decode().strip()
        found = files.changed_lines(root, commit) if commit else None
    except (git.GitError, files.UnknownRevisionError):
        return None
    return found and {os.path.realpath(path): spans for path, spans in found.items()}


def _rows(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []


def _stored(engine: PromptRuleEngine, found: Iterator[Violation], shown: Shown) -> Iterator[StoredViolation]:
    for one in found:
        opposed = [] if one.rule_id == SYNTAX else _opposing_guardrails(engine, one.rule_id, shown)
        yield StoredViolation(
            rule_id=one.rule_id,
            rule_name=one.rule_name,
            rule_domain=one.rule_domain,
            severity=one.severity,
            file=redact(one.file)[0],
            line=one.line,
            message=redact(one.message)[0],
            suggestion=one.suggestion,
            guardrails=" ".join(opposed),
        )


def _opposing_guardrails(engine: PromptRuleEngine, rule_id: str, shown: Shown) -> list[str]:
    """Return the shown guardrails with the same demand as the rule: those that it names, and those that name it."""
    rule = engine.rule(rule_id)
    return [one for one, title in shown if one in rule.guardrails or rule.id in title or rule.name in title]
