"""Format experiments (two variants tried on the same prompts) and their answers as table rows and lines of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.widgets.lists.columns import short_time
from workbench.tui.widgets.lists.figures import Heading, TableRow, ms
from workbench.tui.widgets.plain_text import one_line, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from storage.evaluation.experiments import ArmResult, Experiment
    from workbench.experiments.cohorts import CohortComparison

LIST = (
    Heading("at", "when", 12),
    Heading("question", "question", 0),
    Heading("prompts", "prompts", 8, is_number=True),
    Heading("verdict", "verdict", 24),
)
WITH_LATENCY = 100
"""Width of the screen in columns from which the table of answers shows their latencies."""
LONGEST = 300
"""The table shows at most this many characters of a prompt."""
WORSE = "error"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to one prompt from both arms (variants) of an experiment; None for an arm without an answer.

    ``prompt`` is the text of the prompt; empty if the prompt was not recorded.
    """

    prompt_id: str
    prompt: str
    a: ArmResult | None
    b: ArmResult | None

    @property
    def is_same(self) -> bool:
        """Return whether both arms have answered, and with the same text and task type."""
        if self.a is None or self.b is None:
            return False
        return (self.a.text, self.a.task_type) == (self.b.text, self.b.task_type)


def paired(results: Iterable[ArmResult], prompts: Mapping[str, str]) -> list[Answers]:
    """Group the answers of an experiment by prompt, in the order of ``results``.

    ``prompts`` are the texts of the recorded prompts by their id.
    """
    found: dict[str, dict[str, ArmResult]] = {}
    for one in results:
        found.setdefault(one.prompt_id, {})[one.arm] = one
    return [
        Answers(prompt_id, prompts.get(prompt_id, ""), arms.get("a"), arms.get("b"))
        for prompt_id, arms in found.items()
    ]


def experiment_row(one: Experiment) -> TableRow:
    """Return an experiment as a row of the list of experiments."""
    verdict = one.report["verdict"] + (", unfinished" if one.report.get("stopped") else "")
    cells = (short_time(one.at, long=True), one_line(one.question), f"{one.report['prompts']:,}", verdict)
    return TableRow(one.id, cells, ("text-muted", "", "", WORSE if verdict.startswith("regressed") else ""))


def headings(width: int) -> list[Heading]:
    """Return the columns of the table of answers for a screen of that width."""
    metrics = [("quality", 9), ("tokens", 8)] + ([("latency", 10)] if width >= WITH_LATENCY else [])
    both = [Heading(f"{name}_{arm}", f"{name} {arm}", size, is_number=True) for name, size in metrics for arm in "ab"]
    return [Heading("same", "", 1), Heading("prompt", "prompt", 0), *both]


def answers_row(one: Answers, width: int) -> TableRow:
    """Return a table row with a prompt and the figures of both answers; ``≠`` marks a difference, ``✗`` a failure."""
    cells: list[tuple[str, str]] = [
        ("" if one.is_same else "≠", "accent"),
        (one_line(one.prompt[:LONGEST] or one.prompt_id), ""),
    ]
    quality = [_quality(answer) for answer in (one.a, one.b)]
    cells += [(text, WORSE if "✗" in text else "") for text in quality]
    cells += [(f"{answer.tokens:,}" if answer else "-", "text-muted") for answer in (one.a, one.b)]
    if width >= WITH_LATENCY:
        cells += [(ms(answer.latency_ms if answer else None), "text-muted") for answer in (one.a, one.b)]
    return TableRow.of(one.prompt_id, cells)


def _quality(answer: ArmResult | None) -> str:
    if answer is None:
        return "-"
    known = "-" if answer.quality is None else f"{answer.quality:.2f}"
    return known if answer.succeeded else f"✗ {known}"


def state(one: Experiment, answers: Sequence[Answers]) -> str:
    """Return one line on an experiment: its question, its verdict, and the number of prompts whose answers differ."""
    differing = sum(not each.is_same for each in answers)
    stopped = one.report.get("stopped", "")
    text = f"{one.question} {one.report['verdict']}; {differing:,} of {len(answers):,} answers differ"
    return one_line(f"{text}; stopped: {stopped}" if stopped else text)


def answer_text(one: Experiment, name: str, answer: ArmResult | None) -> str:
    """Return the answer of the arm (variant) ``name`` as text, below the arm's title and the answer's figures."""
    title = f"{name}: {one.arms[name]['name']}"
    if answer is None:
        return plain(f"{title}\nno answer yet")
    facts = [f"{answer.tokens:,} tokens", ms(answer.latency_ms)]
    if answer.quality is not None:
        facts.append(f"quality {answer.quality:.2f}")
    if answer.violations:
        facts.append(f"{answer.violations} violation{'' if answer.violations == 1 else 's'}")
    if answer.usd is not None:
        facts.append(f"{answer.usd:.4f} USD")
    if answer.task_type:
        facts.append(answer.task_type)
    fault = "" if answer.succeeded else f"✗ {answer.fault or 'it cannot be read back'}\n"
    return plain(f"{title}\n{' · '.join(facts)}\n{fault}\n{answer.text or '(nothing)'}")


def cohorts_text(found: CohortComparison) -> str:
    """Return the comparison of two cohorts (groups of sessions) as text, as ``enricher ab effect`` prints it.

    It has lines on each cohort, a line for each effect, and the verdict.
    """
    effects = [
        f"{name:<19} b - a {difference}, 95 % {interval}, size {size}" if interval else f"{name:<19} {difference}"
        for name, difference, interval, size in found.effect_cells()
    ]
    return "\n".join([*found.summaries(), *effects, found.verdict])
