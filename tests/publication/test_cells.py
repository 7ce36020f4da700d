from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from served_history import over
from simulator import Account

from storage.db import database
from storage.traces import labels
from workbench.web.native.cells import rendered
from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette

HOSTILE = "<script>alert('x')</script> & \"quotes\""


@pytest.fixture
async def hostile(tmp_path: Path) -> Datasette:
    """A history whose every text wants to be more than text."""
    account = Account(tmp_path / "home")
    account.ask("why is the basket empty?")
    with closing(database.connect(str(account.state))) as db:
        for table, column in (("traces", "output_text"), ("traces", "session_id"), ("traces", "rules_hash"),
                              ("trace_channels", "status"), ("trace_stages", "stage")):  # fmt: skip
            db.execute(f"update {table} set {column} = ?", (HOSTILE,))
        db.execute("update traces set topics = ?", (json.dumps([HOSTILE]),))
        db.execute("update trace_scores set evidence = ?", (json.dumps([[HOSTILE, 0, 3, 5]]),))
    return await over(f"{account.state}/enricher.db")


async def trace_id(live: Datasette) -> str:
    return (await live.client.get("/history/traces.json?_shape=array&status__not=skipped")).json()[0]["id"]


async def test_a_trace_leads_to_its_page_and_its_session(live: Datasette) -> None:
    page = (await live.client.get("/history/traces?_every_column=1")).text

    assert f'<a href="/-/enricher/trace/{await trace_id(live)}">' in page
    assert '<a href="/-/enricher/session/session-' in page


@pytest.mark.parametrize("chosen", ["_nocol=id", "_col=at"])
async def test_a_view_is_shown_without_its_ids(tmp_path: Path, chosen: str) -> None:
    account = Account(tmp_path / "home")
    account.ask("why is the basket empty?")
    with closing(database.connect(str(account.state))) as db:
        labels.add(db, db.execute("select id from traces").fetchone()[0], "ok")
    served = await over(f"{account.state}/enricher.db")
    page = await served.client.get(f"/history/what_people_said?{chosen}")

    assert page.status_code == 200
    assert '<td class="col-at' in page.text


async def test_a_row_beside_a_trace_leads_to_it(live: Datasette) -> None:
    page = (await live.client.get("/history/trace_stages")).text

    assert f'<a href="/-/enricher/trace/{await trace_id(live)}"><code>' in page


async def test_a_version_leads_to_its_instructions_by_twelve_digits(live: Datasette) -> None:
    row = (await live.client.get("/history/traces.json?_shape=array&status__not=skipped")).json()[0]
    page = (await live.client.get("/history/traces?_every_column=1")).text
    version = row["rules_hash"]

    assert f'<a href="/-/enricher/instructions/{version}"><code>{version[:12]}</code></a>' in page


async def test_durations_have_their_unit(live: Datasette) -> None:
    ms = (await live.client.get("/history/trace_stages.json?_shape=array")).json()[0]["latency_ms"]
    page = (await live.client.get("/history/trace_stages")).text

    assert f"{ms:,.1f} ms</td>" in page


async def test_evidence_is_shown_as_signals(live: Datasette) -> None:
    page = (await live.client.get("/history/trace_scores")).text

    assert '<span class="signal">' in page and "[[&#34;" not in page


async def test_a_status_is_a_word(live: Datasette) -> None:
    page = (await live.client.get("/history/traces?_every_column=1")).text

    assert '<span class="status skipped">skipped</span>' in page


async def test_answers_to_queries_have_the_same_cells(live: Datasette) -> None:
    sql = "select id, prompt, latency_ms, 12.34 as silent_percent, rules_hash from traces where status <> 'skipped'"
    page = await live.client.get("/history", params={"sql": sql}, follow_redirects=True)

    assert f'<a href="/-/enricher/trace/{await trace_id(live)}"><code>' in page.text
    assert "12.3 %" in page.text and "/-/enricher/instructions/" in page.text


async def test_data_stays_as_it_is_stored(live: Datasette) -> None:
    rows = (await live.client.get("/history/trace_scores.json?_shape=array")).json()
    table = (await live.client.get("/history/trace_stages.csv")).text

    assert isinstance(json.loads(rows[0]["evidence"]), list)
    assert "<a" not in table and " ms" not in table


async def test_a_server_with_a_prefix_leads_to_its_own_pages(library: Account, live: Datasette) -> None:
    prefixed = datasette_over(f"{library.state}/enricher.db", is_immutable=False, base_url="/team/")
    await prefixed.invoke_startup()
    page = (await prefixed.client.get("/history/traces")).text

    assert f'"/team/-/enricher/trace/{await trace_id(live)}"' in page
    assert '"/team/history/traces?_every_column=1"' in page


@pytest.mark.parametrize("table", ["traces", "trace_scores", "trace_channels", "trace_stages", "what_people_said"])
async def test_whatever_is_stored_is_shown_as_text(hostile: Datasette, table: str) -> None:
    page = (await hostile.client.get(f"/history/{table}?_every_column=1")).text

    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page or table == "what_people_said"


async def test_a_row_page_shows_it_as_text_as_well(hostile: Datasette) -> None:
    page = (await hostile.client.get(f"/history/traces/{await trace_id(hostile)}")).text

    assert "<script>alert" not in page and '<div class="markdown">' in page


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>", id="emphasis"),
        pytest.param("- a\n- b", "<li>a</li>", id="lists"),
        pytest.param("## Title", "<p><strong>Title</strong></p>", id="a heading is bold"),
        pytest.param("<b onclick=x>", "&lt;b onclick=x&gt;", id="HTML is text"),
        pytest.param("[a](javascript:alert)", "[a](javascript:alert)", id="no script in a link"),
        pytest.param("[a](//evil.example)", "[a](//evil.example)", id="no address without a scheme"),
        pytest.param("[a](data:text/html,x)", "[a](data:text/html,x)", id="no data in a link"),
        pytest.param(
            "[a](https://example.org)",
            '<a href="https://example.org" rel="nofollow noopener noreferrer">a</a>',
            id="a link says nothing of us",
        ),
        pytest.param("![b](https://evil.example/x.png)", "[picture: b]", id="a picture is its words"),
        pytest.param("![<i>](https://evil.example/x.png)", "[picture: &lt;i&gt;]", id="words of a picture are text"),
        pytest.param("![b](javascript:x)", "![b](javascript:x)", id="no script in a picture"),
        pytest.param("```html\n<script>\n```", "&lt;script&gt;", id="code is text"),
        pytest.param('```x"onload="y\n1\n```', 'class="language-x&quot;onload=&quot;y"', id="a language is text"),
        pytest.param('<https://example.org/"onclick=x>', "&quot;onclick=x", id="an address is text"),
    ],
)
def test_markdown_is_made_harmless(text: str, html: str) -> None:
    made = rendered(text)

    assert html in made
    assert "<img" not in made and "<script" not in made and 'href="j' not in made


def test_long_markdown_is_cut_and_says_so() -> None:
    made = rendered("word " * 10_000, limit=100)

    assert len(made) < 300 and "and 49,900 more characters" in made


def test_deep_markdown_ends() -> None:
    assert len(rendered("> " * 5_000 + "[" * 5_000, limit=10_000)) < 200_000
