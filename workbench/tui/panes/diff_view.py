"""Show as text how two rule sets treat a prompt: the decisions, their scores, and how the added texts differ.

Every line that differs begins with ``-`` or ``+``; colours only repeat this mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from workbench.tui.panes.trace_text import heading
from workbench.tui.widgets.lists.columns import short_time
from workbench.tui.widgets.plain_text import plain
from workbench.views.blast_radius import context_text
from workbench.views.differences import compared
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.edits.progress import ChangeCause
    from workbench.replay.compare import Score, SideBySide, SideResult
    from workbench.views.differences import DiffLine

    Facts = tuple[str, str, str]
    Signal = tuple[str, int]
    Points = tuple[int, frozenset[Signal]]

PROMPT_LINES, TEXT_LINES = 8, 12
USUAL_LINE = 80
"""The usual length of a line in characters; a longer one counts as several where a text is cut after some lines."""
NAME_WIDTH = 13
EVALUATED_IN = "judged in"
"""The title of the row with the time that classifying took, which differs even under the same rules."""
FACET_TEXTS = {"task_type": "task type", "search_intent": "search intent"}
SCORES_SHOWN = 5
NO_POINTS: Points = (0, frozenset())


def detail(found: SideBySide, *, only_differences: bool, cause: ChangeCause | None = None) -> Content:
    """Return a prompt and its results under both rule sets as text.

    ``cause`` is the edited line that caused the difference, if it is known.
    """
    lines = [
        *_prompt(found),
        *_decisions(found, cause, only_differences=only_differences),
        *_scores(found, only_differences=only_differences),
        *_text(found, only_differences=only_differences),
    ]
    return Content("\n").join(lines)


def _prompt(found: SideBySide) -> Iterator[Content]:
    prompt = found.prompt
    known = (short_time(prompt.at, long=True).strip(), prompt.host, _project_name(prompt.project))
    yield heading("Prompt", " · ".join(filter(None, known)))
    lines, rest = beginning(plain(prompt.text), PROMPT_LINES)
    yield from map(Content, lines)
    if rest:
        yield Content.styled(f"… {rest}; enter opens the trace", "$text-muted")
    yield Content("")


def beginning(text: str, most: int) -> tuple[list[str], str]:
    """Return the first lines of a text, and a note on how much was left out (empty if nothing was).

    At most ``most`` lines and ``most * USUAL_LINE`` characters are returned.
    """
    lines = text.splitlines() or [""]
    whole = "\n".join(lines)  # with one kind of line ending, so that lengths can be compared
    shown = "\n".join(lines[:most])[: most * USUAL_LINE].split("\n")
    more_lines, more = len(lines) - len(shown), len(whole) - len("\n".join(shown))
    if more_lines:
        return shown, counted(more_lines, "more line")
    return shown, f"{more:,} more characters" if more else ""


def _project_name(project: str) -> str:
    """Return the project's git remote, which is its name; empty if it has none and is therefore named by a hash."""
    return "" if project.startswith("local-") else project


def _decisions(found: SideBySide, cause: ChangeCause | None, *, only_differences: bool) -> Iterator[Content]:
    kinds = ", ".join(found.kinds) or "nothing changes"
    yield heading("Decision", f"{found.before.label} → {found.after.label}: {kinds}")
    if cause:
        yield Content.assemble(("because of".ljust(NAME_WIDTH), "$text-muted"), " ", (cause.text, "bold"))
    for name, before, after in _facts(found):
        is_same = before == after
        if only_differences and (is_same or name == EVALUATED_IN):
            continue
        yield from _fact(name, before, after, is_same=is_same)
    yield Content("")


def _facts(found: SideBySide) -> Iterator[Facts]:
    before, after = found.before.outcome, found.after.outcome
    yield "task type", _task_type(found.before), _task_type(found.after)
    yield "intent", before.search_intent, after.search_intent
    yield "workflow", before.workflow or "none", after.workflow or "none"
    yield "guardrails", " ".join(before.guardrails) or "none", " ".join(after.guardrails) or "none"
    yield "approach", before.approach or "none", after.approach or "none"
    yield "context", context_text(before), context_text(after)
    yield "tokens", str(before.tokens), str(after.tokens)
    if found.before.milliseconds and found.after.milliseconds:
        yield EVALUATED_IN, f"{found.before.milliseconds:.2g} ms", f"{found.after.milliseconds:.2g} ms"


def _task_type(side: SideResult) -> str:
    shown = "" if side.outcome.shown else ", not shown"
    sure = f" {int(side.confidence * 100)}%" if side.confidence is not None else ""
    return f"{side.outcome.task_type}{sure}{shown}"


def _fact(name: str, before: str, after: str, *, is_same: bool) -> Iterator[Content]:
    title = (name.ljust(NAME_WIDTH), "$text-muted")
    before, after = plain(before), plain(after)
    if is_same:
        yield Content.assemble(title, "   ", before)
    elif name == EVALUATED_IN:
        yield Content.assemble(title, "   ", f"{before} → {after}")
    else:
        yield Content.assemble(title, (" - ", "bold $error"), (before, "$error"))
        yield Content.assemble(" " * NAME_WIDTH, (" + ", "bold $success"), (after, "$success"))


def _scores(found: SideBySide, *, only_differences: bool) -> Iterator[Content]:
    before, after = _by_name(found.before.scores), _by_name(found.after.scores)
    lines: list[Content] = []
    for facet in dict.fromkeys(facet for facet, _name in [*after, *before]):
        is_chosen_from = facet in FACET_TEXTS  # one class is chosen; guardrails are decided one by one
        pairs = {
            name: (before.get((of, name), NO_POINTS), after.get((of, name), NO_POINTS))
            for of, name in {**after, **before}
            if of == facet
        }
        if only_differences or not is_chosen_from:
            pairs = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        best = sorted(pairs, key=lambda name: -max(points for points, _signals in pairs[name]))
        for name in best[:SCORES_SHOWN] if is_chosen_from else best:
            title = f"{FACET_TEXTS.get(facet, facet)} {name}"
            lines += _score(title, *pairs[name], only_differences=only_differences)
    if lines:
        yield heading("Scores", "points before and after, and the signals that give them")
        yield from lines
        yield Content("")


def _by_name(scores: Sequence[Score]) -> dict[tuple[str, str], Points]:
    return {(one.facet, one.name): (one.points, frozenset(one.signals)) for one in scores}


def _score(title: str, before: Points, after: Points, *, only_differences: bool) -> Iterator[Content]:
    """Yield the lines about one class: its points under both rule sets, and the signals that give them."""
    (points, one), (points_after, other) = before, after
    mark, look = ("   ", "") if before == after else (" ± ", "bold")
    change = f"{points:>4}" if points == points_after else f"{points:>4} → {points_after}"
    yield Content.assemble((mark, "bold $accent"), f"{title:<30}", (change, look))
    yield from (_signal(" - ", signal, "$error") for signal in sorted(one - other, key=_strongest))
    yield from (_signal(" + ", signal, "$success") for signal in sorted(other - one, key=_strongest))
    if not only_differences:
        yield from (_signal("   ", signal, "$text-muted") for signal in sorted(one & other, key=_strongest)[:4])


def _strongest(signal: Signal) -> tuple[int, str]:
    return -abs(signal[1]), signal[0]


def _signal(mark: str, signal: Signal, look: str) -> Content:
    return Content.assemble("  ", (mark, f"bold {look}"), (f"{plain(signal[0])} {signal[1]:+d}", look))


def _text(found: SideBySide, *, only_differences: bool) -> Iterator[Content]:
    before, after = found.before.outcome, found.after.outcome
    if before.text == after.text:
        yield heading("Text", "the agent is told the same" if after.text else "nothing is said, before and after")
        if not only_differences:
            yield from (Content(f"   {line}") for line in plain(after.text).splitlines())
        return
    yield heading("Text", "what the agent is told; - before, + after")
    if not before.text or not after.text:
        mark, text, look = ("+", after.text, "$success") if after.text else ("-", before.text, "$error")
        yield Content.styled("   nothing was said" if after.text else "   nothing is said any more", "$text-muted")
        text = plain(text)
        lines, rest = beginning(text, TEXT_LINES) if only_differences else (text.splitlines(), "")
        yield from (Content.styled(f" {mark} {line}", look) for line in lines)
        if rest:
            yield Content.styled(f"   … {rest}; d shows all", "$text-muted")
        return
    yield from word_diff(plain(before.text), plain(after.text), only_differences=only_differences)


def word_diff(before: str, after: str, *, only_differences: bool = False) -> Iterator[Content]:
    """Yield the lines of both texts in order; in changed lines, the words that differ are underlined.

    With ``only_differences``, lines that both texts share are left out.
    """
    for line in compared(before, after):
        if line.mark != " ":
            yield _marked(line, "$error" if line.mark == "-" else "$success")
        elif not only_differences:
            yield Content(f"   {line.text}")


def _marked(line: DiffLine, look: str) -> Content:
    words = ((piece.text, f"bold underline {look}" if piece.differs else look) for piece in line.pieces)
    return Content.assemble((f" {line.mark} ", f"bold {look}"), *words)
