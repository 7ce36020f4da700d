"""``enricher memory import``: import existing notes, instructions and history as memories."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import opened, print_json, printable, progress_bar
from enricher.prompt.project import identify
from enricher.sources.memory import imports
from enricher.sources.memory.reading import MOST_REPORTED

if TYPE_CHECKING:
    from enricher.prompt.project import Project
    from enricher.sources.memory.imports import ImportReport, MemorySource


@click.command("import", epilog="Example: enricher memory import CLAUDE.md docs/decisions")
@click.argument("paths", metavar="[PATH]…", nargs=-1)
@click.option("--git", "from_git", is_flag=True, help="Import decisions from the messages of recent commits.")
@options.in_folder
@options.as_json
def command(paths: tuple[str, ...], from_git: bool, cwd: str, is_json: bool) -> None:
    """Import memories from folders of Markdown notes, CLAUDE.md or AGENTS.md, .jsonl files, or the git history.

    Without a PATH, all such sources in this project are imported. Later changes to an imported source are imported
    automatically. Importing a source again updates only the memories that changed.
    """
    project = identify(paths[0] if from_git and len(paths) == 1 and os.path.isdir(paths[0]) else cwd)
    wanted = _wanted(paths, project, from_git=from_git)
    state = imports.load(state_dir(), project)
    outcomes: list[tuple[MemorySource, ImportReport]] = []
    refused: list[str] = []
    with opened() as db:
        for source in wanted:
            with progress_bar(printable(_name(source)), is_json=is_json) as tick:
                try:
                    outcomes.append((source, imports.take(db, source, project, state, tick=tick)))
                except (imports.SourceError, sqlite3.DataError) as failure:
                    refused.append(str(failure))
    with contextlib.suppress(OSError):  # only later changes of these sources will not be imported by themselves
        imports.save(state, state_dir())
    _report(outcomes, refused, is_json=is_json)
    sys.exit(1 if refused or any(outcome.problems for _, outcome in outcomes) else 0)


def _wanted(paths: tuple[str, ...], project: Project, *, from_git: bool) -> list[MemorySource]:
    if from_git:
        if not project.git_dir:
            raise click.ClickException(f"{project.root} is not a git repository")
        if len(paths) > 1 or (paths and not os.path.isdir(paths[0])):
            raise click.UsageError("--git takes at most one PATH, a folder of a repository")
        return [imports.MemorySource("git", ".")]
    try:
        found = [imports.source_at(path, project) for path in paths] if paths else imports.sources_in(project)
    except imports.SourceError as failure:
        raise click.ClickException(str(failure)) from failure
    if not found:
        raise click.ClickException(
            f"{project.root} has no decision records ({', '.join(imports.DECISION_FOLDERS[:3])}, …), no CLAUDE.md, "
            "no AGENTS.md and no git history; name a folder of notes or a .jsonl file to import"
        )
    return found


def _report(outcomes: list[tuple[MemorySource, ImportReport]], refused: list[str], *, is_json: bool) -> None:
    if is_json:
        print_json([{"source": _name(source), **asdict(outcome)} for source, outcome in outcomes])
    for source, outcome in outcomes:
        if not is_json:
            click.echo(printable(f"{_name(source)}: {outcome.in_words()}"))
        _print_messages(outcome.problems, "more that could not be imported")
        _print_messages(outcome.remarks, "more that were changed on import")
    for message in refused:
        click.echo(f"Error: {printable(message)}", err=True)


def _print_messages(messages: list[str], more: str) -> None:
    for message in messages[:MOST_REPORTED]:
        click.echo(printable(message), err=True)
    if len(messages) > MOST_REPORTED:
        click.echo(f"… and {len(messages) - MOST_REPORTED:,} {more} (--json lists them all)", err=True)


def _name(source: MemorySource) -> str:
    return "git log" if source.kind == "git" else source.path
