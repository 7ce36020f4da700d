"""Format the result of a gate as JSON, JUnit XML and terminal text; ``workbench.gate.comment`` has the pull request's.

The names of the states of a case, and the sentences of the figures, are here for all formats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from enricher.prompt.text import shortened
from workbench.gate.case import WRONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.gate.case import Case
    from workbench.gate.gate_report import Checked, Report

PROMPT_CHARS = 120
NOT_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd")
XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
NAMES = {
    "task_type": "task type",
    "shown": "shown",
    "search_intent": "intent",
    "guardrails": "guardrails",
    "approach": "approach",
}


def to_json(report: Report) -> dict[str, Any]:
    """Return the documented object of ``enricher replay --gate --json``."""
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
    """Return the state of a case: regressed, became wrong, fixed, failed before, open, passed."""
    if one.is_regression:
        return "regressed"
    if one.has_failed_newly:
        return "became wrong"
    if one.is_fixed:
        return "fixed"
    if one.faults:
        return "failed before" if one.before else "open"
    return "passed"


def junit(report: Report) -> str:
    """Return JUnit XML with a test per case, by task type; failures close the gate, earlier failures are skipped."""
    suite = ET.Element("testsuite", name="enricher gate", tests=str(_tests(report)))
    counted = {"failures": 0, "skipped": 0, "errors": 0}
    for one in report.checked:
        node = ET.SubElement(suite, "testcase", classname=_xml(one.task_type), name=_xml(named(one.case)), time="0")
        if one.is_regression or (one.has_failed_newly and report.verdict == "regressed"):
            counted["failures"] += 1
            ET.SubElement(node, "failure", message=_xml("; ".join(differences(one)))).text = _xml(one.case.prompt)
        elif one.faults:
            counted["skipped"] += 1
            ET.SubElement(node, "skipped", message=_xml(f"{state(one)}: {'; '.join(differences(one))}"))
    for name, message in _errors(report):
        counted["errors"] += 1
        node = ET.SubElement(suite, "testcase", classname="cases", name=_xml(name), time="0")
        ET.SubElement(node, "error", message=_xml(message))
    for name, count in counted.items():
        suite.set(name, str(count))
    root = ET.Element("testsuites", suite.attrib)
    root.append(suite)
    ET.indent(root)
    return f"{XML_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def _tests(report: Report) -> int:
    return len(report.checked) + sum(1 for _ in _errors(report))


def _errors(report: Report) -> Iterator[tuple[str, str]]:
    yield from ((f"{one.file}:{one.line}", one.message) for one in report.problems)
    yield from ((case.id, "the base has this case, the file has it no more") for case in report.missing)


def named(case: Case) -> str:
    """Return the display name of a case: its id and the beginning of its prompt."""
    return f"{case.id} {one_line(case.prompt)}"


def _xml(text: str) -> str:
    return text.translate(NOT_XML)


def one_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    return shortened(" ".join(text.split()), PROMPT_CHARS)


def differences(one: Checked) -> list[str]:
    """Return the expected and the actual value of each failing field, one sentence each."""
    wanted, got = one.case.says.to_json(), one.now.to_json()
    if one.case.verdict == WRONG:
        return [f"{NAMES[name]}: {_value(got[name])} came out again" for name in one.faults]
    return [f"{NAMES[name]}: expected {_value(wanted[name])}, got {_value(got[name])}" for name in one.faults]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (", ".join(value) if isinstance(value, list) else str(value)) or "none"


def headline(report: Report) -> str:
    """Return the blast radius over the cases in one sentence."""
    figures = report.figures
    against = f"against {report.base}" if report.base else "against what was approved"
    share = figures.changed / figures.cases if figures.cases else 0.0
    interval = f"95 % {figures.share.low:.1%} to {figures.share.high:.1%}"
    return f"{figures.changed:,} of {figures.cases:,} cases come out differently ({share:.1%}, {interval}) {against}"


def statistics(report: Report) -> list[str]:
    """Return the statistical conclusions, one sentence each."""
    figures = report.figures
    said = []
    if figures.gained or figures.lost:
        counts = f"{figures.gained} labelled prompts became right, {figures.lost} wrong"
        said.append(f"{counts} (mid-p McNemar: p = {figures.p_value:.3f})")
    if figures.at_most is not None:
        said.append(f"no approved case regressed: at most {figures.at_most:.1%} of such prompts would (95 %)")
    if figures.detectable < 1:
        said.append(f"{figures.cases:,} cases show a difference of {figures.detectable:.1%} four times in five")
    elif figures.cases:
        said.append(f"{figures.cases:,} cases are too few to tell a difference from chance")
    return said


def text(report: Report) -> str:
    """Return the text for a terminal; the caller removes unprintable characters."""
    word = "passed" if report.is_passed else "closed"
    lines = [f"{report.verdict}: the gate is {word}", headline(report)]
    lines += [f"  {count:,} {kind}" for kind, count in report.figures.kinds]
    lines += [*statistics(report), *(f"note: {note}" for note in report.notes)]
    lines += [str(problem) for problem in report.problems]
    for case in report.missing:
        lines.append(f"missing: {named(case)} (it is in the base; merge that first, or --allow-removed)")
    for title, rows in groups(report):
        for one in rows:
            lines += [f"{title}: {named(one.case)}", *(f"    {difference}" for difference in differences(one))]
    return "\n".join(lines)


def groups(report: Report) -> list[tuple[str, list[Checked]]]:
    """Return the failing cases by state, the worst first."""
    titles = ("regressed", "became wrong", "failed before", "open")
    return [(title, [one for one in report.checked if state(one) == title]) for title in titles]


def json_text(report: Report) -> str:
    """Return the JSON object as text."""
    return json.dumps(to_json(report), indent=2)
