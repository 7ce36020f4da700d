"""``enricher validate``: check code that an agent wrote against the rules for such code."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options

if TYPE_CHECKING:
    from enricher.validation.rules import PromptRule, PromptRuleEngine

SEVERITIES = ("critical", "high", "medium", "low")


@click.command(epilog="Example: enricher validate .")
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[FILE|FOLDER]...")
@click.option("--diff", "revision", metavar="REV", help="Only lines that changed since this revision of git.")
@click.option("--rule", "names", multiple=True, metavar="ID", help="Only this rule, by id or name; repeatable.")
@click.option(
    "--severity", type=click.Choice(SEVERITIES), default="low", help="Only rules that are at least this severe."
)
@options.as_json
def validate(
    paths: tuple[str, ...], revision: str | None, names: tuple[str, ...], severity: str, is_json: bool
) -> None:
    """Check Python files for stubs, fixed values, secrets, missing docstrings and swallowed errors.

    With --diff and no FILE, all files of the repository that changed are checked. Exit code 1: something critical or
    high was found; 2: wrong usage.
    """
    from enricher.validation import files
    from enricher.validation.rules import SERIOUS, PromptRuleEngine

    if not paths and revision is None:
        raise click.UsageError("name files or folders to check, or a revision with --diff")
    engine = PromptRuleEngine.load()
    rules = _chosen(engine, names, severity)
    changed = None
    if revision is not None:
        try:
            changed = files.changed_lines(_folder(paths), revision)
        except files.UnknownRevisionError as error:
            raise click.UsageError(f"--diff {revision}: {error}") from None
    wanted = files.python_files(paths) if paths else [os.path.relpath(path) for path in sorted(changed or ())]
    if changed is not None:
        wanted = [path for path in wanted if os.path.abspath(path) in changed]
    found = list(files.validate_files(engine, wanted, rules, changed=changed))
    if is_json:
        click.echo(json.dumps({"files": len(wanted), "violations": [asdict(one) for one in found]}))
    else:
        for one in found:
            click.echo(str(one))
        click.echo(
            f"{len(found)} violations in {len(wanted)} files" if found else f"{len(wanted)} files, no violations"
        )
    sys.exit(1 if any(one.severity in SERIOUS for one in found) else 0)


def _folder(paths: tuple[str, ...]) -> str:
    first = os.path.realpath(paths[0]) if paths else os.getcwd()
    return first if os.path.isdir(first) else os.path.dirname(first)


def _chosen(engine: PromptRuleEngine, names: tuple[str, ...], severity: str) -> list[PromptRule]:
    """Return the rules to check; raises a usage error for a rule that is unknown or has no validator."""
    try:
        named = [engine.rule(name) for name in names]
    except KeyError as error:
        checked = ", ".join(rule.id for rule in engine.rules if rule.validator)
        raise click.UsageError(f"no rule {error.args[0]!r}; with a validator: {checked}") from None
    if idle := [rule.id for rule in named if not rule.validator]:
        raise click.UsageError(f"{idle[0]} is checked by a model, a tool or a person; no validator checks it")
    most = SEVERITIES.index(severity)
    return [rule for rule in named or engine.rules if rule.validator and SEVERITIES.index(rule.severity) <= most]
