"""``enricher explain``: show why a prompt gets its enrichment, and why it gets no more."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import printable
from enricher.prompt.reasons import SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

    from enricher.classify import Classification
    from enricher.complexity.estimate import Estimate
    from enricher.context import Gathered
    from enricher.respond.decision import Enrichment, Inputs
    from enricher.rules.cache import Rules

OUTCOMES = {"empty": "has nothing to offer", "timeout": "took too long", "error": "failed", "off": "is not asked"}
COLOURS = {
    "task_type": "bold green",
    "search_intent": "cyan",
    "guardrail": "magenta",
    "approach": "yellow",
    "workflow": "blue",
}


@click.command("explain", epilog='Example: enricher explain "why does the login test fail?"')
@click.argument("prompt", required=False)
@click.option(
    "--trace", "trace_id", metavar="ID", help="Explain this recorded prompt, with the rules and inputs it had."
)
@options.instructions_file(default="all layers that apply")
@options.typed_in
@options.as_json
def explain(prompt: str | None, trace_id: str | None, instructions: str | None, cwd: str | None, is_json: bool) -> None:
    """Show why PROMPT, or a recorded prompt, gets its enrichment: signals, scores, and what was left out."""
    if trace_id:
        text, enrichment, rules, skipped, inputs = _recorded(trace_id)
    elif prompt is not None:
        from enricher.interfaces.api import enrich

        result = enrich(prompt, cwd=cwd or "", instructions=instructions or "")
        text, enrichment, rules, skipped = result.prompt, result.enrichment, result.rules, result.skipped
        inputs = result.inputs
    else:
        raise click.UsageError("give a PROMPT, or the ID of a recorded one with --trace ID")
    if is_json:
        click.echo(json.dumps(_as_json(text, enrichment, rules, inputs.channels, skipped=skipped)))
        return
    from rich.console import Console

    _print(Console(highlight=False), text, enrichment, rules, inputs.channels, skipped=skipped)


def _recorded(trace_id: str) -> tuple[str, Enrichment, Rules, str, Inputs]:
    import contextlib

    from enricher.home import state_dir
    from enricher.interfaces.api import recorded_rules, replay
    from enricher.respond.decision import Inputs
    from storage.db import database
    from storage.traces import queries

    try:
        with contextlib.closing(database.connect(state_dir())) as db:
            trace: dict[str, Any] = queries.show(db, queries.find(db, trace_id))
            stored = queries.instructions(db, trace["rules_hash"])
    except (queries.UnknownTraceError, database.StorageError) as error:
        raise click.ClickException(f"{error}; to see the ids, run: enricher trace list") from error
    if not stored or "settings" not in trace["inputs"]:
        outcome = " ".join(filter(None, (trace["status"], trace["skip_reason"])))
        raise click.ClickException(
            f"trace {trace_id} ({outcome}) was recorded without its inputs, so it cannot be explained"
        )
    rules = recorded_rules(trace["rules_hash"], stored)
    text, inputs = trace["prompt"], Inputs.from_json(trace["prompt"], trace["inputs"])
    return text, replay(text, trace["inputs"], rules), rules, trace["skip_reason"], inputs


def _ranking(enrichment: Enrichment, facet: str) -> list[tuple[str, int]]:
    return sorted(enrichment.classification.scores.get(facet, {}).items(), key=lambda pair: -pair[1])


def _as_json(
    text: str, enrichment: Enrichment, rules: Rules, channels: list[Gathered], *, skipped: str
) -> dict[str, Any]:
    judged = enrichment.classification
    return {
        "prompt": text,
        "skipped": skipped or None,
        "task_type": judged.task_type,
        "confidence": judged.confidence,
        "uncertain": judged.uncertain,
        "scores": judged.scores,
        "features": judged.features,
        "evidence": [[e.facet, e.name, e.signal, e.start, e.end, e.weight] for e in judged.evidence],
        "workflow": enrichment.workflow or None,
        "why_workflow": enrichment.why_workflow or None,
        "facts": enrichment.facts,
        "left_out": [
            {"line": miss.line, "reason": miss.reason, "score": miss.score, "needed": miss.needed}
            for miss in enrichment.misses
        ],
        "channels": [
            {"name": one.name, "status": one.status, "problem": one.problem or None, "offered": len(one.candidates)}
            for one in channels
        ],
        "context": [
            {
                "channel": one.channel,
                "ref": one.ref,
                "label": one.label,
                "score": one.score,
                "left_out": one.why or None,
            }
            for one in enrichment.items
        ],
        **({"complexity": enrichment.estimate.to_json()} if enrichment.estimate else {}),
        "text": "" if skipped else enrichment.text,
        "rules_hash": rules.hash,
    }


def _print(
    console: Console, text: str, enrichment: Enrichment, rules: Rules, channels: list[Gathered], *, skipped: str
) -> None:
    if skipped:
        console.print(f"skipped: {skipped}")
        console.print(f"{SKIPS.get(skipped, 'such prompts are skipped')}; nothing is added")
        return
    judged = enrichment.classification
    console.print(_marked(text, enrichment))
    console.print()
    for facet in ("task_type", "search_intent"):
        _print_facet(console, enrichment, facet)
    lead = f"confidence {judged.confidence:.2f}: every {_doubling(rules)} points of lead double the odds"
    is_shown = enrichment.shown or not judged.uncertain  # under the profile as-specified every class is shown
    console.print(f"{lead}; {'shown' if is_shown else 'not shown'}")
    if judged.uncertain:
        console.print(f"uncertain because {' and '.join(_doubts(judged, rules))}")
    if enrichment.facts:
        console.print("facts: " + ", ".join(f"{name} {value}" for name, value in sorted(enrichment.facts.items())))
    if enrichment.why_workflow:
        console.print(f"workflow: {enrichment.workflow or 'none'} \u2014 {enrichment.why_workflow}", markup=False)
    if enrichment.estimate:
        _print_estimate(console, enrichment.estimate)
    for miss in enrichment.misses:
        needed = f" ({miss.score:g} of {miss.needed:g})" if miss.needed else ""
        console.print(f"left out: {miss.line}: {miss.reason}{needed}")
    _print_channels(console, enrichment, channels)
    console.print()
    console.print(enrichment.text or "nothing is added", markup=False)


def _print_estimate(console: Console, estimate: Estimate) -> None:
    """Print the estimated effort with its causes, and the parts that the prompt lists."""
    console.print(
        f"complexity: {estimate.score:g} of 100, {estimate.category}: {estimate.lines} lines in {estimate.files} files,"
        f" {estimate.tokens} tokens, {estimate.minutes} minutes; {_splitting(estimate)}",
        markup=False,
    )
    causes = ", ".join(
        f"{name} {' '.join(value) if isinstance(value, list) else f'{value:g}'}"
        for name, value in estimate.factors.items()
    )
    scores = f"heuristic {estimate.heuristic:g}" + (f", model {estimate.model:g}" if estimate.model is not None else "")
    console.print(f"  {scores}{f' ({estimate.reason})' if estimate.reason else ''}; {causes}", markup=False)
    for part in estimate.parts:
        needs = f" (after {', '.join(map(str, part.needs))})" if part.needs else ""
        console.print(f"  part {part.number}{needs}: {printable(part.text)}", markup=False)


def _splitting(estimate: Estimate) -> str:
    suggested = "splitting it is suggested" if estimate.should_split else "splitting it is not suggested"
    return f"{suggested} (confidence {estimate.confidence:.2f}: {estimate.rationale})"


def _print_channels(console: Console, enrichment: Enrichment, channels: list[Gathered]) -> None:
    """Print the outcome of each channel, and for each omitted candidate the reason."""
    for one in channels:
        outcome = f"offers {len(one.candidates)}" if one.candidates else OUTCOMES.get(one.status, one.status)
        problem = f": {one.problem}" if one.problem else ""
        console.print(f"channel {one.name}: {outcome}{problem}", markup=False)
        for item in enrichment.items:
            if item.channel == one.name and item.why:
                console.print(f"  left out: {printable(item.label)} ({item.score:g}): {item.why}", markup=False)


def _doubts(judged: Classification, rules: Rules) -> Iterator[str]:
    """Yield each reason why the settings of the facet prevent the task type from being shown."""
    facet = _task_type_facet(rules)
    scores = judged.scores.get("task_type")
    if not facet or not scores:
        yield "no task type is defined"
        return
    best = max(scores.values())
    odds = {name: 2.0 ** ((score - best) / facet["points_that_double"]) for name, score in scores.items()}
    silent = sum(odds.get(name, 0.0) for name in facet["silent"]) / sum(odds.values())
    names = " or ".join(facet["silent"])
    if judged.task_type in facet["silent"]:
        yield f"{judged.task_type} is never shown"
    elif silent > facet["max_silent"]:
        yield f"it may be {names}: {silent:.2f} is above max_silent {facet['max_silent']:g}"
    if judged.confidence < facet["min_confidence"]:
        yield f"confidence {judged.confidence:.2f} is below min_confidence {facet['min_confidence']:g}"
    if "non_english" in judged.features:
        yield "the prompt does not seem to be English"


def _task_type_facet(rules: Rules) -> dict[str, Any]:
    return next((facet for facet in rules.body["classes"]["facets"] if facet["name"] == "task_type"), {})


def _marked(text: str, enrichment: Enrichment) -> Text:
    from rich.text import Text

    marked = Text(text)
    for one in enrichment.classification.evidence:
        if one.end - one.start < max(len(text), 1):
            marked.stylize(COLOURS.get(one.facet, "bold"), one.start, one.end)
    return marked


def _print_facet(console: Console, enrichment: Enrichment, facet: str) -> None:
    from rich.table import Table
    from rich.text import Text

    ranking = [pair for pair in _ranking(enrichment, facet) if pair[1]][:4]
    table = Table(title=facet.replace("_", " "), title_justify="left", box=None, pad_edge=False)
    for column in ("class", "points", "because of"):
        table.add_column(column)
    for name, score in ranking:
        own = [one for one in enrichment.classification.evidence if (one.facet, one.name) == (facet, name)]
        table.add_row(name, str(score), Text(", ".join(f"{one.signal} {one.weight:+d}" for one in own)))
    console.print(table)
    if len(ranking) > 1:
        (best, most), (second, less) = ranking[:2]
        lacked = most - less + 1
        console.print(f"{second} came nearest: it lacked {lacked} point{'s' * (lacked != 1)} to beat {best}")
    console.print()


def _doubling(rules: Rules) -> str:
    return f"{_task_type_facet(rules).get('points_that_double', math.nan):g}"
