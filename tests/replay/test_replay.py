"""What other rules would have said: pairs of both sides, how they differ, and when nothing can."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

import pytest

from enricher.context import CHANNELS
from enricher.rules.layers import packaged_file
from storage.db import database
from workbench.replay.corpus import Corpus, opened
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import FIRST_BATCH, WITH_TESTS, Replay, verify
from workbench.replay.rulesets import compared_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench.replay.compare import BlastRadius
    from workbench.replay.rulesets.compared_rules import Side


def radius_of(
    corpus: Corpus, candidate: Side, *, base: Side = compared_rules.RECORDED, processes: int = 1
) -> BlastRadius:
    return Replay(corpus, candidate, base=base).complete_blast_radius(processes=processes)


def test_every_recorded_text_comes_out_byte_for_byte(state: str, prompts: list[str]) -> None:
    with opened(state, WITH_TESTS) as corpus:
        outcome = verify(corpus)

    assert (outcome.same, outcome.differing) == (len(prompts), [])


def test_the_same_text_changes_nothing(corpus: Corpus, packaged: str, prompts: list[str]) -> None:
    side = compared_rules.from_text(packaged_file(), packaged, versions=corpus.versions)
    radius = radius_of(corpus, side)

    assert (radius.prompts, radius.changed) == (len(prompts), 0)


def test_a_comment_changes_nothing_though_the_version_is_another(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited("The turn ends", "Every turn ends"), versions=corpus.versions
    )

    assert side.hash != corpus.versions.in_use[0]
    assert radius_of(corpus, side).changed == 0


def test_both_sides_of_a_change_are_whole(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited("min_confidence:", "min_confidence: 0.99 #"), versions=corpus.versions
    )
    radius = radius_of(corpus, side)
    changes = [change for change in radius.changes if "guardrail dropped" in change.kinds]

    assert changes
    assert all(change.before.guardrails and "Guardrails" in change.before.text for change in changes)


@pytest.mark.slow
def test_other_processes_find_the_same(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited("min_confidence:", "min_confidence: 0.99 #"), versions=corpus.versions
    )
    here, there = radius_of(corpus, side), radius_of(corpus, side, processes=2)

    assert here.changed > 0
    assert [(one.prompt.id, one.kinds) for one in there.changes] == [(one.prompt.id, one.kinds) for one in here.changes]


def test_a_version_that_comes_up_while_processes_start_is_judged_here(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited("min_confidence:", "min_confidence: 0.99 #"), versions=corpus.versions
    )
    expected = radius_of(corpus, side).changed
    corpus.versions.in_use.clear()

    assert radius_of(corpus, side, processes=2).changed == expected


def test_a_replay_goes_from_the_newest_to_the_oldest(corpus: Corpus, packaged: str) -> None:
    side = compared_rules.from_text(packaged_file(), packaged, versions=corpus.versions)
    ids = [row.id for replayed in Replay(corpus, side).batches() for row in replayed.unaffected]

    assert ids
    assert ids == sorted(ids, reverse=True)


def test_a_replay_stops_when_it_is_told_to(corpus: Corpus, packaged: str, prompts: list[str]) -> None:
    side = compared_rules.from_text(packaged_file(), packaged, versions=corpus.versions)
    seen: list[int] = []
    for replayed in Replay(corpus, side, should_stop=lambda: bool(seen)).batches():
        seen.append(len(replayed.pairs) + len(replayed.unaffected))

    assert len(prompts) > FIRST_BATCH
    assert seen == [FIRST_BATCH]


def test_an_edit_against_itself_is_the_same_rules(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    text = edited("min_confidence:", "min_confidence: 0.99 #")
    one, other = (compared_rules.from_text(packaged_file(), text, versions=corpus.versions) for _ in range(2))

    assert Replay(corpus, one, base=other).is_same_rules
    assert radius_of(corpus, one, base=other).changed == 0


def test_a_memory_that_would_have_been_asked_otherwise_is_unknown(
    corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    side = compared_rules.from_text(
        packaged_file(), edited("## Task type: chat", "## Task type: talk"), versions=corpus.versions
    )
    radius = radius_of(corpus, side)

    assert sum("context unknown" in change.kinds for change in radius.changes) == radius.unknown
    assert {channel for change in radius.changes for channel in change.after.unknown} <= set(CHANNELS)


def test_a_budget_of_the_file_shows_in_a_replay(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    side = compared_rules.from_text(packaged_file(), edited("tokens: 450", "tokens: 30"), versions=corpus.versions)
    radius = radius_of(corpus, side)
    before, after = radius.tokens_per_session()

    assert after < before


def test_a_broken_text_names_file_line_and_problem(corpus: Corpus, edited: Callable[[str, str], str]) -> None:
    text = edited("weight: 4}", "weight: 44}")
    with pytest.raises(compared_rules.SideError, match=r"instructions\.md:\d+: error: weight: 44 is outside 1 to 30"):
        compared_rules.from_text(packaged_file(), text, versions=corpus.versions)


def test_prompts_of_an_unreadable_version_are_run_only_where_the_edit_reaches_them(
    state: str, tmp_path: Path, packaged: str, edited: Callable[[str, str], str]
) -> None:
    strong = "\n".join(f"  - {{any: [rename, unheard{number}], weight: 9}}" for number in range(4))
    folder = str(shutil.copytree(state, tmp_path / "older"))
    with contextlib.closing(database.connect(folder)) as db:
        db.execute("update instructions_versions set text = '{}'")
        corpus = Corpus(db)
        base, candidate = (
            compared_rules.from_text(packaged_file(), text, versions=corpus.versions)
            for text in (packaged, edited('  - {phrase: "which", weight: 2}', strong))
        )
        run = Replay(corpus, candidate, base=base)
        radius = run.complete_blast_radius(processes=1)
        rules = base.rules_for(""), candidate.rules_for("")
        expected = {
            row.id for row in corpus.prompts() if not reevaluated(row, rules[0]).is_same(reevaluated(row, rules[1]))
        }

    assert expected
    assert {change.prompt.id for change in radius.changes} == expected
    assert run.judged < radius.prompts / 4
