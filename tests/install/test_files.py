"""A change to someone's file happens whole, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from enricher.install import files
from enricher.install.files import FileChange

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENRICHER_HOME", str(tmp_path / "state"))


def test_a_file_that_another_program_changed_meanwhile_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    change = FileChange(str(path), files.read_text(str(path)), '{"a": 1}')
    path.write_text('{"b": 2}')

    with pytest.raises(OSError, match="just changed"):
        files.apply(change)
    assert path.read_text() == '{"b": 2}'


def test_nothing_is_left_beside_a_file_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "client" / "settings.json"

    assert files.apply(FileChange(str(path), None, "{}")) == ""
    assert [found.name for found in path.parent.iterdir()] == ["settings.json"]


def test_backups_of_the_same_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("0")

    backups = {files.apply(FileChange(str(path), str(number), str(number + 1))) for number in range(3)}

    assert len(backups) == 3


def test_a_change_of_the_last_line_end_shows_in_the_diff() -> None:
    assert "\\ No newline at end of file" in FileChange("x", "a", "a\n").diff()


def test_what_a_killed_installation_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left, fresh = tmp_path / ".enricher-left", tmp_path / ".enricher-fresh"
    for path in (left, fresh):
        path.write_text("{}")
    os.utime(left, (0, 0))

    files.apply(FileChange(str(tmp_path / "settings.json"), None, "{}"))

    assert sorted(path.name for path in tmp_path.glob(".*")) == [".enricher-fresh"]
