"""Which files a text stands among, and when two sides are one set of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.rules.layers import packaged_file
from workbench.replay.corpus import Corpus
from workbench.replay.replay import Replay
from workbench.replay.rulesets import compared_rules
from workbench.replay.rulesets.layer_stack import LayerFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OURS, OLD, USER = "/new/instructions.md", "/old/instructions.md", "/home/config/instructions.md"
ADDED = "f" * 32
CATALOGUE = ("catalogue", "/old/HEURISTICS.md", "## H1: One")


def test_the_packaged_file_takes_the_place_of_the_one_of_an_earlier_installation() -> None:
    then = [("packaged", OLD, "old"), ("user", USER, "mine"), CATALOGUE]

    assert LayerFile("packaged", OURS).within(then, "new") == [
        ("packaged", OURS, "new"), ("user", USER, "mine"), CATALOGUE,
    ]  # fmt: skip


def test_an_edited_file_goes_with_the_fitted_files_beside_it_as_they_are_now(tmp_path: Path) -> None:
    main, fitted = str(tmp_path / "main.md"), tmp_path / "fitted" / "words.md"
    fitted.parent.mkdir()
    fitted.write_text("now")
    gone = ("fitted", str(tmp_path / "fitted" / "gone.md"), "as recorded")

    then = [("packaged", main, "old"), ("fitted", str(fitted), "then"), gone]
    stack = LayerFile("packaged", main).within(then, "new")

    assert stack == [("packaged", main, "new"), ("fitted", str(fitted), "now"), gone]


def test_a_layer_of_another_project_keeps_its_place() -> None:
    then = [("packaged", OURS, "ours"), ("project", "/b/.enricher/instructions.md", "theirs")]

    assert LayerFile("project", "/a/.enricher/instructions.md", "/a").within(then, "mine") == []


def test_a_version_and_the_file_that_it_was_compiled_from_are_not_one_where_a_project_adds_to_the_file(
    pointing_back: Callable[[str, str], Corpus],
) -> None:
    db = pointing_back("fix it", "").db
    row = {"hash": ADDED, "path": "/a/.enricher/instructions.md", "text": "# Classification\n"}
    db.execute("insert into instructions_sources values (:hash, 0, 'project', :path, :text)", row)
    corpus = Corpus(db)
    [version] = corpus.versions.in_use
    base = compared_rules.from_version(version, corpus.versions)
    candidate = compared_rules.from_file(packaged_file(), corpus.versions)
    assert Replay(corpus, candidate, base=base).is_same_rules

    corpus.versions.in_use.append(ADDED)

    assert not Replay(corpus, candidate, base=base).is_same_rules


def test_a_text_that_breaks_an_earlier_version_leaves_its_prompts_as_recorded(
    pointing_back: Callable[[str, str], Corpus], packaged: str
) -> None:
    db = pointing_back("fix it", "").db
    signal = "## Task type: debug\n\n```yaml\nextend: true\nsignals:\n  - {words: gone, weight: 3}\n```\n"
    row = {"hash": ADDED, "path": "/a/.enricher/instructions.md", "text": f"# Classification\n\n{signal}"}
    db.execute("insert into instructions_sources values (:hash, 0, 'project', :path, :text)", row)
    versions = Corpus(db).versions
    side = compared_rules.from_text(packaged_file(), packaged, versions=versions)

    assert isinstance(side, compared_rules.Edited)
    assert side.rules_for(ADDED) is None
    assert any(f"version {ADDED[:10]} are as recorded" in problem.message for problem in side.problems)
