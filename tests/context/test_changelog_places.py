"""Who asks for an entry in the changelog is told the folder or the section that takes it, through the real hook."""

from __future__ import annotations

import subprocess

import pytest
from simulator import Account
from test_ways import git, told

CONTRIBUTING = (
    "# Contributing\n\nThanks for helping.\n\nNote each change in a file below `{}`,\nnamed after its issue.\n"
)
RELEASED = "# Changes\n\n## 2.1.0\n\n- New.\n\n## 2.0.0\n\n- Old.\n"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        pytest.param(
            {
                "changelog/unreleased/issue-98": "Bugfix: Close\n",
                "changelog/unreleased/issue-312": "Change: Open\n",
                "changelog/TEMPLATE": "# Say it\n",
                "CONTRIBUTING.md": CONTRIBUTING.format("changelog/unreleased"),
                "CHANGELOG.md": "# Changes\n\n## 2.1.0 (2026-01-02)\n",
            },
            "changelog/unreleased/ — a change is noted in a file of its own there, such as issue-312,"
            " after changelog/TEMPLATE (CONTRIBUTING.md:5)",
            id="a folder with a template beside it",
        ),
        pytest.param(
            {
                "newsfragments/41.fix.rst": "Fix.\n",
                "newsfragments/README.rst": "How\n",
                "newsfragments/_template.j2": "",
            },
            "newsfragments/ — a change is noted in a file of its own there, such as 41.fix.rst"
            " (newsfragments/README.rst)",
            id="towncrier",
        ),
        pytest.param(
            {"CHANGES/120.bugfix.rst": "Fix.\n", "CHANGES/7.misc": "\n", "CHANGES.rst": "Changes\n=======\n"},
            "CHANGES/ — a change is noted in a file of its own there, such as 120.bugfix.rst",
            id="files named after the kind of change",
        ),
        pytest.param(
            {".changeset/config.json": "{}\n", ".changeset/calm-owls-run.md": "---\n---\nRun\n"},
            ".changeset/ — a change is noted in a file of its own there, such as calm-owls-run.md",
            id="changesets",
        ),
        pytest.param(
            {"releasenotes/notes/close-it-1f2e.yaml": "fixes: []\n"},
            "releasenotes/notes/ — a change is noted in a file of its own there, such as close-it-1f2e.yaml",
            id="reno",
        ),
        pytest.param(
            {"Docs/interface-changes/example.txt": "add x\n", "Docs/interface-changes/seek.txt": "change y\n"},
            "Docs/interface-changes/ — a change is noted in a file of its own there, such as seek.txt,"
            " after Docs/interface-changes/example.txt",
            id="changes of an interface",
        ),
        pytest.param(
            {
                "docs/news.rst": "News\n====\n\nSluice 3.1 (unreleased)\n----\n\nBug fixes\n~~~~\n\n- One.\n"
                "\nSluice 3.0\n----\n"
            },
            "docs/news.rst:4 — the section Sluice 3.1 (unreleased) takes the next entry; in it Bug fixes (line 7)",
            id="release notes among the documents",
        ),
        pytest.param(
            {"CHANGES.md": "# Changes\n\n## 1.4.2 (PENDING)\n\n### Fixed\n\n- One.\n\n## 1.4.1 (2026-01-02)\n"},
            "CHANGES.md:3 — the section 1.4.2 (PENDING) takes the next entry; in it Fixed (line 5)",
            id="pending",
        ),
        pytest.param(
            {"HISTORY.rst": "master (work in progress)\n---------\n\n* One.\n\n2.0 (2026-01-02)\n--------\n"},
            "HISTORY.rst:1 — the section master (work in progress) takes the next entry",
            id="named after the branch",
        ),
        pytest.param(
            {"doc/CHANGELOG": "== Changes\n\n== WIP 2.2\n\n* One\n\n== 2.1 2026-01-02\n"},
            "doc/CHANGELOG:3 — the section WIP 2.2 takes the next entry",
            id="marked by equals signs",
        ),
    ],
)
def test_the_place_of_the_next_entry_is_told(account: Account, files: dict[str, str], line: str) -> None:
    write(account, files)

    assert told(account, "changelog auch bitte", "ways") == [line]


@pytest.mark.parametrize(
    ("tags", "text", "is_told"),
    [
        (["v2.0.0"], RELEASED, True),
        (["v2.0.0", "v2.1.0"], RELEASED, False),
        ([], RELEASED, False),
        (["v2.0.0"], RELEASED.replace("2.1.0", "2.1.0 (2026-03-04)"), False),
    ],
    ids=["no tag yet", "released", "no tags at all", "dated"],
)
def test_the_section_of_a_version_without_a_tag_takes_the_entry(
    account: Account, tags: list[str], text: str, *, is_told: bool
) -> None:
    write(account, {"CHANGES.md": text}, tags)

    line = "CHANGES.md:3 — the section 2.1.0, which has no tag yet, takes the next entry"
    assert told(account, "add a changelog entry", "ways") == ([line] if is_told else [])


@pytest.mark.parametrize("path", ["features/news/reading.feature", "src/changes/list.py", "tests/newsfragments/1.fix"])
def test_other_files_in_folders_of_such_names_are_no_entries(account: Account, path: str) -> None:
    write(account, {path: "Feature: Read\n"})

    assert told(account, "changelog auch bitte", "ways") == []


def test_who_has_written_an_entry_is_not_told_the_folder(account: Account) -> None:
    write(account, {"newsfragments/41.fix.rst": "Fix.\n"})

    assert told(account, "shorten newsfragments/41.fix.rst and update the changelog", "ways") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "write the changelog file, the issue is 4155",
        "commit it, and a line in the release notes",
        "docs + changelog",
        "und die Doku? Changelog auch",
        "noch eine Zeile in die Versionshinweise",
        "ajoute une ligne dans les notes de version",
        "añade una línea a las notas de la versión",
        "adiciona uma linha nas notas de versão",
        "aggiungi una riga alle note di rilascio",
        "добавь строку в примечания к релизу",
        "リリースノートにも書いて",
        "在发布说明里也写一行",
        "the news fragment too",
    ],
)
def test_entries_are_asked_for_in_many_words(fragments: Account, prompt: str) -> None:
    assert any(line.startswith("newsfragments/ — a change") for line in told(fragments, prompt, "ways"))


@pytest.mark.parametrize(
    "prompt",
    [
        "the release notes view scrolls too far",
        "show the changelog in a modal",
        "what changed in the release notes?",
        "the line in the list is too long",
        "ein Eintrag in der Liste fehlt",
        "why is the changelog page empty?",
        "docs + tests",
    ],
)
def test_prompts_about_something_else_get_no_folder(fragments: Account, prompt: str) -> None:
    assert told(fragments, prompt, "ways") == []


def test_a_folder_that_is_called_changelog_is_not_named_by_that_word(account: Account) -> None:
    write(account, {"changelog/41.bugfix.rst": "Fix.\n"})

    assert told(account, "add the changelog entry too", "ways") == [
        "changelog/ — a change is noted in a file of its own there, such as 41.bugfix.rst"
    ]
    assert told(account, "put the entry into changelog/ and update the changelog", "ways") == []


@pytest.mark.parametrize("prompt", ["changelog", "and a changelog line"])
def test_the_form_of_an_entry_is_told_with_the_section(account: Account, prompt: str) -> None:
    form = "All fixes require a changelog entry containing the names of the packages and the number of the request."
    write(
        account,
        {
            "CONTRIBUTING.md": f"# Contributing\n\n## Changelog\n\n{form}\n",
            "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n## 2.0.0\n",
        },
    )

    assert told(account, prompt, "ways") == [
        f'CONTRIBUTING.md:5, on the changelog: "{form}"',
        "CHANGELOG.md:3 — the section Unreleased takes the next entry",
    ]


@pytest.fixture(scope="module")
def fragments(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account in an indexed project with news fragments, for all tests that only ask."""
    account = Account(tmp_path_factory.mktemp("asked") / "home")
    write(account, {"newsfragments/41.fix.rst": "Fix.\n"})
    return account


def write(account: Account, files: dict[str, str], tags: list[str] | None = None) -> None:
    """Write and commit the project of an account, set its tags, and index it."""
    for path, text in files.items():
        account.write(account.project / path, text)
    git(account.project, "Start")
    for tag in tags or []:
        subprocess.run(["git", "-C", str(account.project), "tag", tag], check=True)
    account.cli("code", "index")
