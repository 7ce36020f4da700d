"""Format the result of a gate as a pull-request comment: verdict, blast radius, regressions; the rest is folded.

Prompts are untrusted text: they are put into code spans that they cannot end, so that they form no table,
link, mention or HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.gate.reports import differences, headline, named, one_line, state, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.gate.gate_report import Checked, Report

MOST_ROWS = 50
LARGEST = 60_000
"""A comment on GitHub may have 65,536 characters."""
TOO_LONG = "The details are too long for a comment; `enricher replay --gate` shows them."
REPLACED = {"|": "¦", "`": "'"}
"""Characters that end a cell or a code span even when escaped, and their replacements."""
FOLDED = {
    "Became wrong": "became wrong",
    "Became right": "fixed",
    "Failed before": "failed before",
    "Still wrong": "open",
}


def markdown(report: Report) -> str:
    """Return the comment, at most LARGEST characters."""
    sign = "✅" if report.is_passed else "❌"
    blocks = [
        f"### {sign} Prompt enricher: {report.verdict}",
        "".join(f"- **{reason}**\n" for reason in report.reasons()).rstrip(),
        f"{_plain(headline(report))}.",
        _table(("kind of change", "cases"), [(kind, f"{count:,}") for kind, count in report.figures.kinds]),
        _cases_table(report, "regressed"),
        "\n".join(f"- {_plain(sentence)}" for sentence in (*statistics(report), *report.notes)),
        *_folded(report),
    ]
    whole = "\n\n".join(block for block in blocks if block) + "\n"
    return whole if len(whole) <= LARGEST else "\n\n".join([*filter(None, blocks[:6]), TOO_LONG]) + "\n"


def _folded(report: Report) -> Iterator[str]:
    yield _fold("Unusable lines", [_code(str(one)) for one in report.problems])
    yield _fold("Missing cases", [_code(named(case)) for case in report.missing])
    yield _fold("Removed cases", [_code(named(case)) for case in report.removed])
    yield _fold("Cases that now ask for something else", [_code(named(case)) for case in report.rewritten])
    for title, name in FOLDED.items():
        found = [one for one in report.checked if state(one) == name]
        yield _fold(title, [_code(named(one.case)) + _below(one) for one in found])
    types = [one for one in report.figures.task_types if one.gained or one.lost]
    rows = [(_code(one.name), str(one.cases), str(one.gained), str(one.lost), f"{one.p_value:.3f}") for one in types]
    if rows:
        table = _table(("task type", "cases", "became right", "became wrong", "p (adjusted)"), rows)
        yield f"<details><summary>By task type</summary>\n\n{table}\n\n</details>"


def _below(one: Checked) -> str:
    return "".join(f"<br>{_code(difference)}" for difference in differences(one))


def _cases_table(report: Report, name: str) -> str:
    rows = [one for one in report.checked if state(one) == name]
    cells = [
        (_code(one.task_type), _code(one_line(one.case.prompt)), "<br>".join(map(_code, differences(one))))
        for one in rows[:MOST_ROWS]
    ]
    more = f"\n\nand {len(rows) - MOST_ROWS:,} more" if len(rows) > MOST_ROWS else ""
    return _table(("task type", "prompt", "what"), cells) + more if rows else ""


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *lines])


def _fold(title: str, rows: list[str]) -> str:
    if not rows:
        return ""
    shown = [f"- {row}" for row in rows[:MOST_ROWS]]
    more = [f"- and {len(rows) - MOST_ROWS:,} more"] if len(rows) > MOST_ROWS else []
    return "\n".join([f"<details><summary>{title}: {len(rows):,}</summary>", "", *shown, *more, "", "</details>"])


def _code(text: str) -> str:
    """Put untrusted text into a code span that it cannot end; HTML and mentions have no effect there."""
    flat = " ".join(_readable(text).split())
    for sign, replaced in REPLACED.items():
        flat = flat.replace(sign, replaced)
    return f"`{flat}`" if flat else "`-`"


def _readable(text: str) -> str:
    """Replace characters that a browser would hide or that reverse the direction of text."""
    return "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in text)


def _plain(sentence: str) -> str:
    """Escape the Markdown characters in one of our sentences, which may contain a name from the repository."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|@#" else char for char in sentence)
