"""Format coverage (how often each rule fires on recorded prompts) as table rows and text."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from enricher.rules.layers import packaged_file
from storage.traces import line_labels
from workbench.tui.messages import Counted
from workbench.tui.state import here
from workbench.tui.widgets.lists.figures import Heading, TableRow, bar, percent
from workbench.wording import counted as numbered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from storage.traces.line_labels import JudgedLine, KeepRate
    from workbench.coverage.figures import Coverage, CoverageRow
    from workbench.coverage.unmatched import Cluster

BAR, WIDE_BAR, FILE = 6, 16, 36
WITH_TOKENS, WITH_KIND, WITH_FILE = 72, 110, 150
"""Widths of the screen in columns from which the table adds bars and tokens, the kind of a rule, and its file."""
SHARE = Heading("share", "share", 7, is_number=True)
CLUSTER_HEADINGS = (
    Heading("terms", "words that at least half of them hold", 0),
    Heading("prompts", "prompts", 8, is_number=True),
    SHARE,
)
"""The columns of the table of prompts in which no signal (nothing that gives points to a class) was found."""
IN_ALL = {"prompts": "measured", "labelled": "labelled", "judged_again": "judged again", "unmatched": "no signal"}
"""The numbers in ``Coverage`` that do not belong to one rule, each with the text that says what it counts."""


NO_ROWS = {
    "all": "These instructions have no rule.",
    "dead": "Every rule that was asked for enough prompts fired at least once.",
    "always": "Only the <always> points of each class spoke in every prompt, as they are meant to.",
    "together": "No two rules always spoke together, of those that spoke five times or more.",
    "none": "Every prompt has a signal.",
    "lines": """\
No line of a text that was added to a prompt was called right or wrong yet.

  1, X                               on a prompt: one of its lines was wrong
  enricher trace wrong ID 2 --right  the second line of that prompt helped""",
}
"""The text that each view shows instead of the table if it has no rows."""


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A rule in the table, with the name to show.

    ``bracket`` is drawn before the name to join rules that always fire on the same prompts.
    """

    rule: CoverageRow
    name: str
    bracket: str = ""


def chosen(known: Coverage, *, view: str) -> list[ShownRule]:
    """Return the rules to show in the table for the selected view: those that fired most come first.

    Rules that are meant to fire always, or that were not measured, come last.
    """
    names = distinct_names(known.rows)
    if view == "together":
        return [
            ShownRule(row, names[row], _bracket(place, len(group.rows)))
            for group in known.overlaps
            for place, row in enumerate(group.rows)
        ]
    rows = known.dead() if view == "dead" else known.always_on() if view == "always" else known.rows
    in_order = sorted(rows, key=lambda row: (row.is_meant_to_fire or not row.prompts, -row.fired))
    return [ShownRule(row, names[row]) for row in in_order]


def distinct_names(rows: Iterable[CoverageRow]) -> dict[CoverageRow, str]:
    """Return the name of each rule; rules of the same name are told apart by kind, line or file, in this order."""
    alike: dict[tuple[str, str], list[CoverageRow]] = {}
    for row in rows:
        alike.setdefault((name(row), row.kind), []).append(row)
    kinds = Counter(text for text, _kind in alike)
    found = {}
    for (text, kind), group in alike.items():
        named = f"{text} ({kind})" if kinds[text] > 1 else text
        is_one_file = len({row.file for row in group}) == 1
        for row in group:
            # The line comes first, because the end of a long name is cut off.
            found[row] = f":{row.line} {named}" if is_one_file else f"{named} {os.path.basename(row.file)}:{row.line}"
            if len(group) == 1:
                found[row] = named
    return found


def headings(width: int) -> list[Heading]:
    """Return the columns of the table of rules for a screen of that width."""
    found = (
        (Heading("kind", "kind", 13), WITH_KIND),
        (Heading("rule", "rule", 0), 0),
        (Heading("fired", "fired", 7, is_number=True), 0),
        (SHARE, 0),
        (Heading("bar", "", WIDE_BAR if width >= WITH_KIND else BAR), WITH_TOKENS),
        (Heading("right", "right", 5, is_number=True), 0),
        (Heading("wrong", "wrong", 5, is_number=True), 0),
        (Heading("tokens", "tokens", 7, is_number=True), WITH_TOKENS),
        (Heading("file", "written in", FILE), WITH_FILE),
    )
    return [column for column, least in found if width >= least]


def rule_row(key: str, shown: ShownRule, columns: Sequence[Heading]) -> TableRow:
    """Return a rule as a table row with these ``columns``, which ``headings`` has returned."""
    row = shown.rule
    bar_width = next((one.width for one in columns if one.name == "bar"), 0)
    cells = {
        "kind": (row.kind, "text-muted"),
        "rule": (shown.bracket + shown.name, ""),
        "fired": (f"{row.fired:,}" if row.prompts else "-", ""),
        "share": (percent(row.share if row.prompts else None), "text-muted"),
        "bar": (bar(row.share, bar_width), "primary"),
        "right": (f"{row.right:,}" if row.right or row.wrong else "", "success"),
        "wrong": (f"{row.wrong:,}" if row.wrong else "", "error"),
        "tokens": (f"{row.tokens:,}" if row.tokens else "", "text-muted"),
        "file": (_place(row, FILE), "text-muted"),
    }
    return TableRow.of(key, (cells[one.name] for one in columns))


def cluster_row(key: str, cluster: Cluster, known: Coverage) -> TableRow:
    """Return a table row for a cluster, a group of prompts that share words but in which no signal was found."""
    share = percent(cluster.prompts / max(1, known.prompts))
    return TableRow(key, (", ".join(cluster.terms), f"{cluster.prompts:,}", share), ("", "", "text-muted"))


def kept_headings(width: int) -> list[Heading]:
    """Return the columns of the table on lines of added texts that users judged to be right or wrong."""
    found = (
        (Heading("lines", "lines of", 0), 0),
        (Heading("judged", "judged", 7, is_number=True), 0),
        (Heading("right", "right", 6, is_number=True), 0),
        (Heading("wrong", "wrong", 6, is_number=True), 0),
        (SHARE, 0),
        (Heading("interval", "95 %", 17, is_number=True), WITH_TOKENS),
        (Heading("prompts", "prompts", 8, is_number=True), 0),
    )
    return [column for column, least in found if width >= least]


def kept_row(key: str, rate: KeepRate, lines: Sequence[JudgedLine], columns: Sequence[Heading]) -> TableRow:
    """Return a table row for ``rate``, which says how users judged the lines of one kind or from one rule.

    ``lines`` are all judged lines, and ``columns`` those that ``kept_headings`` has returned.
    """
    low, high = rate.interval
    cells = {
        "lines": (_lines_of(rate), ""),
        "judged": (f"{rate.judged:,}", ""),
        "right": (f"{rate.right:,}", "success"),
        "wrong": (f"{rate.judged - rate.right:,}", "error"),
        "share": (percent(rate.share), ""),
        "interval": (f"{percent(low)} to {percent(high)}", "text-muted"),
        "prompts": (f"{len(rate.prompts(lines)):,}", ""),
    }
    return TableRow.of(key, (cells[one.name] for one in columns))


def about_kept(rate: KeepRate) -> str:
    """Return a sentence on how many judged lines were right, with the 95 % confidence interval of their share."""
    low, high = map(percent, rate.interval)
    of_all = f"between {low} and {high} of all such lines, if the judged ones were chosen at random"
    return f"{rate.right:,} of {rate.judged:,} judged lines were right: {of_all}\nenter shows their prompts"


def counted_lines(rate: KeepRate, lines: Sequence[JudgedLine], where: str) -> list[Counted]:
    """Return three numbers of prompts: those with judged lines, with lines judged right, and with lines judged wrong.

    Only lines of the kind or rule of ``rate`` count. ``where`` is the filter of the measured prompts.
    """
    verdicts = {"judged": "", "right": line_labels.OK, "wrong": line_labels.WRONG}
    found = {name: rate.prompts(lines, verdict) for name, verdict in verdicts.items()}
    return [Counted(_of(f"{name} lines: {_lines_of(rate)}", where), len(ids), ids) for name, ids in found.items()]


def _lines_of(rate: KeepRate) -> str:
    return f"{rate.kind} {rate.rule}".strip().replace("_", " ") or "all"


def unmatched_row(key: str, known: Coverage) -> TableRow:
    """Return a table row with the number and share of all prompts in which no signal was found."""
    share = percent(known.unmatched / max(1, known.prompts))
    return TableRow(key, ("(all of them)", f"{known.unmatched:,}", share), ("text-muted", "", "text-muted"))


def about_unmatched(known: Coverage) -> str:
    """Return a sentence on how many prompts have no signal (nothing in them gives points to a class)."""
    alone = "" if known.clusters else "; no two of them share words"
    return f"{known.unmatched:,} of {known.prompts:,} prompts have no signal{alone}\nenter shows them"


def about_cluster(cluster: Cluster, known: Coverage) -> str:
    """Return a sentence on how many of the prompts without any signal are in the cluster (prompts that share words)."""
    return f"{cluster.prompts:,} of {known.unmatched:,} prompts without a signal\nenter shows them"


def about(row: CoverageRow, known: Coverage) -> str:
    """Return details of a rule as lines: its name, its file and line, its figures, and the tokens that it costs."""
    lines = [name(row), _place(row, 200), _finding(row, known)]
    if row.tokens:
        lines.append(f"its own words cost {row.tokens_each:,} tokens in each of these prompts, {row.tokens:,} in all")
    return "\n".join(lines)


def name(row: CoverageRow) -> str:
    """Return the name of a rule as the table shows it; for a signal, its class, label and weight."""
    if row.kind != "signal":
        return f"{row.name} {row.label}".strip()
    return f"{row.name}: {row.label} {row.weight:+d}{' (meant to)' if row.is_meant_to_fire else ''}"


def counted(row: CoverageRow, known: Coverage, number: str, where: str) -> Counted:
    """Return one of a rule's numbers, ``fired``, ``right`` or ``wrong``, with the prompts that it counts.

    ``right`` and ``wrong`` count labelled prompts on which the rule fired and its class won, rightly or wrongly.
    ``where`` is the filter of the measured prompts.
    """
    named = distinct_names(known.rows)[row]
    return Counted(_of(f"{number}: {named}", where), getattr(row, number), known.counted(row, number))


def counted_in_all(known: Coverage, number: str, where: str) -> Counted:
    """Return the number named by ``number``, a key of ``IN_ALL`` such as ``labelled``, with the prompts it counts."""
    return Counted(_of(IN_ALL[number], where), getattr(known, number), known.counted_in_all(number))


def counted_in(cluster: Cluster, where: str) -> Counted:
    """Return the number of prompts in a cluster, with their ids; ``where`` is the filter of the measured prompts."""
    return Counted(_of(f"no signal: {', '.join(cluster.terms)}", where), cluster.prompts, cluster.members)


def _of(name: str, where: str) -> str:
    return f"{name}, of {where}" if where else name


def _bracket(place: int, rows: int) -> str:
    return "" if rows < 2 else "┌ " if not place else "└ " if place == rows - 1 else "│ "


def _place(row: CoverageRow, width: int) -> str:
    """Return the file and line of a rule in at most ``width`` characters.

    The working folder, the home folder and the folder of the packaged rules are abbreviated. If that is not enough,
    only the file's name is returned, and if that is too long, only its end.
    """
    near = _near(row.file)
    every = [f"{name}:{row.line}" for name in (near, os.path.basename(near))]
    return next((text for text in every if len(text) <= width), "…" + every[-1][1 - width :])


def _near(path: str) -> str:
    packaged = os.path.dirname(packaged_file())
    # The innermost folder first: the others mostly lie in the home folder.
    for folder, instead in ((here(), ""), (packaged, "packaged/"), (os.path.expanduser("~"), "~/")):
        if path.startswith(folder.rstrip("/") + "/"):
            return instead + path[len(folder.rstrip("/")) + 1 :]
    return path


def scope(known: Coverage) -> str:
    """Return in words that all prompts are judged by the rules of one folder; empty if it has no rules of its own."""
    return f", all judged as if typed in {os.path.basename(known.folder)}/" if known.folder else ""


def _finding(row: CoverageRow, known: Coverage) -> str:
    asked = "tried" if row.kind == "approach" else "asked"
    if not row.prompts:
        why = "only the profile as-specified does" if asked == "tried" else "nothing is gathered for imported ones"
        return f"not measured: it was {asked} for none of these prompts ({why})"
    of = f"{numbered(row.prompts, 'prompt')}{f' for which it was {asked}' if row.prompts < known.prompts else ''}"
    if row.is_dead:
        spoke = "never spoke (it has wordings of other languages)" if row.is_foreign else "never spoke"
        few = " are too few to tell:" if known.is_too_seldom_asked(row) else ""
        possible = f"{spoke}; {of}{few} leave possible that it does in up to {percent(row.may_reach())} of all"
        return possible + ("; it is said only where no approach before it fits" if row.kind == "approach" else "")
    acted = f"acted in {row.fired:,} of {of}{', as it is meant to' if row.is_meant_to_fire else ''}"
    if row.facet != TASK_TYPE:
        return acted
    judged = row.right + row.wrong
    if not judged:
        return f"{acted}; none that its class won has a label"
    low, high = map(percent, (row.rightness().low, row.rightness().high))
    return f"{acted}; right in {row.right:,} of {judged:,} labelled prompts that its class won: {low} to {high}"
