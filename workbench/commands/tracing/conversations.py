"""``enricher trace import``: list the prompts of past conversations, and store them for replays if the user agrees."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from enricher.home import from_home, state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import new_console, new_table, print_json, printable, progress_bar
from workbench.importing import HOSTS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from workbench.importing import Advance, ConversationFile, ReadProblem
    from workbench.importing.survey import ConversationGroup, ImportFilter, ImportSurvey, Stored
    from workbench.importing.tracing import Tracer

MOST_PRINTED = 20
REMEDY = "nothing was stored; to store the prompts, run the command again with --yes"


@click.command("import", epilog="Example: enricher trace import --project . --since 4w --dry-run")
@click.argument("paths", metavar="[SOURCE]…", nargs=-1)
@click.option(
    "--host", type=click.Choice(HOSTS), default=None, help="Only conversations of this client; the format of SOURCE."
)
@click.option("--project", default="", metavar="DIR", help="Only conversations in the project of this folder.")
@options.since
@options.limit(0)
@options.without_asking
@options.dry_run
@options.as_json
def command(
    paths: tuple[str, ...],
    host: str | None,
    project: str,
    since: str,
    limit: int,
    is_sure: bool,
    is_dry: bool,
    is_json: bool,
) -> None:
    """Import the prompts of past conversations, so that there is something to replay.

    Without a SOURCE, it imports the transcripts of Claude Code, Codex, Gemini CLI and Copilot CLI, and the logs.db of
    llm, from the places where these programs store them. A SOURCE is such a file, a folder of them, or a file of JSON
    lines with the key "prompt". Prompts that were not typed by a person are left out, secrets are removed, and nothing
    is imported twice.
    """
    from storage.db.database import StorageError
    from storage.traces.filter_text import moment
    from workbench.importing import conversation_files
    from workbench.importing.survey import ImportFilter

    if project and not os.path.isdir(project):
        raise click.BadParameter(f"{project} is not a folder", param_hint="--project")
    if host == "jsonl" and not paths:
        raise click.UsageError("--host jsonl needs a SOURCE: the file to import")
    now, begin = int(time.time() * 1_000_000), int(moment(since) * 1_000_000) if since else 0
    wanted = ImportFilter(begin, now, os.path.abspath(project) if project else "", limit)
    found, problems = (
        conversation_files.named(paths, host or "") if paths else (conversation_files.stored_files(host or ""), [])
    )
    if not found and not problems:
        raise click.ClickException(
            "no conversations were found in the folders of the known clients; name a file or a folder to import"
        )
    try:
        outcome = _Import(found, problems, wanted, is_json=is_json).run(is_dry=is_dry, is_sure=is_sure)
    except (StorageError, OSError) as failure:
        raise click.ClickException(printable(failure)) from failure
    sys.exit(outcome)


@dataclass(slots=True)
class _Import:
    """One run of the command, with the sources to read, the problems with them, and the filter for prompts."""

    sources: list[ConversationFile]
    unread: list[ReadProblem]
    wanted: ImportFilter
    is_json: bool

    def run(self, *, is_dry: bool, is_sure: bool) -> int:
        """List the prompts to import, and store them unless ``is_dry``; ask the user first unless ``is_sure``.

        Return the exit code.
        """
        from workbench.importing.survey import Stored
        from workbench.importing.tracing import Tracer

        tracer = Tracer(state_dir())
        survey = self._survey(tracer)
        if not self.is_json:
            _print_listing(survey)
        stored = Stored()  # filled while prompts are stored, so that an interruption can tell how many were
        is_wanted = bool(survey.prompts) and not is_dry
        is_agreed = is_wanted and (is_sure or self._is_confirmed(survey))
        seconds = self._store(tracer, survey, stored) if is_agreed else 0.0
        if self.is_json:
            print_json(_as_json(survey, stored, is_stored=is_agreed))
        elif is_agreed:
            click.echo(_in_words(stored, seconds))
        if is_wanted and not is_agreed:
            click.echo(f"Error: {REMEDY}", err=True)
            return 1
        return 1 if survey.problem_count or stored.refused else 0

    def _survey(self, tracer: Tracer) -> ImportSurvey:
        from workbench.importing.survey import Sieve, survey

        with _database_if_there() as db, _progress("reading", self.sources, is_json=self.is_json) as advance:
            result = survey(self.sources, Sieve(db, tracer, self.wanted), advance, limit=self.wanted.limit)
        for problem in self.unread:
            result.report(problem)
        return result

    def _is_confirmed(self, survey: ImportSurvey) -> bool:
        if self.is_json or not (sys.stdin.isatty() and sys.stderr.isatty()):  # nobody would see the question
            return False
        return click.confirm(f"Store {survey.prompts:,} prompts, redacted, in {state_dir()}?", err=True)

    def _store(self, tracer: Tracer, survey: ImportSurvey, stored: Stored) -> float:
        from storage.db import database
        from workbench.importing.survey import Sieve, store

        begin, progress = time.perf_counter(), _progress("storing", self.sources, is_json=self.is_json)
        try:
            with database.opened(state_dir()) as db, progress as advance:
                tracer.prepare()
                store(
                    db,
                    self.sources,
                    found=survey,
                    sieve=Sieve(db, tracer, self.wanted),
                    tracer=tracer,
                    stored=stored,
                    advance=advance,
                )
        except KeyboardInterrupt:
            raise click.ClickException(
                f"interrupted; {stored.prompts:,} prompts are stored; run the same command again for the rest"
            ) from None
        return time.perf_counter() - begin


@contextlib.contextmanager
def _database_if_there() -> Iterator[sqlite3.Connection | None]:
    """Yield a connection to the database, or None if it does not exist: listing prompts must not create it."""
    from storage import traces
    from storage.db import database
    from storage.traces import spool

    state = state_dir()
    if os.path.exists(os.path.join(state, traces.DATABASE)) or spool.waiting(state):
        with database.opened(state) as db:
            yield db
    else:
        yield None


@contextlib.contextmanager
def _progress(verb: str, sources: list[ConversationFile], *, is_json: bool) -> Iterator[Advance]:
    """Show a progress bar in megabytes; yield a function to call with the size in bytes of each piece that was read."""
    total, done = sum(source.size for source in sources), 0
    with progress_bar(f"{verb} {len(sources):,} files, MB", is_json=is_json) as bar:

        def advance(size: int) -> None:
            nonlocal done
            done += size
            if bar:
                bar(done >> 20, total >> 20)

        yield advance


def _print_listing(survey: ImportSurvey) -> None:
    console = new_console()
    if survey.groups:
        table = new_table("host", "project", "files", "sessions", "prompts", "known", "left out", numbers=5)
        for group in _ordered(survey):
            figures = (len(group.files), len(group.sessions), group.prompts, sum(group.not_again.values()))
            cells = (group.host, from_home(group.project) or "(unknown)")
            left_out = sum(group.left_out.values())
            table.add_row(*map(printable, cells), *(f"{figure:,}" for figure in (*figures, left_out)))
        console.print(table)
    for title, name in (
        ("left out", "left_out"),
        ("not stored again", "not_again"),
        ("secrets to be removed", "secrets"),
    ):
        counts: Counter[str] = sum((getattr(group, name) for group in survey.groups.values()), Counter())
        if listed := ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common()):
            console.print(printable(f"{title}: {listed}"), soft_wrap=True)
    console.print(f"{survey.prompts:,} prompts to store", style="bold")
    for problem in survey.problems[:MOST_PRINTED]:
        click.echo(printable(problem), err=True)
    if survey.problem_count > MOST_PRINTED:
        click.echo(
            f"… and {survey.problem_count - MOST_PRINTED:,} more that could not be read (--json lists them)", err=True
        )


def _ordered(survey: ImportSurvey) -> list[ConversationGroup]:
    return sorted(survey.groups.values(), key=lambda group: (HOSTS.index(group.host), -group.prompts, group.project))


def _in_words(stored: Stored, seconds: float) -> str:
    rate = f", {stored.prompts / seconds:,.0f} a second" if stored.prompts and seconds else ""
    refused = f"; the database refused {stored.refused:,}" if stored.refused else ""
    return f"{stored.prompts:,} prompts stored{rate}{refused}; next: enricher replay --verify"


def _as_json(survey: ImportSurvey, stored: Stored, *, is_stored: bool) -> dict[str, Any]:
    return {
        "groups": [
            {
                "host": group.host,
                "project": group.project,
                "files": len(group.files),
                "sessions": len(group.sessions),
                "prompts": group.prompts,
                "secrets": dict(group.secrets),
                "left_out": dict(+group.left_out),  # + drops counts of 0
                "not_again": dict(+group.not_again),
            }
            for group in _ordered(survey)
        ],
        "prompts": survey.prompts,
        "problems": [str(problem) for problem in survey.problems],
        "problem_count": survey.problem_count,
        "stored": stored.prompts if is_stored else None,
        "refused": stored.refused,
    }
