"""Describe the blast radius of an edit: how it changes the results of recorded prompts.

The commands, the app and the published pages call this module, so that they say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.prompt.text import shortened
from workbench.statistics.intervals import of_others
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.edits.progress import Figures, LabelResults
    from workbench.replay.outcome import Outcome

FEWEST_OF_PROJECT = 20
"""With fewer recorded prompts of the project whose layer is edited, no estimate is made for others."""
LONGEST_BRIEF = 36  # characters for what changed, so that the prompt beside it can be recognised
NONE = "none"


def headline(figures: Figures) -> str:
    """Return in words how many prompts change.

    Once all prompts are replayed, the words also estimate how many of other, similar prompts will change: the
    confidence interval (95 %) of that share. This is left out if the rules are the same before and after the edit. Only
    prompts to which the edit applies are counted, and if these are few, the words say so instead of an estimate.
    """
    count, is_local = figures.concerned, figures.concerned < figures.prompts
    if is_local and not count and figures.is_complete:
        return "no recorded prompt is of this project, so none can change"
    verb = "changes" if 1 in (count, len(figures.changes)) else "change"
    text = f"{len(figures.changes):,} of {counted(count, 'prompt')}{' of this project' * is_local} {verb}"
    before, after = (side.hash for side in figures.sides)  # empty for recorded outcomes, which have many versions
    if figures.share is None or not figures.prompts or (before and before == after):
        return text
    if is_local and count < FEWEST_OF_PROJECT:
        return f"{text}; only {counted(count, 'recorded prompt')} {'is' if count == 1 else 'are'} of this project"
    return f"{text}; {of_others(figures.share.interval, 'change')}"


def approved_cases(results: LabelResults) -> str:
    """Return in words how many of the approved cases got worse."""
    return f"approved cases: {len(results.regressed):,} of {results.approved:,} got worse"


def measures(figures: Figures) -> tuple[str, str]:
    """Return in words the tokens that are added per session, and the share of silent prompts, before and after."""
    tokens = [f"{one:.1f}" for one in figures.tokens]
    silent = [f"{one / max(1, figures.prompts):.1%}" for one in figures.silent]
    return f"tokens per session {_moved(*tokens)}", f"silent {_moved(*silent)}"


def _moved(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def brief(before: Outcome, after: Outcome) -> str:
    """Describe in a few words how a prompt's result changed, such as ``debug → explain · +H3 -H5`` (guardrails).

    If that is too long, only the first change is described, and the others are named as far as they fit.
    """
    found = list(_moves(before, after))
    if not found and before.tokens != after.tokens:
        return f"{after.tokens - before.tokens:+d} tokens"
    text = " · ".join(described for _name, described in found)
    if len(text) <= LONGEST_BRIEF:
        return text
    names = [found[0][1], *(name for name, _described in found[1:])]
    if len(" · ".join(names)) > LONGEST_BRIEF:
        names[-1] = "…"  # and the names before it are dropped until the rest fits
    while len(" · ".join(names)) > LONGEST_BRIEF and len(names) > 2:
        del names[-2]
    return shortened(" · ".join(names), LONGEST_BRIEF)


def _moves(before: Outcome, after: Outcome) -> Iterator[tuple[str, str]]:
    """Yield the name and a description of each decision that changed, the most important first."""
    if before.task_type != after.task_type:
        yield "task type", f"{before.task_type or NONE} → {after.task_type or NONE}"
    elif before.shown != after.shown and before.task_type:
        yield "task type", f"{after.task_type} {'shown' if after.shown else 'not shown'}"
    if before.workflow != after.workflow:
        yield "workflow", f"workflow {before.workflow or NONE} → {after.workflow or NONE}"
    added, dropped = guardrail_moves(before, after)
    if added or dropped:
        yield "guardrails", " ".join([*(f"+{name}" for name in added), *(f"-{name}" for name in dropped)])
    if before.search_intent != after.search_intent:
        yield "intent", f"intent {before.search_intent or NONE} → {after.search_intent or NONE}"
    if unknown := {*after.unknown} - {*before.unknown}:
        yield "context", ", ".join(f"{channel}: unknown" for channel in sorted(unknown))


def guardrail_moves(before: Outcome, after: Outcome) -> tuple[list[str], list[str]]:
    """Return the ids of the guardrails that only the result ``after`` has, and of those that only ``before`` has."""
    added = [name for name in after.guardrails if name not in before.guardrails]
    return added, [name for name in before.guardrails if name not in after.guardrails]


def context_text(outcome: Outcome) -> str:
    """Return the items of context in the added text, and the channels whose answer is unknown; "none" without any."""
    items = [f"{channel} {ref}" for channel, ref in outcome.items if channel not in outcome.unknown]
    return ", ".join([*items, *(f"{channel}: unknown" for channel in outcome.unknown)]) or NONE
