"""The channel ``history`` through the real hook, in invented repositories with dated commits, and in our own."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all
from simulator import ROOT

from enricher.prompt.project import identify
from enricher.sources.code import database_file
from enricher.sources.code.indexing import changes, index

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account

DAY = 86_400
OF_A_TEST_S, AFTER_MIDNIGHT_S = 60, 10


def commit(root: Path, subject: str, *, days: float = 0.0, body: str = "") -> str:
    """Commit everything as it is, so many days ago, and return the commit's digits as they are told."""
    git(root, "add", "-A")
    words = ("commit", "-qm", subject, *(("-m", body) if body else ()))
    git(root, *words, at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * DAY)))
    return git(root, "rev-parse", "--short=7", "HEAD").strip()


def told(account: Account, prompt: str, **event: object) -> list[str]:
    """Return the lines of the channel that a prompt gets."""
    for _attempt in range(5):
        context = account.ask(prompt, **event).context
        if all(channel["status"] != "timeout" for channel in account.trace()["channels"]):
            break  # the machine was not too busy
    said = {
        item["text"].replace('"', "'")
        for item in account.trace()["items"]
        if item["channel"] == "history" and item["kept"]
    }
    return [
        line[2:] for line in context.splitlines() if line.startswith("- ") and line.partition(': "')[2][:-1] in said
    ]


def day_of(days: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * DAY))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The repository of ``ledger``, which each test copies: git needs thirty processes for it."""
    root = tmp_path_factory.mktemp("ledger")
    git(root, "init", "-q")
    made: dict[str, str] = {}
    write_all(root, {"ledger/store.py": "def open_ledger():\n    return 1\n\n\ndef sum_rows(rows):\n    return rows\n"})
    made["start"] = commit(root, "Start the ledger", days=90)
    write_all(root, {"ledger/rates.py": "RATE_LIMIT = 5\n\n\ndef load_rates(day):\n    return day\n"})
    made["rates"] = commit(root, "Load rates of the day", days=60)
    write_all(root, {"ledger/cli.py": "def main():\n    add('--dry-run')\n    add('/api/rates')\n"})
    write_all(root, {"web/rate-table.js": "x\n"})
    made["cli"] = commit(root, "Give the ledger a command line", days=50)
    write_all(root, {"ledger/store.py": "def open_ledger():\n    return 1\n\n\ndef total_of(rows):\n    return rows\n"})
    made["renamed"] = commit(root, "Call sums totals", days=40)
    (root / "ledger/rates.py").write_text("RATE_LIMIT = 5\n")
    (root / "web/rate-table.js").unlink()
    made["removed"] = commit(root, "Rates come with the rows", days=30)
    write_all(root, {"ledger/audit.py": "class AuditTrail:\n    def record(self):\n        return 1\n"})
    made["audit"] = commit(root, "Keep an audit trail", days=20)
    git(root, "revert", "--no-edit", "HEAD")
    made["revert"] = git(root, "rev-parse", "--short=7", "HEAD").strip()
    write_all(root, {"ledger/limits.py": "RATE_LIMIT = 5\n", "ledger/rates.py": "# Rates of a day.\nDAYS = 7\n"})
    (root / "ledger/cli.py").write_text("def main():\n    add('/api/rates')\n")
    made["moved"] = commit(root, "Put limits together", days=10)
    git(root, "mv", "ledger/rates.py", "ledger/days.py")
    made["file"] = commit(root, "Call rates days", days=5)
    write_all(root, {"ledger/web/index.html": "x\n", "old/index.html": "y\n", "old/page.html": "z\n"})
    commit(root, "Show the ledger", days=4)
    (root / "old/index.html").unlink()
    (root / "old/page.html").unlink()
    made["wip"] = commit(root, "WIP: more changes", days=3)
    return root, made


@pytest.fixture(scope="module")
def asked(
    asked_account: Callable[[Path], Account], made_once: tuple[Path, dict[str, str]]
) -> tuple[Account, dict[str, str]]:
    """An account in a copy of that repository, for all tests that only ask."""
    root, made = made_once
    account = asked_account(root)
    account.cli("code", "index")
    return account, made


@pytest.fixture
def ledger(account: Account, made_once: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """A repository whose names came, were renamed, moved, reverted and removed; the commits by what they did."""
    root, made = made_once
    shutil.copytree(root, account.project, symlinks=True, dirs_exist_ok=True)
    account.cli("code", "index")
    return made


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the rounding in load_rates",
        "why was load_rates removed?",
        "where did load_rates go?",
        "bring back load_rates",
        "runde in load_rates auf ganze Cent",
        "warum wurde load_rates entfernt?",
        "pourquoi load_rates a été supprimée ?",
        "¿por qué eliminamos load_rates?",
        "por que load_rates foi removida?",
        "perché è stata rimossa load_rates?",
        "почему удалили load_rates?",
        "为什么删除了load_rates？",
        "なぜload_ratesは削除されたのですか？",
    ],
)
def test_a_name_that_is_there_no_more_gets_the_commit_that_removed_it(
    asked: tuple[Account, dict[str, str]], prompt: str
) -> None:
    account, ledger = asked

    assert told(account, prompt) == [
        f'`load_rates` — removed from ledger/rates.py in {ledger["removed"]}, {day_of(30)}: "Rates come with the rows"'
    ]


def test_a_renaming_is_not_told_to_who_has_both_names(asked: tuple[Account, dict[str, str]]) -> None:
    account, _ledger = asked

    assert not [line for line in told(account, "call total_of sum_rows again") if "renamed" in line]


@pytest.mark.parametrize(
    ("prompt", "beginning", "commit"),
    [
        ("sum_rows is too slow", "`sum_rows` — renamed to `total_of` in ", "renamed"),
        ("why is AuditTrail gone?", "`AuditTrail` — removed from ledger/audit.py in ", "revert"),
        ("when was RATE_LIMIT moved?", "`RATE_LIMIT` — moved from ledger/rates.py to ledger/limits.py in ", "moved"),
        ("who removed the --dry-run flag?", "`--dry-run` — removed in ", "moved"),
        ("when did we add total_of?", "`total_of` — added in ", "renamed"),
        ("wann haben wir open_ledger eingeführt?", "`open_ledger` — added in ", "start"),
        ("seit wann gibt es total_of?", "`total_of` — added in ", "renamed"),
        ("depuis quand existe total_of ?", "`total_of` — added in ", "renamed"),
        ("什么时候添加的total_of？", "`total_of` — added in ", "renamed"),
        ("which commit added /api/rates?", "`/api/rates` — added in ", "cli"),
        ("why did we drop the rate-table component?", "`web/rate-table.js` — removed in ", "removed"),
        ("Cannot find module '../web/rate-table'", "`web/rate-table.js` — removed in ", "removed"),
        ("Module not found: Can't resolve '@/web/rate-table'", "`web/rate-table.js` — removed in ", "removed"),
        ("No module named 'rates'", "`ledger/rates.py` — renamed to ledger/days.py in ", "file"),
        ("why is trail.record() gone?", "`record` — removed from ledger/audit.py in ", "revert"),
        ("why was ledger/audit.py deleted?", "`ledger/audit.py` — removed in ", "revert"),
        ("add a docstring to rates.py", "`ledger/rates.py` — renamed to ledger/days.py in ", "file"),
        ("where did ledger.audit go? our scripts import it", "`ledger/audit.py` — removed in ", "revert"),
        ("our scripts break: no module ledger.rates", "`ledger/rates.py` — renamed to ledger/days.py in ", "file"),
        ("when was the audit trail removed?", "`AuditTrail` — removed from ledger/audit.py in ", "revert"),
    ],
)  # fmt: skip
def test_a_question_about_a_name_gets_the_commit_that_answers_it(
    asked: tuple[Account, dict[str, str]], prompt: str, beginning: str, commit: str
) -> None:
    account, ledger = asked

    lines = told(account, prompt)

    assert [line.startswith(beginning) for line in lines] == [True]
    assert f"in {ledger[commit]}, " in lines[0]


@pytest.mark.parametrize(
    "prompt",
    [
        "add a parameter to open_ledger",
        "open_ledger should raise where there is no file",
        "add a regression test for total_of",
        "is total_of used to sum rows?",
        "rename total_of and remove the unused imports",
        "when a row is removed, call total_of",
        "можно ли перенести total_of? какие тесты это сломает",
        "why does total_of return rows?",
        "write a new function rates_of_today",
        "where is open_ledger defined?",
        "what does RATE_LIMIT mean?",
        "commit the change that I added to open_ledger",
        "```\nload_rates(today)\n```\nwhat is wrong with this output?",
        "pass --dry-run to pytest",
        "why was index.html changed?",
        "no, revert that. do it in open_ledger",
        'the page fails:\nTraceback (most recent call last):\n  File "ledger/audit.py", line 3, in record\nKeyError: 1',
    ],
)
def test_what_exists_and_is_not_asked_about_gets_no_history(asked: tuple[Account, dict[str, str]], prompt: str) -> None:
    assert told(asked[0], prompt) == []


def test_a_name_that_is_still_there_was_not_renamed(account: Account, ledger: dict[str, str]) -> None:
    users = {f"ledger/{name}.py": "def put(to: RateKeeper):\n    pass\n" for name in ("days", "weeks")}
    write_all(account.project, {"ledger/keepers.py": "class RateKeeper:\n    pass\n", **users})
    commit(account.project, "Keep rates", days=2)
    for path, text in users.items():
        (account.project / path).write_text(text.replace("RateKeeper", "RateSender"))
    commit(account.project, "Send rates", days=1)
    account.cli("code", "index")

    assert told(account, "what happened to RateKeeper?") == []


def test_what_a_project_has_lost_is_told_although_it_is_mentioned_or_comes_from_elsewhere(
    account: Account, ledger: dict[str, str]
) -> None:
    lost = {"ledger/errors.py": "class LateEntry(Exception):\n    pass\n\n\nclass LostEntry(Exception):\n    pass\n"}
    write_all(account.project, lost)
    commit(account.project, "Tell what is wrong", days=2)
    (account.project / "ledger/errors.py").write_text("# LostEntry was here\n")
    write_all(account.project, {"ledger/entries.py": "from books import LateEntry\n\nraise LateEntry\n"})
    made = commit(account.project, "Take the errors of books", days=1)
    account.cli("code", "index")

    for name, prompt in (("LateEntry", "why was LateEntry removed?"), ("LostEntry", "what does LostEntry mean")):
        line = f"`{name}` — removed from ledger/errors.py in {made}, {day_of(1)}: 'Take the errors of books'"
        assert told(account, prompt) == [line.replace("'", '"')]
    assert told(account, "catch LateEntry in main") == []


def test_a_heading_of_upgrade_notes_does_not_make_a_lost_name_exist(account: Account, ledger: dict[str, str]) -> None:
    notes = "# Upgrade\n\n## late_entry_fee\n\n`late_entry_fee` takes a fee.\n\n## open_ledger\n\nIt opens.\n"
    write_all(account.project, {"ledger/fees.py": "def late_entry_fee(day):\n    pass\n", "2.0-Upgrade.md": notes})
    commit(account.project, "Take a fee", days=2)
    (account.project / "ledger/fees.py").write_text("MOST = 3\n")
    made = commit(account.project, "Forget the fee", days=1)
    account.cli("code", "index")

    line = f'`late_entry_fee` — removed from ledger/fees.py in {made}, {day_of(1)}: "Forget the fee"'
    for number, ask in enumerate(("gibt es {} noch? in unserer config steht das", "what happened to {}?")):
        assert told(account, ask.format("late_entry_fee"), session=f"lost {number}") == [line]
        assert told(account, ask.format("open_ledger"), session=f"kept {number}") == []


def test_a_rename_is_told_although_the_changed_line_does_not_show_a_definition(
    account: Account, ledger: dict[str, str]
) -> None:
    source = "int\nopen_book(int page)\n{\n    return page;\n}\n"
    write_all(account.project, {"book.c": source})
    commit(account.project, "Open a book", days=2)
    (account.project / "book.c").write_text(source.replace("open_book", "read_book"))
    made = commit(account.project, "Books are read", days=1)
    account.cli("code", "index")

    line = f'`open_book` — renamed to `read_book` in {made}, {day_of(1)}: "Books are read"'
    assert told(account, "open_book is not declared any more, rebase my patch") == [line]


@pytest.mark.parametrize("named", ["Scales::tare", "Shop\\Scales#tare()"])
def test_a_member_that_a_class_lost_is_told_although_other_classes_have_one(
    account: Account, ledger: dict[str, str], named: str
) -> None:
    both = {f"shop/{name}.rb": f"class {name.title()}\n  def tare\n    0\n  end\nend\n" for name in ("scales", "till")}
    till = account.project / "shop/till.rb"
    write_all(account.project, both)
    commit(account.project, "Weigh", days=4)
    till.write_text("class Till\nend\n")
    commit(account.project, "Tills weigh nothing", days=3)
    till.write_text(both["shop/till.rb"])
    commit(account.project, "Tills weigh after all", days=2)
    (account.project / "shop/scales.rb").write_text("class Scales\nend\n")
    made = commit(account.project, "Scales are set to zero by hand", days=1)
    account.cli("code", "index")

    line = f'`Scales::tare` — removed from shop/scales.rb in {made}, {day_of(1)}: "Scales are set to zero by hand"'
    assert told(account, f"where did {named} go, our subclass calls it") == [line]
    assert told(account, "where did Till::tare go, our subclass calls it", session_id="another") == []


def test_a_name_that_another_file_defines_was_not_removed(account: Account, ledger: dict[str, str]) -> None:
    both = {f"ledger/{name}.py": "def pack_weeks(rows):\n    return rows\n" for name in ("pack", "weeks")}
    write_all(account.project, both)
    commit(account.project, "Pack weeks", days=2)
    (account.project / "ledger/pack.py").unlink()
    commit(account.project, "Pack weeks once", days=1)
    account.cli("code", "index")

    assert told(account, "what happened to pack_weeks?") == []


@pytest.mark.parametrize(("old", "new"), [("Rates21", "Rates24"), ("LoadWeeks", "loadWeeks")])
def test_a_name_that_differs_in_a_number_or_in_case_is_another_one(
    account: Account, ledger: dict[str, str], old: str, new: str
) -> None:
    write_all(account.project, {"ledger/weeks.py": f"class {old}:\n    pass\n"})
    commit(account.project, "Have weeks", days=2)
    write_all(account.project, {"ledger/weeks.py": f"class {new}:\n    pass\n"})
    commit(account.project, "Spell weeks", days=1)
    account.cli("code", "index")

    (line,) = told(account, f"where did {old} go?")
    assert line.startswith(f"`{old}` — renamed to `{new}` in ")


def test_a_commit_that_was_not_read_to_its_end_may_have_introduced_any_name(
    account: Account, ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "".join(f"name_{number} = {number}\n" for number in range(100))
    write_all(account.project, {"ledger/long.py": long, "ledger/weeks.py": "def load_weeks():\n    pass\n"})
    commit(account.project, "Have weeks", days=2)
    write_all(account.project, {"ledger/days.py": "load_weeks()\n", "ledger/new.py": "def load_years():\n    pass\n"})
    commit(account.project, "Load weeks", days=1)
    monkeypatch.setattr(changes, "MOST_BYTES_OF_A_BATCH", 900)
    index.refresh(identify(str(account.project)), str(account.state))

    assert told(account, "when was load_weeks added?") == []
    assert told(account, "when was load_years added?", session_id="b") == []


@pytest.mark.parametrize("most", [pytest.param(1_300, id="in its diff"), pytest.param(1_400, id="in its first line")])
def test_a_commit_at_which_a_batch_was_cut_off_is_read_whole(
    account: Account, ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    for number in range(3):
        names = "".join(f"name_{number}_{at} = {at}\n" for at in range(30))
        write_all(account.project, {f"ledger/part{number}.py": f"{names}\n\ndef load_part{number}():\n    pass\n"})
        commit(account.project, f"Have part {number}", days=2 - number)
    monkeypatch.setattr(changes, "MOST_BYTES_OF_A_BATCH", most)
    index.refresh(identify(str(account.project)), str(account.state))

    said = [told(account, f"when was load_part{number} added?", session_id=f"s{number}") for number in range(3)]
    assert [[line.partition(" in ")[0] for line in lines] for lines in said] == [
        [f"`load_part{number}` — added"] for number in range(3)
    ]


def test_a_module_that_became_a_package_is_not_gone(account: Account, ledger: dict[str, str]) -> None:
    root = Path(account.project)
    write_all(root, {"ledger/notes.py": "NOTES = 1\n"})
    commit(root, "Keep notes", days=2)
    (root / "ledger/notes").mkdir()
    git(root, "mv", "ledger/notes.py", "ledger/notes/__init__.py")
    commit(root, "Make notes a package", days=1)
    account.cli("code", "index")

    assert told(account, "fix the import of ledger.notes, it is slow") == []


def test_a_file_that_moved_to_another_folder_is_told_there(account: Account, ledger: dict[str, str]) -> None:
    root = Path(account.project)
    (root / "ledger/shared").mkdir()
    git(root, "mv", "ledger/limits.py", "ledger/shared/limits.py")
    made = commit(root, "Share the limits", days=1)
    account.cli("code", "index")

    moved = f"`ledger/limits.py` — renamed to ledger/shared/limits.py in {made}, {day_of(1)}"
    assert told(account, "fix the types in ledger/limits.py") == [f'{moved}: "Share the limits"']
    assert told(account, "fix the types in limits.py") == []

    call = {"type": "tool_use", "name": "Read", "input": {"file_path": f"{root}/ledger/shared/limits.py"}}
    record = {"type": "assistant", "message": {"id": "m1", "content": [call]}}
    transcript = account.write("t.jsonl", json.dumps(record, separators=(",", ":")) + "\n")
    assert told(account, "mend the docstrings in ledger/limits.py", transcript_path=str(transcript)) == []


def test_a_file_that_was_renamed_again_is_told_where_it_is_now(account: Account, ledger: dict[str, str]) -> None:
    root = Path(account.project)
    files = {"src/clean.py": "clean", "src/lost.py": "lost", "src/local.py": "local"}
    write_all(root, {path: f"def {name}_entries(rows):\n    return rows\n" * 9 for path, name in files.items()})
    commit(root, "Clean entries", days=4)
    for old, new in (("clean", "sweep"), ("lost", "found"), ("local", "near")):
        git(root, "mv", f"src/{old}.py", f"src/{new}.py")
    commit(root, "Have other names", days=3)
    (root / "parts").mkdir()
    git(root, "mv", "src", "parts/src")
    last = commit(root, "Have parts", days=2)
    (root / "parts/src/found.py").unlink()
    gone = commit(root, "Find nothing", days=1)
    (root / "parts/src/near.py").unlink()  # not committed
    account.cli("code", "index")

    now = f"renamed to parts/src/sweep.py in 2 steps, the last in {last}, {day_of(2)}"
    assert told(account, "where did src/clean.py go?") == [f'`src/clean.py` — {now}: "Have parts"']
    assert told(account, "where did parts/src/clean.py go?") == [f'`src/clean.py` — {now}: "Have parts"']
    assert told(account, "where did src/lost.py go?") == [
        f'`src/lost.py` — removed (after a rename) in {gone}, {day_of(1)}: "Find nothing"'
    ]
    for silent in ("where did src/local.py go?", "where did other/src/clean.py go?", "add parts/src/clean.py"):
        assert told(account, silent) == [], silent


def test_a_folder_that_was_moved_is_told_where_nearly_all_of_it_went(account: Account, ledger: dict[str, str]) -> None:
    root = Path(account.project)
    files = {f"lib/pty/src/page{number}.py": f"PAGE = {number}\n" * 9 for number in range(5)}
    files |= {f"lib/mixed/page{number}.py": f"MIXED = {number}\n" * 9 for number in range(4)}
    files |= {"lib/pty/setup.toml": "[tool.old]\n" * 9, "lib/pty/early.py": "EARLY = 1\n", "docs/pty/a.py": "A = 1\n"}
    write_all(root, files)
    commit(root, "Have libraries", days=4)
    (root / "lib/pty/early.py").unlink()
    commit(root, "Have less", days=3)
    (root / "parts").mkdir()
    git(root, "mv", "lib/pty", "parts/our-pty")
    write_all(root, {"parts/our-pty/setup.toml": "name = 'pty'\nversion = 2\nauthors = 3\n"})  # no rename for git
    for number, name in enumerate("abab"):
        (root / name).mkdir(exist_ok=True)
        git(root, "mv", f"lib/mixed/page{number}.py", f"{name}/page{number}.py")
    made = commit(root, "Have parts", days=2)
    account.cli("code", "index")

    line = f'`lib/pty/` — moved to parts/our-pty/ in {made}, {day_of(2)}: "Have parts"'
    for asked in ("where did lib/pty go", "what happened to the lib/pty folder?", "lib/pty 目录去哪了?"):
        assert told(account, asked) == [line], asked
    for silent in (
        "where did lib/mixed go?",
        "where did parts/our-pty go?",
        "add a test for lib/pty",
        "where did lib/tty go",
    ):
        assert told(account, silent) == [], silent

    git(root, "mv", "parts/our-pty", "pty")
    again = commit(root, "Have no parts", days=1)
    account.cli("code", "index")

    line = f'`lib/pty/` — moved to pty/ in 2 steps, the last in {again}, {day_of(1)}: "Have no parts"'
    assert told(account, "where did lib/pty go") == [line]


def test_a_file_that_is_named_with_its_folder_is_gone_though_another_folder_has_one(
    account: Account, ledger: dict[str, str]
) -> None:
    root = Path(account.project)
    write_all(root, {"ledger/streams/sums.py": "SUMS = 3\n", "ledger/sums.py": "x = 1\n", "ledger/tax.py": "TAX = 1\n"})
    commit(root, "Stream sums", days=2)
    for path in ("ledger/streams/sums.py", "ledger/tax.py"):
        (root / path).unlink()
    write_all(root, {"ledger/custom/tax.py": "from tables import one_more_kind\n" * 9})
    made = commit(root, "Sums come at once", days=1)
    account.cli("code", "index")

    lines = told(account, "where are streams/sums.py and ledger/tax.py now?")

    assert lines == [
        f'`ledger/streams/sums.py` — removed in {made}, {day_of(1)}: "Sums come at once"',
        f"`ledger/tax.py` — removed (and ledger/custom/tax.py added) in {made}, {day_of(1)}",
    ]
    assert told(account, "from ledger.tax import TAX fails, fix it") == [f'{lines[1]}: "Sums come at once"']


def test_a_variable_of_the_environment_that_its_sample_has_no_more_is_gone(
    account: Account, ledger: dict[str, str]
) -> None:
    sample = account.project / ".env.example"
    sample.write_text("MAIL_HOST=localhost\nMAIL_FROM=a@b\n")
    commit(account.project, "Send mail", days=2)
    sample.write_text("HOOK_URL=\nMAIL_FROM=a@b\n")
    made = commit(account.project, "Call a hook", days=1)
    account.cli("code", "index")

    gone = f'`MAIL_HOST` — removed from .env.example in {made}, {day_of(1)}: "Call a hook"'
    assert told(account, "no mail is sent, in .env I have MAIL_HOST=mail.example.org:587") == [gone]
    assert told(account, "MAIL_FROM is ignored") == []


def test_of_a_commit_of_many_files_the_removed_ones_are_kept(account: Account, ledger: dict[str, str]) -> None:
    root = Path(account.project)
    write_all(root, {f"a/page{number}.py": f"PAGE = {number}\n" for number in range(602)})
    write_all(root, {"z/last_page.py": "def turn(): pass\n"})
    commit(root, "Have pages", days=2)
    git(root, "mv", "a", "b")
    (root / "z/last_page.py").unlink()
    made = commit(root, "Pages are in b", days=1)
    account.cli("code", "index")

    assert told(account, "what happened to z/last_page.py?") == [
        f'`z/last_page.py` — removed in {made}, {day_of(1)}: "Pages are in b"'
    ]


def test_a_subject_that_says_nothing_is_not_quoted(account: Account, ledger: dict[str, str]) -> None:
    line = f"- `old/page.html` — removed in {ledger['wip']}, {day_of(3)}"

    assert line in account.ask("why is page.html gone?").context.splitlines()
    assert told(account, "what did we commit three days ago?") == []


def test_a_name_that_was_put_back_is_not_said_to_be_gone(account: Account, ledger: dict[str, str]) -> None:
    write_all(account.project, {"ledger/again.py": "def load_rates(day):\n    return day\n"})
    account.cli("code", "index")

    assert told(account, "fix the rounding in load_rates") == []


def test_an_amended_commit_is_forgotten_and_the_new_one_told(account: Account, ledger: dict[str, str]) -> None:
    (account.project / "ledger/limits.py").write_text("")
    old = commit(account.project, "Drop the limits")
    account.cli("code", "index")
    first = told(account, "why was RATE_LIMIT removed?")
    git(account.project, "commit", "--amend", "-qm", "Have no limits")
    new = git(account.project, "rev-parse", "--short=7", "HEAD").strip()
    account.cli("code", "index")
    second = told(account, "why was RATE_LIMIT removed?")

    assert [f"in {old}, " in line for line in first] == [True]
    assert [f"in {new}, " in line and "Have no limits" in line for line in second] == [True]


def test_commits_of_another_clone_are_not_told(account: Account, ledger: dict[str, str]) -> None:
    git(account.project, "remote", "add", "origin", "https://example.org/team/ledger.git")
    account.cli("code", "index")
    other = account.home / "other"
    git(account.home, "clone", "-q", str(account.project), str(other))
    git(other, "remote", "set-url", "origin", "https://example.org/team/ledger.git")

    assert told(account, "why was load_rates removed?")
    assert told(account, "why was load_rates removed?", cwd=str(other)) == []


def test_the_oldest_commit_of_a_shallow_clone_introduces_nothing(account: Account, ledger: dict[str, str]) -> None:
    shallow = account.home / "shallow"
    git(account.home, "clone", "-q", "--depth", "5", f"file://{account.project}", str(shallow))
    account.cli("code", "index", cwd=shallow)

    assert told(account, "when did we add open_ledger?", cwd=str(shallow)) == []
    assert told(account, "when was RATE_LIMIT moved?", cwd=str(shallow))


def test_the_index_keeps_no_text_of_a_diff(account: Account, ledger: dict[str, str]) -> None:
    write_all(account.project, {"ledger/keys.py": "def client():\n    return connect(k3yOf_theLedger_2f81)\n"})
    commit(account.project, "Connect")
    write_all(account.project, {"ledger/keys.py": "def client():\n    return 0\n"})
    commit(account.project, "Do not")
    account.cli("code", "index")

    (index,) = account.state.glob("code/*.db")
    assert b"k3yOf_theLedger_2f81" not in index.read_bytes()


def test_a_commit_is_read_once(account: Account, ledger: dict[str, str]) -> None:
    real = account.env["PATH"]
    (account.project / "ledger/new.py").write_text("def new_name():\n    pass\n")
    commit(account.project, "Add a name")
    account.env["PATH"] = f"{account.home}/bin:{real}"
    program = (
        f'#!/bin/sh\nPATH={real}\ncase "$*" in *--patch*) tee -a {account.home}/read | git "$@";; *) git "$@";; esac\n'
    )
    account.write("bin/git", program, mode=0o755)
    account.cli("code", "index")
    write_all(account.project, {f"many/file{number}.py": "x = 1\n" for number in range(40)})  # enough to build it anew
    account.cli("code", "index")

    head = git(account.project, "rev-parse", "HEAD").strip()
    assert (account.home / "read").read_text().split() == [head]
    assert told(account, "why was load_rates removed?")


def test_a_commit_that_time_was_too_short_for_is_read_the_next_time(
    account: Account, ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, state = identify(str(account.project)), str(account.state)
    for number in range(3):
        write_all(account.project, {"ledger/long.py": "".join(f"name_{number}_{at} = {at}\n" for at in range(100))})
        commit(account.project, f"Write {number}")
    monkeypatch.setattr(changes, "MOST_BYTES_OF_A_BATCH", 2_000)
    clock = iter([0.0, 0.0, 0.0])  # when the reading starts, for the batch, and for its first part
    with monkeypatch.context() as patched:
        patched.setattr(changes.time, "monotonic", lambda: next(clock, changes.MOST_SECONDS + 1))
        index.refresh(project, state)
    with closing(sqlite3.connect(database_file(state, project.id))) as db:
        (left,) = db.execute("select count(*) from commits where state = ?", (changes.UNREAD,)).fetchone()
        index.refresh(project, state)
        (later,) = db.execute("select count(*) from commits where state = ?", (changes.UNREAD,)).fetchone()

    assert left
    assert not later


TIMES = (
    ("what did we do yesterday?", "yesterday"),
    ("Was haben wir gestern gemacht?", "yesterday"),
    ("qu'avons-nous fait hier ?", "yesterday"),
    ("¿qué hicimos ayer?", "yesterday"),
    ("o que fizemos ontem?", "yesterday"),
    ("cosa abbiamo fatto ieri?", "yesterday"),
    ("что мы сделали вчера?", "yesterday"),
    ("我们昨天做了什么？", "yesterday"),
    ("昨日は何をしましたか？", "yesterday"),
    ("which commits were made yesterday?", "yesterday"),
    ("finish the import of rows that we started yesterday.", "yesterday"),
    ("yesterday's change to the parser broke the import", "yesterday"),
    ("the import fails since yesterday", "since yesterday"),
    ("what did I change this morning?", "today"),
    ("was wurde vor drei Tagen geändert?", "three days ago"),
    ("what did we commit three days ago?", "three days ago"),
    ("qu'a-t-on modifié il y a trois jours ?", "three days ago"),
    ("¿qué cambiamos hace tres días?", "three days ago"),
    ("三天前我们修改了什么？", "three days ago"),
    ("what changed on {three days ago}?", "three days ago"),
    ("what was merged on {weekday}?", "three days ago"),
    ("summarize the changes since v2.1", "since v2.1"),
    ("what's new since the last release?", "since v2.1"),
    ("anything new since v2.1?", "since v2.1"),
    ("the import of rows looks weird since yesterday", "since yesterday"),
    ("which commits were there in {month}?", "in a month"),
    ("welche Commits gab es im {monat}?", "in a month"),
    ("what happened {weeks} weeks ago?", "weeks ago"),
)


@pytest.fixture
def diary(account: Account) -> dict[str, set[str]]:
    """A repository with commits of named times, by what a prompt may call these."""
    if (left := DAY - time.time() % DAY) < OF_A_TEST_S:
        time.sleep(left + AFTER_MIDNIGHT_S)  # at midnight, the commits of today become those of yesterday
    root = account.project
    git(root, "init", "-q")
    noon = time.time() // DAY * DAY + DAY / 2
    ago = (time.time() - noon) / DAY
    made: dict[str, set[str]] = {}
    for name, days, subjects in (
        ("in a month", 100, ("Begin",)),
        ("weeks ago", 42, ("Read rows",)),
        ("three days ago", 3, ("Parse dates", "Parse money")),
        ("yesterday", 1, ("Import rows once",)),
    ):
        for subject in subjects:
            write_all(root, {f"{subject.replace(' ', '_').lower()}.py": f"x = {days}\n"})
            made.setdefault(name, set()).add(commit(root, subject, days=days + ago))
        if name == "weeks ago":
            git(root, "tag", "v2.1")
    write_all(root, {"today.py": "x = 0\n"})
    made["today"] = {commit(root, "Sort rows", days=0.0001)}
    made["since yesterday"] = made["yesterday"] | made["today"]
    made["since v2.1"] = {*made["three days ago"], *made["yesterday"], *made["today"]}
    account.cli("code", "index")
    return made


@pytest.mark.slow
def test_the_commits_of_a_time_are_told(account: Account, diary: dict[str, set[str]]) -> None:
    then = time.gmtime(time.time() - 100 * DAY)
    months = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
    named = {
        "three days ago": day_of(3),
        "weekday": time.strftime("%A", time.gmtime(time.time() - 3 * DAY)),
        "month": time.strftime("%B", then),
        "monat": months[then.tm_mon - 1],
        "weeks": "6",
    }

    for written, time_ in TIMES:
        prompt = written
        for name, value in named.items():
            prompt = prompt.replace(f"{{{name}}}", value)
        lines = told(account, prompt)
        assert lines and {line[:7] for line in lines} <= diary[time_], (prompt, lines)
        assert len(lines) == min(3, len(diary[time_])), (prompt, lines)


def test_of_many_commits_those_about_what_is_named_are_told(account: Account, diary: dict[str, set[str]]) -> None:
    assert [line[:7] for line in told(account, "since v2.1 parsing of money is slow")] == [
        git(account.project, "log", "-1", "--format=%h", "--abbrev=7", "--", "parse_money.py").strip()
    ]
    assert [line[:7] for line in told(account, "what did we change in parse_money.py since v2.1?")] != []
    assert told(account, "since v2.1 the login page is blank") == []


NO_TIMES = """\
in May we will release the new exporter
may I change the parser?
march through the list and drop empty entries
since this is a small module, keep it in one file
fix the last week column in the report
add a yesterday filter to the orders page
show orders from last week on the dashboard
add a "today" button to the calendar
users who signed up yesterday should get an email
the function returns the date of yesterday
make a chart of the sales of last month
rename the variable today to now
rate() over the last 3 days gives nothing
the sum across the last two weeks is wrong
delete log files older than two days ago
add an endpoint that returns the events of the last 7 days
we will finish this on Friday
we need to ship it by Friday
default the date range to the last 30 days
since Python 3.9 this works without quotes
parse "2026-03-02" as a date
format dates like March 2, 2026
group the invoices by month, e.g. in March
count failed logins since yesterday and show them
write a function that returns all posts made this week
the cron job runs every Monday
what is the revenue of last month?
a day ago label should read "1 day ago"
humanize timestamps: "3 days ago", "last week"
undo the last commit
add today's date to the header
today I want you to write the parser
das ist doch derselbe Fehler wie gestern bei den Zeilen für den Import?
füge einen Filter für gestern hinzu
hier ist ein Fehler, bitte beheben
zeige die Bestellungen von letzter Woche
wir werden das im Mai veröffentlichen
ajoute un filtre pour hier
affiche les commandes de la semaine dernière
en mai nous allons publier la version 3
añade un filtro de ayer
muestra los pedidos de la semana pasada
en mayo vamos a publicar
adicione um filtro de ontem
mostre os pedidos da semana passada
aggiungi un filtro per ieri
mostra gli ordini della settimana scorsa
добавь фильтр за вчера
покажи заказы за прошлую неделю
添加一个昨天的筛选按钮
显示上周的订单列表
昨日のフィルターボタンを追加して
先週の注文を表示するページを作って"""


def test_words_of_time_that_mean_something_else_get_no_commits(account: Account, diary: dict[str, set[str]]) -> None:
    rows = [
        {"id": at, "prompt": prompt, "cwd": str(account.project)} for at, prompt in enumerate(NO_TIMES.splitlines())
    ]
    given = account.write("prompts.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    answers = [json.loads(line) for line in account.cli("enrich", "--jsonl", str(given)).splitlines()]

    told_of = [rows[answer["id"]]["prompt"] for answer in answers
               for item in answer["context"] if item["channel"] == "history"]  # fmt: skip
    assert len(answers) == len(rows)
    assert told_of == []


def test_a_commit_by_nearby_words_is_no_memory(account: Account, ledger: dict[str, str]) -> None:
    write_all(account.project, {"ledger/round.py": "DIGITS = 2\n"})
    commit(account.project, "Round totals", body="Because the rates had four digits, totals must never be cut.")
    account.cli("memory", "import", "--git")

    assert account.ask("round the totals of rates").context == ""
    assert "Round totals" not in account.cli("memory", "list")


@pytest.mark.slow
def test_our_own_history_tells_who_removed_a_function(account: Account) -> None:
    known = subprocess.run(["git", "-C", str(ROOT), "cat-file", "-e", "32680d2"], capture_output=True, check=False)
    if known.returncode:
        pytest.skip("no checkout with its history")
    account.cli("code", "index", cwd=ROOT)

    name = f"extract_{'router'}_context"  # written out, it would stand in the project again

    (line,) = told(account, f"fix the bug in {name}", cwd=str(ROOT))

    assert line.startswith(f"`{name}` — removed from enricher/session.py in 32680d2, 2026-11-22: ")
    assert told(account, "add a parameter to estimate_tokens", cwd=str(ROOT)) == []


def test_a_name_that_two_commits_removed_from_two_files_gets_both(account: Account, ledger: dict[str, str]) -> None:
    root = account.project
    write_all(
        root,
        {"web/utils.js": "export function find_row(a) {\n}\n", "app/utils.js": "export function find_row(b) {\n}\n"},
    )
    commit(root, "Find rows", days=2)
    (root / "web/utils.js").write_text("\n")
    first = commit(root, "Use Array.find on the pages", days=1)
    (root / "app/utils.js").write_text("\n")
    last = commit(root, "Use Array.find everywhere")
    account.cli("code", "index")

    lines = told(account, "what happened to find_row?")
    assert sorted(lines) == sorted(
        [
            f'`find_row` — removed from web/utils.js in {first}, {day_of(1)}: "Use Array.find on the pages"',
            f'`find_row` — removed from app/utils.js in {last}, {day_of(0)}: "Use Array.find everywhere"',
        ]
    )
