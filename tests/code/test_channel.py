"""The channel ``code`` through the real hook."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

MOST_PATHS = 3


def offered(account: Account) -> list[dict]:
    return [item for item in account.trace()["items"] if item["channel"] == "code"]


def bullets(context: str) -> list[str]:
    return [line for line in context.splitlines() if line.startswith("- ")]


@pytest.mark.conformance("E10")
def test_a_prompt_gets_the_matching_file_as_a_line_of_context(account: Account, shop: Path) -> None:
    account.cli("code", "index")

    answer = account.ask("fix the bug that save_session loses the key")

    assert any("shop/auth/session.py:8 save_session" in line for line in bullets(answer.context)), answer.context


@pytest.mark.upkeep
@pytest.mark.conformance("E38")
def test_a_file_that_the_prompt_names_is_listed_and_exists(account: Account, shop: Path) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"  # ruling R38
    first = account.ask("fix the bug in gateway.py")
    account.rest()
    account.cli("code", "index")
    second = account.ask("fix the bug in gateway.py")

    for answer in (first, second):
        assert "shop/payment/gateway.py" in answer.context
    assert (shop / "shop/payment/gateway.py").is_file()


def test_nothing_is_said_to_what_the_project_has_nothing_about(account: Account, shop: Path) -> None:
    account.cli("code", "index")

    for prompt in ("refactor the tests", "add type hints everywhere", "deploy the lambda function to eu-west-1"):
        account.ask(prompt)
        assert not [item for item in offered(account) if item["kept"]], prompt


def test_a_quoted_message_and_a_named_test_point_at_their_lines(account: Account, shop: Path) -> None:
    account.cli("code", "index")

    quoted = account.ask('users see "the session has expired meanwhile" after an hour')
    named = account.ask("test_session_is_saved is flaky since the upgrade")

    assert any("shop/auth/session.py:9" in line for line in bullets(quoted.context)), quoted.context
    assert any("tests/test_session.py:1 test_session_is_saved" in line for line in bullets(named.context)), (
        named.context,
        offered(account),
    )


def test_a_named_test_is_told_where_other_files_say_more_of_the_prompt(account: Account, shop: Path) -> None:
    (shop / "shop/merge.py").write_text(
        "def merge_last(last):\n    # fails: the last merge fails\n    return last\n" * 9
    )
    account.cli("code", "index")

    answer = account.ask("test_session_is_saved fails since the last merge")

    assert any("tests/test_session.py:1 test_session_is_saved" in line for line in bullets(answer.context))


def test_a_quoted_message_is_found_without_the_word_before_it_and_its_value(account: Account, shop: Path) -> None:
    (shop / "shop/arguments.py").write_text("def parse(rest):\n    fail(f'Got unexpected extra argument ({rest})')\n")
    account.cli("code", "index")

    answer = account.ask('users see "Error: Got unexpected extra argument (foo)" when they pass two files, why?')

    assert any("shop/arguments.py:2" in line for line in bullets(answer.context)), answer.context


def test_a_general_order_about_commits_names_none(account: Account, shop: Path) -> None:
    account.cli("code", "index")

    assert not bullets(account.ask("undo the last commit").context)


def test_a_trace_points_at_its_line_in_this_project(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    trace = 'Traceback (most recent call last):\n  File "/srv/x/shop/export.py", line 3, in write_report\n'
    further = "".join(f'  File "/usr/lib/python3.12/csv.py", line {line}, in write\n' for line in range(4))

    short, long = (
        account.ask(f"the nightly export died, why?\n\n{text}KeyError: 1").context for text in (trace, trace + further)
    )

    assert bullets(short) == []  # the trace shows it at once
    assert any("shop/export.py:3" in line for line in bullets(long)), long


def test_a_function_called_by_an_ordinary_word_is_told_where_it_is_asked_for(account: Account, shop: Path) -> None:
    (shop / "shop/stock.py").write_text("def restock(items):\n    return items\n")
    for number in range(60):  # in so many files that the word may be an ordinary one
        (shop / f"shop/note_{number}.py").write_text("# restock the shelves\nrestock([])\n" * 3)
    account.cli("code", "index")

    asked, ordered = (
        account.ask("where is restock defined?"),
        account.ask("we restock on mondays, add that to the readme"),
    )

    assert bullets(asked.context) == ["- shop/stock.py:1 restock — defined here"]
    assert bullets(ordered.context) == []


def test_methods_of_the_platform_are_not_looked_up(account: Account, shop: Path) -> None:
    (shop / "shop/cart.js").write_text("const cart = document.querySelector('#cart');\nstock.querySelector('#x');\n")
    account.cli("code", "index")

    of_ours, of_the_browser = (
        account.ask("stock.querySelector finds nothing"),
        account.ask("document.querySelector is slow"),
    )

    assert bullets(of_ours.context) == ["- shop/cart.js:2 stock.querySelector — the only place that has it"]
    assert bullets(of_the_browser.context) == []


def test_a_file_that_is_gone_is_not_told_and_a_moved_line_is_found_again(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    (shop / "shop/cart.py").unlink()
    password = shop / "shop/auth/password.py"
    password.write_text("# one line more\n\n" + password.read_text())

    gone = account.ask("fix the Cart class so that add_item checks the stock")
    fates = {item["ref"]: item["why"] for item in offered(account)}
    moved = account.ask("fix check_password, it always says yes")

    assert "shop/cart.py" not in gone.context
    assert fates["shop/cart.py:1"] == "stale: it is gone from the file"
    assert "shop/auth/password.py:7 check_password" in moved.context


def test_commits_of_the_named_time_are_told_unless_reverted(account: Account, shop: Path) -> None:
    (shop / "shop/cart.py").write_text("class Cart:\n    def add_item(self, item):\n        return item\n")
    git(shop, "commit", "-qam", "Count cart items once")
    (shop / "shop/export.py").write_text("def write_report(rows):\n    pass\n")
    git(shop, "commit", "-qam", "Write the cart report faster")
    git(shop, "revert", "--no-edit", "HEAD")
    account.cli("code", "index")

    answer = account.ask("since yesterday the cart counts items twice, fix add_item")

    assert any("Count cart items once" in line for line in bullets(answer.context)), answer.context
    assert "faster" not in answer.context
    assert "Start the shop" not in answer.context


@pytest.mark.upkeep
def test_a_link_out_of_the_project_is_not_offered(account: Account, shop: Path) -> None:
    secret = account.write("outside/secret_plan.py", "def secret_plan():\n    pass\n")
    (shop / "secret_plan.py").symlink_to(secret)
    git(shop, "add", "-A")

    for _ in range(2):
        answer = account.ask("fix the bug in secret_plan.py")
        assert "secret_plan.py —" not in answer.context
        account.rest()
        account.cli("code", "index")


@pytest.mark.upkeep
def test_no_git_process_is_started_by_a_prompt(account: Account, shop: Path) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"  # which shows a path alone
    tell_session = f"cut -d ' ' -f 6 /proc/$$/stat >> {account.home}/started"
    account.write("bin/git", f"#!/bin/sh\n{tell_session}\nexit 1\n", mode=0o755)
    account.env["PATH"] = f"{account.home}/bin:{account.env['PATH']}"
    account.cli("code", "index")
    (account.home / "started").unlink()

    answer = account.ask("fix the bug in gateway.py")
    account.rest()

    sessions = (account.home / "started").read_text().split()
    assert "shop/payment/gateway.py" in answer.context
    assert answer.is_harmless()
    assert sessions  # the upkeep behind the prompt asks git, in a session of its own
    assert str(os.getsid(0)) not in sessions


def test_many_prompts_of_other_folders_are_answered_for_those(account: Account, shop: Path) -> None:
    other = account.write("other/engine.py", "def start_engine():\n    pass\n").parent
    lines = [{"id": 1, "prompt": "fix the bug in save_session", "cwd": str(shop)}]
    lines += [{"id": 2, "prompt": "fix the bug in save_session", "cwd": str(other)}]
    given = account.write("prompts.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    rows = [json.loads(line) for line in account.cli("enrich", "--jsonl", str(given)).splitlines()]

    assert [item["ref"] for item in rows[0]["context"] if item["channel"] == "code"][:1] == ["shop/auth/session.py:8"]
    assert not [item for item in rows[1]["context"] if item["kept"] and item["channel"] == "code"]


@pytest.mark.timed
@pytest.mark.upkeep
@pytest.mark.conformance("E41")
def test_a_project_of_a_hundred_thousand_files_gets_few_lines_in_time(account: Account) -> None:
    for folder in range(100):
        inside = account.project / f"area{folder:02d}"
        inside.mkdir()
        for number in range(1000):
            os.close(os.open(inside / f"m{number:03d}.py", os.O_CREAT | os.O_WRONLY))
    write_all(account.project, {"area07/turbine.py": "def spin_turbine():\n    pass\n"})
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")

    account.env["ENRICHER_PROFILE"] = "as-specified"  # ruling R38
    for _attempt in range(5):
        first = account.ask("fix the bug in turbine.py")
        if "_Partial" not in first.context:  # the machine was not too busy
            break
    until = time.monotonic() + 60
    while account.processes() and time.monotonic() < until:
        time.sleep(0.1)
    later = [account.ask(f"fix the bug in spin_turbine, attempt {number}") for number in range(3)]

    assert "area07/turbine.py" in first.context
    for answer in [first, *later]:
        assert answer.is_harmless()
        assert len(bullets(answer.context)) <= MOST_PATHS
    assert "area07/turbine.py:1 spin_turbine" in later[0].context
    assert all(trace["latency_ms"] < 1500 for trace in account.traces())


def test_a_trace_shows_what_was_told_of_a_file(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    account.ask("fix the bug that save_session loses the key")

    shown = " ".join(account.cli("trace", "last").split())

    assert ":8 save_session —" in shown


@pytest.mark.upkeep
@pytest.mark.parametrize("setting", ["", "channels.code = false\n"])
def test_no_file_is_indexed_where_the_channel_is_off(account: Account, shop: Path, setting: str) -> None:
    account.write("config/config.toml", setting)
    account.compile()

    account.ask("fix the bug that save_session loses the key")
    account.rest()

    assert bool([*account.state.glob("code/*.db")]) == (not setting)


def test_the_approach_names_a_frame_of_another_machine_as_this_project_has_it(account: Account, shop: Path) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"
    account.cli("code", "index")
    trace = 'Traceback (most recent call last):\n  File "/srv/x/shop/export.py", line 3, in write_report\nKeyError: 1'

    context = account.ask(f"the nightly job died, please fix it:\n\n{trace}").context

    assert "Start at shop/export.py:3:" in context
    assert "/srv/x" not in context
