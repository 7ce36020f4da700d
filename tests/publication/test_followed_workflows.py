"""Adherence on the published pages: measured by ``enricher publish`` in the transcripts, shown without them."""

from __future__ import annotations

import html
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from publishing import environment, published, run
from served_history import over, page, words

sys.path.append(str(Path(__file__).parents[1] / "session"))

from host_files import Claude

from storage.db import database
from storage.traces.queries import CHILDREN
from workbench.statistics.intervals import wilson
from workbench.web.reading import adherence_store

if TYPE_CHECKING:
    from simulator import Account

FIX = "fix the typo in the header of shop.py"
ROW = re.compile(r'<tr><th scope="row">minor-edit</th><td>suggested</td>(.*?)</tr>')
COUNT = re.compile(r'<td class="num"><a href="([^"]+)">(\d+)</a></td>')
PLANS = re.compile(r'</strong> of <a href="([^"]+)">(\d+ plans)</a> were followed')
PATIENCE_S = 30.0
HOUR_US = 3_600_000_000
SLOW = """
import time
import workbench.adherence as own
own.read_actions = lambda source: time.sleep(0.5) or []
from enricher.interfaces.cli import main
main()
"""
MANY = 40
"""As many transcripts take 20 seconds to read slowly."""


@pytest.fixture
def planning(account: Account) -> Account:
    """An account with three plans, of which one was followed and one not, and a prompt that got no plan."""
    account.env["ENRICHER_MODE"] = "hydrate"
    account.write(Path(account.project) / "shop.py", "# Tehs hop\ndef total(rows):\n    return round(sum(rows), 2)\n")
    for name, is_followed in (("s-1", True), ("s-2", False)):
        account.ask(FIX, session_id=name)
        session = Claude()
        session.asks(FIX)
        session.uses("Edit", file_path="/p/shop.py")
        if is_followed:
            session.uses("Bash", "2 passed", command="pytest tests")
            session.uses("Bash", command="git commit -am 'Fix the header'")
        _save(session, account, name)
    account.ask(FIX, session_id="without-transcript")
    account.env["ENRICHER_MODE"] = "enrich"
    account.ask(FIX, session_id="s-4")
    account.traces()
    _age(account)
    return account


def _age(account: Account, *, hours: int = 2, session: str = "") -> None:
    """Make the prompts of a session, or of all sessions, so many hours older."""
    with closing(database.connect(str(account.state))) as db:
        db.execute("pragma foreign_keys = off")
        which = "select id from traces where :session in ('', session_id)"
        for (old,) in db.execute(which, {"session": session}).fetchall():
            named = {"old": old, "new": f"{int(old[:14], 16) - hours * HOUR_US:014x}{old[14:]}"}
            db.execute("update traces set id = :new where id = :old", named)
            for table in CHILDREN:
                db.execute(f"update {table} set trace_id = :new where trace_id = :old", named)


def _measured(account: Account) -> dict[str, tuple[str, str]]:
    """Write a snapshot, and return for each session whether its workflow was followed, and its checkpoint."""
    _snapshot(account)
    query = "select session_id, followed, checkpoint from workflow_adherence join traces on traces.id = trace_id"
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        return {row[0]: row[1:] for row in db.execute(query)}


def _save(session: Claude, account: Account, name: str) -> None:
    for record in session.records:
        record["sessionId"] = name
    session.save(account.home / f".claude/projects/-p/{name}.jsonl")


def _snapshot(account: Account, *words: str) -> Path:
    path = account.home / "history.db"
    ended = run(account, "--snapshot", str(path), *words)
    assert ended.returncode == 0, ended.stderr
    return path


async def test_a_snapshot_shows_how_often_plans_were_followed_and_when_that_was_measured(planning: Account) -> None:
    served = await over(_snapshot(planning), is_immutable=True)
    shown = words(await page(served, ""))
    figures = (await served.client.get("/-/enricher.json")).json()["adherence"]

    interval = wilson(1, 2)
    assert "50.0 % of 2 plans were followed" in shown
    assert f"{100 * interval.low:.0f}\u2013{100 * interval.high:.0f} %" in shown
    assert f"Measured {figures['at'][:10]}" in shown
    edit = next(one for one in figures["workflows"] if one["workflow"] == "minor-edit")
    assert (edit["prompts"], edit["followed"], edit["not_followed"]) == (3, 1, 1)
    assert (edit["had_plan"], edit["reached"], edit["missed"]) == (True, 1, 1)


async def test_each_count_leads_to_exactly_its_prompts(planning: Account) -> None:
    served = await over(_snapshot(planning), is_immutable=True)
    shown = await page(served, "")
    [row], [(known, _plans)] = ROW.findall(shown), PLANS.findall(shown)
    of_all = (await served.client.get(html.unescape(known).replace("traces?", "traces.json?"))).json()["rows"]
    links = COUNT.findall(row)
    lists = [
        (await served.client.get(html.unescape(address).replace("traces?", "traces.json?"))) for address, _ in links
    ]
    found = [{one["session_id"] for one in answer.json()["rows"]} for answer in lists]

    assert [count for _address, count in links] == ["3", "1", "1", "1", "1", "1"]
    assert list(map(len, found)) == [3, 1, 1, 1, 1, 1]
    everything, followed, not_followed, unknown, reached, missed = found
    assert followed | not_followed | unknown == everything
    assert followed | not_followed == {one["session_id"] for one in of_all}
    assert (reached, missed) == (followed, not_followed)


@pytest.mark.parametrize("text", ["redacted", "hash", "full"])
def test_a_snapshot_holds_the_result_and_no_text_of_a_transcript(planning: Account, text: str) -> None:
    path = _snapshot(planning, "--text", text, "--yes")
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("select had_plan, followed, checkpoint from workflow_adherence order by 1, 2").fetchall()

    assert rows[1:] == [(1, "no", "missed"), (1, "unknown", "unknown"), (1, "yes", "reached")]
    assert b"Fix the header" not in path.read_bytes()


async def test_what_was_found_stays_when_the_transcript_is_gone(planning: Account) -> None:
    _snapshot(planning)
    shutil.rmtree(planning.home / ".claude" / "projects")
    served = await over(_snapshot(planning), is_immutable=True)

    assert "50.0 % of 2 plans were followed" in words(await page(served, ""))


async def test_a_page_says_that_nothing_was_measured_and_names_the_command(account: Account) -> None:
    account.ask("thanks!")
    with closing(database.connect(str(account.state))):
        live = await over(f"{account.state}/enricher.db")
    shown = words(await page(live, ""))
    snapshot = words(await page(await over(_snapshot(account), is_immutable=True), ""))

    assert "It has not been measured yet" in shown
    assert "enricher trace stats --adherence" in shown
    assert "Are workflows followed?" in snapshot
    assert "was not measured before this snapshot was made" in snapshot


@pytest.mark.slow
def test_a_snapshot_can_be_interrupted_while_what_agents_did_is_read(planning: Account) -> None:
    for number in range(MANY):
        _save(Claude(), planning, f"other-{number}")
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "publish", "--snapshot", str(planning.home / "history.db")],
        env=environment(planning, TERM="xterm"), cwd=planning.project, stdin=subprocess.DEVNULL, stderr=its_end,
    )  # fmt: skip
    os.close(its_end)
    shown = b""
    while b"transcripts" not in shown and select.select([terminal], [], [], PATIENCE_S)[0]:
        shown += os.read(terminal, 4096)
    asked_at = time.monotonic()
    process.send_signal(signal.SIGINT)
    with suppress(OSError):  # as reading fails once the process has ended
        while os.read(terminal, 4096):
            pass
    code = process.wait(timeout=PATIENCE_S)
    os.close(terminal)

    assert (code, time.monotonic() - asked_at < MANY / 4) == (1, True)


@pytest.mark.slow
def test_it_is_measured_while_the_live_history_is_served(planning: Account) -> None:
    with published(planning, "--port", "0") as served:
        give_up_at = time.monotonic() + PATIENCE_S
        while "of 2 plans were followed" not in (shown := words(served.get("/-/enricher").text)):
            assert time.monotonic() < give_up_at, shown
            time.sleep(0.2)

    assert "50.0 % of 2 plans were followed" in shown


def _is_due(account: Account) -> bool:
    with closing(database.connect(str(account.state))) as db:
        return adherence_store.is_due(db)


def test_it_is_measured_again_only_after_new_prompts(planning: Account) -> None:
    assert _is_due(planning)
    _snapshot(planning)
    assert not _is_due(planning)
    planning.ask(FIX, session_id="s-5")
    planning.traces()
    _age(planning, session="s-5")
    assert _is_due(planning)


def test_prompts_older_than_the_measured_ones_are_measured_as_well(planning: Account) -> None:
    _snapshot(planning)
    planning.ask(FIX, session_id="imported")
    planning.traces()
    _age(planning, hours=1_000, session="imported")

    assert _is_due(planning)
    assert "imported" in _measured(planning)
    assert not _is_due(planning)


def test_a_prompt_of_the_last_hour_is_not_measured_yet(planning: Account) -> None:
    _snapshot(planning)
    planning.ask(FIX, session_id="young")
    planning.traces()

    assert not _is_due(planning)
    assert "young" not in _measured(planning)


def test_it_is_unknown_whether_an_agent_follows_that_has_done_nothing_yet(planning: Account) -> None:
    planning.env["ENRICHER_MODE"] = "hydrate"
    planning.ask(FIX, session_id="waiting")
    planning.traces()
    _age(planning, session="waiting")
    session = Claude()
    session.asks(FIX)
    _save(session, planning, "waiting")
    before = _measured(planning)["waiting"]
    session.uses("Edit", file_path="/p/shop.py")
    session.uses("Bash", "2 passed", command="pytest tests")
    session.uses("Bash", command="git commit -am 'Fix the header'")
    _save(session, planning, "waiting")

    assert (before, _measured(planning)["waiting"]) == (("unknown", "unknown"), ("yes", "reached"))
