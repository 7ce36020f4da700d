"""``enricher ab``: compare two arms on the same prompts, and two cohorts of sessions."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import Group, new_console, new_table, print_json, printable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from storage.evaluation.experiments import ArmResult, Experiment
    from storage.traces.selection import Selection
    from workbench.experiments.arms import Arm
    from workbench.experiments.questions import Question, Questions
    from workbench.replay.rulesets.versions import Versions

    Value = dict[str, Any]

RECORDINGS = (".jsonl", ".ndjson")
SHORT_ID = 14
"""Digits of an id in a list: its time in microseconds, by which it can be found."""

in_experiment = click.option(
    "--name", required=True, help="The name of the experiment, which decides about the cohort of each session."
)


@click.group(cls=Group, epilog="Example: enricher ab run --b my-instructions.md --limit 500")
def ab() -> None:
    """Test whether one version of the instructions is better: on the same prompts, or on two cohorts of sessions."""


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
@click.option("--question", default="", help="The question that the experiment answers, stored with it.")
@options.out
@options.as_json
def run_experiment(
    first: str, second: str, prompts: str, selection: Selection, limit: int, question: str, out: str, is_json: bool
) -> None:
    """Answer the same prompts with arms A and B; print and store how the results differ.

    An ARM is an instructions file, a stored version, a git revision of the packaged instructions, the word "recorded"
    for what the hook did, or a .jsonl file of answers. The file of --out gets the whole report as JSON.
    """
    from storage.evaluation import experiments
    from workbench import experiments as harness
    from workbench.experiments.questions import Questions
    from workbench.replay.rulesets.versions import Versions

    with _opened() as db:
        versions = Versions(db)
        a, b = (_arm(name, versions) for name in (first, second))
        asked = Questions(versions)
        outcome = harness.run(_asked(asked, db, prompts, selection, limit), a=a, b=b, left_out=asked.left_out)
        if not outcome.results:
            reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(asked.left_out.items()))
            raise click.ClickException(f"no prompt is answered by both arms{': ' if reasons else ''}{reasons}")
        arms = {name: {"name": arm.label, "hash": arm.hash} for name, arm in (("a", a), ("b", b))}
        text = question or f"{a.label} or {b.label}?"
        made = experiments.keep(db, outcome.results, question=text, arms=arms, report=outcome.report.to_json())
    value = _record(made, outcome.results)
    if out:
        _write(out, value)
    _print(value, is_json=is_json)


@ab.command("list", epilog="Example: enricher ab list --limit 5")
@options.limit(20)
@options.as_json
def list_experiments(limit: int, is_json: bool) -> None:
    """List the stored experiments, newest first."""
    from storage.evaluation import experiments

    with _opened() as db:
        rows = experiments.kept(db, limit=limit)
    if is_json:
        print_json([_summary(one) for one in rows])
    elif rows:
        table = new_table("id", "at", "question", "prompts", "verdict")
        for one in rows:
            at = one.at[:16].replace("T", " ")
            prompts = str(one.report["prompts"])
            table.add_row(one.id[:SHORT_ID], at, printable(one.question), prompts, one.report["verdict"])
        for column in (0, 1, 4):
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

    with _opened() as db:
        found = experiments.find(db, experiment_id)
        value = _record(found, experiments.results(db, found.id))
    _print(value, is_json=is_json)


@ab.command("cohort", epilog="Example: enricher ab cohort 3f2a --name shorter-texts")
@click.argument("session_id", metavar="SESSION")
@in_experiment
def show_cohort(session_id: str, name: str) -> None:
    """Print the cohort of a session, a or b: always the same for one name, and independent of it for another."""
    from workbench.experiments.cohorts import cohort_of

    click.echo(cohort_of(session_id, name=name))


@ab.command("effect", epilog="Example: enricher ab effect --name shorter-texts --since 4w")
@in_experiment
@options.since
@options.as_json
def show_effect(name: str, since: str, is_json: bool) -> None:
    """Compare the cohorts: how many labelled prompts are right, and the prompts and tokens of a session."""
    from storage.evaluation import experiments
    from workbench.experiments.cohorts import compare

    with _opened() as db:
        value = compare(experiments.sessions(db, since=since), name=name).to_json()
    if is_json:
        print_json(_without_infinity(value))
    else:
        _print_effect(value)


def _arm(name: str, versions: Versions) -> Arm:
    from enricher.rules.layers import packaged_file
    from workbench.experiments.arms import Instructions, Recording
    from workbench.replay.rulesets import sides

    if name.endswith(RECORDINGS):
        return Recording(name)
    return Instructions(sides.named(name, path=packaged_file(), versions=versions))


def _asked(
    questions: Questions, db: sqlite3.Connection, prompts: str, selection: Selection, limit: int
) -> Iterable[Question]:
    if not prompts:
        return questions.of_log(db, selection, limit=limit)
    if selection.typed or limit:
        raise click.UsageError("--where and --limit select recorded prompts, so they cannot be used with --prompts")
    return questions.of_file(prompts)


@contextlib.contextmanager
def _opened() -> Iterator[sqlite3.Connection]:
    from enricher.home import state_dir
    from storage.db import database
    from storage.evaluation.experiments import UnknownExperimentError
    from workbench.experiments.questions import QuestionError
    from workbench.replay.rulesets.sides import SideError

    try:
        with database.said_in_words(state_dir()), contextlib.closing(database.connect(state_dir())) as db:
            yield db
    except (database.StorageError, UnknownExperimentError, QuestionError, SideError) as refusal:
        raise click.ClickException(printable(refusal)) from refusal


def _summary(one: Experiment) -> Value:
    return {"id": one.id, "at": one.at, "question": one.question, "arms": one.arms, **one.report}


def _record(one: Experiment, results: Iterable[ArmResult]) -> Value:
    answers: dict[str, Value] = {}
    for result in results:
        said = asdict(result)
        answers.setdefault(said.pop("prompt_id"), {})[said.pop("arm")] = said
    return {**_summary(one), "results": [{"prompt_id": prompt, **both} for prompt, both in answers.items()]}


def _write(path: str, value: Value) -> None:
    from storage.base import private

    try:
        private.write_file(os.path.abspath(path), json.dumps(value, indent=2).encode() + b"\n")
    except OSError as failure:
        raise click.ClickException(f"{path} cannot be written: {failure.strerror or failure}") from failure


def _without_infinity(value: Any) -> Any:
    from workbench.experiments.report import finite

    return finite(value)


def _print(value: Value, *, is_json: bool) -> None:
    if is_json:
        print_json(value)
        return
    console = new_console()
    for name, arm in value["arms"].items():
        console.print(printable(f"{name}: {arm['name']}  {arm['hash'][:10]}"))
    table = new_table("metric", "a", "b", "b - a", "95 %", "p", "detectable", "verdict")
    for one in value["metrics"].values():
        table.add_row(one["name"], *_cells(one), one["verdict"])
    console.print(table)
    for name, counts in value["breaches"].items():
        if counts:
            console.print(f"violations of {name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    for reason, count in value["left_out"].items():
        console.print(printable(f"{count} left out: {reason}"))
    if value["unknown_context"]:
        console.print(
            f"{value['unknown_context']} prompts for which an arm would have asked a channel another question"
        )
    console.print(_headline(value))


def _cells(one: Value) -> list[str]:
    interval = one["interval"] or {}
    ends = [interval.get("low"), interval.get("high")]
    means = [_number(one[arm]["mean"]) for arm in "ab"]
    return [
        *means,
        _number(one["difference"]),
        " … ".join(map(_number, ends)) if None not in ends else "",
        _number(one["p_adjusted"]),
        _number(one["detectable"]),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _headline(value: Value) -> str:
    share, sessions = value["share"], value["sessions"]
    bounds = f"{share['value']:.2%}, 95 % {share['interval']['low']:.2%} to {share['interval']['high']:.2%}"
    counted = f"{share['changed']} of {value['prompts']} prompts in {sessions} sessions differ ({bounds})"
    labelled = f"; labelled ones: {value['gained']} right instead of wrong, {value['lost']} wrong instead of right"
    same = "; both arms are the same, so nothing was tested" if value["same_arms"] else ""
    return f"{value['verdict']}: {counted}{labelled if value['gained'] or value['lost'] else ''}{same}\n{value['id']}"


def _print_effect(value: Value) -> None:
    console = new_console()
    for cohort in "ab":
        side = value[cohort]
        right = f"{side['right']['changed']} of {side['labelled']} labelled prompts right"
        held = f", {side['held_back']} held back" if side["held_back"] else ""
        sessions = f"{side['sessions']} session{'' if side['sessions'] == 1 else 's'}"
        prompts = f"{side['prompts']} prompt{'' if side['prompts'] == 1 else 's'}"
        console.print(f"{cohort}: {sessions}, {prompts}{held}, {right}")
    table = new_table("effect", "b - a", "95 %", "size", numbers=3)
    for name, effect in value["effects"].items():
        if effect is None:
            table.add_row(name, "too few sessions", "", "")
        else:
            ends = (effect["interval"]["low"], effect["interval"]["high"])
            cells = (_number(effect["difference"]), " to ".join(map(_number, ends)), _number(effect["size"]))
            table.add_row(name, *cells)
    console.print(table)
    console.print(value["verdict"])
