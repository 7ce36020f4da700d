"""A repository decides what of itself is imported, and not which other files of the machine are."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from test_memory_import import kept, refresh

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

NOTE = "# Heading\n\n## Access\n\nThe vault code of the person is on the third shelf.\n"


@pytest.fixture
def private(account: Account) -> Path:
    """A folder of the person's, beside the repository, with a file for each kind of source."""
    (account.project / "docs").mkdir()
    for name in ("note.md", "CLAUDE.md", "AGENTS.md"):
        account.write(f"private/{name}", NOTE)
    account.write("private/lines.jsonl", json.dumps({"content": NOTE}) + "\n")
    return account.home / "private"


LINKS = [
    pytest.param("docs/decisions", "", id="a folder of decisions"),
    pytest.param("docs/adr", "", id="another folder of decisions"),
    pytest.param("docs/decisions/one.md", "note.md", id="a decision"),
    pytest.param("docs/adr/one.md", "note.md", id="another decision"),
    pytest.param("CLAUDE.md", "CLAUDE.md", id="CLAUDE.md"),
    pytest.param("AGENTS.md", "AGENTS.md", id="AGENTS.md"),
]


@pytest.mark.parametrize(("link", "target"), LINKS)
def test_no_source_that_is_found_is_followed_out_of_the_repository(
    account: Account, private: Path, link: str, target: str
) -> None:
    account.write("project/AGENTS.md", "# Rules\n\n## Testing\n\nRun pytest -q before every commit.\n")
    path = account.project / link
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(private / target)

    outcomes = json.loads(account.cli("memory", "import", "--json"))

    assert not [one.content for one in kept(account) if "vault" in one.content]
    (remark,) = [remark for outcome in outcomes for remark in outcome["remarks"]]
    assert remark.startswith(f"{path}: a link out of the ")
    assert "not followed; import its target by name" in remark


@pytest.mark.parametrize(
    ("name", "target"), [("docs", ""), ("one.md", "note.md"), ("CLAUDE.md", "CLAUDE.md"), ("m.jsonl", "lines.jsonl")]
)
def test_a_link_of_the_repository_that_is_named_is_refused_and_its_target_can_be_named(
    account: Account, private: Path, name: str, target: str
) -> None:
    path = account.project / "linked" / name
    path.parent.mkdir()
    path.symlink_to(private / target)

    said = account.cli("memory", "import", f"linked/{name}", exit_code=1)

    assert f"linked/{name}: a link out of the project, not followed; import its target by name: {private}" in said
    assert kept(account) == []
    account.cli("memory", "import", str(private / target))
    assert any("vault" in one.content for one in kept(account))


def test_a_followed_folder_that_becomes_a_link_is_not_followed(account: Account, private: Path) -> None:
    account.write("project/docs/decisions/1.md", "# Tabs\n\nWe use spaces.\n")
    account.cli("memory", "import")
    shutil.rmtree(account.project / "docs" / "decisions")
    (account.project / "docs" / "decisions").symlink_to(private)

    refresh(account)

    assert kept(account) == []


def test_a_link_within_the_repository_is_followed(account: Account) -> None:
    account.write("project/AGENTS.md", NOTE)
    (account.project / "CLAUDE.md").symlink_to("AGENTS.md")
    account.write("project/notes/1.md", "# Tabs\n\nWe use spaces.\n")
    (account.project / "docs").mkdir()
    (account.project / "docs" / "decisions").symlink_to("../notes")

    account.cli("memory", "import")

    assert any("vault" in one.content for one in kept(account))
    assert any("spaces" in one.content for one in kept(account))
