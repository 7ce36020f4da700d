"""Write the file that the planning subagent reads: prompt, session, candidate facts, workflows and the drafted plan."""

from __future__ import annotations

from enricher.context.channels.session import summary
from enricher.prompt.text import estimate_tokens, harmless
from enricher.respond.hydration.writing import hydrate

TITLE = "# Prompt hydration context"
PROMPT, SESSION, CANDIDATES, CATALOGUE, PLAN = (
    "## Prompt", "## Session state", "## Candidates", "## Workflow catalogue", "## Drafted plan",
)  # fmt: skip
ABOUT = (
    "Written by Prompt Enricher for a prompt in {}. The text between the fences is the user's prompt;"
    " all below it are search results and suggestions."
)
SHARE_OF_CANDIDATES, SHARE_OF_CATALOGUE = 800, 1200  # maximum tokens, 2,000 in total
SESSION_CHARS = 1600
LONGEST_LINE = 300
MOST_ITEMS = 30

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from enricher.classify import Rules
    from enricher.respond import Enrichment, Inputs


def sheet(result: Enrichment, inputs: Inputs, rules: Rules, *, typed: str, cwd: str) -> str:
    """Return the text of the planning subagent's file, with the prompt exactly as ``typed`` in the folder ``cwd``."""
    plans = rules.packed("plans")
    drafted = hydrate(result, inputs, rules)
    fence = "```"
    while fence in typed:
        fence += "`"
    session = [f"- {one.label}: {one.text}" for one in summary(inputs.conversation, chars=SESSION_CHARS)]
    return "\n".join([
        TITLE,
        "",
        ABOUT.format(cwd or "an unknown folder"),
        "",
        PROMPT,
        "",
        f"{fence}text",
        typed,
        fence,
        "",
        SESSION,
        "",
        *(session or ["- This is the first prompt, or nothing is known of earlier ones."]),
        "",
        CANDIDATES,
        "",
        *_within(_candidates(result, inputs), SHARE_OF_CANDIDATES),
        "",
        CATALOGUE,
        "",
        f"Chosen by the rules: `{result.workflow}` \u2014 {result.why_workflow}",
        "",
        *_within(_catalogue(plans, result.workflow), SHARE_OF_CATALOGUE),
        "",
        PLAN,
        "",
        drafted.text() if drafted else "",
        "",
    ])  # fmt: skip


def plan_in(text: str) -> str:
    """Return the drafted plan in ``text``, the text of a planning subagent's file; empty for any other text."""
    if not text.startswith(TITLE):
        return ""
    return text.rpartition(f"\n{PLAN}\n")[2].strip()


def _candidates(result: Enrichment, inputs: Inputs) -> Iterator[str]:
    # The facts that the plan uses come first.
    for name, place in inputs.hydration.get("symbols", []):
        yield f"- {place} \u2014 defines {name} \u2014 the prompt names it"
    for path in (*inputs.hydration.get("files", ()), *inputs.hydration.get("samples", ())):
        yield f"- {path} \u2014 exists \u2014 the prompt names it, or what it defines"
    for path in inputs.hydration.get("tests", []):
        run = inputs.hydration.get("test_command") or "an unknown command"
        yield f"- {path} \u2014 tests of it \u2014 run by {run}"
    for item in sorted(result.items, key=lambda one: (bool(one.why), -one.score))[:MOST_ITEMS]:
        what = f'"{item.text}"' if item.text else item.label
        why = f"{item.channel}, {item.score:.2f}" + (f"; left out of the plan: {item.why}" if item.why else "")
        ref = item.ref if item.text else item.channel
        yield f"- {harmless(ref, longest=120)} \u2014 {harmless(what, longest=LONGEST_LINE)} \u2014 {why}"
    for one in inputs.channels:
        if not one.candidates and one.status in ("empty", "timeout", "error"):
            yield f"- {one.name} \u2014 searched, found nothing \u2014 {one.status}"


def _catalogue(plans: dict[str, dict[str, Any]], chosen: str) -> Iterator[str]:
    for name in sorted(plans, key=lambda one: one != chosen):
        plan = plans[name]
        commit = "yes" if plan["commits"] else "no"
        yield f"- `{name}` \u2014 {plan['description']} \u2014 gate: {plan['gate']}; commit: {commit}"
        if name == chosen:
            for wordings, _active, evidence, is_checkpoint in plan["steps"]:
                lead = "CHECKPOINT: " if is_checkpoint else ""
                yield f"  - {lead}{wordings[-1]}{f' (evidence: {evidence})' if evidence else ''}"


def _within(lines: Iterable[str], tokens: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        tokens -= estimate_tokens(line)
        if tokens < 0:
            break
        kept.append(line)
    return kept or ["- none"]
