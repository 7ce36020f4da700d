from __future__ import annotations

import csv
import html
import io
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from served_history import over, words

from storage import traces
from storage.db import database
from storage.traces import intake
from workbench.views.outcomes import drifts
from workbench.web.pages import session
from workbench.web.reading.history import find
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette
    from simulator import Account

ROW = re.compile(r'<td class="time"><a href="/-/enricher/trace/([^"]+)">')
SCRIPT = "<script>alert('x')</script>"


def asked(session_id: str, number: int = 0, **columns: Any) -> traces.Trace:
    """Return the trace of the prompt with that number, a minute after the one before it."""
    trace = traces.Trace()
    trace.id = f"{0x06500000000000 + 60_000_000 * number:014x}{number:010x}"
    trace.at = f"2026-08-0{1 + number // 1440}T{number // 60 % 24:02d}:{number % 60:02d}:00.000Z"
    trace.session_id, trace.prompt, trace.status, trace.output_tokens = session_id, f"prompt {number}", "ok", 10
    trace.latency_ms = 20.0
    for name, value in columns.items():
        setattr(trace, name, value)
    return trace


async def served_with(state: Path, *rows: traces.Trace) -> Datasette:
    """Return a Datasette over a history of these traces."""
    with closing(database.connect(str(state))) as db:
        intake.add(db, [traces.flatten(row) for row in rows])
    return await over(f"{state}/enricher.db")


async def test_the_prompts_of_a_session_stand_in_order_with_what_each_got(library: Account) -> None:
    for prompt in ("why does the export crash?", "why do we need two caches here?", "thanks!", "/clear"):
        library.ask(prompt, session_id="in order")
    own = [one for one in library.traces() if one["session_id"] == "in order"]
    page = (await (await over(f"{library.state}/enricher.db")).client.get("/-/enricher/session/in+order")).text

    assert ROW.findall(page) == [one["id"] for one in own]
    first, second = (one["output_tokens"] for one in own[:2])
    assert 0 < first != second > 0 and f"{first + second} tokens" in words(page)
    assert re.search(rf"debug why does the export crash\? H5 [\d.]+ {first} ok ", words(page))
    assert re.search(rf"question why do we need two caches here\? H19 [\d.]+ {second} ok ", words(page))


async def test_the_sums_are_of_what_was_added(tmp_path: Path) -> None:
    served = await served_with(
        tmp_path,
        asked("s", 0, guardrails=[("H3", "Verify", 3.0)]),
        asked("s", 1, status="shadow"),
        asked("s", 4, guardrails=[("H3", "Verify", 3.0), ("H5", "Errors", 5.0)]),
    )
    said = words((await served.client.get("/-/enricher/session/s")).text)

    assert "3 prompts." in said
    assert "Prompts 3 2 got text (66.7 %) Added 20 tokens 10 per prompt that got text Waited 60.0 ms 20.0 ms" in said
    assert re.search(r"Guardrails 2 .* H3 Verify \w{24} 2 H5 Errors \w{24} 1", said)


@pytest.mark.parametrize(
    "session_id",
    [
        "plain",
        "a/b/../c",
        "..",
        ".",
        "with.json",
        "blank and +plus & ?query=1#part",
        "100% ~2F ~ %2F",
        "ünï-日本語-🐛",
        SCRIPT,
        "\"quoted\" 'twice'",
        "line\nbreak\ttab",
        "",
    ],
)
async def test_a_session_may_have_any_id(tmp_path: Path, session_id: str) -> None:
    served = await served_with(tmp_path, asked(session_id), asked("another", 5))
    history = find(served)
    assert history is not None
    page = await served.client.get(history.session(session_id))
    twin = await served.client.get(f"{history.session(session_id)}.json")

    assert (page.status_code, len(ROW.findall(page.text)), "<script" in page.text) == (200, 1, False)
    assert (twin.json()["id"], len(twin.json()["prompts"])) == (session_id, 1)


async def test_the_page_of_a_prompt_leads_to_a_session_with_any_id(tmp_path: Path) -> None:
    row = asked("a/../ö ?.json")
    served = await served_with(tmp_path, row)
    page = (await served.client.get(f"/-/enricher/trace/{row.id}")).text
    link = re.search(r'<a href="([^"]+)">Session', page)

    assert link is not None
    assert ROW.findall((await served.client.get(html.unescape(link[1]))).text) == [row.id]


async def test_a_long_session_is_paged_and_says_of_what_its_sums_are(tmp_path: Path) -> None:
    served = await served_with(tmp_path, *(asked("long", number) for number in range(2_150)))
    where, seen, pages = "/-/enricher/session/long", [], []
    while where:
        pages.append((await served.client.get(where)).text)
        seen += ROW.findall(pages[-1])
        following = re.search(r'<a href="([^"]+)" rel="next">', pages[-1])
        where = html.unescape(following[1]) if following else ""

    assert seen == [asked("long", number).id for number in range(2_150)]
    assert "More than 2,000 prompts; the sums are of the first 2,000." in words(pages[0])
    assert (len(pages), len(ROW.findall(pages[0]))) == (22, session.SESSION_PAGE)


async def test_the_twins_hold_the_same_prompts(tmp_path: Path) -> None:
    served = await served_with(tmp_path, *(asked("s", number) for number in range(102)))
    twin = (await served.client.get("/-/enricher/session/s.json")).json()
    more = (await served.client.get(twin["following"])).json()
    rows = list(csv.DictReader(io.StringIO((await served.client.get("/-/enricher/session/s.csv")).text)))

    assert [one["id"] for one in rows] == [one["id"] for one in twin["prompts"]]
    assert ([one["prompt"] for one in more["prompts"]], more["following"]) == (["prompt 100", "prompt 101"], "")
    assert twin["sums"]["tokens"] == 1_020


async def test_a_change_of_class_is_marked(tmp_path: Path) -> None:
    rows = [asked("s", number, task_type=name) for number, name in enumerate(("debug", "debug", "test"))]
    page = (await (await served_with(tmp_path, *rows)).client.get("/-/enricher/session/s")).text

    assert drifts(rows) == {rows[2].id}
    assert page.count('<span class="drift">') == 1


async def test_prompts_of_tests_are_left_out(tmp_path: Path) -> None:
    served = await served_with(tmp_path, asked("s"), asked("s", 1, origin="test"), asked("t", 2, origin="test"))

    assert "1 prompt." in words((await served.client.get("/-/enricher/session/s")).text)
    assert (await served.client.get("/-/enricher/session/t")).status_code == 404


async def test_an_unknown_session_explains_itself(tmp_path: Path) -> None:
    served = await served_with(tmp_path, asked("s"))
    page, twin = [await served.client.get(f"/-/enricher/session/nobody{kind}") for kind in ("", ".json")]

    assert (page.status_code, twin.status_code) == (404, 404)
    assert "forgotten, pruned, or of another account's history" in words(page.text)


async def test_in_a_snapshot_a_session_has_a_pseudonym_that_leads_to_it(library: Account, tmp_path: Path) -> None:
    own = library.traces()[0]
    snapshot.write(str(library.state), str(tmp_path / "s.db"))
    served = await over(str(tmp_path / "s.db"), is_immutable=True)
    page = (await served.client.get(f"/-/enricher/trace/{own['id']}")).text
    link = re.search(r'<a href="([^"]+)">Session', page)

    assert link is not None
    assert not re.search(rf"{own['session_id']}\b", page)  # a pseudonym may begin with it
    assert own["id"] in ROW.findall((await served.client.get(link[1])).text)
    assert "pseudonyms" in (await served.client.get(f"/-/enricher/session/{own['session_id']}")).text
