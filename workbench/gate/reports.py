"""Format the result of the gate as JSON, as JUnit XML, as text for a terminal, or as a pull-request comment.

In the comment, prompts are untrusted text: they are put into code spans that they cannot end, so that they cannot form
a table, link, mention or HTML.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from enricher.prompt.text import shortened
from workbench.gate.case import FIELD_NAMES, OK, WRONG
from workbench.statistics.intervals import Interval, of_others

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.gate.case import GoldenCase
    from workbench.gate.gate_report import Checked, GateReport


PROMPT_CHARS = 120
# Characters that XML 1.0 forbids even as character references; ElementTree would write them as they are.
NOT_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd")
XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'  # ElementTree writes none for encoding="unicode"
MOST_ROWS = 50
MOST_PASSING = 5
"""Maximum number of cases that pass as before which are listed; the others are only counted."""
CHANCE = 0.05
"""A difference with this p-value or a higher one may be due to chance."""
WHY_PASSED = {
    "identical": "no case comes out differently",
    "changed": "no approved case got worse",
    "inconclusive": "some labelled prompts became wrong, too few to rule out chance",
}
KIND_TEXTS = {
    "task type": "another task type",
    "intent": "another search intent",
    "shown": "its task type shown or no longer shown",
    "workflow": "another workflow",
    "approach": "another approach",
    "guardrail added": "a guardrail more",
    "guardrail dropped": "a guardrail less",
    "guardrails reordered": "its guardrails in another order",
}
"""What the kinds of change mean, to be read after "1 case with"."""
FEWEST_FOR_SHARES = 10
"""With fewer cases, no share is reported, because its confidence interval could span half of the scale."""
LARGEST = 60_000
"""Maximum length of the comment in characters; GitHub allows 65,536."""
TOO_LONG = "The details are too long for a comment; `enricher replay --gate` shows them."
REPLACED = {"|": "¦", "`": "'"}
"""Characters that end a table cell or a code span even when escaped, and their replacements."""
FOLDED = {
    "Became wrong": "became wrong",
    "Became right": "fixed",
    "Failed before": "failed before",
    "Still wrong": "open",
}


def to_json(report: GateReport) -> dict[str, Any]:
    """Return the report as the JSON object that ``enricher replay --gate --json`` prints."""
    figures = report.figures
    return {
        "verdict": report.verdict,
        "passed": report.is_passed,
        "reasons": report.reasons(),
        "file": report.file,
        "candidate": report.candidate,
        "base": report.base or None,
        "base_hash": report.base_hash or None,
        "cases": figures.cases,
        "approved": figures.approved,
        "changed": figures.changed,
        "share": figures.changed / figures.cases if figures.cases else 0.0,
        "interval": [figures.share.low, figures.share.high],
        "kinds": dict(figures.kinds),
        "gained": figures.gained,
        "lost": figures.lost,
        "p_value": figures.p_value,
        "at_most": figures.at_most,
        "detectable": figures.detectable,
        "task_types": [
            {"task_type": one.name, "cases": one.cases, "gained": one.gained, "lost": one.lost, "p_value": one.p_value}
            for one in figures.task_types
        ],
        "results": [_result(one) for one in report.checked],
        "missing": [case.id for case in report.missing],
        "removed": [case.id for case in report.removed],
        "rewritten": [case.id for case in report.rewritten],
        "problems": [{"file": one.file, "line": one.line, "message": one.message} for one in report.problems],
        "notes": list(report.notes),
    }


def _result(one: Checked) -> dict[str, Any]:
    return {
        "id": one.case.id,
        "prompt": one.case.prompt,
        "verdict": one.case.verdict,
        "state": state(one),
        "faults": list(one.faults),
        "kinds": list(one.kinds),
        "says": one.case.says.to_json(),
        "before": one.before.to_json() if one.before else None,
        "now": one.now.to_json(),
    }


def state(one: Checked) -> str:
    """Return the name of the state that a case is in after the change.

    It is «not mended» (an approved case that the base lacks and that fails with the base's rules, too), «regressed» (an
    approved case that newly fails), «became wrong» (another case that newly fails), «fixed», «failed before», «fails»
    (an approved case, and there is no base to compare with), «open» (another case that fails without a base) or
    «passed».
    """
    if one.closes_gate and one.before is None:
        return "fails"
    if one.closes_gate:
        return "not mended" if one.is_unmended else "regressed"
    if one.has_failed_newly:
        return "became wrong"
    if one.is_fixed:
        return "fixed"
    if one.faults:
        return "failed before" if one.before else "open"
    return "passed"


def junit(report: GateReport) -> str:
    """Return JUnit XML with a test for each case, grouped by task type.

    A case that closes the gate is a failure; other failing cases are marked as skipped.
    """
    errors = list(_errors(report))
    suite = ET.Element("testsuite", name="enricher gate", tests=str(len(report.checked) + len(errors)))
    counted = {"failures": 0, "skipped": 0, "errors": 0}
    for one in report.checked:
        node = ET.SubElement(suite, "testcase", classname=_xml(one.task_type), name=_xml(named(one.case)), time="0")
        if one.closes_gate or (one.has_failed_newly and report.verdict == "regressed"):
            counted["failures"] += 1
            ET.SubElement(node, "failure", message=_xml("; ".join(differences(one)))).text = _xml(one.case.prompt)
        elif one.faults:
            counted["skipped"] += 1
            ET.SubElement(node, "skipped", message=_xml(f"{state(one)}: {'; '.join(differences(one))}"))
    for name, message in errors:
        counted["errors"] += 1
        node = ET.SubElement(suite, "testcase", classname="cases", name=_xml(name), time="0")
        ET.SubElement(node, "error", message=_xml(message))
    for name, count in counted.items():
        suite.set(name, str(count))
    root = ET.Element("testsuites", suite.attrib)
    root.append(suite)
    ET.indent(root)
    return f"{XML_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def _errors(report: GateReport) -> Iterator[tuple[str, str]]:
    yield from ((f"{one.file}:{one.line}", one.message) for one in report.problems)
    yield from ((case.id, "the base has this case, the file has it no more") for case in report.missing)


def named(case: GoldenCase) -> str:
    """Return the name under which reports show a case: its id and the beginning of its prompt."""
    return f"{case.id} {one_line(case.prompt)}"


def _xml(text: str) -> str:
    return text.translate(NOT_XML)


def one_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    return shortened(" ".join(text.split()), PROMPT_CHARS)


def differences(one: Checked) -> list[str]:
    """Return the expected and the actual value of each failing field, one clause per field."""
    wanted, got = one.case.says.to_json(), one.now.to_json()
    if one.case.verdict == WRONG:
        return [f"{FIELD_NAMES[name]}: {_value(got[name])} came out again" for name in one.faults]
    return [f"{FIELD_NAMES[name]}: expected {_value(wanted[name])}, got {_value(got[name])}" for name in one.faults]


def _moves(one: Checked) -> list[str]:
    """Return what a case that passes got before the change and gets now, one clause per field that differs."""
    if one.faults or one.before is None:
        return []
    old, new = one.before.to_json(), one.now.to_json()
    return [
        f"{FIELD_NAMES[name]}: {_value(old[name])} → {_value(new[name])}" for name in one.before.differences(one.now)
    ]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (", ".join(value) if isinstance(value, list) else str(value)) or "none"


def headline(report: GateReport) -> str:
    """Return one sentence on how many decisions differ from the base's or, without a base, from the approved ones."""
    figures = report.figures
    base = report.base or "what was approved"
    of, comes = f"of {_cases(figures.cases)}", "comes" if figures.changed == 1 else "come"
    counted = f"{figures.changed:,} {of} {comes} out differently from {base}"
    if not figures.changed:
        counted = f"{f'none {of}' if figures.cases > 1 else 'no case'} comes out differently from {base}"
    if figures.cases < FEWEST_FOR_SHARES:
        return counted
    share = f"{figures.changed / figures.cases:.1%}"
    return f"{counted}: {share}; {of_others(figures.share, 'come out differently')}"


def statistics(report: GateReport) -> list[str]:
    """Return the statistical conclusions, one sentence each."""
    figures = report.figures
    sentences = []
    if figures.gained or figures.lost:
        counts = f"{_cases(figures.gained)} became right and {figures.lost or 'none'} became wrong"
        chance = "which is too clear for chance" if figures.p_value < CHANCE else "which may be chance"
        sentences.append(f"{counts}, {chance} (p = {figures.p_value:.3f}, McNemar's mid-p test)")
    if figures.cases < FEWEST_FOR_SHARES:
        is_or_are = "is" if figures.cases == 1 else "are"
        return [
            *sentences,
            f"{_cases(figures.cases)} {is_or_are} too few to tell how many other prompts would get worse",
        ]
    if figures.at_most is not None:
        sentences.append(f"no approved case got worse; {of_others(Interval(0, figures.at_most), 'get worse')}")
    if figures.detectable < 1:
        least = f"at least {math.ceil(100 * figures.detectable)} of 100 prompts"
        found = f"these {figures.cases:,} cases would notice it four times in five ({figures.detectable:.1%})"
        sentences.append(f"if a change concerns {least}, {found}")
    elif figures.cases:
        sentences.append(f"{figures.cases:,} cases are too few to tell a difference from chance")
    return sentences


def _cases(count: int) -> str:
    return f"{count:,} case" if count == 1 else f"{count:,} cases" if count else "no case"


def text(report: GateReport) -> str:
    """Return the report as text for a terminal; the caller must remove unprintable characters."""
    return "\n".join(line for line, _case in lines(report))


def lines(report: GateReport, *, first: str = "") -> list[tuple[str, str]]:
    """Return the lines of the report; each comes with the id of the case that it is about, or an empty id.

    If the gate is passed, some cases that pass as before are listed at the end, beginning with the case ``first``.
    """
    about_all = [conclusion(report), headline(report)]
    about_all += [f"  {_cases(count)} with {KIND_TEXTS.get(kind, kind)}" for kind, count in report.figures.kinds]
    about_all += [*statistics(report), *(f"note: {note}" for note in report.notes)]
    about_all += [str(problem) for problem in report.problems]
    about_all += [
        f"missing: {named(case)} (it is in the base; merge that first, or --allow-removed)" for case in report.missing
    ]
    found = [(line, "") for line in about_all]
    for title, rows in groups(report):
        for one in rows:
            sentences = (*differences(one), *_moves(one), *_by_whom(one.case))
            texts = [f"{title}: {named(one.case)}", *(f"    {sentence}" for sentence in sentences)]
            found += [(text, one.case.id) for text in texts]
    return [*found, *(_passing(report, first) if report.is_passed else [])]


def _passing(report: GateReport, first: str) -> list[tuple[str, str]]:
    """Return lines for the cases that pass as before: ``first``, then those that the base lacks, then the newest."""
    passing = [one for one in report.checked if state(one) == "passed" and not one.kinds]
    # The id of a trace begins with its time.
    passing.sort(key=lambda one: (one.case.id == first, one.is_new, one.case.id), reverse=True)
    found = [(f"passed: {named(one.case)}", one.case.id) for one in passing[:MOST_PASSING]]
    more = len(passing) - MOST_PASSING
    return [*found, (f"and {more:,} more {'passes' if more == 1 else 'pass'}", "")] if more > 0 else found


def conclusion(report: GateReport) -> str:
    """Return one sentence on whether the change may be merged and why; if it may, also on how many cases still fail."""
    if not report.is_passed:
        return f"The gate is closed: {'; '.join(report.reasons())}"
    failing = sum(bool(one.faults) for one in report.checked)
    fail = "1 case fails" if failing == 1 else f"{failing:,} cases fail"
    is_judged = report.figures.approved or report.figures.lost
    why = WHY_PASSED[report.verdict] if is_judged else "no case is approved, so none can close it"
    return f"The gate is passed: {why}{f', though {fail}' if failing else ''}"


def _by_whom(case: GoldenCase) -> list[str]:
    return [f"{'approved' if case.verdict == OK else 'labelled'} by {case.by}"] if case.by else []


def groups(report: GateReport) -> list[tuple[str, list[Checked]]]:
    """Return the golden cases in groups, each with its title, the worst first; the titles are the states of ``state``.

    Cases that pass as before are left out; those that pass with another result form the group «changed».
    """
    titles = ("regressed", "fails", "not mended", "became wrong", "fixed", "failed before", "open")
    by_state = [(title, [one for one in report.checked if state(one) == title]) for title in titles]
    return [*by_state, ("changed", [one for one in report.checked if state(one) == "passed" and one.kinds])]


def markdown(report: GateReport) -> str:
    """Return the pull-request comment, at most LARGEST characters long."""
    sign = "✅" if report.is_passed else "❌"
    summary = [
        f"### {sign} Prompt enricher",
        f"**{_plain(conclusion(report))}**",
        f"{_plain(headline(report))}.",
        _table(("kind of change", "cases"), [(kind, f"{count:,}") for kind, count in report.figures.kinds]),
        _regressed_table(report),
        "\n".join(f"- {_plain(sentence)}" for sentence in (*statistics(report), *report.notes)),
    ]
    whole = "\n\n".join(filter(None, [*summary, *_folded(report)])) + "\n"
    return whole if len(whole) <= LARGEST else "\n\n".join(filter(None, [*summary, TOO_LONG])) + "\n"


def _folded(report: GateReport) -> Iterator[str]:
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


def _regressed_table(report: GateReport) -> str:
    rows = [one for one in report.checked if one.closes_gate]
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
    """Replace characters that a browser would hide, or that reverse the direction of text."""
    return "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in text)


def _plain(sentence: str) -> str:
    """Escape Markdown characters in a sentence of the report, because it may contain a name from the repository."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|@#" else char for char in sentence)
