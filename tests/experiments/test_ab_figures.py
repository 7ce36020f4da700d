"""The figures about structured prompts are measured here, or follow from what is known of the published ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.experiments_figures", "--json"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.slow
@pytest.mark.conformance("S2-M1", "S2-M2")
def test_what_follows_from_the_published_records_is_computed_and_the_rest_is_said_to_be_unknown(
    figures: dict[str, Any],
) -> None:
    known = figures["published"]

    assert known["per_arm"] == 5
    assert known["tokens_saved_as_published"] == pytest.approx(0.352, abs=0.0005)
    assert known["tokens_saved_by_the_records"] == pytest.approx(0.345, abs=0.0006)
    assert known["tokens_p_of_t_with_5_per_arm"] == pytest.approx(3.0e-9, rel=0.02)
    assert known["tokens_t_if_25_per_arm"] == pytest.approx(-63, abs=0.5)
    assert known["latency_saved"] == pytest.approx(0.226, abs=0.0005)
    assert "p 2.7e-4 of the latency" in known["not_known"]


@pytest.mark.conformance("S2-M1", "S2-M2", "S2-M4", "S2-M5")
@pytest.mark.parametrize("name", ["tokens", "latency_ms", "success", "quality", "violations"])
def test_our_own_figures_have_an_interval_around_the_measured_difference(figures: dict[str, Any], name: str) -> None:
    one = figures["measured"]["metrics"][name]

    assert one["pairs"] == one["a"]["n"] == one["b"]["n"] == 20
    assert one["difference"] == pytest.approx(one["b"]["mean"] - one["a"]["mean"])
    assert one["interval"]["low"] <= one["difference"] <= one["interval"]["high"]
    assert 0 <= one["p_adjusted"] <= 1


@pytest.mark.conformance("S2-M3")
def test_a_response_without_a_required_field_lowers_the_measured_success_rate(figures: dict[str, Any]) -> None:
    success = figures["measured"]["metrics"]["success"]

    assert 0 < success["a"]["mean"] < 1
    assert 0 < success["b"]["mean"] < 1


@pytest.mark.conformance("S2-M6")
def test_both_forms_of_the_same_content_are_counted_with_no_and_with_seven_rules(figures: dict[str, Any]) -> None:
    none, seven = figures["sizes"]

    assert (none["rules"], seven["rules"]) == (0, 7)
    for one in (none, seven):
        assert one["structured"] - one["unstructured"] == pytest.approx(one["difference"])
        assert one["interval"][0] > 0  # the structured form is the larger one
    assert seven["structured"] - none["structured"] > 200


@pytest.mark.conformance("S2-R4")
def test_the_same_fifty_responses_are_read_by_schema_and_by_pattern(figures: dict[str, Any]) -> None:
    found = figures["reliability"]

    assert found["responses"] == 50
    assert (found["by_schema"]["read"], found["by_schema"]["right"]) == (40, 40)
    assert (found["by_pattern"]["read"], found["by_pattern"]["right"]) == (50, 30)
    for name in ("by_schema", "by_pattern"):
        low, high = found[name]["interval"]
        assert low < found[name]["right_share"] < high
