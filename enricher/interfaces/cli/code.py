"""``enricher code``: build the index of a project's files, and search it as the hook does.

``enricher validate``: find places where code that an agent wrote breaks the rules for code.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup, answer_lines, print_json, printable, progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.sources.code.ranking import FileHit
    from enricher.validation.rules import PromptRule, PromptRuleEngine


@click.group("code", cls=CommandGroup, epilog='Example: enricher code search "where are sessions saved?"')
def code() -> None:
    """Find the files of a project that a question or other text is about."""


@code.command("index", epilog="Example: enricher code index --rebuild")
@options.in_folder
@click.option("--rebuild", is_flag=True, help="Read every file again, not only changed ones.")
@options.as_json
def index(cwd: str, rebuild: bool, is_json: bool) -> None:
    """Update the index of the project's files, and show how long that took."""
    from enricher.prompt.project import identify
    from enricher.sources.code.indexing.index import refresh

    project = identify(os.path.abspath(cwd))
    with progress_bar("Reading files", is_json=is_json) as tick:
        try:
            report = refresh(project, state_dir(), rebuild=rebuild, progress=tick)
        except (OSError, sqlite3.Error) as failure:
            raise click.ClickException(f"the index of {project.root} cannot be written: {failure}") from failure
    for problem in report.problems:
        click.echo(f"warning: {printable(problem)}", err=True)
    if is_json:
        figures = {name: getattr(report, name) for name in ("state", "files", "changed", "removed", "seconds", "bytes")}
        print_json({"project": project.id, "root": project.root, **figures, "problems": list(report.problems)})
        return
    if report.state == "none":  # a problem, printed above, says why
        sys.exit(1)
    if report.state == "busy":
        click.echo("another process is updating the index")
        return
    click.echo(
        f"{report.state}: {report.files:,} files, {report.changed:,} read, {report.removed:,} removed, "
        f"{report.bytes / 1e6:.1f} MB, {report.seconds:.2f} s"
    )


@code.command("search", epilog='Example: enricher code search "where are sessions saved?"')
@click.argument("query", required=False)
@options.jsonl("id, query, and optionally cwd")
@options.limit(10, most=100)
@options.in_folder
@options.as_json
def search(query: str | None, jsonl: Any, limit: int, cwd: str, is_json: bool) -> None:
    """Find the files that QUERY is about, best first; the index is updated first."""
    cwd = os.path.abspath(cwd)
    if (query is None) == (jsonl is None):
        raise click.UsageError("give a QUERY, or --jsonl FILE")
    if jsonl is not None:
        sys.exit(answer_lines(jsonl, "query", partial(_answer, cwd=cwd, limit=limit)))
    try:
        results = _found(query or "", cwd=cwd, limit=limit)
    except (OSError, sqlite3.Error) as failure:
        raise click.ClickException(str(failure)) from failure
    if is_json:
        print_json(results)
        return
    if not results:
        click.echo("nothing found", err=True)
    for result in results:
        line = f"{result['score']:.2f}  {result['path']} — {result['why']}"
        click.echo(printable(line).replace("\n", "\\n"))  # a file's name can contain a line break


def _answer(asked: dict[str, Any], *, cwd: str, limit: int) -> dict[str, Any]:
    folder = asked.get("cwd") or cwd
    if not isinstance(folder, str):
        raise ValueError('"cwd" must be the path of a folder')
    try:
        return {"results": _found(asked["query"], cwd=folder, limit=limit)}
    except (OSError, sqlite3.Error) as failure:
        raise ValueError(str(failure)) from failure


def _found(query: str, *, cwd: str, limit: int) -> list[dict[str, Any]]:
    from enricher.sources.code.search import search as search_code

    hits = search_code(query, cwd=cwd, state=state_dir(), limit=limit).hits
    return [
        {"path": hit.path, "score": round(score, 4), "why": hit.why()}
        for hit, score in zip(hits, _decreasing(hits), strict=True)
    ]


def _decreasing(hits: list[FileHit]) -> Iterator[float]:
    """Yield the certainty of each hit, lowered if necessary so that every value is below the one before it."""
    ceiling = 1.0
    for hit in hits:
        ceiling = max(min(hit.certainty, ceiling - 0.0005), 0.0)  # still different if rounded to four places
        yield ceiling


@click.command(epilog="Example: enricher validate .")
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[FILE|FOLDER]...")
@click.option("--diff", "revision", metavar="REV", help="Only lines that changed since this revision of git.")
@click.option("--rule", "names", multiple=True, metavar="ID", help="Only this rule, by id or name; repeatable.")
@options.as_json
def validate(paths: tuple[str, ...], revision: str | None, names: tuple[str, ...], is_json: bool) -> None:
    """Check Python files for stubs, hard-coded values, secrets, missing docstrings and swallowed errors.

    With --diff and no FILE, all changed Python files of the repository are checked. The exit code is 1 if a critical or
    high violation was found, and 2 after wrong usage.
    """
    from enricher.validation import files
    from enricher.validation.rules import SERIOUS, PromptRuleEngine

    if not paths and revision is None:
        raise click.UsageError("name files or folders to check, or a revision with --diff")
    engine = PromptRuleEngine.load()
    rules = _chosen(engine, names)
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


def _chosen(engine: PromptRuleEngine, names: tuple[str, ...]) -> list[PromptRule]:
    """Return the rules with these names or ids; all rules that have a validator if ``names`` is empty."""
    try:
        named = [engine.rule(name) for name in names]
    except KeyError as error:
        checked = ", ".join(rule.id for rule in engine.rules if rule.validator)
        raise click.UsageError(f"no rule {error.args[0]!r}; with a validator: {checked}") from None
    if idle := [rule.id for rule in named if not rule.validator]:
        raise click.UsageError(f"{idle[0]} is checked by a model, a tool or a person; no validator checks it")
    return named or [rule for rule in engine.rules if rule.validator]
