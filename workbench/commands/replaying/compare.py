"""``enricher compare``: compare two sets of instructions on the same prompts, or show a stored comparison."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.output import new_console, new_table, opened, print_json, printable
from workbench.commands.replaying.blast_radius import ID_CHARS, replay_and_print, selection_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from storage.evaluation.replays import StoredReplay
    from storage.traces.selection import Selection
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.replay.rulesets.versions import Versions


@click.command("compare", epilog="Example: enricher compare recorded my-instructions.md")
@click.argument("base", required=False, default="")
@click.argument("candidate", required=False, default="")
@click.option(
    "--file", "path", default="", metavar="FILE", help="The file whose git revisions BASE and CANDIDATE may name."
)
@click.option(
    "--kept",
    default=None,
    is_flag=False,
    flag_value="",
    metavar="ID",
    help="Show the comparison that was stored under this ID; without an ID, list those that were stored.",
)
@selection_options
def compare(
    base: str,
    candidate: str,
    path: str,
    kept: str | None,
    selection: Selection,
    limit: int,
    today: bool,
    keep: bool,
    is_json: bool,
) -> None:
    """Show which recorded prompts get different results from BASE and CANDIDATE.

    Each of the two is an instructions file, a stored version (the beginning of its hash), a git revision of --file,
    or the word "recorded" for what the hook did.
    """
    if kept is not None:
        _show_kept(kept or base, is_json=is_json)  # the ID may also stand before --kept
        return
    if not base or not candidate:
        raise click.UsageError(
            "BASE or CANDIDATE is missing; for example: enricher compare recorded my-instructions.md"
        )
    from enricher.rules.layers import packaged_file
    from workbench.replay.rulesets import compared_rules

    place = path or _file_of(candidate) or _file_of(base) or packaged_file()

    def sides(versions: Versions) -> tuple[Side, Side]:
        first, second = (compared_rules.named(name, path=place, versions=versions) for name in (base, candidate))
        return first, second

    replay_and_print(sides, place, selection, limit=limit, today=today, keep=keep, is_json=is_json)


def _file_of(name: str) -> str:
    return os.path.abspath(name) if os.path.isfile(name) else ""


def _show_kept(identity: str, *, is_json: bool) -> None:
    from storage.evaluation import replays

    with opened(replays.UnknownReplayError) as db:
        if not identity:
            _list(replays.listing(db), is_json=is_json)
            return
        replay, results = replays.show(db, identity)
    if is_json:
        print_json({**asdict(replay), "results": [asdict(one) for one in results]})
        return
    click.echo(printable(f"{replay.id}  {replay.at}  {replay.base} → {replay.candidate}: {replay.verdict}"))
    click.echo(f"{replay.changed} of {replay.prompts} prompts change")
    for one in results:
        click.echo(printable(f"  {one.trace_id[:ID_CHARS]}  {', '.join(one.kinds)}  {one.cause}"))


def _list(kept: Sequence[StoredReplay], *, is_json: bool) -> None:
    if is_json:
        print_json([asdict(one) for one in kept])
    elif not kept:
        click.echo("no comparison is stored yet; to store one, run: enricher replay --keep", err=True)
    else:
        table = new_table("id", "at", "base → candidate", "verdict", "changed", "of", numbers=2)
        for one in kept:
            sides = f"{os.path.basename(one.base)} → {os.path.basename(one.candidate)}"
            at, counts = f"{one.at[:10]} {one.at[11:16]}", (f"{one.changed:,}", f"{one.prompts:,}")
            table.add_row(*map(printable, (one.id[:ID_CHARS], at, sides, one.verdict, *counts)))
        new_console().print(table)
