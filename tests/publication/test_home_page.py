from __future__ import annotations

import html
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from big_history import write_history
from served_history import over, words

from storage.db import database
from storage.traces import line_labels
from storage.traces.line_labels import Line
from workbench.views.latency import INSIDE_MS
from workbench.web.server.serving import datasette_over
from workbench.web.server.upkeep import catch_up

if TYPE_CHECKING:
    from datasette.app import Datasette

HOOK = Path(__file__).parents[2] / "enricher" / "hook" / "process.py"
PROMPTS = 600
BAR = re.compile(
    r'<tr[^>]*><th scope="row"[^>]*><a href="([^"]+)">([^<]+)</a></th><td class="bar">.*?<td class="num">([\d,]+)</td>'
)
DAY = re.compile(r'<td><a href="([^"]+)">([\d-]{10})</a></td><td class="num">(\d+)</td><td class="num">(\d+)</td>')
HOW_MANY = """
    select sum(origin = 'hook'), sum(status = 'error' and origin = 'hook'), sum(status = 'silent'),
           sum(status <> 'skipped')
    from traces where origin <> 'test'
"""


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of 400 days that is counted, with imports and tests in it."""
    folder = tmp_path_factory.mktemp("invented")
    write_history(folder, PROMPTS)
    with closing(database.connect(str(folder))) as db:
        catch_up(db)
    return folder / "enricher.db"


@pytest.fixture
async def served(invented: Path) -> Datasette:
    """The invented history in a Datasette."""
    return await over(invented)


async def text_of(datasette: Datasette, address: str) -> str:
    """Return the page that is there."""
    answer = await datasette.client.get(address)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


async def test_it_says_how_many_prompts_there_are(live: Datasette) -> None:
    assert "5 prompts since 20" in await text_of(live, "/-/enricher")


async def test_its_figures_are_those_counted_from_scratch(served: Datasette, invented: Path) -> None:
    with closing(sqlite3.connect(invented)) as db:
        _prompts, failed, silent, judged = db.execute(HOW_MANY).fetchone()

    page = await text_of(served, "/-/enricher?days=0")
    assert f">{failed} prompts</a>" in page
    assert f"{silent} of {judged} prompts" in page


HOW_MANY_ARE_RIGHT = """
    select count(*), sum(verdict = 'ok' or labelled_task_type = what_people_said.task_type)
    from what_people_said join traces using (id) where origin <> 'test'
"""


async def test_it_answers_first_whether_the_classes_are_right(served: Datasette, invented: Path) -> None:
    with closing(sqlite3.connect(invented)) as db:
        labelled, right = db.execute(HOW_MANY_ARE_RIGHT).fetchone()

    page = await text_of(served, "/-/enricher")
    share = f"{100 * right / labelled:.1f} %"
    assert f"{share} of {labelled} labelled prompts got the right task type" in words(page)
    assert page.index("Is it right?") < page.index("Is anything broken?") < page.index("What should be changed?")


async def test_a_confusion_leads_to_exactly_its_prompts(served: Datasette) -> None:
    page = await text_of(served, "/-/enricher")
    confusion = re.search(r'<td>[^<]*</td><td>[^<]*</td><td class="num"><a href="([^"]+)">(\d+)</a>', page)
    assert confusion
    listed = await text_of(served, html.unescape(confusion[1]))
    count = "1 prompt" if confusion[2] == "1" else f"{confusion[2]} prompts"
    assert count in words(listed)


async def test_the_slow_prompts_are_those_that_took_longer_than_p95(served: Datasette) -> None:
    shown = await text_of(served, "/-/enricher?days=0")
    figures = (await served.client.get("/-/enricher.json?days=0")).json()
    [address] = re.findall(r'href="([^"]*)">one in twenty</a>', shown)
    rows = (await served.client.get(html.unescape(address).replace("traces?", "traces.json?"))).json()["rows"]

    slowest = figures["total"]["p95_ms"]
    assert 0 < len(rows) <= 0.08 * figures["total"]["measurements"]
    assert all(row["latency_ms"] > round(slowest, 1) for row in rows)


async def test_it_says_how_many_judged_lines_were_right_and_leads_to_the_wrong_ones(
    invented: Path, tmp_path: Path
) -> None:
    assert "judged" not in words(await text_of(await over(invented), "/-/enricher"))
    shutil.copytree(invented.parent, tmp_path / "judged")
    with closing(database.connect(str(tmp_path / "judged"))) as db:
        identities = [row[0] for row in db.execute("select id from traces where origin = 'hook' limit 4")]
        for identity, verdict in zip(identities, ("ok", "ok", "ok", "wrong"), strict=True):
            line_labels.add(db, identity, Line(1, "guardrail", "H3", "H3 (a reason)"), verdict)

    served = await over(tmp_path / "judged" / "enricher.db")
    page = await text_of(served, "/-/enricher")

    assert "75.0 % of 4 judged lines were right" in words(page)
    for name in ("guardrail", "guardrail H3"):
        cells = (f"<td>{name} *</td>", '<a href="([^"]+)">4</a>', "75.0 %", '<a href="([^"]+)">1</a>')
        row = re.search('</td><td class="num">'.join(cells).replace("</td></td>", "</td>"), page)
        assert row
        assert "4 prompts" in words(await text_of(served, html.unescape(row[1])))
        listed = await text_of(served, html.unescape(row[2]))
        assert "1 prompt" in words(listed) and identities[3] in listed


async def test_guardrails_are_named_by_their_titles(live: Datasette) -> None:
    page = await text_of(live, "/-/enricher")

    assert re.search(r'title="H4 Explicit Instructions Override Inference"><a href="[^"]*guardrail%3AH4', page)


@pytest.mark.parametrize("days", [0, 7, 30, 90])
async def test_every_bar_leads_to_as_many_prompts_as_it_says(served: Datasette, days: int) -> None:
    bars = BAR.findall(await text_of(served, f"/-/enricher?days={days}"))

    found = {}
    for address, name, _count in bars:
        rows = (await served.client.get(html.unescape(address).replace("traces?", "traces.json?"))).json()["rows"]
        found[address, name] = f"{len(rows):,}"
    assert len(bars) > 5 and found == {(address, name): count for address, name, count in bars}


async def test_every_day_of_the_chart_leads_to_its_prompts(served: Datasette) -> None:
    page = await text_of(served, "/-/enricher?days=7")

    days = re.findall(
        r'<td><a href="([^"]+)">([\d-]{10})</a></td><td class="num">(\d+)</td><td class="num">(\d+)', page
    )
    counted = {}
    for address, day, *_counts in days:
        rows = (await served.client.get(html.unescape(address).replace("traces?", "traces.json?"))).json()["rows"]
        counted[day] = len(rows)
    assert days and counted == {day: int(one) + int(other) for _address, day, one, other in days}


async def test_imports_and_tests_are_no_prompts_of_the_hook(served: Datasette, invented: Path) -> None:
    with closing(sqlite3.connect(invented)) as db:
        imported = db.execute("select count(*) from traces where origin = 'import'").fetchone()[0]

    figures = (await served.client.get("/-/enricher.json?days=0")).json()
    assert figures["imported"] == imported and 0 < figures["prompts"] < PROMPTS - imported


async def test_the_chosen_period_is_marked_and_the_others_are_links(served: Datasette) -> None:
    page = await text_of(served, "/-/enricher?days=7")

    assert re.findall(r'days=(\d+)"( aria-current="true")?', page)[:4] == [
        ("7", ' aria-current="true"'), ("30", ""), ("90", ""), ("0", ""),
    ]  # fmt: skip


async def test_a_period_that_there_is_not_is_the_usual_one(served: Datasette) -> None:
    answers = [(await served.client.get(f"/-/enricher.json?days={days}")).json() for days in ("", "12; drop", "30")]

    assert answers[0] == answers[1] == answers[2]


async def test_a_stored_script_is_text_on_the_first_page(live: Datasette) -> None:
    page = await text_of(live, "/-/enricher")

    assert "<script" not in page and "&lt;script&gt;alert(" in page


async def test_the_newest_prompts_lead_to_their_traces(live: Datasette) -> None:
    page = await text_of(live, "/-/enricher")
    rows = (await live.client.get("/-/enricher/traces.json")).json()["rows"]

    assert all(f'href="/-/enricher/trace/{row["id"]}"' in page for row in rows)


async def test_prompts_that_wait_to_be_counted_are_told(invented: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(invented)) as db:
        db.execute("vacuum into :there", {"there": str(tmp_path / "enricher.db")})
    with closing(sqlite3.connect(tmp_path / "enricher.db")) as db:
        db.execute("update rolled_up set up_to = up_to - 3")
        db.commit()
    datasette = datasette_over(str(tmp_path / "enricher.db"), is_immutable=False)

    assert "3 prompts wait to be counted" in await text_of(datasette, "/-/enricher")


async def test_an_empty_history_says_what_comes_next(tmp_path: Path) -> None:
    with closing(database.connect(str(tmp_path))):
        pass
    datasette = datasette_over(f"{tmp_path}/enricher.db", is_immutable=False)

    assert "enricher install" in await text_of(datasette, "/-/enricher")


async def test_a_snapshot_says_when_it_was_made_and_what_it_keeps(invented: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(invented)) as db:
        db.execute("vacuum into :there", {"there": str(tmp_path / "shown.db")})
    with closing(sqlite3.connect(tmp_path / "shown.db")) as db:
        db.execute("create table published (at text, text text, prompts integer, since text, until text)")
        db.execute("insert into published values ('2026-11-21T20:00:00.000Z', 'hash', 600, '', '')")
        db.execute("update traces set prompt = ''")
        db.commit()
    datasette = datasette_over(str(tmp_path / "shown.db"), is_immutable=True)

    page = await text_of(datasette, "/-/enricher")
    assert "2026-11-21 20:00:00" in page and "keeps no text" in page and "text not in this snapshot" in page


async def test_its_address_may_have_a_prefix(invented: Path) -> None:
    datasette = datasette_over(str(invented), is_immutable=False, base_url="/history/")
    page = await text_of(datasette, "/-/enricher")

    assert {link for link in re.findall(r'href="(/[^"]*)"', page) if not link.startswith("/history/")} == set()


def test_the_budget_is_that_of_the_hook() -> None:
    written = re.search(r"^DEADLINE_S = ([\d.]+)$", HOOK.read_text("utf-8"), re.MULTILINE)

    assert written and float(written[1]) * 1000 == INSIDE_MS
