"""``complexity_thresholds.yaml``: its sections, what an edit does, and how a mistake in it is reported."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT

from enricher.interfaces.compat.complexity import TaskComplexityEstimator, ThresholdsError, load_thresholds

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FILE = ROOT / "instructions" / "complexity_thresholds.yaml"
TEXT = FILE.read_text(encoding="utf-8")
SECTIONS = {
    "base", "keywords", "files", "kinds", "verbs", "items", "dependencies", "task_types", "sizes", "categories",
    "decomposition", "mix",
}  # fmt: skip
RULE = "# Guardrails\n\n## Complexity\n\n```yaml\nthresholds: mine.yaml\n```\n"
PROMPT = "add a frobnicator"


def named(account: Account, text: str) -> Path:
    """Give the user a file of thresholds that their instructions name."""
    account.env["ENRICHER_COMPLEXITY_ENABLED"] = "true"
    own = account.instruct(RULE)
    file = account.write(own.parent / "mine.yaml", text)
    account.compile()
    return file


def score(account: Account) -> float:
    found: dict[str, Any] = json.loads(account.cli("enrich", PROMPT, "--json"))
    return float(found["complexity"]["score"])


@pytest.mark.conformance("S2-1c")
def test_the_packaged_file_has_every_section() -> None:
    loaded = load_thresholds()

    assert set(loaded) == SECTIONS
    assert {"score", "lines", "files", "tokens", "least_parts", "confidence"} == set(loaded["decomposition"])


@pytest.mark.conformance("S2-1c")
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        pytest.param("base: 20", "base: [20", "keywords:", "; mend this line", id="no YAML"),
        pytest.param("base: 20", "base: twenty", "base: twenty", "base: input should be a valid number", id="a word"),
        pytest.param("  free: 2\n", "  free: 2\n  fre: 3\n", "  fre: 3", "unknown key 'items.fre'", id="a typo"),
        pytest.param("mix:\n  heuristic: 40\n", "mix:\n", "  model: 60", "'mix.heuristic' is missing; add it",
                     id="a missing key"),
        pytest.param("  - {points: 40}\n", "", "", "the last step must have no up_to", id="steps without an end"),
        pytest.param("{up_to: 60, name", "{up_to: 20, name", "", "up_to must rise", id="steps that fall"),
        pytest.param("  score: 60", "  score: 160", "  score: 160", "less than or equal to 100", id="out of range"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_reported_with_file_line_and_remedy(
    tmp_path: Path, old: str, new: str, line: str, message: str
) -> None:
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    file = tmp_path / "thresholds.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ThresholdsError) as caught:
        TaskComplexityEstimator(str(file))

    first = str(caught.value).splitlines()[0]
    place, _, told = first.partition(": error: ")
    path, _, number = place.rpartition(":")
    assert path == str(file)
    assert message in told
    if line:
        expected = text.splitlines().index(line) + 1
        assert int(number) == expected


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(ThresholdsError, match=r"/nowhere\.yaml:1: error: cannot be read"):
        TaskComplexityEstimator("/nowhere.yaml")


@pytest.mark.conformance("S2-1c")
def test_an_edit_counts_from_the_next_prompt_on(account: Account) -> None:
    file = named(account, TEXT)
    before = score(account)

    file.write_text(TEXT.replace("      - overhaul\n", "      - overhaul\n      - frobnicator\n"), encoding="utf-8")

    assert score(account) > before


@pytest.mark.conformance("S2-1c")
def test_a_broken_edit_keeps_the_last_good_version_and_is_named_by_check(account: Account) -> None:
    file = named(account, TEXT)
    before = score(account)

    file.write_text(TEXT.replace("base: 20", "base: -1"), encoding="utf-8")

    told = account.cli("check", exit_code=1)
    line = TEXT.splitlines().index("base: 20") + 1
    assert f"{file}:{line}: error: base: input should be greater than or equal to 0" in told
    assert score(account) == before
    assert account.ask_patiently(PROMPT).is_harmless()


def test_a_file_that_does_not_exist_is_named_at_the_line_of_the_rule(account: Account) -> None:
    own = account.instruct(RULE)

    told = account.cli("check", exit_code=1)

    assert f"{own}:6: error: the file of thresholds {own.parent / 'mine.yaml'} does not exist" in told


def test_an_unknown_task_type_is_a_warning(account: Account) -> None:
    file = named(account, TEXT.replace("  chat: 0.2\n", "  chatter: 0.2\n"))

    assert f"{file}:1: warning: unknown task type 'chatter'" in account.cli("check")


def test_a_complete_file_without_the_rule_estimates_nothing(account: Account, tmp_path: Path) -> None:
    folder = tmp_path / "lone"
    shutil.copytree(ROOT / "instructions", folder)
    file = folder / "prompt-enricher-instructions.md"
    text = file.read_text(encoding="utf-8")
    begin = text.index("## Complexity")
    file.write_text(text[:begin] + text[text.index("# Output") :], encoding="utf-8")
    account.env["ENRICHER_COMPLEXITY_ENABLED"] = "true"

    found = json.loads(account.cli("enrich", PROMPT, "--json", "--instructions", str(file)))

    assert found["complexity"] is None
