"""``make conformance``: run the tests that prove rows, and say for each document what is done, failing, untested.

A row is done when all its tests pass, failing when one fails, and untested when it has none or they were skipped.
A row that a ruling excepts needs no test. Exit 1 for a failing row or a marker that names no row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

HERE = Path(__file__).parent
DOCUMENTS = {
    "E": "seed 000, prompt enricher",
    "Y": "seed 003, prompt hydration",
    "P": "seed 004, context enrichment pipeline",
    "S1": "seed 001, search intent and memories",
    "S2": "seed 002, hybrid prompt format",
}
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
STATES = ("done", "failing", "excepted", "untested")


@dataclass
class Row:
    """One claim, the ruling that excepts it if there is one, and the tests that prove it with their outcomes."""

    id: str
    excepted_by: str
    claim: str
    tests: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def document(self) -> str:
        return self.id.split("-")[0] if "-" in self.id else self.id[0]

    @property
    def state(self) -> str:
        """Return done, failing, excepted or untested."""
        outcomes = {outcome for _name, outcome, _reason in self.tests}
        if FAILED in outcomes:
            return "failing"
        if PASSED in outcomes:
            return "done"
        return "excepted" if self.excepted_by else "untested"


def read_rows() -> dict[str, Row]:
    """Return all rows by id, in the order of the list."""
    lines = (HERE / "rows.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [Row(*line.split("\t")) for line in lines]
    return {row.id: row for row in rows}


def join(rows: dict[str, Row], junit: Path) -> list[str]:
    """Add the outcomes of a JUnit report to the rows; return the rows that tests name but nobody listed."""
    unknown: dict[str, list[str]] = defaultdict(list)
    for case in ET.parse(junit).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        for proved in case.iterfind("properties/property[@name='conformance']"):
            identity = proved.get("value", "")
            if identity in rows:
                rows[identity].tests.append((name, *_outcome(case)))
            else:
                unknown[identity].append(name)
    return [f"{identity} is no row; named by {', '.join(tests)}" for identity, tests in unknown.items()]


def _outcome(case: ET.Element) -> tuple[str, str]:
    for tag in ("failure", "error"):
        if (found := case.find(tag)) is not None:
            return FAILED, (found.get("message") or "").partition("\n")[0][:120]
    if (found := case.find("skipped")) is not None:
        return SKIPPED, found.get("message") or ""
    return PASSED, ""


def print_report(rows: dict[str, Row], *, is_brief: bool) -> None:
    """Print a line per document, then every row with its tests."""
    for document, title in DOCUMENTS.items():
        own = [row for row in rows.values() if row.document == document]
        counts = {state: sum(row.state == state for row in own) for state in STATES}
        figures = ", ".join(f"{count} {state}" for state, count in counts.items())
        print(f"\n{document}  {title}: {len(own)} rows, {figures}")
        for row in own:
            _print_row(row, is_brief=is_brief)


def _print_row(row: Row, *, is_brief: bool) -> None:
    by = f" (ruling {row.excepted_by})" if row.state == "excepted" else ""
    print(f"  {row.id:9} {row.state:9} {row.claim}{by}")
    shown = row.tests if not is_brief else [test for test in row.tests if test[1] != PASSED]
    for name, outcome, reason in shown:
        print(f"            {outcome if outcome != PASSED else '+':9} {name}{f': {reason}' if reason else ''}")


def run_tests(junit: Path, selected: list[str]) -> None:
    """Run every test that proves a row; its own output goes to stderr."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "conformance", f"--junitxml={junit}", *selected]
    subprocess.run(command, cwd=HERE.parents[1], stdout=sys.stderr, check=False)


def main() -> None:
    """Report on a run of the tests, or on one that was made already."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--junit", type=Path, help="use this report of an earlier run (pytest --junitxml=FILE)")
    parser.add_argument("--brief", action="store_true", help="leave out passing tests")
    parser.add_argument("tests", nargs="*", help="only these tests")
    asked = parser.parse_args()
    rows = read_rows()
    with tempfile.TemporaryDirectory() as folder:
        junit = asked.junit or Path(folder, "junit.xml")
        if not asked.junit:
            run_tests(junit, asked.tests)
        if not junit.exists():
            sys.exit("the tests could not be run")
        unknown = join(rows, junit)
    print_report(rows, is_brief=asked.brief)
    print(*unknown, sep="\n", file=sys.stderr)
    sys.exit(1 if unknown or any(row.state == "failing" for row in rows.values()) else 0)
