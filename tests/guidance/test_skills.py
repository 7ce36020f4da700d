"""Which of the installed skills, commands and subagents covers a request."""

from __future__ import annotations

import pytest
from invented_skills import COVERED, INSTALLED, NOT_COVERED

from enricher.sources.skills import Helper, covering

HELPERS = [Helper(name, description, kind=kind) for name, description, kind in INSTALLED]


@pytest.mark.conformance("E47")
@pytest.mark.parametrize("line", COVERED.strip().splitlines())
def test_a_request_is_covered_by_this_one(line: str) -> None:
    name, prompt = line.split("|", 1)
    found = covering(prompt, HELPERS)

    assert found is not None
    assert found[0].name == name


@pytest.mark.conformance("E47")
@pytest.mark.parametrize("prompt", NOT_COVERED.strip().splitlines())
def test_a_prompt_is_covered_by_none(prompt: str) -> None:
    assert covering(prompt, HELPERS) is None


def test_two_that_fit_alike_are_a_guess() -> None:
    alike = [Helper("lint-north", "Lint the warehouse."), Helper("lint-south", "Lint the warehouse.")]

    assert covering("lint the warehouse", alike) is None
