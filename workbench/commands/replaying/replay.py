"""``enricher replay``: replay the recorded prompts under other instructions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable
from workbench.commands.replaying.blast_radius import print_account, run_account, selection_options
from workbench.commands.replaying.gate_options import gate_options, run_gate

if TYPE_CHECKING:
    from storage.traces.selection import Selection
    from workbench.replay.rulesets.sides import Side
    from workbench.replay.rulesets.versions import Versions


@click.command("replay", epilog="Example: enricher replay --verify")
@options.instructions_file(default="all layers that apply")
@click.option(
    "--base",
    default="",
    metavar="NAME",
    help="Compare with this file, stored version or git revision; default: what was recorded.",
)
@selection_options
@click.option(
    "--verify",
    is_flag=True,
    help="Replay with the recorded instructions; exit with code 1 if a text differs from the recorded one.",
)
@click.option(
    "--ask-model",
    is_flag=True,
    help="Ask the configured model anew about the prompts and show which results differ; the cost is printed first.",
)
@gate_options
def replay(
    instructions: str | None,
    base: str,
    verify: bool,
    ask_model: bool,
    gate: bool,
    selection: Selection,
    limit: int,
    today: bool,
    keep: bool,
    is_json: bool,
    **of_gate: str | bool,
) -> None:
    """Replay the recorded prompts with edited instructions; show which results change, and which edit changed them."""
    instructions = instructions or ""
    if gate:
        _refuse_beside("--gate", verify=verify, where=selection, limit=limit, today=today, keep=keep)
        run_gate(base=base, instructions=instructions, is_json=is_json, **of_gate)  # type: ignore[arg-type]
    if given := [name.replace("_", "-") for name, value in of_gate.items() if value]:
        raise click.UsageError(f"--{given[0]} can only be used with --gate")
    if verify:
        _refuse_beside("--verify", instructions=instructions, base=base, today=today, keep=keep)
        _verify(selection, limit, is_json=is_json)
    if ask_model:
        _refuse_beside("--ask-model", instructions=instructions, base=base, today=today, keep=keep)
        _ask_model(selection, limit, is_json=is_json)
        return
    path = _file(instructions)
    figures, causes = run_account(
        lambda versions: _sides(path, base, versions, is_given=bool(instructions)),
        path,
        selection,
        limit=limit,
        ask_today=today,
        keep=keep,
    )
    print_account(figures, causes, is_json=is_json)


def _refuse_beside(option: str, **others: object) -> None:
    """Raise UsageError if one of the ``others``, which have no effect together with ``option``, was given."""
    from storage.traces.selection import EVERYTHING

    for name, value in others.items():
        if value and value != EVERYTHING:
            raise click.UsageError(f"--{name} cannot be used with {option}")


def _file(instructions: str) -> str:
    """Return the file that ``--base`` refers to: the given one, else the highest layer here, trusted or not."""
    from workbench.edits.instructions_file import nearest

    path = nearest(os.getcwd(), given=instructions)
    if not os.path.isfile(path):
        raise click.ClickException(printable(f"{path}: {'not a file' if os.path.exists(path) else 'no such file'}"))
    return path


def _sides(path: str, base: str, versions: Versions, *, is_given: bool) -> tuple[Side, Side]:
    from workbench.replay.rulesets import sides
    from workbench.replay.rulesets.speaking import Speaking

    if is_given:
        given = sides.from_file(path, versions)
        return sides.named(base, path=path, versions=versions) if base else sides.RECORDED, given
    here = os.getcwd()
    candidate = Speaking(path, here, versions)
    for file in candidate.untrusted():
        click.echo(
            printable(f"{file} is not trusted, so the hook does not use it; to trust it, run: enricher trust"), err=True
        )
    if not base:
        return sides.RECORDED, candidate

    def at_revision(label: str, text: str) -> Side:
        return Speaking(label, here, versions, instead={path: text})

    return sides.named(base, path=path, versions=versions, at_revision=at_revision), candidate


def _ask_model(selection: Selection, limit: int, *, is_json: bool) -> None:
    """Ask the model about the selected prompts under the rules they were recorded with, and print what differs."""
    from storage.db.database import StorageError
    from workbench.commands.model import ask, configured, cost
    from workbench.commands.replaying.blast_radius import difference_of
    from workbench.replay.asked_again import asked_again
    from workbench.replay.corpus import opened

    _rules, settings = configured()
    try:
        with opened(state_dir(), selection, limit=limit) as corpus:
            texts = [row.prompt for page in corpus.pages() for row in page]
            click.echo(cost(texts, settings), err=True)
            found = list(asked_again(corpus, lambda prompt, rules: ask(prompt, rules, settings)))
    except StorageError as error:
        raise click.ClickException(printable(error)) from error
    changes = [one.change for one in found if one.change]
    failed = [one for one in found if one.record["status"] != "ok"]
    if is_json:
        print_json(
            {
                "asked": len(found),
                "without_opinion": {one.prompt.id: one.record["reason"] for one in failed},
                "usd": round(sum(one.record.get("usd", 0.0) for one in found), 6),
                "changes": [{"id": one.prompt.id, "kinds": one.kinds, "to": one.after.task_type} for one in changes],
            }
        )
        return
    click.echo(
        f"{len(found)} prompts asked about, {len(failed)} without an opinion; {len(changes)} come out differently"
    )
    for change in changes:
        click.echo(printable(f"    {change.prompt.id[:14]}  {difference_of(change)}  {change.prompt.text[:60]!r}"))


def _verify(selection: Selection, limit: int, *, is_json: bool) -> None:
    """Replay the selected prompts (by default all, even tests'), print whose text is not as recorded, and exit."""
    from storage.db.database import StorageError
    from storage.traces.selection import EVERYTHING
    from workbench.replay import replay

    try:
        chosen = replay.EVERYTHING if selection == EVERYTHING else selection
        outcome = replay.verify(state_dir(), chosen, limit=limit)
    except StorageError as error:
        raise click.ClickException(printable(error)) from error
    if is_json:
        print_json({"same": outcome.same, "differing": outcome.differing, "left_out": outcome.left_out})
    else:
        click.echo(f"{outcome.same} texts came out byte for byte as recorded, {len(outcome.differing)} did not")
        for reason, count in sorted(outcome.left_out.items()):
            click.echo(f"{count} left out: {reason}")
        for trace_id in outcome.differing:
            click.echo(f"differs: {trace_id}  (enricher explain --trace {trace_id})")
    sys.exit(1 if outcome.differing else 0)
