"""``enricher explain``: show why each thing is added to a prompt, and why other things are left out.

``enricher help``: explanations that are too long for a command's ``--help``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import opened, printable
from enricher.prompt.event import SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

    from enricher.complexity.estimate import Estimate
    from enricher.interfaces.explanation import Explanation
    from enricher.respond import Enrichment

MOST_CLASSES = 4
COLOURS = {
    "task_type": "bold green",
    "search_intent": "cyan",
    "guardrail": "magenta",
    "approach": "yellow",
    "workflow": "blue",
}
EXAMPLES = {
    "howto": "how do I add a migration?",
    "location": "where is the session cookie set?",
    "explanation": "why do we hash the tokens twice?",
    "comparison": "should we use redis or memcached here?",
    "troubleshoot": "why does the export fail with KeyError 'total'?",
    "general": "what do we know about the importer?",
}
"""A prompt for each search intent."""


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
    from enricher.interfaces.explanation import of_prompt

    if trace_id:
        found = _recorded(trace_id)
    elif prompt is not None:
        found = of_prompt(prompt, cwd=cwd or "", instructions=instructions or "")
    else:
        raise click.UsageError("give a PROMPT, or the ID of a recorded one with --trace ID")
    if is_json:
        click.echo(json.dumps(_as_json(found)))
        return
    from rich.console import Console

    _print(Console(highlight=False), found)


def _recorded(trace_id: str) -> Explanation:
    from enricher.interfaces.explanation import ExplanationError, of_trace

    with opened(ExplanationError) as db:
        return of_trace(db, trace_id)


def _as_json(found: Explanation) -> dict[str, Any]:
    enrichment = found.enrichment
    judged = enrichment.classification
    return {
        "prompt": found.prompt,
        "skipped": found.skipped or None,
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
            for one in found.inputs.channels
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
        "said_before": found.inputs.injected,
        **({"complexity": enrichment.estimate.to_json()} if enrichment.estimate else {}),
        "text": "" if found.skipped else enrichment.text,
        "rules_hash": found.rules.hash,
    }


def _print(console: Console, found: Explanation) -> None:
    from enricher.interfaces.explanation import FACETS

    if found.skipped:
        console.print(f"skipped: {found.skipped}")
        console.print(f"{SKIPS.get(found.skipped, 'such prompts are skipped')}; nothing is added")
        return
    enrichment = found.enrichment
    console.print(_marked(found.prompt, enrichment))
    console.print()
    for facet in FACETS:
        _print_facet(console, found, facet)
    console.print(found.lead())
    if doubts := found.doubts():
        console.print(doubts)
    if model := found.model():
        console.print(f"model: {printable(model)}", markup=False)
    if thresholds := found.thresholds():
        console.print("thresholds: " + "; ".join(thresholds))
    if enrichment.facts:
        console.print("facts: " + ", ".join(f"{name} {value}" for name, value in sorted(enrichment.facts.items())))
    if enrichment.why_workflow:
        console.print(f"workflow: {enrichment.workflow or 'none'} \u2014 {enrichment.why_workflow}", markup=False)
    if enrichment.estimate:
        _print_estimate(console, enrichment.estimate)
    for line in found.left_out():
        console.print(f"left out: {line}")
    for outcome, candidates in found.channels():
        console.print(f"channel {outcome}", markup=False)
        for line in candidates:
            console.print(f"  {printable(line)}", markup=False)
    if said := found.said_before():
        console.print("said before in this session: " + printable(", ".join(said)), markup=False)
    console.print()
    console.print(enrichment.text or "nothing is added", markup=False)


def _print_estimate(console: Console, estimate: Estimate) -> None:
    suggested = "splitting it is suggested" if estimate.should_split else "splitting it is not suggested"
    console.print(
        f"complexity: {estimate.score:g} of 100, {estimate.category}: {estimate.lines} lines in {estimate.files} files,"
        f" {estimate.tokens} tokens, {estimate.minutes} minutes; {suggested}"
        f" (confidence {estimate.confidence:.2f}: {estimate.rationale})",
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


def _marked(text: str, enrichment: Enrichment) -> Text:
    from rich.text import Text

    marked = Text(text)
    for one in enrichment.classification.evidence:
        if one.end - one.start < max(len(text), 1):  # evidence about the whole prompt, such as a feature, marks nothing
            marked.stylize(COLOURS.get(one.facet, "bold"), one.start, one.end)
    return marked


def _print_facet(console: Console, found: Explanation, facet: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=facet.replace("_", " "), title_justify="left", box=None, pad_edge=False)
    for column in ("class", "points", "because of"):
        table.add_column(column)
    for one in found.ranking(facet)[:MOST_CLASSES]:
        signals = ", ".join(f"{signal.signal} {signal.weight:+d}" for signal in one.evidence)
        table.add_row(one.name, str(one.points), Text(signals))  # a signal such as "[fix]" is no markup
    console.print(table)
    if nearest := found.nearest(facet):
        console.print(nearest)
    console.print()


@click.command("help", epilog="Example: enricher help intent")
@click.argument("topic", required=False, type=click.Choice(["intent"]))
def help_command(topic: str | None) -> None:
    """Explain TOPIC; the only one is "intent": what the hook searches for, and where the results can be read."""
    click.echo("\n".join(_intent()) if topic == "intent" else "enricher help intent\nenricher COMMAND --help")


def _intent() -> Iterator[str]:
    from enricher.interfaces.compat.intent import SearchIntentType
    from enricher.interfaces.compat.recall import namespace_weights
    from enricher.interfaces.library.resources import RESOURCES

    yield "Search intent: what kind of information would help before acting on a prompt."
    yield "It decides which memories rank first and how many are added; a plain order has no intent."
    yield ""
    for intent in SearchIntentType:
        raised = sorted(namespace_weights(intent.value).items(), key=lambda pair: -pair[1])
        first = ", ".join(f"{name} x{weight:g}" for name, weight in raised if weight > 1)
        yield f"{intent.value:<13} {intent.description}"
        yield f"{'':<13} for example: {EXAMPLES[intent.value]}"
        yield f"{'':<13} ranks first: {first}"
    yield ""
    yield "The hook adds what was found to the prompt (enricher explain PROMPT shows it). It can also be read at:"
    for one in RESOURCES:
        yield f"  {one.uri:<28} {one.description}"
    yield ""
    yield "  enricher resources read enricher://search/session%20cookie"
    yield "  enricher prompts get recall_context --arg query='session cookie' --arg intent=howto"
