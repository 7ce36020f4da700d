"""Functions that the commands of ``enricher ab`` share: open the database, and print an experiment."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from enricher.interfaces.cli import output
from enricher.interfaces.cli.output import new_console, new_table, print_json, printable
from workbench.experiments.cohorts import figure

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from storage.evaluation.experiments import ArmResult, Experiment
    from storage.traces.selection import Selection
    from workbench.experiments.cohorts import CohortComparison

    Value = dict[str, Any]


question_option = click.option(
    "--question", default="", help="The question that the experiment answers, stored with it."
)


def refuse_selection(context: click.Context, selection: Selection) -> None:
    """Raise UsageError if ``--where`` or ``--limit`` is given with ``--prompts``, which reads a file."""
    if selection.typed or context.get_parameter_source("limit") is not ParameterSource.DEFAULT:
        raise click.UsageError("--where and --limit select recorded prompts, so they cannot be used with --prompts")


@contextlib.contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    """Open the database; yield the connection for the duration of the ``with`` block.

    If the database fails, or the user's input for an experiment is invalid, the command ends with an error message.
    """
    from storage.evaluation.experiments import UnknownExperimentError
    from workbench.experiments.prompt_arms import ArmError
    from workbench.experiments.questions import QuestionError
    from workbench.replay.rulesets.compared_rules import SideError

    with output.opened(UnknownExperimentError, QuestionError, SideError, ArmError) as db:
        yield db


def summary(one: Experiment) -> Value:
    """Return a stored experiment as JSON values, without the answers of its two arms."""
    return {"id": one.id, "at": one.at, "question": one.question, "arms": one.arms, **one.report}


def record(one: Experiment, results: Iterable[ArmResult]) -> Value:
    """Return a stored experiment as JSON values, with the answers of both arms to each prompt."""
    answers: dict[str, Value] = {}
    for result in results:
        fields = asdict(result)
        answers.setdefault(fields.pop("prompt_id"), {})[fields.pop("arm")] = fields
    return {**summary(one), "results": [{"prompt_id": prompt, **both} for prompt, both in answers.items()]}


def print_report(value: Value, *, is_json: bool, out: str = "") -> None:
    """Print an experiment that ``record`` returned: completely as JSON, or as a readable report.

    If ``out`` names a file, the experiment is also written to it as JSON.
    """
    if out:
        _write(out, value)
    if is_json:
        print_json(value)
        return
    console = new_console()
    for name, arm in value["arms"].items():
        asks = f" ({arm['model']}{', the configured form' * (arm['mode'] == 'configured')})" if "model" in arm else ""
        console.print(printable(f"{name}: {arm['name']}{asks}  {arm['hash'][:10]}"))
    table = new_table("metric", "a", "b", "b - a", "95 %", "p", "detectable", "verdict")
    for one in value["metrics"].values():
        table.add_row(one["name"], *_cells(one), one["verdict"])
    console.print(table)
    for name, counts in value["breaches"].items():
        if counts:
            what = "failed responses" if "calls" in value else "violations"
            listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
            console.print(printable(f"{what} of {name}: {listed}"))
    for reason, count in value["left_out"].items():
        console.print(printable(f"{count} left out: {reason}"))
    if value["unknown_context"]:
        console.print(
            f"{value['unknown_context']} prompts for which an arm would have asked a channel another question"
        )
    if "calls" in value:
        console.print(printable(_cost(value["calls"])))
    console.print(_headline(value))
    if value.get("stopped"):
        console.print(printable(f"stopped: {value['stopped']}; to go on: enricher ab resume {value['id']}"))


def _cost(calls: Value) -> str:
    tokens = {kind: sum(calls[f"{kind}_tokens"].values()) for kind in ("prompt", "response")}
    counted = f"{tokens['prompt']:,} prompt tokens, {tokens['response']:,} response tokens"
    if calls["without_count"]:
        counted += f" ({calls['without_count']} calls whose tokens the endpoint did not count)"
    known = {name: usd for name, usd in calls["usd"].items() if usd is not None}
    each = ", ".join(f"{name} {usd:.4f}" for name, usd in known.items())
    unknown = ", ".join(name for name in calls["usd"] if name not in known and calls["response_tokens"][name])
    cost = f"{sum(known.values()):.4f} USD ({each})" if known else ""
    missing = f"the price of {unknown} is not known" if unknown else ""
    made = f"{calls['made']} of {calls['planned']} calls: {counted}"
    return "; ".join(filter(None, (made, cost, missing)))


def _cells(one: Value) -> list[str]:
    interval = one["interval"] or {}
    ends = [interval.get("low"), interval.get("high")]  # None: this end is unbounded, or there is no interval
    means = [figure(one[arm]["mean"]) for arm in "ab"]
    return [
        *means,
        figure(one["difference"]),
        " … ".join(map(figure, ends)) if None not in ends else "",
        figure(one["p_adjusted"]),
        figure(one["detectable"]),
    ]


def _headline(value: Value) -> str:
    share, sessions = value["share"], value["sessions"]
    bounds = f"{share['value']:.2%}, 95 % {share['interval']['low']:.2%} to {share['interval']['high']:.2%}"
    what = "responses" if "calls" in value else "prompts"
    counted = f"{share['changed']} of {value['prompts']} {what} in {sessions} sessions differ ({bounds})"
    labelled = f"; labelled ones: {value['gained']} right instead of wrong, {value['lost']} wrong instead of right"
    same = "; both arms are the same, so nothing was tested" if value["same_arms"] else ""
    return f"{value['verdict']}: {counted}{labelled if value['gained'] or value['lost'] else ''}{same}\n{value['id']}"


def print_effect(found: CohortComparison) -> None:
    """Print the comparison of two cohorts."""
    console = new_console()
    for line in found.summaries():
        console.print(line)
    table = new_table("effect", "b - a", "95 %", "size", numbers=3)
    for cells in found.effect_cells():
        table.add_row(*cells)
    console.print(table)
    console.print(found.verdict)


def _write(path: str, value: Value) -> None:
    from storage.base import private

    try:
        private.write_file(os.path.abspath(path), json.dumps(value, indent=2).encode() + b"\n")
    except OSError as failure:
        raise click.ClickException(f"{path} cannot be written: {failure.strerror or failure}") from failure
