"""Clones and worktrees of one repository are one project; a folder beside it is another."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from enricher.prompt.project import identify, normalise

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    "address",
    [
        "https://user:secret@Example.org:8443/team/tool.git",
        "git@example.org:team/tool.git",
        "ssh://git@example.org:22/team/tool/",
        "example.org:team/tool",
        "git://example.org/team/tool.git",
    ],
)
def test_every_spelling_of_a_remote_is_one_project(address: str) -> None:
    assert normalise(address) == "example.org/team/tool"


@pytest.mark.parametrize("address", ["/srv/git/tool.git", "file:///srv/git/tool.git"])
def test_a_remote_on_this_machine_is_named_by_a_hash(address: str) -> None:
    assert normalise(address) == normalise("/srv/git/tool.git")
    assert normalise(address).startswith("local-")


def test_worktrees_share_and_folders_inside_belong(tmp_path: Path) -> None:
    main = tmp_path / "main"
    (main / "deep").mkdir(parents=True)
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "Start")
    git(main, "worktree", "add", str(tmp_path / "beside"))

    assert identify(str(main / "deep")).id == identify(str(main)).id == identify(str(tmp_path / "beside")).id
    assert identify(str(main / "deep")).root == str(main)
    assert identify(str(tmp_path / "beside")).root == str(tmp_path / "beside")
    assert identify(str(tmp_path)).id != identify(str(main)).id


def test_a_clone_shares_with_its_sister(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init")
        git(tmp_path / name, "remote", "add", "origin", "git@example.org:team/tool.git")

    assert identify(str(tmp_path / "a")).id == identify(str(tmp_path / "b")).id == "example.org/team/tool"


@pytest.mark.parametrize("marker", ["gitdir: /nowhere/at/all\n", "gitdir: a\0b", "gitdir: .git", ""])
def test_what_is_no_repository_is_the_folder_itself(tmp_path: Path, marker: str) -> None:
    (tmp_path / ".git").write_text(marker)

    assert identify(str(tmp_path)).id.startswith("local-")
    assert identify("/nonexistent/folder").id.startswith("local-")


@pytest.mark.parametrize("folder", ["/a\0b", "/half/\ud800"])
def test_a_folder_that_cannot_be_has_no_root(folder: str) -> None:
    assert identify(folder).id.startswith("local-")
    assert identify(folder).root == ""
