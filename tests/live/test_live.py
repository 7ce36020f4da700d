"""Runs over an edited text: what they tell, in which order, and that they tell nothing where nothing changes."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enricher.rules.layers import packaged_file
from storage.db import database
from storage.evaluation import replays
from storage.traces import labels
from storage.traces.filter_text import parse
from workbench.edits import live, progress
from workbench.edits.progress import Broken, Figures, LintResult
from workbench.gate.cases import add, case_of
from workbench.replay.rulesets.compared_rules import SideError
from workbench.views.blast_radius import headline

if TYPE_CHECKING:
    from simulator import Account

    from workbench.edits.progress import Progress

CALM = "min_confidence: 0.99"


def quieter(text: str) -> str:
    """Return instructions that show no task type unless they are all but sure."""
    line = next(one for one in text.splitlines() if one.startswith("min_confidence:"))
    return text.replace(line, CALM, 1)


def desk(library: Account, text: str, base: str = live.OPENED) -> live.EditSession:
    return live.EditSession(str(library.state), packaged_file(), text, base=base)


def examined(desk: live.EditSession, text: str) -> list[Progress]:
    return list(desk.examine(text))


def last_figures(told: list[Progress]) -> Figures:
    return next(one for one in reversed(told) if isinstance(one, Figures))


def test_an_edit_is_told_with_the_prompts_that_it_changes(library: Account, packaged: str) -> None:
    figures = last_figures(examined(desk(library, packaged), quieter(packaged)))

    assert figures.verdict == "changed"
    assert {change.prompt.text for change in figures.changes} > {"add a test for the rounding in prices.py"}


def test_complete_figures_say_between_which_bounds_the_share_lies(library: Account, packaged: str) -> None:
    figures = last_figures(examined(desk(library, packaged), quieter(packaged)))

    assert figures.share is not None
    assert re.fullmatch(
        r"\d of \d prompts change; of 100 like these, (\d+ to|at least) \d+ would change \(95 % sure\)",
        headline(figures),
    )


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weight=st.integers(min_value=1, max_value=9), threshold=st.sampled_from(["0.1", "0.5", "0.9"]))
def test_a_text_compared_with_itself_is_identical(library: Account, weight: int, threshold: str) -> None:
    text = Path(packaged_file()).read_text().replace("weight: 6}", f"weight: {weight}}}")
    text = text.replace(
        next(one for one in text.splitlines() if one.startswith("min_conf")), f"min_confidence: {threshold}"
    )

    figures = last_figures(examined(desk(library, text), text))

    assert (figures.verdict, figures.changes) == ("identical", ())


def test_the_last_commit_can_be_the_base(library: Account) -> None:
    git = ("git", "-C", str(library.project), "-c", "user.name=a", "-c", "user.email=a@b.c")
    own = library.write("project/.enricher/instructions.md", "# Guardrails\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "rules")):
        subprocess.run([*git, *words], check=True)
    edited = live.EditSession(str(library.state), str(own), "# Guardrails\n\nAs it was opened.\n", base=live.HEAD)

    figures = last_figures(examined(edited, "# Guardrails\n"))

    assert (figures.base, figures.verdict) == ("HEAD:instructions.md", "identical")


def test_a_layer_that_the_last_commit_has_not_is_compared_with_none(library: Account) -> None:
    git = ("git", "-C", str(library.project), "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("commit", "-qm", "start", "--allow-empty")):
        subprocess.run([*git, *words], check=True)
    own = str(library.project / ".enricher" / "instructions.md")
    edited = live.EditSession(str(library.state), own, "", base=live.HEAD, cwd=str(library.project))

    figures = last_figures(examined(edited, "# Guardrails\n"))

    assert (figures.base, figures.verdict) == ("HEAD:instructions.md", "identical")


def test_a_broken_text_is_told_with_its_line_and_gives_no_figures(library: Account, packaged: str) -> None:
    told = examined(desk(library, packaged), packaged.replace(CALM[:15], "min_confidense:", 1))

    assert [type(one) for one in told] == [Broken]
    assert isinstance(told[0], Broken)
    assert "unknown key 'min_confidense'" in told[0].problems[0].message


def test_an_edit_of_a_fitted_file_is_judged_and_linted_as_a_part_of_its_rules(library: Account) -> None:
    file = Path(packaged_file()).parent / "fitted" / "task-types.md"
    text = file.read_text()
    of_file = live.EditSession(str(library.state), str(file), text, base=live.OPENED)

    told = examined(of_file, text.replace("{feature: always, weight: 9}", "{feature: always, weight: 1}", 1))

    assert last_figures(told).prompts
    assert isinstance(told[-1], LintResult) and told[-1].problems == ()


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        pytest.param("A developer", "A person", [], id="other words"),
        pytest.param("{% endif %}", "", ["Unexpected end of template"], id="broken"),
    ],
)
def test_an_edit_of_a_template_is_judged_and_linted(library: Account, old: str, new: str, problems: list[str]) -> None:
    file = Path(packaged_file()).parent / "prompts" / "classification.md"
    text = file.read_text()
    told = examined(live.EditSession(str(library.state), str(file), text, base=live.OPENED), text.replace(old, new))

    assert isinstance(told[-1], Broken if problems else LintResult)
    assert [one.message[: len(problems[0])] for one in told[-1].problems] == problems
    if not problems:
        assert last_figures(told).verdict == "identical"  # what a model said is recorded, so no prompt changes


def test_lint_speaks_after_the_figures(library: Account, packaged: str) -> None:
    text = packaged.replace("any: [why, how,", "any: [why, why, how,", 1)
    told = examined(desk(library, packaged), text.replace("# Guardrails", "## Task type: nothing\n\n# Guardrails", 1))

    assert isinstance(told[-1], LintResult)
    assert "no yaml block" in told[-1].problems[0].message


def test_a_run_that_is_stopped_gives_no_verdict(library: Account, packaged: str) -> None:
    told = list(desk(library, packaged).examine(quieter(packaged), should_stop=lambda: True))

    assert not any(isinstance(one, Figures) and one.is_complete for one in told)


def test_the_recorded_side_can_be_the_base(library: Account, packaged: str) -> None:
    figures = last_figures(examined(desk(library, packaged, base="recorded"), quieter(packaged)))

    assert figures.base == "recorded"
    assert figures.changes


def test_a_base_that_does_not_exist_is_refused_with_what_there_is(library: Account, packaged: str) -> None:
    with pytest.raises(SideError, match="no version begins with 'nowhere'"):
        examined(desk(library, packaged, base="nowhere"), packaged)


def test_only_selected_prompts_are_replayed(library: Account, packaged: str) -> None:
    one = desk(library, packaged)
    one.selection = parse("rounding")

    assert last_figures(examined(one, quieter(packaged))).prompts == 1


def test_an_approved_trace_that_comes_out_otherwise_is_a_regression(library: Account, packaged: str) -> None:
    trace = next(one["id"] for one in library.traces() if "rounding" in one["prompt"])
    with contextlib.closing(database.connect(str(library.state))) as db:
        labels.add(db, trace, "ok")

    figures = last_figures(examined(desk(library, packaged), quieter(packaged)))

    assert figures.verdict == "regressed"
    assert figures.label_results is not None
    assert figures.label_results.regressed == (trace,)


def test_a_golden_case_of_the_project_counts_too(library: Account, packaged: str) -> None:
    trace = next(one["id"] for one in library.traces() if "rounding" in one["prompt"])
    with contextlib.closing(database.connect(str(library.state))) as db:
        add(str(library.project / ".enricher" / "cases.jsonl"), case_of(db, trace, "ok"))

    figures = last_figures(examined(desk(library, packaged), quieter(packaged)))

    assert figures.label_results is not None
    assert (figures.label_results.approved, figures.label_results.regressed) == (1, (trace,))


def test_a_layer_that_no_prompt_was_recorded_with_is_judged_among_the_layers_here(library: Account) -> None:
    own = str(library.config / "instructions.md")
    library.instruct("# Guardrails\n")
    desk = live.EditSession(str(library.state), own, "# Guardrails\n")

    figures = last_figures(examined(desk, "# Guardrails\n\n## Guardrail: H2\n\n```yaml\ndisabled: true\n```\n"))

    assert figures.prompts == len(library.traces())


def test_a_kept_run_can_be_read_again(library: Account, packaged: str) -> None:
    figures = last_figures(examined(desk(library, packaged), quieter(packaged)))
    diff = progress.difference(packaged, quieter(packaged), packaged_file())

    with contextlib.closing(database.connect(str(library.state))) as db:
        identity = progress.store_run(db, figures, diff=diff, selection="", causes={})
        kept, results = replays.show(db, identity[:16])

    assert (kept.verdict, kept.changed, kept.diff) == (figures.verdict, len(figures.changes), diff)
    assert {one.trace_id for one in results} == {change.prompt.id for change in figures.changes}


def test_measuring_tells_first_and_complete_figures(library: Account, packaged: str) -> None:
    measured = live.measure(str(library.state), packaged_file(), "quieter", before=packaged, after=quieter(packaged))

    assert 0 < measured.first_ms <= measured.complete_ms
    assert measured.prompts == len(library.traces())
