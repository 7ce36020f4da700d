"""``enricher model measure``: measure on labelled prompts what the configured language model adds to the rules.

The rules alone, the model's opinion (the task type that it names) alone, and both combined are compared. A simulated
model names the right task type with a chosen probability and otherwise another one; it shows what a model of that
accuracy would gain before anybody pays for one.
"""

from __future__ import annotations

import os
import random
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from enricher.classify import TASK_TYPE
from enricher.classify.opinion import ASSUMED_ACCURACY, HIGHEST_ACCURACY, Opinion
from enricher.classify.verdict import verdict
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup, print_json
from workbench.gate.case import Excerpt
from workbench.statistics.intervals import wilson
from workbench.statistics.pairs import mcnemar_midp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from enricher.classify import Rules
    from enricher.settings import Value as Setting
    from storage.traces.selection import Selection
    from workbench.statistics.intervals import Interval
    from workbench.tuning.labelled_prompts import LabelledPrompt

    Ask = Callable[[LabelledPrompt], dict[str, Any]]
    """Asks a model about a prompt; returns the record of the call, as traces contain it (``opinion_request``)."""

# Besides those of the prompt: the instructions, the task types with their meanings, and three examples (estimated).
TOKENS_OF_A_QUESTION = 330
TOKENS_OF_AN_ANSWER = 40


@dataclass(slots=True)
class OpinionValue:
    """The results of asking a model about labelled prompts: how often it and the rules were right, and what it cost.

    ``by_rules``, ``by_model`` and ``merged`` are the numbers of prompts that are classified right by the rules, by the
    model and by both combined. ``gained`` is the number of prompts that both combined classify right but the rules do
    not, ``lost`` the reverse. ``certain`` (rules) and ``certain_merged`` (both combined) are pairs: the number of
    prompts whose task type is certain enough to be shown, and how many of these are right.
    """

    prompts: int = 0
    by_rules: int = 0
    by_model: int = 0
    merged: int = 0
    gained: int = 0
    lost: int = 0
    uncertain: int = 0
    certain: tuple[int, int] = (0, 0)
    certain_merged: tuple[int, int] = (0, 0)
    statuses: Counter[str] = field(default_factory=Counter)
    latencies_ms: list[float] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    @property
    def answered(self) -> int:
        """Return the number of usable answers of the model."""
        return self.statuses["ok"]

    def share(self, right: int, of: int | None = None) -> tuple[float, Interval]:
        """Return ``right`` as a share of all prompts (or of the number ``of``), and the share's 95 % interval."""
        count = self.prompts if of is None else of
        return (right / count if count else 0.0), wilson(right, count)

    @property
    def p_value(self) -> float:
        """Return the probability that chance alone makes ``gained`` and ``lost`` differ so much (McNemar, mid-p)."""
        return mcnemar_midp(self.gained, self.lost)


@click.group("model", cls=CommandGroup, epilog="Example: enricher model measure --simulate 0.8 labelled.jsonl")
def model() -> None:
    """Measure the language model that gives a second opinion (docs/model.md)."""


@model.command("measure", epilog="Example: enricher model measure --simulate 0.8 labelled.jsonl")
@click.argument("labelled", required=False, type=click.Path(exists=True, dir_okay=False))
@options.where()
@options.limit(200)
@click.option("--always", is_flag=True, help="Ask about every prompt; default: only where the rules are uncertain.")
@click.option(
    "--simulate", type=click.FloatRange(0, 1), help="Ask no model; use an invented one that is right this often."
)
@click.option("--cost", "is_cost", is_flag=True, help="Print what the calls would cost, and make none.")
@options.as_json
def measure(
    labelled: str | None,
    selection: Selection,
    limit: int,
    always: bool,
    simulate: float | None,
    is_cost: bool,
    is_json: bool,
) -> None:
    """Ask the model about labelled prompts, and compare the rules, the model and both with the labels.

    LABELLED holds one {"prompt": …, "task_type": …} per line; without it, the prompts are those that you labelled in
    your history (enricher trace label).
    """
    from workbench.tuning.labelled_prompts import LabelError

    try:
        prompts = _prompts(labelled, selection)[:limit]
    except LabelError as error:
        raise click.ClickException(str(error)) from error
    if not prompts:
        raise click.ClickException("no labelled prompts; label some with: enricher trace label ID CLASS")
    rules = _rules()
    settings: Mapping[str, Setting] = {}
    if simulate is None:
        rules, settings = configured()
        click.echo(cost([one.text for one in prompts], settings), err=True)
        if is_cost:
            return
    asking = (
        simulated(simulate, rules, assumed=ASSUMED_ACCURACY)
        if simulate is not None
        else lambda prompt: ask(prompt.text, rules, settings, examples=0)
    )
    found = value_of(prompts, rules, asking, asks_always=always)
    if is_json:
        print_json(_as_json(found))
    else:
        _print(found)


def value_of(prompts: Iterable[LabelledPrompt], rules: Rules, ask: Ask, *, asks_always: bool = True) -> OpinionValue:
    """Ask the model about each prompt, and count what the rules, the model and both combined classify right.

    Without ``asks_always``, the model is asked only where the rules are uncertain, as the hook does by default.
    """
    found = OpinionValue()
    for prompt in prompts:
        excerpt = Excerpt(prompt.earlier)
        alone = verdict(prompt.text, rules, excerpt, is_explained=False)
        found.prompts += 1
        found.uncertain += alone.uncertain
        was_right = alone.task_type in prompt.right
        record = ask(prompt) if asks_always or alone.uncertain else {}
        if record:
            _count_call(found, record)
        opinion = Opinion.from_json(record["opinion"]) if record.get("opinion") else None
        both = verdict(prompt.text, rules, excerpt, opinion=opinion, is_explained=False) if opinion else alone
        is_right = both.task_type in prompt.right
        found.by_rules += was_right
        found.by_model += bool(opinion and opinion.task_type in prompt.right)
        found.merged += is_right
        found.certain = _added(found.certain, not alone.uncertain, was_right)
        found.certain_merged = _added(found.certain_merged, not both.uncertain, is_right)
        found.gained += is_right and not was_right
        found.lost += was_right and not is_right
    return found


def _added(counts: tuple[int, int], is_certain: bool, is_right: bool) -> tuple[int, int]:
    return counts[0] + is_certain, counts[1] + (is_certain and is_right)


def _count_call(found: OpinionValue, record: dict[str, Any]) -> None:
    found.statuses[str(record["status"])] += 1
    found.latencies_ms.append(float(record.get("latency_ms", 0.0)))
    found.input_tokens += int(record.get("input_tokens", 0))
    found.output_tokens += int(record.get("output_tokens", 0))
    found.usd += float(record.get("usd", 0.0))


def simulated(accuracy: float, rules: Rules, *, assumed: float | None = None) -> Ask:
    """Return a simulated model that names the right task type with probability ``accuracy``, else a random other one.

    ``assumed`` is the accuracy to assume when its answer is combined with the scores of the rules; if it is None,
    ``accuracy`` is assumed.
    """
    chance = random.Random(0)  # the same answers in every run, so that runs can be compared
    names = [name for facet, name in rules.table.classes if facet == TASK_TYPE]

    def ask(prompt: LabelledPrompt) -> dict[str, Any]:
        is_right = chance.random() < accuracy
        choice = [name for name in names if (name in prompt.right) is is_right] or names  # all may be right
        opinion = Opinion(task_type=chance.choice(choice), confidence=HIGHEST_ACCURACY, accuracy=assumed or accuracy)
        return {"status": "ok", "opinion": opinion.to_json()}

    return ask


def configured() -> tuple[Rules, Mapping[str, Setting]]:
    """Return the rules and settings of the working folder; raises ClickException if no model is configured."""
    from enricher.model.endpoint import Endpoint, EndpointError
    from enricher.settings import with_environment

    rules = _rules()
    settings, problems = with_environment(rules.body["settings"], os.environ)
    for name, message in problems:
        click.echo(f"{name}: {message}", err=True)
    if not settings["model.url"]:
        raise click.ClickException("no model is configured; set model.url and model.name (docs/model.md)")
    try:
        Endpoint(settings).unlock()
    except EndpointError as error:
        raise click.ClickException(str(error)) from error
    return rules, settings


def _rules() -> Rules:
    from enricher.interfaces.api import rules_for

    return rules_for(os.getcwd())[0]


def ask(prompt: str, rules: Rules, settings: Mapping[str, Setting], *, examples: int | None = None) -> dict[str, Any]:
    """Ask the model about one prompt and return the record of the call.

    ``examples`` replaces the setting ``model.examples``. Pass 0 for labelled prompts, which would otherwise be among
    their own examples.
    """
    from enricher.home import state_dir
    from enricher.model.opinion_request import ask_now

    own = settings if examples is None else {**settings, "model.examples": examples}
    return ask_now(prompt, rules.body["meanings"], rules, own, state=state_dir())


def _prompts(labelled: str | None, selection: Selection) -> list[LabelledPrompt]:
    from workbench.tuning.labelled_prompts import from_log, from_rows, read_labelled

    if labelled:
        return list(from_rows(read_labelled((labelled,))))
    from workbench.commands.replaying.blast_radius import opened

    with opened(selection) as corpus:
        return from_log(corpus)[0]


def cost(prompts: Sequence[str], settings: Mapping[str, Setting]) -> str:
    """Return a line that says what it costs, at most, to ask the model about these prompts.

    The line contains the number of calls, the estimated number of tokens, and the price in US dollars.
    """
    from enricher.model import allowance
    from enricher.model.question import shortened
    from enricher.prompt.text import estimate_tokens

    given = sum(estimate_tokens(shortened(one)) + TOKENS_OF_A_QUESTION for one in prompts)
    usd = allowance.cost(settings, given, TOKENS_OF_AN_ANSWER * len(prompts))
    return (
        f"at most {len(prompts)} calls of {settings['model.name']} at {settings['model.url']}: "
        f"about {given:,} tokens, {usd:.2f} USD"
    )


def _as_json(found: OpinionValue) -> dict[str, Any]:
    shares = {name: found.share(getattr(found, name)) for name in ("by_rules", "merged")}
    return {
        "prompts": found.prompts,
        "uncertain": found.uncertain,
        **{name: {"share": share, "low": of.low, "high": of.high} for name, (share, of) in shares.items()},
        "model_right": found.by_model,
        "answered": found.answered,
        "shown_by_rules": {"prompts": found.certain[0], "right": found.certain[1]},
        "shown": {"prompts": found.certain_merged[0], "right": found.certain_merged[1]},
        "gained": found.gained,
        "lost": found.lost,
        "p": found.p_value,
        "statuses": found.statuses,
        "median_ms": _median(found.latencies_ms),
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "usd": round(found.usd, 6),
    }


def _print(found: OpinionValue) -> None:
    for name, right, count in (
        ("rules alone", found.by_rules, found.prompts),
        ("model alone", found.by_model, found.answered),
        ("both", found.merged, found.prompts),
    ):
        share, of = found.share(right, count)
        click.echo(f"{name:12} {share:.3f} right of {count} prompts (95 % interval {of.low:.3f} to {of.high:.3f})")
    for name, (shown, right) in (("rules alone", found.certain), ("both", found.certain_merged)):
        share, of_these = shown / found.prompts, right / (shown or 1)
        click.echo(f"{name:12} {share:.3f} certain enough to be shown, {of_these:.3f} of these right")
    click.echo(f"asked about {sum(found.statuses.values())}; the rules are uncertain about {found.uncertain}")
    click.echo(f"gained {found.gained}, lost {found.lost} (p = {found.p_value:.3f})")
    if any(found.latencies_ms):  # a simulated model takes no time
        tokens = found.input_tokens + found.output_tokens
        click.echo(f"median {_median(found.latencies_ms):.0f} ms, {tokens:,} tokens, {found.usd:.4f} USD")
    if found.answered:
        click.echo(f"for config.toml: [model] accuracy = {found.by_model / found.answered:.2f}")


def _median(values: list[float]) -> float:
    return round(statistics.median(values), 1) if values else 0.0
