"""Format the blast radius of an edit (how it changes the results of prompts): a summary, and lists of prompts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.tui.messages import Counted
from workbench.tui.widgets.lists.line_list import Group, ListLine
from workbench.tui.widgets.plain_text import one_line, plain
from workbench.views.blast_radius import approved_cases, brief, headline, measures
from workbench.views.outcomes import VERDICT_TEXTS
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from enricher.rules.compiling.document import Problem
    from workbench.edits.instructions_file import FileHeading
    from workbench.edits.progress import ChangeCause, Figures
    from workbench.replay.compare import Change

VERDICT_LOOKS = {
    "identical": "$text-muted",
    "changed": "$accent",
    "regressed": "$error",
    "inconclusive": "$warning",
}
NEEDS_WORDS = ("regressed", "inconclusive")
"""Verdicts on a replay that the summary explains in a sentence; the names of the others are clear enough."""
FEW_CHANGES = 40
"""A group with more changed prompts than this is collapsed at first."""
WORSE = "↓"
"""The mark of a prompt that an edit may make worse."""
UNSEARCHED = "cause not searched"
BASE_TEXTS = {"recorded": "what was recorded"}
KIND_TEXTS = {"shown": "task type shown or no longer shown", "text only": "wording of the text only"}
BAR = 20
SLOW_S = 5
"""The duration of a replay is shown only if it took more than this many seconds."""
LONGEST_TEXT = 400  # of a prompt: more than a line of a terminal shows


def summary(figures: Figures | None, *, wait: str = "", broken: str = "", gate: Sequence[str] = ()) -> Content:
    """Summarise in three lines what an edit changes, or in more if the verdict or the gate has to be explained.

    ``wait`` is the text to show before there are any figures. ``broken`` is the reason why the figures are out of date;
    it is shown above them. ``gate`` are the reasons why the gate (the check of approved prompts, compared with the last
    commit) would fail if the edit were saved.
    """
    if broken:
        error = Content.styled(f"! {broken}", "bold $error")
        if figures is None:
            return Content("\n").join([error, Content.styled("There are no figures yet.", "$text-muted")])
        verdict = "" if figures.errors else figures.verdict or ""
        last = Content.styled(f"the last sound text: {verdict} {headline(figures)}", "$text-muted")
        return Content("\n").join([error, last, _figures_line(figures)])
    if figures is None:
        return Content.styled(wait or "Nothing was replayed yet.", "$text-muted")
    closed = [Content.styled(f"gate, against the last commit: closed, {'; '.join(gate)}", "bold $error")] * bool(gate)
    said: list[Content | str] = [*verdict_sentence(figures), *closed, _figures_line(figures), _base_line(figures)]
    return Content("\n").join([_verdict_line(figures), *said])


def _verdict_line(figures: Figures) -> Content:
    if not figures.total:
        return Content.styled("No prompt to replay: none is recorded that this filter selects.", "$text-muted")
    if figures.verdict is None:
        done = BAR * figures.prompts // figures.total
        bar = f"{'━' * done}{'─' * (BAR - done)} {figures.prompts:,} of {figures.total:,}"
        return Content.assemble((headline(figures), "bold"), "  ", (bar, "$primary"))
    if figures.errors:
        errors = f" {counted(figures.errors, 'error')}: no verdict "
        return Content.assemble((errors, "bold reverse $error"), " ", (headline(figures), "bold"))
    verdict = (f" {figures.verdict} ", f"bold reverse {VERDICT_LOOKS[figures.verdict]}")
    return Content.assemble(verdict, " ", (headline(figures), "bold"))


def _figures_line(figures: Figures) -> Content:
    parts = []
    if results := figures.label_results:
        count = len(results.regressed)
        if results.approved:
            text = f"{approved_cases(results)} against {base_text(figures)}"
            parts.append((text, "bold $error" if count else ""))
        else:
            parts.append(("no approved case here", "$text-muted"))
        if results.gained:
            parts.append((f"{results.gained} corrected", "$success"))
        if not count and results.lost:
            parts.append((f"{results.lost} lost", "$error"))
    parts += [(text, "") for text in measures(figures)]
    return Content(" · ").join(Content.styled(*one) if one[1] else Content(one[0]) for one in parts)


def base_text(figures: Figures) -> str:
    """Return in words what the figures compare with."""
    name = f"the file {figures.base}" if figures.base.startswith("as ") else figures.base
    return BASE_TEXTS.get(name, name)


def counts(figures: Figures, where: str) -> list[Counted]:
    """Return the numbers in the summary, and one for each kind of change, each with the ids of its prompts.

    ``where`` is the filter that selected the replayed prompts; it is added to the name of each number.
    """
    of = f", of {where}" if where else ""
    unknown = [change for change in figures.changes if "context unknown" in change.kinds]
    kinds = [(KIND_TEXTS.get(kind, kind), changes) for kind, changes in figures.groups()]
    changed = [("changed", figures.changes), *kinds, ("context unknown", unknown)]
    found = [(name, [change.prompt.id for change in changes]) for name, changes in changed]
    results = figures.label_results
    cases = (results.approved, len(results.regressed), results.gained, results.lost) if results else ()
    numbers = dict(zip(("approved", "approved, now wrong", "corrected", "lost"), cases, strict=False))
    every = (*found, *figures.counted.items())
    return [Counted(f"{name}{of}", numbers.get(name, len(ids)), ids) for name, ids in every]


def _base_line(figures: Figures) -> Content:
    left_out = "".join(f" · {count:,} left out ({reason})" for reason, count in figures.left_out)
    seconds = f" · {figures.seconds:.0f} s" if figures.is_complete and figures.seconds > SLOW_S else ""
    unknown = f" · context unknown for {figures.unknown:,}" if figures.unknown else ""
    line = f"base: {figures.base} · channels as recorded{unknown}{left_out}{seconds}"
    return Content.styled(line, "$text-muted")


@dataclass(frozen=True, slots=True)
class ChangeLines(Sequence[ListLine]):
    """Changed prompts as lines of a list, each formatted on access, because an edit may change a million prompts.

    ``regressed`` are the ids of the approved prompts among them, ``causes`` the edited lines that caused the changes,
    by trace id. If ``right_text`` is true, each line ends with a description of the change, at the right margin.
    ``doubtful`` are the ids of the prompts that may come out worse.
    """

    changes: Sequence[Change]
    regressed: Collection[str]
    causes: Mapping[str, ChangeCause]
    right_text: bool
    doubtful: Collection[str] = ()

    def __len__(self) -> int:
        return len(self.changes)

    def __getitem__(self, place: int) -> ListLine:  # type: ignore[override]  # a list of lines takes no slices
        change = self.changes[place]
        text = one_line(change.prompt.text[:LONGEST_TEXT])
        right = brief(change.before, change.after) if self.right_text else ""
        cause, is_regression = self.causes.get(change.prompt.id), change.prompt.id in self.regressed
        if cause and cause.heading and self.right_text:
            right = f"{right} ← {cause.heading}"
        is_doubtful = change.prompt.id in self.doubtful
        look, mark = ("error", "✗") if is_regression else ("warning", WORSE) if is_doubtful else ("plain", " ")
        return ListLine(change.prompt.id, text, right, look, change, mark)

    def place_of(self, key: str) -> int | None:
        """Return the index of the changed prompt with the trace id ``key``; None if there is none."""
        return next((at for at, one in enumerate(self.changes) if one.prompt.id == key), None)


def change_groups(
    figures: Figures,
    kinds: Iterable[tuple[str, Sequence[Change]]],
    causes: Mapping[str, ChangeCause],
    *,
    with_effect: bool,
) -> Iterator[Group]:
    """Yield a group of changed prompts for each kind of change, newest prompts first.

    ``kinds`` is the result of ``figures.groups()``; ``with_effect`` adds to each prompt's line what changed.
    """
    for kind, changes in kinds:
        yield _group(figures, f"kind {kind}", KIND_TEXTS.get(kind, kind), changes, causes, with_effect=with_effect)


def cause_groups(figures: Figures, causes: Mapping[str, ChangeCause], *, only: str) -> Iterator[Group]:
    """Yield a group of changed prompts for each kind of change and each edited line that caused such changes.

    Within a kind, the largest group comes first, and prompts whose cause was not searched for come last. ``only``
    restricts the groups to one kind of change.
    """
    for kind, changes in figures.groups():
        if only not in ("", kind):
            continue
        by_cause: dict[str, list[Change]] = {}
        for change in changes:
            cause = causes.get(change.prompt.id)
            by_cause.setdefault(cause.group if cause else UNSEARCHED if causes else "", []).append(change)
        for cause_text, own in sorted(by_cause.items(), key=lambda pair: (pair[0] == UNSEARCHED, -len(pair[1]))):
            title = KIND_TEXTS.get(kind, kind)
            text = f"{title} ← {cause_text}" if cause_text else title
            key = f"kind {kind} {cause_text}".strip()
            yield _group(figures, key, text, own, {}, with_effect=True)  # the head names the cause of all lines


def _group(
    figures: Figures,
    key: str,
    text: str,
    changes: Sequence[Change],
    causes: Mapping[str, ChangeCause],
    *,
    with_effect: bool,
) -> Group:
    regressed = set(figures.label_results.regressed) if figures.label_results else set()
    return Group(ListLine(key, text, f"{len(changes):,}"), ChangeLines(changes, regressed, causes, with_effect))


def verdict_sentence(figures: Figures) -> list[str]:
    """Return a list with a sentence that explains the verdict; empty if there is none or it needs no explanation."""
    is_needed = figures.verdict in NEEDS_WORDS and not figures.errors
    return [VERDICT_TEXTS[figures.verdict]] if figures.verdict and is_needed else []


def keys_to_expand(groups: Sequence[Group]) -> list[str]:
    """Return the keys of the groups to show expanded: those with few lines, or only the first if all have many."""
    few = [group.head.key for group in groups if len(group.lines) <= FEW_CHANGES]
    return few or [group.head.key for group in groups[:1]]


def problem_group(problems: Sequence[Problem], path: str) -> Group | None:
    """Return the problems in instructions files as a group of list lines; None if there are none.

    Each line gives the line number of its problem, and also the file if that is not ``path``.
    """
    if not problems:
        return None
    lines = [
        ListLine(
            f"problem {number}",
            f"{_place(one, path)}: {one.message}",
            one.severity,
            "error" if one.severity == "error" else "warning",
            one,
            "!",
        )
        for number, one in enumerate(problems)
    ]
    errors = sum(one.severity == "error" for one in problems)
    numbers = ((errors, "error"), (len(problems) - errors, "warning"))
    text = ", ".join(counted(number, what) for number, what in numbers if number)
    return Group(ListLine("problems", "problems", text, "error" if errors else "warning"), lines)


def _place(problem: Problem, path: str) -> str:
    is_own = os.path.abspath(problem.file) == path
    return str(problem.line) if is_own else f"{os.path.basename(problem.file)}:{problem.line}"


def outline_group(headings: Sequence[FileHeading]) -> Group:
    """Return the headings of the instructions file as a group of list lines."""
    lines = [
        ListLine(f"heading {one.title}", "  " * (one.level - 1) + plain(one.title), f"line {one.line}", "muted", one)
        for one in headings
    ]
    return Group(ListLine("outline", "outline", f"{len(headings)}", "muted"), lines)
