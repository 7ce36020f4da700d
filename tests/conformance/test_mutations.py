"""The list of breakages fits the product and the tests as they are; ``make mutations`` tries them."""

from __future__ import annotations

import ast
import sys
from functools import cache

import report
from simulator import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from mutations import MUTATIONS


@cache
def functions(file: str) -> dict[str, str]:
    """Return the tests of a file below tests/, each with the decorators that it and its file's tables have."""
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    return {
        node.name: " ".join(ast.unparse(one) for one in node.decorator_list)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def decorators(test: str) -> str | None:
    """Return the decorators of a test, of all tests where a file is named; None where there is no such test."""
    file, _, name = test.partition("::")
    known = functions(file)
    return known.get(name.partition("[")[0]) if name else " ".join(known.values())


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTATIONS) >= 40
    assert len({one.name for one in MUTATIONS}) == len(MUTATIONS)


def test_each_text_to_break_stands_once_in_its_file_which_stays_a_program() -> None:
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in {one.file for one in MUTATIONS}}

    assert [one.name for one in MUTATIONS if texts[one.file].count(one.old) != 1 or one.old == one.new] == []
    for one in MUTATIONS:
        if one.file.endswith(".py"):
            compile(texts[one.file].replace(one.old, one.new), f"{one.file}, broken by: {one.name}", "exec")


def test_the_tests_that_must_notice_exist() -> None:
    named = [(one.name, test) for one in MUTATIONS for test in one.tests.split()]

    assert [(name, test) for name, test in named if decorators(test) is None] == []
    assert [one.name for one in MUTATIONS if not one.tests] == []


def test_the_tests_that_must_notice_prove_the_rows() -> None:
    rows = set(report.read_rows())
    marked = {one.name: " ".join(decorators(test) or "" for test in one.tests.split()) for one in MUTATIONS}
    wanted = [(one.name, row) for one in MUTATIONS for row in one.rows.split()]

    assert [(name, row) for name, row in wanted if f"'{row}'" not in marked[name] or row not in rows] == []
