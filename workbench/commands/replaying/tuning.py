"""``enricher tune`` and ``enricher suggest``: fit all weights to labels, or propose single edits; both print diffs."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable
from workbench.commands.replaying.blast_radius import ID_CHARS, opened
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from storage.traces.selection import Selection
    from workbench.tuning.suggest import Proposal, Suggestions

MOST_LISTED, PROMPT_CHARS = 8, 70
LEAST_PROMPTS = 100  # labelled ones for a fit; with fewer, the weights would overfit single prompts


@click.command("tune", epilog="Example: enricher tune labelled.jsonl")
@click.argument("labelled", type=click.Path(exists=True, dir_okay=False))
@options.instructions_file(default="the packaged one")
@options.labels
@click.option("--without", multiple=True, metavar="OWNER/NAME", help="Leave out the prompts of this repository.")
@click.option("--report", is_flag=True, help="Print the accuracy on repositories that were left out, not a diff.")
@click.option("--force", is_flag=True, help="Fit the weights even if there are too few prompts.")
def tune(
    labelled: str,
    instructions: str | None,
    files: tuple[str, ...],
    without: tuple[str, ...],
    report: bool,
    force: bool,
) -> None:
    """Fit weights, words and thresholds to labelled prompts, and print the result as a diff of the instructions.

    Each line of the file LABELLED is a JSON object such as {"prompt": "…", "task_type": "debug"}; what "enricher trace
    export" writes is accepted, too.
    """
    try:
        from workbench.tuning.labelled_prompts import LabelError
        from workbench.tuning.tune import TuningError
    except ImportError as error:  # numpy is not a dependency of the package
        raise click.ClickException(
            f"{error}; tuning needs numpy, which you can install with: pip install numpy"
        ) from error
    try:
        _check_prompts((labelled, *files), force=force, report=report)
        click.echo(_proposal(labelled, instructions, also=files, without=without, report=report), nl=report)
    except (TuningError, LabelError) as error:
        raise click.ClickException(str(error)) from error


def _proposal(
    labelled: str, instructions: str | None, *, also: tuple[str, ...], without: tuple[str, ...], report: bool
) -> str:
    from enricher.rules.layers import packaged_file
    from workbench.tuning import accuracy
    from workbench.tuning.tune import propose

    if report:
        return accuracy.report(accuracy.leave_repositories_out([labelled], also=also, apart=without))
    return propose(labelled, instructions or packaged_file(), also=also, without=without)


def _check_prompts(paths: tuple[str, ...], *, force: bool, report: bool) -> None:
    """Print how many labelled prompts are used, and refuse input that is too small or incomplete.

    Raises click.ClickException if there are too few prompts, or if labels are missing that ``report`` needs.
    """
    from workbench.tuning.accuracy import packaged_table
    from workbench.tuning.labelled_prompts import read_rows
    from workbench.tuning.matrices import check_labels

    rows = [row for path in paths for row in read_rows(path)]
    prompts = [row for row in rows if row is not None]
    click.echo(
        f"{len(prompts)} labelled prompts are used, {len(rows) - len(prompts)} without a label are left out", err=True
    )
    if not prompts or (len(prompts) < LEAST_PROMPTS and not force):
        needed = f"{', '.join(paths)}: {len(prompts)} labelled prompts, but {LEAST_PROMPTS} are needed"
        raise click.ClickException(
            f"{needed}; to label more, run: enricher trace queue" + " (or use --force)" * bool(prompts)
        )
    if report:
        check_labels(prompts, packaged_table())
        if without := [row.place for row in prompts if not row.search_intent]:
            raise click.ClickException(f"{without[0]}: the row has no search_intent, which --report needs in every row")


@click.command("suggest", epilog="Example: enricher suggest --where project:shop")
@options.labels
@options.where()
@options.instructions_file(default="the packaged one")
@options.as_json
def suggest(files: tuple[str, ...], selection: Selection, instructions: str | None, is_json: bool) -> None:
    """Propose single edits of the instructions from labels, each as a diff.

    An edit changes a weight, adds a phrase or removes a signal; for a rule whose lines were called wrong (enricher
    trace wrong), it raises the floor, the least score at which the rule adds a line. For each edit, the prompts or
    lines that it fixes and those that it breaks are listed. No file is changed.
    """
    from enricher.rules.layers import packaged_file
    from workbench.tuning.labelled_prompts import LabelError, read_labelled
    from workbench.tuning.suggest import SuggestError
    from workbench.tuning.suggest import suggest as find

    path = os.path.abspath(instructions or packaged_file())
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{path}: cannot be read as UTF-8 text: {error}") from error
    with opened(selection, LabelError, SuggestError) as corpus:
        found = find(corpus, path=path, text=text, rows=read_labelled(files))
    if is_json:
        print_json(_as_json(found))
        return
    _print(found)


def _print(found: Suggestions) -> None:
    wrong = found.labelled - found.right
    click.echo(f"{counted(found.labelled, 'labelled prompt')}: {found.right} classified right, {wrong} wrong", err=True)
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
    holds = "" if proposal.holds else ", but no longer if one of them is left out"
    chance = f"p {proposal.p:.2g}, q {proposal.q:.2g}"
    sessions = counted(proposal.sessions, "session")
    click.echo(f"   fixes {len(proposal.fixes)} ({sessions}{holds}), breaks {len(proposal.breaks)}; {chance}")
    click.echo(f"   would change {proposal.log_changes} of {proposal.log_prompts} prompts without a label")
    for word, ids in (("fixes", proposal.fixes), ("breaks", proposal.breaks)):
        for one in ids[:MOST_LISTED]:
            prompt = " ".join(texts[one].split())[:PROMPT_CHARS]
            # With a colon, it is a place in a file of labels, or a line of an added text.
            click.echo(printable(f"   {word} {one if ':' in one else one[:ID_CHARS]}  {prompt}"))
        if len(ids) > MOST_LISTED:
            click.echo(f"   {word} {len(ids) - MOST_LISTED} more (--json)")
    click.echo(printable(f"\n{proposal.diff}"))


def _as_json(found: Suggestions) -> dict[str, object]:
    return {
        "labelled": found.labelled,
        "right": found.right,
        "only_wrong": found.unclear,
        "judged_lines": found.judged_lines,
        "tried": found.tried,
        "missing": found.missing,
        "proposals": [asdict(one) for one in found.proposals],
    }
