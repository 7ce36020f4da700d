"""The list of rows is whole, and the report says of each what the tests say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import report
from simulator import ROOT, SHARED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIST = SHARED / "design" / "CONFORMANCE.md"


def test_the_list_holds_442_rows_of_five_documents() -> None:
    rows = report.read_rows()

    assert len(rows) == 442
    assert {row.document for row in rows.values()} == set(report.DOCUMENTS)


@pytest.mark.skipif(not LIST.exists(), reason="the design documents are not beside this repository")
def test_the_rows_are_those_of_the_design_document() -> None:
    rows = re.findall(r"^\| ((?:[EYP]\d+|S[12]-\S+)) \|", LIST.read_text(encoding="utf-8"), re.MULTILINE)

    assert list(report.read_rows()) == rows


def test_every_row_that_a_test_names_is_in_the_list() -> None:
    named = set()
    for file in (ROOT / "tests").rglob("*.py"):
        for arguments in re.findall(
            r"^ *@?pytest\.mark\.conformance\(([^)]*)\)", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            named |= set(re.findall(r'"([^"]+)"', arguments))

    assert named <= set(report.read_rows())


@pytest.fixture
def junit(tmp_path: Path) -> Callable[..., Path]:
    def write(*cases: tuple[str, str]) -> Path:
        file = tmp_path / "junit.xml"
        named = "".join(
            f'<testcase classname="t" name="{at}"><properties><property name="conformance" value="{row}"/></properties>'
            f"{inner}</testcase>"
            for at, (row, inner) in enumerate(cases)
        )
        file.write_text(f"<testsuites><testsuite>{named}</testsuite></testsuites>")
        return file

    return write


@pytest.mark.parametrize(
    ("inner", "state"),
    [
        pytest.param(("", ""), "done", id="all pass"),
        pytest.param(("", '<failure message="no"/>'), "failing", id="one fails"),
        pytest.param(("", '<error message="no"/>'), "failing", id="a fixture fails"),
        pytest.param(("", '<skipped message="no strace"/>'), "done", id="one passes, one is skipped"),
        pytest.param(('<skipped message="no strace"/>',), "untested", id="all are skipped"),
        pytest.param((), "untested", id="no test"),
    ],
)
def test_a_row_is_what_its_tests_are(junit: Callable[..., Path], inner: tuple[str, ...], state: str) -> None:
    rows = report.read_rows()

    unknown = report.join(rows, junit(*(("E18", one) for one in inner)))

    assert (rows["E18"].state, unknown) == (state, [])


def test_a_row_that_a_ruling_excepts_needs_no_test(junit: Callable[..., Path], capsys: pytest.CaptureFixture) -> None:
    rows = report.read_rows()

    report.join(rows, junit(("E18", "")))
    report.print_report(rows, is_brief=True)

    assert rows["S2-1e"].state == "excepted"
    assert "  S2-1e     excepted  file sizes ~400/300/200 lines (ruling R24)\n" in capsys.readouterr().out


def test_a_marker_that_names_no_row_is_told(junit: Callable[..., Path]) -> None:
    assert report.join(report.read_rows(), junit(("E99", ""))) == ["E99 is no row; named by t::0"]
