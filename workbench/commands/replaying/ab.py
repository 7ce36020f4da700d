"""``enricher ab``: compare two variants (arms) on the same prompts, or two groups (cohorts) of sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup, new_console, new_table, print_json, printable
from workbench.commands.replaying import ab_model
from workbench.commands.replaying.ab_parts import (
    opened,
    print_effect,
    print_report,
    question_option,
    record,
    refuse_selection,
    summary,
)

if TYPE_CHECKING:
    from storage.traces.selection import Selection
    from workbench.experiments.arms import Arm
    from workbench.replay.rulesets.versions import Versions

RECORDINGS = (".jsonl", ".ndjson")
SHORT_ID = 14  # digits of an experiment's id: its time, which is enough to find it

in_experiment = click.option(
    "--name", required=True, help="The name of the experiment, which decides about the cohort of each session."
)


@click.group(cls=CommandGroup, epilog="Example: enricher ab run --b my-instructions.md --limit 500")
def ab() -> None:
    """Test which of two is better: instructions, forms of a prompt template, models, or cohorts of sessions."""


ab.add_command(ab_model.ask)
ab.add_command(ab_model.resume)


@ab.command("run", epilog="Example: enricher ab run --b my-instructions.md --limit 500")
@click.option("--a", "first", default="recorded", show_default=True, metavar="ARM", help="The arm to compare with, A.")
@click.option("--b", "second", required=True, metavar="ARM", help="The arm to test, B.")
@click.option(
    "--prompts",
    default="",
    metavar="FILE",
    help="Use the prompts of this JSONL file, which may be an export; default: the recorded prompts.",
)
@options.where()
@options.limit(0)
@question_option
@options.out
@options.as_json
@click.pass_context
def run_experiment(
    context: click.Context,
    first: str,
    second: str,
    prompts: str,
    selection: Selection,
    limit: int,
    question: str,
    out: str,
    is_json: bool,
) -> None:
    """Answer the same prompts with arms A and B; print and store how the results differ.

    An ARM is an instructions file, a stored version, a git revision of the packaged instructions, the word "recorded"
    for what the hook did, or a .jsonl file of answers. The file of --out gets the whole report as JSON.
    """
    if prompts:
        refuse_selection(context, selection)
    from storage.evaluation import experiments
    from workbench import experiments as harness
    from workbench.experiments.questions import Questions
    from workbench.replay.rulesets.versions import Versions

    with opened() as db:
        versions = Versions(db)
        a, b = (_arm(name, versions) for name in (first, second))
        asked = Questions(versions)
        chosen = asked.of_file(prompts) if prompts else asked.of_log(db, selection, limit=limit)
        outcome = harness.run(chosen, a=a, b=b, left_out=asked.left_out)
        if not outcome.results:
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(asked.left_out.items()))
            raise click.ClickException(f"no prompt is answered by both arms{': ' if reasons else ''}{reasons}")
        arms = {name: {"name": arm.label, "hash": arm.hash} for name, arm in (("a", a), ("b", b))}
        text = question or f"{a.label} or {b.label}?"
        made = experiments.store(db, outcome.results, question=text, arms=arms, report=outcome.report.to_json())
    print_report(record(made, outcome.results), is_json=is_json, out=out)


@ab.command("list", epilog="Example: enricher ab list --limit 5")
@options.limit(20)
@options.as_json
def list_experiments(limit: int, is_json: bool) -> None:
    """List the stored experiments, newest first."""
    from storage.evaluation import experiments

    with opened() as db:
        rows = experiments.newest(db, limit=limit)
    if is_json:
        print_json([summary(one) for one in rows])
    elif rows:
        table = new_table("id", "at", "question", "prompts", "verdict")
        for one in rows:
            at = one.at[:16].replace("T", " ")
            prompts = str(one.report["prompts"])
            verdict = one.report["verdict"] + (", unfinished" if one.report.get("stopped") else "")
            table.add_row(one.id[:SHORT_ID], at, printable(one.question), prompts, verdict)
        for column in (0, 1, 4):  # in a narrow terminal, only the question is wrapped
            table.columns[column].no_wrap = True
        new_console().print(table)
    else:
        click.echo("no experiment is stored yet; to run one, see: enricher ab run --help", err=True)


@ab.command("show", epilog="Example: enricher ab show 0064a1 --json")
@click.argument("experiment_id", metavar="ID")
@options.as_json
def show_experiment(experiment_id: str, is_json: bool) -> None:
    """Show one experiment, with --json also every answer; the beginning of its ID is enough."""
    from storage.evaluation import experiments
    from workbench.experiments import template_runs

    with opened() as db:
        found = experiments.find(db, experiment_id)
        results = list(experiments.results(db, found.id))
    # The stored report is that of the beginning, which knows no answers.
    if found.plan and found.report["stopped"] == template_runs.INTERRUPTED:
        report = template_runs.report_of(found.plan, found.arms, results, stopped=template_runs.INTERRUPTED)
        found = replace(found, report=report)
    print_report(record(found, results), is_json=is_json)


@ab.command("cohort", epilog="Example: enricher ab cohort 3f2a --name shorter-texts")
@click.argument("session_id", metavar="SESSION")
@in_experiment
def show_cohort(session_id: str, name: str) -> None:
    """Print to which cohort (a or b) a session belongs in the experiment with this name; the answer never changes."""
    from workbench.experiments.cohorts import cohort_of

    click.echo(cohort_of(session_id, name=name))


@ab.command("effect", epilog="Example: enricher ab effect --name shorter-texts --since 4w")
@in_experiment
@options.since
@options.as_json
def show_effect(name: str, since: str, is_json: bool) -> None:
    """Compare the cohorts: how many labelled prompts are right, and how many prompts and tokens a session has."""
    from storage.evaluation import experiments
    from workbench.experiments.cohorts import compare

    with opened() as db:
        found = compare(experiments.sessions(db, since=since), name=name)
    if is_json:
        from workbench.experiments.report import finite

        print_json(finite(found.to_json()))
    else:
        print_effect(found)


def _arm(name: str, versions: Versions) -> Arm:
    from enricher.rules.layers import packaged_file
    from workbench.experiments.arms import Instructions, Recording
    from workbench.replay.rulesets import compared_rules

    if name.endswith(RECORDINGS):
        return Recording(name)
    return Instructions(compared_rules.named(name, path=packaged_file(), versions=versions))
