"""``enricher suggest``: propose small edits from labelled prompts and lines, each as a diff of the instructions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from storage.traces.selection import Selection
    from workbench.tuning.suggest import Proposal, Suggestions

MOST_LISTED, PROMPT_CHARS, ID_CHARS = 8, 70, 14


@click.command("suggest", epilog="Example: enricher suggest --where project:shop")
@options.labels
@options.where()
@options.instructions_file(default="the packaged one")
@options.as_json
def suggest(files: tuple[str, ...], selection: Selection, instructions: str | None, is_json: bool) -> None:
    """Propose single edits of the instructions from labels, each as a diff.

    An edit changes a weight, adds a phrase or removes a signal; for a rule whose lines were called wrong (enricher
    trace wrong), it raises the floor. For each, the prompts or lines are listed that it fixes and that it breaks. No
    file is changed.
    """
    from enricher.rules.layers import packaged_file
    from workbench.commands.replaying.coverage import opened
    from workbench.tuning.labelled_prompts import LabelError, read_labelled
    from workbench.tuning.suggest import SuggestError
    from workbench.tuning.suggest import suggest as find

    path = os.path.abspath(instructions or packaged_file())
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        with opened(selection) as corpus:
            found = find(corpus, path=path, text=text, rows=read_labelled(files))
    except (OSError, UnicodeDecodeError, LabelError, SuggestError) as error:
        raise click.ClickException(str(error)) from error
    if is_json:
        print_json(_as_json(found))
        return
    _print(found)


def _print(found: Suggestions) -> None:
    wrong = found.labelled - found.right
    click.echo(f"{found.labelled} labelled prompts: {found.right} are classified right, {wrong} wrong", err=True)
    if found.judged_lines:
        click.echo(f"{found.judged_lines} judged lines that a higher floor could take out", err=True)
    for line in found.missing:
        click.echo(printable(f"missing: {line}"), err=True)
    if not found.proposals:
        click.echo(f"no single edit fixes more labelled prompts than it breaks ({found.tried} were tried)", err=True)
    for number, proposal in enumerate(found.proposals, 1):
        _print_proposal(number, proposal, found.texts)


def _print_proposal(number: int, proposal: Proposal, texts: Mapping[str, str]) -> None:
    click.echo(printable(f"{number}. {proposal.title}   {proposal.file}:{proposal.line}"))
    sessions = f"{proposal.sessions} session{'' if proposal.sessions == 1 else 's'}"
    holds = "" if proposal.holds else ", but no longer if one of them is left out"
    chance = f"p {proposal.p:.2g}, q {proposal.q:.2g}"
    click.echo(f"   fixes {len(proposal.fixes)} ({sessions}{holds}), breaks {len(proposal.breaks)}; {chance}")
    click.echo(f"   would change {proposal.log_changes} of {proposal.log_prompts} prompts without a label")
    for word, ids in (("fixes", proposal.fixes), ("breaks", proposal.breaks)):
        for one in ids[:MOST_LISTED]:
            prompt = " ".join(texts[one].split())[:PROMPT_CHARS]
            click.echo(printable(f"   {word} {_short(one)}  {prompt}"))
        if len(ids) > MOST_LISTED:
            click.echo(f"   {word} {len(ids) - MOST_LISTED} more (--json)")
    click.echo(printable(f"\n{proposal.diff}"))


def _short(name: str) -> str:
    return name if ":" in name else name[:ID_CHARS]


def _as_json(found: Suggestions) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "labelled": found.labelled,
        "right": found.right,
        "only_wrong": found.unclear,
        "judged_lines": found.judged_lines,
        "tried": found.tried,
        "missing": found.missing,
        "proposals": [asdict(one) for one in found.proposals],
    }
