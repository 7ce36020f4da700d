"""``enricher replay``: judge recorded prompts again under other instructions, or, with ``--gate``, the golden cases."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable
from workbench.commands.replaying.blast_radius import (
    ID_CHARS,
    PROMPT_CHARS,
    opened,
    replay_and_print,
    selection_options,
)

if TYPE_CHECKING:
    from storage.traces.selection import Selection
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.replay.rulesets.versions import Versions


def _run_gate(
    *, base: str, instructions: str, is_json: bool, cases: str, allow_removed: bool, junit: str, markdown: str
) -> None:
    """Check the golden cases (prompts with their expected results) of the working folder, and write the reports.

    This check is the gate. Exits with code 1 if the gate is closed, for example because an approved case now fails.
    """
    from workbench.gate import gate, reports

    try:
        report = gate.run(os.getcwd(), base=base, cases=cases, instructions=instructions, allow_removed=allow_removed)
    except gate.GateError as error:
        raise click.ClickException(printable(error)) from error
    if junit:
        _write(junit, reports.junit(report))
    if markdown:
        _write(markdown, reports.markdown(report))
    if is_json:
        print_json(reports.to_json(report))
    else:
        click.echo(printable(reports.text(report)))
    for reason in report.reasons():
        click.echo(f"gate closed: {reason}", err=True)
    sys.exit(0 if report.is_passed else 1)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as failure:
        raise click.ClickException(f"{path} cannot be written: {failure.strerror or failure}") from failure


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
@click.option(
    "--gate",
    is_flag=True,
    help="Check the golden cases of this repository; exit with code 1 if one fails that passed before.",
)
@click.option(
    "--cases",
    default="",
    metavar="FILE",
    help="With --gate: read the cases from this file, not .enricher/cases.jsonl.",
)
@click.option("--allow-removed", is_flag=True, help="With --gate: allow that cases of the base were removed.")
@click.option("--junit", default="", metavar="FILE", help="With --gate: write the report as JUnit XML.")
@click.option(
    "--markdown", default="", metavar="FILE", help="With --gate: write the report as a comment for a pull request."
)
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
        _refuse_with("--gate", verify=verify, where=selection, limit=limit, today=today, keep=keep)
        _run_gate(base=base, instructions=instructions, is_json=is_json, **of_gate)  # type: ignore[arg-type]
    if given := [name.replace("_", "-") for name, value in of_gate.items() if value]:
        raise click.UsageError(f"--{given[0]} can only be used with --gate")
    if verify:
        _refuse_with("--verify", instructions=instructions, base=base, today=today, keep=keep)
        _verify(selection, limit, is_json=is_json)
    if ask_model:
        _refuse_with("--ask-model", instructions=instructions, base=base, today=today, keep=keep)
        _ask_model(selection, limit, is_json=is_json)
        return
    path = _file(instructions)
    replay_and_print(
        lambda versions: _sides(path, base, versions, is_given=bool(instructions)), path, selection,
        limit=limit, today=today, keep=keep, is_json=is_json,
    )  # fmt: skip


def _refuse_with(option: str, **others: object) -> None:
    """Raise UsageError if one of the ``others`` was given, because they have no effect together with ``option``."""
    from storage.traces.selection import EVERYTHING

    for name, value in others.items():
        if value and value != EVERYTHING:  # the value of --where if it is not given
            raise click.UsageError(f"--{name} cannot be used with {option}")


def _file(instructions: str) -> str:
    """Return the path of the instructions file to compare: the given one, or else that of the highest layer with one.

    It can be a file that the user has not trusted.
    """
    from workbench.edits.instructions_file import nearest

    path = nearest(os.getcwd(), given=instructions)
    if not os.path.isfile(path):
        raise click.ClickException(printable(f"{path}: {'not a file' if os.path.exists(path) else 'no such file'}"))
    return path


def _sides(path: str, base: str, versions: Versions, *, is_given: bool) -> tuple[Side, Side]:
    from workbench.replay.rulesets import compared_rules
    from workbench.replay.rulesets.current_layers import CurrentLayers

    if is_given:
        given = compared_rules.from_file(path, versions)
        return compared_rules.named(base, path=path, versions=versions) if base else compared_rules.RECORDED, given
    here = os.getcwd()
    candidate = CurrentLayers(path, here, versions)
    for file in candidate.untrusted():
        click.echo(
            printable(f"{file} is not trusted, so the hook does not use it; to trust it, run: enricher trust"), err=True
        )
    if not base:
        return compared_rules.RECORDED, candidate

    def at_revision(label: str, text: str) -> Side:
        return CurrentLayers(label, here, versions, instead={path: text})

    return compared_rules.named(base, path=path, versions=versions, at_revision=at_revision), candidate


def _ask_model(selection: Selection, limit: int, *, is_json: bool) -> None:
    """Ask the model again about the selected prompts, and print which results differ from the recorded ones.

    The rules are those with which each prompt was recorded.
    """
    from workbench.commands.model import ask, configured, cost
    from workbench.replay.replay import asked_again
    from workbench.views.blast_radius import brief

    _rules, settings = configured()
    with opened(selection, limit=limit) as corpus:
        texts = [row.prompt for row in corpus.prompts()]
        click.echo(cost(texts, settings), err=True)
        found = list(asked_again(corpus, lambda prompt, rules: ask(prompt, rules, settings)))
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
        prompt = change.prompt
        moved = brief(change.before, change.after)
        click.echo(printable(f"    {prompt.id[:ID_CHARS]}  {moved}  {prompt.text[:PROMPT_CHARS]!r}"))


def _verify(selection: Selection, limit: int, *, is_json: bool) -> None:
    """Judge the selected prompts again under the rules they were recorded with; print those whose added text differs.

    Without a selection, all prompts are judged, even those of tests. Ends the process, with exit code 1 if any text
    differs.
    """
    from storage.traces.selection import EVERYTHING
    from workbench.replay import replay

    # Not the usual selection, which leaves out the prompts of tests.
    with opened(replay.WITH_TESTS if selection == EVERYTHING else selection, limit=limit) as corpus:
        outcome = replay.verify(corpus)
    if is_json:
        print_json({"same": outcome.same, "differing": outcome.differing, "left_out": outcome.left_out})
    else:
        click.echo(f"{outcome.same} texts came out byte for byte as recorded, {len(outcome.differing)} did not")
        for reason, count in sorted(outcome.left_out.items()):
            click.echo(f"{count} left out: {reason}")
        for trace_id in outcome.differing:
            click.echo(f"differs: {trace_id}  (enricher explain --trace {trace_id})")
    sys.exit(1 if outcome.differing else 0)
