"""``examples/model`` runs with one command and shows what its README promises."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from simulator import ROOT

FOLDER = ROOT / "examples" / "model"


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """Return what the demo prints, by the titles of its parts."""
    env = {"PATH": os.environ["PATH"], "PYTHON_OF_ENRICHER": sys.executable}
    command = ["sh", str(FOLDER / "run.sh")]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    parts = [part.partition("\n") for part in ended.stdout.split("\n== ")[1:]]
    return {title.partition(":")[0]: text for title, _, text in parts}


def under(heading: str, part: str) -> list[str]:
    """Return the texts under a heading of a part, in order."""
    found = [text.partition("\n") for text in part.split("-- ")[1:]]
    return [text.strip() for title, _, text in found if title.startswith(heading)]


@pytest.mark.slow
def test_the_rules_alone_are_uncertain_and_the_opinion_decides_with_points(shown: dict[str, str]) -> None:
    before, after = shown["The rules alone"], shown["With the model"]

    assert under("the agent gets", before) == ["(nothing)"]
    assert "uncertain because" in under("enricher explain", before)[0]
    assert "model +" not in before
    assert "**Classification**: ops" in under("the agent gets", after)[0]
    explained = under("enricher explain", after)[0]
    assert explained.splitlines()[2].startswith("ops ")
    assert "model +35" in explained.splitlines()[2]
    assert "uncertain because" not in explained
    assert under("enricher trace show", after)[0].startswith("test-model: ok, ops (0.95)")


def test_a_late_result_arrives_once_after_a_tool(shown: dict[str, str]) -> None:
    part = shown["A late result"]

    assert under("the agent gets", part) == ["(nothing)"]
    assert under("after the first tool", part) == ["(nothing)"]
    assert under("after a later tool", part) == ["Late result for your last prompt:\n**Classification**: ops"]
    assert under("after the next tool", part) == ["(nothing)"]
    assert under("enricher trace show", part)[0].startswith("test-model: late")


def test_a_failing_endpoint_leaves_the_answer_of_the_rules_and_the_reason(shown: dict[str, str]) -> None:
    part = shown["An endpoint that fails"]

    assert under("the agent gets", part) == under("the agent gets", shown["The rules alone"])
    assert "HTTP 529: Overloaded" in under("enricher trace show", part)[0]


def test_the_cost_of_each_answer_is_shown_and_limited(shown: dict[str, str]) -> None:
    """The figures are those of the configured prices; the call beyond the limit is not made."""
    answers, limit = under("enricher trace show", next(text for title, text in shown.items() if "costs" in title))

    assert [line.partition(":")[0] for line in answers.splitlines()] == ["ok", "late"]
    for line in answers.splitlines():
        words = line.split()
        assert float(words[-2]) == pytest.approx((int(words[1]) + 5 * int(words[3])) / 1e6)
    assert limit.startswith("test-model: skipped, budget: ")
    assert "3 calls were made" in shown


def test_the_documentation_names_the_demo() -> None:
    assert "sh examples/model/run.sh" in (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "(../examples/model/README.md)" in (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    assert "(examples/model/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
