"""Reading, saving and watching a file that other programs write, too."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from enricher.prompt.trust import is_trusted
from workbench.edits import instructions_file as files
from workbench.edits.instructions_file import outline

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account


def wait_for(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def replace(path: Path, text: str) -> None:
    """Save as editors do: write aside, rename over."""
    aside = path.with_suffix(".tmp")
    aside.write_text(text)
    os.replace(aside, path)


def test_saving_keeps_the_permissions(tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_text("one")
    path.chmod(0o640)

    files.save(str(path), "two", over="one")

    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("two", 0o640)


def test_saving_never_overwrites_what_another_program_wrote(tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_text("theirs")

    with pytest.raises(files.ChangedMeanwhileError):
        files.save(str(path), "mine", over="what I read")
    assert path.read_text() == "theirs"


def test_a_link_to_dotfiles_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles.md", tmp_path / "instructions.md"
    target.write_text("one")
    link.symlink_to(target)

    files.save(str(link), "two", over="one")

    assert link.is_symlink()
    assert target.read_text() == "two"


def test_a_new_file_comes_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / ".enricher" / "instructions.md"

    files.save(str(path), "# Guardrails\n", over="")

    assert path.read_text() == "# Guardrails\n"


def test_line_ends_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_bytes(b"one\r\ntwo\r\n")

    files.save(str(path), files.read(str(path)), over="one\r\ntwo\r\n")

    assert path.read_bytes() == b"one\r\ntwo\r\n"


def test_a_file_that_is_no_text_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(files.FileError, match="convert it"):
        files.read(str(path))


def test_every_one_of_several_atomic_saves_is_seen(tmp_path: Path) -> None:
    path, seen, stop = tmp_path / "instructions.md", [], threading.Event()
    path.write_text("0")
    thread = threading.Thread(target=files.watch, args=(str(path),), kwargs={"changed": seen.append, "stop": stop})
    thread.start()

    for number in "1234":
        replace(path, number)
        wait_for(lambda number=number: seen[-1:] == [number])
    stop.set()
    thread.join(timeout=60)

    assert seen[-4:] == ["1", "2", "3", "4"]
    assert not thread.is_alive()


def test_the_nearest_layer_that_exists_is_opened_first(library: Account) -> None:
    own = library.instruct("# Guardrails\n")

    assert files.nearest(str(library.project)) == str(own)


def test_a_project_without_a_layer_is_offered_a_place_for_one(library: Account) -> None:
    choices = files.choices(str(library.project))

    assert [(one.layer, one.exists) for one in choices] == [("packaged", True), ("user", False), ("project", False)]


def test_the_outline_leaves_out_what_is_in_blocks() -> None:
    text = "# Part\n\n## Rule: one\n\n```yaml\n# a comment\n```\n\n### deeper\n"

    assert [(one.line, one.title) for one in outline(text)] == [(1, "Part"), (3, "Rule: one")]


def test_a_save_keeps_trust_but_does_not_give_it_to_what_somebody_else_wrote(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in library.env.items():
        monkeypatch.setenv(name, value)
    own = library.write("project/.enricher/instructions.md", "# Guardrails\n")
    memory = library.write("project/.enricher/memories/note.md", "theirs")
    cwd, path = str(library.project), str(own)
    untrusted = files.save_trusted(path, "# Guardrails\n\nMine.\n", over=None, cwd=cwd)
    library.cli("trust", cwd)
    memory.write_text("theirs, changed since")
    trusted = files.save_trusted(path, "# Guardrails\n\nMine again.\n", over=None, cwd=cwd)

    assert untrusted == f"It counts once you trust it again: enricher trust {cwd}"
    assert (trusted, is_trusted(cwd), is_trusted(cwd, memories=True)) == (files.FOR_THE_TEAM, True, False)


def test_the_layer_of_the_project_is_proposed_first_until_another_was_chosen(library: Account) -> None:
    subprocess.run(["git", "init", "-q", str(library.project)], check=True)
    cwd = str(library.project)
    chosen = files.own_file()

    assert [layer.name for layer in files.layers_for_edits(cwd)] == ["project", "user"]
    assert [layer.name for layer in files.layers_for_edits(cwd, chosen=chosen)] == ["user", "project"]
    assert [layer.name for layer in files.layers_for_edits(str(library.home))] == ["user"]
