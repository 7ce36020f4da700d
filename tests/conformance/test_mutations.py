"""The list of breakages fits the product and the tests as they are; ``make mutations`` tries them."""

from __future__ import annotations

import ast
import sys
from functools import cache

import pytest
import report
from simulator import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from mutations import MUTATIONS, Mutation

every_mutation = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)


@cache
def functions(file: str) -> dict[str, str]:
    """Return the tests of a file below tests/, each with the decorators that it and its file's tables have."""
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    return {
        node.name: " ".join(ast.get_source_segment(text, one) or "" for one in node.decorator_list)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def decorators(test: str) -> str:
    """Return the decorators of a test, of all tests where a file is named; a KeyError where there is none."""
    file, _, name = test.partition("::")
    known = functions(file)
    return known[name.partition("[")[0]] if name else " ".join(known.values())


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTATIONS) >= 40
    assert len({one.name for one in MUTATIONS}) == len(MUTATIONS)


@every_mutation
def test_the_text_to_break_stands_once_in_its_file_and_stays_a_program(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text(encoding="utf-8")

    assert text.count(mutation.old) == 1
    assert mutation.old != mutation.new
    if mutation.file.endswith(".py"):
        compile(text.replace(mutation.old, mutation.new), mutation.file, "exec")


@every_mutation
def test_the_tests_that_must_notice_exist_and_prove_the_rows(mutation: Mutation) -> None:
    markers = " ".join(decorators(test) for test in mutation.tests.split())

    assert mutation.tests
    assert [row for row in mutation.rows.split() if f'"{row}"' not in markers] == []
    assert set(mutation.rows.split()) <= set(report.read_rows())
