"""``enricher ab ask`` and ``ab resume``: compare two modes of a prompt template, or two models, by asking them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable
from workbench.commands.replaying.ab_parts import opened, print_report, question_option, record, refuse_selection

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from enricher.settings import Value as Setting
    from storage.evaluation.experiments import Experiment
    from storage.traces.selection import Selection
    from workbench.experiments.model_calls import Comparison
    from workbench.experiments.prompt_arms import Bound
    from workbench.experiments.template_runs import PromptSource

    Value = dict[str, Any]

MOST_RECORDED = 100  # the default of --limit; it is low, because each prompt costs two calls

budget_option = click.option(
    "--budget", type=click.FloatRange(min=0), metavar="USD", help="Stop before the experiment costs more than this."
)


@click.command("ask", epilog="Example: enricher ab ask --template validation --prompts cases.jsonl --dry-run")
@click.option("--template", required=True, help="The prompt template, such as validation or classification.")
@click.option(
    "--a", "first", default="unstructured", show_default=True, metavar="ARM", help="The arm to compare with, A."
)
@click.option("--b", "second", default="structured", show_default=True, metavar="ARM", help="The arm to test, B.")
@click.option(
    "--prompts",
    default="",
    metavar="FILE",
    help="Ask about the cases of this JSONL file; default: the recorded prompts.",
)
@options.where()
@options.limit(MOST_RECORDED)
@click.option("--dry-run", "is_dry", is_flag=True, help="Print the calls, tokens and cost at most, and ask nothing.")
@budget_option
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=IN,OUT",
    help="Price of a model in US dollars per million tokens; default: that of the settings. Repeatable.",
)
@click.option(
    "--most-tokens", default=1000, show_default=True, type=click.IntRange(1), help="Limit of one response, in tokens."
)
@question_option
@options.out
@options.as_json
@click.pass_context
def ask(
    context: click.Context,
    template: str,
    first: str,
    second: str,
    prompts: str,
    selection: Selection,
    limit: int,
    is_dry: bool,
    budget: float | None,
    prices: tuple[str, ...],
    most_tokens: int,
    question: str,
    out: str,
    is_json: bool,
) -> None:
    """Ask the configured model about each case with arms A and B; print and store how the responses differ.

    An ARM is a mode of the template (structured or unstructured), a model (model:NAME), or both (structured@NAME). The
    calls count for the daily limits of the settings. An interrupted experiment can be continued: see "enricher ab
    resume".
    """
    from workbench.experiments import prompt_arms, template_runs

    if prompts:
        refuse_selection(context, selection)
    settings, source = _configured()
    with opened() as db:
        arms = {
            name: prompt_arms.named(text, model=str(settings["model.name"]))
            for name, text in (("a", first), ("b", second))
        }
        comparison = template_runs.comparison_of(
            prompt_arms.cases_in_file(prompts) if prompts else prompt_arms.cases_of_log(db, selection, limit=limit),
            template=template,
            arms=arms,
            prompts=prompts,
            prices=prompt_arms.prices_of(settings, prices),
            budget=budget,
            most_tokens=most_tokens,
            source=source,
        )
        if not comparison.asked:
            raise click.ClickException("there is no case to ask about")
        _check_prices(comparison)
        if is_dry:
            _print_bounds(comparison, is_json=is_json)
            return
        begun = template_runs.begin(db, comparison, question=question)
        value = _run(db, begun, comparison, settings, source)
    print_report(value, is_json=is_json, out=out)


@click.command("resume", epilog="Example: enricher ab resume 0064a1 --budget 2")
@click.argument("experiment_id", metavar="ID")
@budget_option
@options.out
@options.as_json
def resume(experiment_id: str, budget: float | None, out: str, is_json: bool) -> None:
    """Make the calls that are missing in an interrupted experiment, or in one that reached a limit; print its report.

    The budget is for the whole experiment; by default, it is the one given at its beginning. The beginning of the ID is
    enough.
    """
    from storage.evaluation import experiments
    from workbench.experiments import template_runs

    with opened() as db:
        found = experiments.find(db, experiment_id)
        if not found.plan:
            raise click.ClickException(f"{found.id} asked no model, so nothing of it is missing")
        settings, source = _configured()
        model = str(settings["model.name"])
        comparison = template_runs.resumed(db, found, model=model, budget=budget, source=source)
        _check_prices(comparison)
        value = _run(db, found, comparison, settings, source)
    print_report(value, is_json=is_json, out=out)


def _configured() -> tuple[Mapping[str, Setting], PromptSource]:
    from enricher.interfaces.cli.instructions import prompt_generator
    from workbench.commands.model import configured
    from workbench.experiments.template_runs import PromptSource

    rules, settings = configured()
    return settings, PromptSource(prompt_generator("."), rules.body["meanings"])


def _check_prices(comparison: Comparison) -> None:
    # Without a price, it could not be told when the budget is reached.
    unpriced = {arm.model for arm in comparison.arms.values()} - set(comparison.prices)
    if comparison.budget is not None and unpriced:
        names = ", ".join(sorted(unpriced))
        raise click.UsageError(
            f"a budget needs the price of {names}: set model.usd_per_million_input and model.usd_per_million_output, "
            f"or use --price {min(unpriced)}=IN,OUT"
        )


def _run(
    db: sqlite3.Connection,
    one: Experiment,
    comparison: Comparison,
    settings: Mapping[str, Setting],
    source: PromptSource,
) -> Value:
    from enricher.home import state_dir
    from storage.evaluation import experiments
    from workbench.experiments import template_runs
    from workbench.experiments.model_calls import ModelCalls

    click.echo(f"experiment {one.id}; if it is interrupted: enricher ab resume {one.id}", err=True)
    prices, most_tokens = comparison.prices, comparison.most_tokens
    calls = ModelCalls(settings, state=state_dir(), prices=prices, most_tokens=most_tokens)
    done = template_runs.continue_run(db, one, comparison, ask=calls, source=source)
    return record(done, experiments.results(db, done.id))


def _print_bounds(comparison: Comparison, *, is_json: bool) -> None:
    calls = [call for case in comparison.missing({}) for call in case]
    bounds = {name: comparison.bound([call for call in calls if call[1] == name]) for name in comparison.arms}
    if is_json:
        print_json(
            {
                "cases": len(comparison.asked),
                "arms": {name: _bound(one) for name, one in bounds.items()},
                **_bound(comparison.bound(calls)),
            }
        )
        return
    for name, one in bounds.items():
        click.echo(
            printable(f"{name}: {comparison.arms[name].label}, {comparison.arms[name].model}: {_bound_in_words(one)}")
        )
    click.echo(f"together: {_bound_in_words(comparison.bound(calls))}")


def _bound(one: Bound) -> Value:
    return {
        "calls": one.calls,
        "prompt_tokens_estimated": one.prompt_tokens,
        "prompt_tokens_at_most": one.most_prompt_tokens,
        "response_tokens_at_most": one.most_response_tokens,
        "usd_at_most": one.most_usd,
    }


def _bound_in_words(one: Bound) -> str:
    tokens = f"about {one.prompt_tokens:,} prompt tokens (estimated), at most {one.most_prompt_tokens:,}"
    cost = "the price is not known" if one.most_usd is None else f"at most {one.most_usd:.4f} USD"
    return f"{one.calls} calls, {tokens}, and {one.most_response_tokens:,} response tokens; {cost}"
