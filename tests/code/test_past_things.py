"""The channel ``history`` where a prompt asks about the past of a thing that is no identifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all
from test_history import commit, day_of, told

from enricher.sources.release_notes import lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account

NOTES = """# Changelog

## 2.0.0 (2026-09-01)

### Removed

- The Markdown formatter; CommonMark takes its place.
- Support for [Python 3.8](https://example.org/eol).
- `UncheckedError`: catch `RateError` instead.

### Added

- Orders can be exported as PDF, one file
  for each day.
- Nord colour scheme
- `priceorder` for the list of crates

## 1.15.3 (2026-03-02)

### Fixed

- Crash when the basket is emptied twice
- Fewer blank lines in the pretty printer
- Fix an N+1 query in the list of users
"""
SUBJECTS = (
    "Start the shop", "Add wishlist", "Drop support for CVS repositories", "Export customers", "Export invoices",
    "Export the basket", "Export coupons", "Remove the Markdown formatter, CommonMark takes its place",
    "dark mode toggle", "Fix double scroll in the sidebar", "Remove wishlist, nobody used it", "Split the printer",
    "leaderboard command", "remove leaderboard, privacy", "Remove tests of the sandbox", "wip", "Add gift cards",
    "Fix a crash after removing the voucher book", "Remove gift cards", "Add gift cards again",
)  # fmt: skip


@pytest.fixture(scope="module")
def asked(
    asked_account: Callable[[Path], Account], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Account, dict[str, str]]:
    """An account in a shop with twenty commits and a changelog; the lines that tell its commits, by their subjects."""
    root = tmp_path_factory.mktemp("shop")
    git(root, "init", "-q")
    lines: dict[str, str] = {}
    for number, subject in enumerate(SUBJECTS):
        write_all(root, {"shop/state.txt": f"{number}\n", **({"CHANGELOG.md": NOTES} if number == 15 else {})})
        days = 100 - number
        lines[subject] = f'{commit(root, subject, days=days)} {day_of(days)}: "{subject}"'
    git(root, "tag", "shop-1.15.3", "HEAD~15")
    account = asked_account(root)
    account.cli("code", "index")
    return account, lines


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("where did the wishlist go?", "Remove wishlist, nobody used it"),
        ("why did we get rid of the wishlist again", "Remove wishlist, nobody used it"),
        ("the wishlist is gone, did we remove that on purpose", "Remove wishlist, nobody used it"),
        ("so is the wishlist gone?", "Remove wishlist, nobody used it"),
        ("the wishlist, does that still exist?", "Remove wishlist, nobody used it"),
        ("who did the dark mode toggle", "dark mode toggle"),
        ("the dark mode toggle - since which version do we have that?", "dark mode toggle"),
        ("die wishlist, wurde die entfernt?", "Remove wishlist, nobody used it"),
        ("bring back the wishlist page", "Remove wishlist, nobody used it"),
        ("I want recently viewed items. where did the wishlist go? then add a list", "Remove wishlist, nobody used it"),
        ("we removed the wishlist but the header still links to it, clean up", "Remove wishlist, nobody used it"),
        ("what happened to the leaderboard", "remove leaderboard, privacy"),
        ("we used to have a leaderboard, can you bring it back", "remove leaderboard, privacy"),
        ("when did we drop support for CVS", "Drop support for CVS repositories"),
        ("when was cvs dropped, and by whom?", "Drop support for CVS repositories"),
        ("who added the dark mode toggle", "dark mode toggle"),
        ("when did the dark mode get added?", "dark mode toggle"),
        ("when did the dark mode land, and in which release?", "dark mode toggle"),
        ("did we not already fix the double scroll?", "Fix double scroll in the sidebar"),
        ("haven't we fixed that double scroll once already", "Fix double scroll in the sidebar"),
        ("write the changelog entry for the double scroll fix", "Fix double scroll in the sidebar"),
        ("when was the double scroll fixed?", "Fix double scroll in the sidebar"),
        ("when did we fix the double scroll", "Fix double scroll in the sidebar"),
        ("what changed in the printer since 1.15.3?", "Split the printer"),
        ("why was the printer changed", "Split the printer"),
        ("wann haben wir die Unterstützung für CVS entfernt?", "Drop support for CVS repositories"),
        ("seit wann gibt es den dark mode?", "dark mode toggle"),
        ("¿cuándo quitamos el soporte de CVS?", "Drop support for CVS repositories"),
        ("pourquoi on a retiré CVS ?", "Drop support for CVS repositories"),
        ("quando removemos o suporte a CVS?", "Drop support for CVS repositories"),
        ("quando abbiamo tolto il supporto per CVS?", "Drop support for CVS repositories"),
        ("когда мы убрали поддержку CVS?", "Drop support for CVS repositories"),
        ("什么时候去掉了对 CVS 的支持?", "Drop support for CVS repositories"),
        ("CVSのサポートはいつ削除された?", "Drop support for CVS repositories"),
    ],
)
def test_a_question_about_the_past_of_a_thing_gets_its_commit(
    asked: tuple[Account, dict[str, str]], prompt: str, subject: str
) -> None:
    account, lines = asked

    assert told(account, prompt) == [lines[subject]]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("which release dropped python 3.8?", '8, 2.0.0 (2026-09-01), Removed: "Support for Python 3.8."'),
        ("since which version can one export orders as pdf?",
         '13, 2.0.0 (2026-09-01), Added: "Orders can be exported as PDF, one file for each day."'),
        ("in which version was the nord colour scheme added", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
        ("why was UncheckedError removed and what should I catch",
         '9, 2.0.0 (2026-09-01), Removed: "`UncheckedError`: catch `RateError` instead."'),
        ("Warum wurde UncheckedError entfernt und was soll man stattdessen fangen?",
         '9, 2.0.0 (2026-09-01), Removed: "`UncheckedError`: catch `RateError` instead."'),
        ("didn't we fix the crash when the basket is emptied twice?",
         '22, 1.15.3 (2026-03-02), Fixed: "Crash when the basket is emptied twice"'),
        ("which version fixed the crash when the basket is emptied twice?",
         '22, 1.15.3 (2026-03-02), Fixed: "Crash when the basket is emptied twice"'),
        ("which release has the nord colour scheme", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
        ("in welcher version kam das nord scheme dazu", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
        ("¿desde qué versión se pueden clasificar los pedidos por priceorder?",
         '16, 2.0.0 (2026-09-01), Added: "`priceorder` for the list of crates"'),
        ("em que versão entrou o Nord scheme?", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
        ("Nord はいつから対応してる?", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
        ("什么时候加的 Nord 配色?", '15, 2.0.0 (2026-09-01), Added: "Nord colour scheme"'),
    ],
)  # fmt: skip
def test_a_question_about_the_past_of_a_thing_gets_the_line_of_the_release_notes(
    asked: tuple[Account, dict[str, str]], prompt: str, line: str
) -> None:
    assert told(asked[0], prompt) == [f"CHANGELOG.md:{line}"]


@pytest.mark.parametrize(
    "prompt",
    [
        "why was the Markdown formatter removed and what replaces it",
        "what replaced the markdown formatter",
        "when was the markdown formatter thrown out",
        "Warum wurde der Markdown-Formatierer entfernt?",
        "¿por qué se eliminó el formateador de Markdown?",
        "pourquoi on a supprimé le formateur Markdown ?",
        "por que o formatador Markdown foi removido?",
        "perché è stato rimosso il formattatore Markdown?",
        "Markdown 格式化器为什么被删除了?",
    ],
)
def test_commit_and_release_notes_are_told_beside_each_other(
    asked: tuple[Account, dict[str, str]], prompt: str
) -> None:
    account, lines = asked

    assert told(account, prompt) == [
        'CHANGELOG.md:7, 2.0.0 (2026-09-01), Removed: "The Markdown formatter; CommonMark takes its place."',
        lines["Remove the Markdown formatter, CommonMark takes its place"],
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "what's new in 2.0?",
        "whats new in v2.0.0",
        "was ist neu in 2.0?",
        "quoi de neuf dans la 2.0 ?",
        "2.0の新機能は?",
        "release notes for 2.0",
        "fass mir die Änderungen von 2.0 zusammen",
    ],
)
def test_who_asks_what_is_new_in_a_version_is_told_where_its_notes_are(
    asked: tuple[Account, dict[str, str]], prompt: str
) -> None:
    line = "- CHANGELOG.md:3 — the notes of 2.0.0 (2026-09-01), 6 entries up to line 16"

    assert line in asked[0].ask(prompt).context.splitlines()
    assert "CHANGELOG" not in asked[0].ask("what's new for the basket in 2.0?").context


@pytest.mark.parametrize(
    "prompt",
    [
        "the wishlist button disappeared after the last deploy",
        "dark mode stopped working on safari",
        "where does the wishlist go when the user logs out",
        "when is the dark mode applied?",
        "who can add items to the wishlist?",
        "why does the dark mode flicker",
        "remove the wishlist from the header",
        "drop support for python 3.8",
        "restore the scroll position after going back",
        "did you fix the double scroll?",
        "but didn't we fix that n+1 already?",
        "what happened to my changes? the file is empty",
        "what happened? the test is red again",
        "why was this changed?",
        "who changed the price in the cart, the user or the cron job",
        "show when the wishlist was removed from the account",
        "add a column with the version since when the item has existed",
        "when did we add the export",
        "since which version is there --wishlist",
        "when did we add the coupons for resellers",
        "why was the payment removed from the order 4711?",
        "who broke the build",
        "where did the tests go",
        "why was the sandbox removed?",
        "when was the voucher book removed?",
        "where did the gift cards go?",
        "what would break if we removed the wishlist",
        "write the release notes for 2.1",
        "pourquoi la liste de souhaits est vide ?",
        "the dark mode is fine. what version are we on?",
        "add the dark mode toggle. which version of node do we need?",
        "is the wishlist removed from the account once the user is deleted",
        "why did you remove the wishlist from the header",
        "write the entry for the last fix",
        "apply the gift cards change to the header",  # three commits have its words
        "review the small fix",
        "no!! only in `price_of`. revert the rest",
    ],
)
def test_what_only_looks_like_such_a_question_gets_nothing(asked: tuple[Account, dict[str, str]], prompt: str) -> None:
    assert told(asked[0], prompt) == []


def test_a_thing_is_preferred_to_a_name_of_two_of_its_words(account: Account) -> None:
    root = account.project
    git(root, "init", "-q")
    write_all(root, {"shop/texts.py": "def markdown_formatter(text):\n    return text\n"})
    commit(root, "Format texts", days=4)
    write_all(root, {"shop/state.txt": "1\n"})
    made = commit(root, "Remove the Markdown formatter", days=3)
    write_all(root, {"shop/texts.py": "def formatted(text, kind):\n    return text, kind\n"})
    commit(root, "Rework the texts", days=2)
    account.cli("code", "index")

    asked = "when was the markdown formatter removed?"
    assert told(account, asked) == [f'{made} {day_of(3)}: "Remove the Markdown formatter"']


def test_a_folder_that_is_gone_gets_the_commit_that_removed_its_last_file(account: Account) -> None:
    root = account.project
    git(root, "init", "-q")
    write_all(
        root, {"shop/vouchers/cart.py": "a = 1\n", "shop/vouchers/order.py": "b = 1\n", "shop/old/x.py": "c = 1\n"}
    )
    commit(root, "Start the shop", days=4)
    (root / "shop/vouchers/cart.py").unlink()
    commit(root, "Clean up", days=3)
    (root / "shop/vouchers/order.py").unlink()
    made = commit(root, "Clean up orders", days=2)
    account.cli("code", "index")

    for asked in (
        "where did the vouchers folder go?",
        "what happened to vouchers",
        "wo ist der Ordner vouchers hingekommen?",
    ):
        assert told(account, asked) == [f'`shop/vouchers/` — removed in {made}, {day_of(2)}: "Clean up orders"'], asked
    assert told(account, "where did the old folder go?") == []


def test_a_file_whose_name_begins_with_a_point_is_known(account: Account) -> None:
    root = account.project
    git(root, "init", "-q")
    write_all(root, {".travis.yml": "language: c\n", "shop.c": "int a;\n"})
    commit(root, "Start the shop", days=4)
    (root / ".travis.yml").unlink()
    made = commit(root, "Check elsewhere", days=3)
    account.cli("code", "index")

    line = f'`.travis.yml` — removed in {made}, {day_of(3)}: "Check elsewhere"'
    assert told(account, "what happened to .travis.yml?") == [line]


def test_a_name_of_three_words_is_known_by_them(account: Account) -> None:
    root = account.project
    git(root, "init", "-q")
    write_all(root, {"shop/texts.py": "class CsvImportWizard:\n    pass\n"})
    commit(root, "Import orders", days=4)
    write_all(root, {"shop/texts.py": "import csv\n"})
    made = commit(root, "One way to import", days=3)
    account.cli("code", "index")

    line = f'`CsvImportWizard` — removed from shop/texts.py in {made}, {day_of(3)}: "One way to import"'
    assert told(account, "where did the csv import wizard go") == [line]


def test_release_notes_in_other_forms_are_read_by_version() -> None:
    underlined = (
        "News\n====\n\n2.1 (2026-03-02)\n----------------\n\n* Drop :mod:`cgi`.\n\n2.0\n---\n\nNo more `x <y>`__.\n"
    )
    bare = "CHANGES FROM 3.4 TO 3.5\n\n* Add a prefix\n  timeout.\n\n== v3.4\n\n=== [Wiki]\n\n* Defect #1: Gone\n"

    assert [line for line in lines(underlined) if line[3]] == [
        (7, "2.1 (2026-03-02)", "", "Drop cgi."),
        (12, "2.0", "", "No more x."),
    ]
    assert list(lines(bare)) == [
        (1, "CHANGES FROM 3.4 TO 3.5", "", ""),
        (3, "CHANGES FROM 3.4 TO 3.5", "", "Add a prefix timeout."),
        (6, "v3.4", "", ""),
        (10, "v3.4", "Wiki", "Defect #1: Gone"),
    ]
