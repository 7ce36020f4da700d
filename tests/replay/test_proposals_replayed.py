"""The figures of proposed edits are those of a replay that judges every prompt again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enricher.classify.verdict import verdict
from enricher.rules.layers import packaged_file
from workbench.edits import instructions_file as files
from workbench.edits.live import OPENED, EditSession
from workbench.replay.compare import kinds
from workbench.replay.impact import EVALUATE, NOT, Impact
from workbench.replay.outcome import reevaluated
from workbench.replay.rulesets import compared_rules
from workbench.tuning.rule_changes import grams
from workbench.tuning.wishes.search import Edit, edits_for
from workbench.tuning.wishes.wish import Wish

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from enricher.classify import Rules
    from workbench.replay.corpus import Corpus

MISREAD = "figure out why the memory server isn't returning results"
ABROAD = (
    "为什么登录测试失败了、请修复它",
    "帮我写一个login页面",
    "Prüfe bitte die Größe der ÄNDERUNG, größer geht nicht",
    "почему тест входа падает после обновления",
    "café und naïve Größen, c'est déjà fait",
)


def _changes_when_all_are_judged(edit: Edit, corpus: Corpus) -> dict[str, object]:
    """Return the kinds of changes by trace id, from judging every prompt by the text before and after the edit."""
    before, after = (
        compared_rules.from_text(edit.path, text, versions=corpus.versions)
        for text in (files.read(edit.path), edit.text)
    )
    found: dict[str, object] = {}
    for row in corpus.prompts():
        recorded, one, other = (
            corpus.versions.rules(row.rules_hash), before.rules_for(row.rules_hash), after.rules_for(row.rules_hash),
        )  # fmt: skip
        assert one
        assert other
        outcomes = [reevaluated(row, rules, recorded=recorded) for rules in (one, other)]
        if changed := kinds(*outcomes):
            found[row.id] = changed
    return found


@pytest.mark.slow
def test_every_proposal_changes_what_a_replay_of_all_prompts_changes(
    corpus: Corpus, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENRICHER_CONFIG_HOME", str(tmp_path))
    rows = list(corpus.prompts())
    row = next(one for one in rows if one.prompt == MISREAD)

    edits = list(
        edits_for(corpus, row.id, Wish("task_type", "docs"), state_dir=state, path=files.own_file(), cwd=str(tmp_path))
    )

    assert len(edits) > 3
    for edit in edits:
        found = {change.prompt.id: change.kinds for change in edit.figures.changes}
        assert found == _changes_when_all_are_judged(edit, corpus)
        assert edit.figures.prompts == len(rows)


def test_a_phrase_in_another_script_concerns_the_prompts_with_it(
    rules: Rules, corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    phrases = [" ".join(words) for prompt in ABROAD for words in grams(prompt.lower().replace(",", " ").split())]
    phrases = [*phrases[::9], "登", "的", "login 页", "größe", "änderung", "обновления", "*登录测*"]
    missed, reached = [], 0
    for phrase in phrases:
        text = edited('"quick question"', f'"quick question", "{phrase}"')
        after = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
        assert after
        impact = Impact(corpus.versions.rules(corpus.versions.in_use[0]), after)
        for prompt in ABROAD:
            level = impact.level(prompt, features=[])
            reached += level != NOT
            if verdict(prompt, rules).scores != verdict(prompt, after).scores and level != EVALUATE:
                missed.append((phrase, prompt))

    assert not missed
    assert 0 < reached < 2 * len(phrases)


@pytest.mark.parametrize("phrase", ["οδός", "i̇stanbul"])
def test_a_letter_with_several_lower_cases_concerns_every_prompt(
    phrase: str, corpus: Corpus, edited: Callable[[str, str], str]
) -> None:
    text = edited('"quick question"', f'"quick question", "{phrase}"')
    after = compared_rules.from_text(packaged_file(), text, versions=corpus.versions).rules_for("")
    assert after

    assert Impact(corpus.versions.rules(corpus.versions.in_use[0]), after).level("zzz", features=[]) == EVALUATE


def test_an_edit_with_an_error_has_no_figures(state: str, packaged: str, tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_text(packaged)
    session = EditSession(state, str(path), packaged, OPENED, cwd=str(tmp_path))
    failing = packaged.replace('examples: ["the test is not working"', 'examples: ["thanks"', 1)

    assert session.sound_figures(packaged.replace('"quick question"', "[")) is None
    assert session.sound_figures(failing) is None
    sound = session.sound_figures(packaged)
    assert sound
    assert sound.is_complete
    assert not sound.changes
