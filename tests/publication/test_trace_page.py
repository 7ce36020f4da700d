from __future__ import annotations

import html
import json
import re
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from served_history import over, words
from simulator import Account

from enricher.interfaces.explanation import of_trace
from storage import traces
from storage.db import database
from storage.evaluation import replays
from storage.traces import intake, labels
from workbench.views.outcomes import places
from workbench.web import charts, evidence
from workbench.web.pages import session
from workbench.web.reading import reasons, records
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette

SCRIPT = "<script>alert('x')</script>"
SHOWN = html.escape(SCRIPT, quote=False)
DEBUG = "why does the nightly export crash with KeyError: 'sku'? see prices.py"
TEAPOT = f"fix the teapot {SCRIPT} in prices.py, it crashes with a TypeError"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account whose prompts went through the real hook, and a program that answers with a script."""
    account = Account(tmp_path_factory.mktemp("recorded") / "home")
    account.write("project/shop/prices.py", "def rounded(price):\n    return round(price)\n")
    account.channel(
        "wiki",
        f"""echo '{{"items": [{{"text": "{SCRIPT} of the wiki", "ref": "w1", "score": 0.99}}]}}'""".replace("'x'", "1"),
    )
    account.compile()
    for prompt in (DEBUG, "thanks!", "/clear", TEAPOT):
        account.ask_patiently(prompt, session_id="kitchen")
    assert len(account.traces()) == 4
    return account


@pytest.fixture
async def served(account: Account) -> Datasette:
    return await over(f"{account.state}/enricher.db")


def trace_of(account: Account, prompt: str) -> dict[str, Any]:
    """Return the trace of a prompt."""
    return next(one for one in account.traces() if one["prompt"] == prompt)


async def page_of(served: Datasette, trace_id: str) -> str:
    """Return the page of a trace."""
    page = await served.client.get(f"/-/enricher/trace/{trace_id}")
    assert page.status_code == 200, page.text
    return str(page.text)


def added(state: Path, **columns: Any) -> str:
    """Add a trace that no hook left to a copy of a history; return its id."""
    trace = traces.Trace()
    for name, value in columns.items():
        setattr(trace, name, value)
    with closing(database.connect(str(state))) as db:
        intake.add(db, [traces.flatten(trace)])
    return trace.id


async def test_the_text_that_was_added_is_shown_byte_for_byte(account: Account, served: Datasette) -> None:
    trace = trace_of(account, DEBUG)
    found = re.search(r'<pre id="text"[^>]*>\n(.*?)</pre>', await page_of(served, trace["id"]), re.DOTALL)

    assert found is not None
    assert html.unescape(found[1]) == trace["output_text"] != ""


async def test_a_carriage_return_and_an_empty_first_line_stay_what_they_are(tmp_path: Path) -> None:
    text = "\n\n## first\r\nsecond\r"
    trace_id = added(tmp_path, status="ok", output_text=text, output_tokens=3)
    page = await page_of(await over(tmp_path / "enricher.db"), trace_id)
    found = re.search(r'<pre id="text"[^>]*>\n(.*?)</pre>', page, re.DOTALL)

    assert found is not None
    assert (found[1].count("&#13;"), html.unescape(found[1])) == (2, text)


async def test_what_speaks_for_the_class_is_marked_in_the_prompt(account: Account, served: Datasette) -> None:
    page = await page_of(served, trace_of(account, DEBUG)["id"])
    prompt = re.search(r'<p class="prompt">(.*?)</p>', page, re.DOTALL)

    assert prompt is not None
    assert html.unescape(re.sub(r"<[^>]*>", "", prompt[1])) == DEBUG
    assert re.search(r'<mark class="for-class" title="task type debug \+\d+: [^"]+">[^<]*crash', prompt[1])


async def test_both_facets_are_told_with_points_and_signals(account: Account, served: Datasette) -> None:
    trace = trace_of(account, DEBUG)
    said = words(await page_of(served, trace["id"]))
    points = {one["name"]: one["score"] for one in trace["scores"] if one["facet"] == "task_type"}

    assert f"▸ debug (chosen) {points['debug']:g} question {points['question']:g}" in said
    assert "Search intent troubleshoot, confidence" in said


async def test_the_waterfall_ends_with_the_total(account: Account, served: Datasette) -> None:
    trace = trace_of(account, DEBUG)
    said = words(await page_of(served, trace["id"]))

    assert re.search(r"Stage From ms Took ms .* read 0\.0 .* gather .* channels, within the stage that asks them", said)
    assert f"total 0.0 {trace['latency_ms']:,.2f}" in said


async def test_each_channel_says_how_it_fared_and_each_item_its_fate(account: Account, served: Datasette) -> None:
    said = words(await page_of(served, trace_of(account, TEAPOT)["id"]))

    assert re.search(r"memory (found nothing|took too long) 0 0 0", said)  # the latter on a busy machine
    assert re.search(r"left out wiki w1 .*\(said before in this session\)", said)


async def test_a_silent_prompt_says_why_nothing_was_added(account: Account, served: Datasette) -> None:
    said = words(await page_of(served, trace_of(account, "thanks!")["id"]))

    assert "Nothing was added: a prompt of the class chat gets no enrichment, so no channel was asked." in said


async def test_what_came_nearest_and_was_left_out_is_what_explain_says(account: Account, served: Datasette) -> None:
    trace_id = trace_of(account, DEBUG)["id"]
    said = words(await page_of(served, trace_id))
    with closing(database.connect(str(account.state))) as db:
        explained = of_trace(db, trace_id)

    assert explained.nearest("task_type")
    assert explained.nearest("task_type") in said
    assert explained.nearest("search_intent") in said
    assert f"thresholds: {'; '.join(explained.thresholds())}" in said
    assert explained.left_out()
    assert [one for one in explained.left_out() if one not in said] == []


async def test_an_imported_prompt_says_why_no_channel_was_asked(tmp_path: Path) -> None:
    trace_id = added(tmp_path, origin="import", status="shadow", task_type="debug")
    said = words(await page_of(await over(tmp_path / "enricher.db"), trace_id))

    assert "No channel was asked: the prompt was imported from a past conversation." in said


async def test_a_silent_prompt_names_the_rule_that_came_nearest(new_account: Account) -> None:
    new_account.ask_patiently("search the web for papers, fix the error")
    page = await page_of(await over(f"{new_account.state}/enricher.db"), new_account.trace()["id"])

    assert "guardrail H5 came nearest: it had 2 of the 5 points that it needs." in words(page)


async def test_a_skipped_prompt_says_why_in_words(account: Account, served: Datasette) -> None:
    said = words(await page_of(served, trace_of(account, "/clear")["id"]))

    assert "Nothing was added: a slash command is for the host." in said


async def test_it_leads_to_the_session_the_instructions_the_row_and_the_terminal(
    account: Account, served: Datasette
) -> None:
    first, second = (trace_of(account, one) for one in (DEBUG, "thanks!"))
    page = await page_of(served, first["id"])
    targets = (
        f'<a href="/-/enricher/trace/{second["id"]}" rel="next">',
        '<a href="/-/enricher/session/kitchen">',
        f'<a href="/-/enricher/instructions/{first["rules_hash"]}">',
        f'<a href="/history/traces/{first["id"]}">',
        f"enricher explain --trace {first['id']}",
        f"enricher workbench --where id:{first['id']}",
    )

    assert [one for one in targets if one not in page] == []
    assert (await served.client.get(f"/history/traces/{first['id']}")).status_code == 200


async def test_the_place_in_the_session_is_counted(account: Account, served: Datasette) -> None:
    assert "prompt 2 of 4" in words(await page_of(served, trace_of(account, "thanks!")["id"]))


async def test_a_stored_script_is_text_in_prompt_item_and_answer(account: Account, served: Datasette) -> None:
    trace = trace_of(account, TEAPOT)
    page = await page_of(served, trace["id"])

    assert "<script" not in page
    assert TEAPOT in html.unescape(re.sub(r"</?mark[^>]*>", "", page))
    assert "<script>alert(1)</script> of the wiki" in html.unescape(page)


async def test_a_script_in_any_other_column_is_text(tmp_path: Path) -> None:
    trace_id = added(
        tmp_path,
        **dict.fromkeys(("host", "session_id", "project", "cwd", "prompt", "error", "approach", "workflow"), SCRIPT),
        **dict.fromkeys(("task_type", "search_intent", "skip_reason", "rules_hash"), SCRIPT),
        status="error",
        topics=[SCRIPT],
        scores=[("task_type", SCRIPT, 3, [[SCRIPT, 0, 4, 3]]), (SCRIPT, SCRIPT, 1, [[SCRIPT, 0, 2, 1]])],
        stages=[(SCRIPT, 1.0)],
        channels=[(SCRIPT, SCRIPT, 1.0, 1, 0, 0, SCRIPT, SCRIPT)],
        items=[(SCRIPT, SCRIPT, SCRIPT, SCRIPT, 0.5, False)],
        guardrails=[(SCRIPT, SCRIPT, 1.0)],
    )
    page = await page_of(await over(tmp_path / "enricher.db"), trace_id)

    assert "<script" not in page
    assert page.count(SHOWN.replace("'", "&#39;")) > 15


async def test_the_twin_is_what_the_command_prints(account: Account, served: Datasette) -> None:
    trace_id = trace_of(account, TEAPOT)["id"]
    twin = await served.client.get(f"/-/enricher/trace/{trace_id}.json")

    assert twin.json() == json.loads(account.cli("trace", "show", trace_id, "--json"))


async def test_the_beginning_of_an_id_leads_to_the_trace(account: Account, served: Datasette) -> None:
    trace_id = trace_of(account, DEBUG)["id"]
    found = await served.client.get(f"/-/enricher/trace/{trace_id[:-2]}")

    assert (found.status_code, found.headers["location"]) == (302, f"/-/enricher/trace/{trace_id}")


async def test_a_beginning_of_several_ids_lists_them(account: Account, served: Datasette) -> None:
    page = await served.client.get("/-/enricher/trace/0")
    ids = re.findall(r'<li><a href="/-/enricher/trace/([0-9a-f]{24})">', page.text)

    assert (page.status_code, ids) == (404, [one["id"] for one in account.traces()])


async def test_an_id_that_is_not_there_says_what_may_have_become_of_it(served: Datasette) -> None:
    page = await served.client.get("/-/enricher/trace/0660000000000000aaaaaaaa")

    assert page.status_code == 404
    assert "enricher trace forget" in page.text
    assert "asked on 2026-11-11 13:16:16 UTC" in words(page.text)


@pytest.mark.parametrize("wanted", ["%3Cscript%3E", "~2E~2E", "%2F%2F", "a%27%22b", "%F0%9F%90%9B", "g", "%00"])
async def test_an_id_may_be_any_text(served: Datasette, wanted: str) -> None:
    page = await served.client.get(f"/-/enricher/trace/{wanted}")

    assert page.status_code == 404
    assert "<script" not in page.text


async def test_a_prompt_of_a_test_is_not_shown(tmp_path: Path) -> None:
    trace_id = added(tmp_path, prompt="typed by a test", origin="test")
    served = await over(tmp_path / "enricher.db")
    pages = [await served.client.get(f"/-/enricher/trace/{one}") for one in (trace_id, trace_id[:20])]

    assert [page.status_code for page in pages] == [404, 404]
    assert not any("typed by a test" in page.text for page in pages)


async def test_labels_and_kept_replays_are_told(account: Account, tmp_path: Path) -> None:
    shutil.copytree(account.state, tmp_path / "state")
    trace_id = trace_of(account, DEBUG)["id"]
    with closing(database.connect(str(tmp_path / "state"))) as db:
        labels.add(db, trace_id, "wrong")
        labels.add(db, trace_id, "test")
        kept = replays.StoredReplay("then", "aa", "now", "bb", "", "", "changed", 4, 1, {})
        run = replays.store(db, kept, [replays.ChangedPrompt(trace_id, ("class",), "signal “teapot”", {}, {})])
    page = await page_of(await over(tmp_path / "state/enricher.db"), trace_id)

    assert re.search(r"should be test .* wrong .*, replaced", words(page))
    assert f'href="/-/enricher/compare/{run}?trace={trace_id}">then → now</a>' in page


async def test_a_snapshot_shows_the_same_text_and_marks(account: Account, tmp_path: Path) -> None:
    snapshot.write(str(account.state), str(tmp_path / "s.db"))
    trace = trace_of(account, DEBUG)
    page = await page_of(await over(tmp_path / "s.db", is_immutable=True), trace["id"])

    assert html.escape(trace["output_text"], quote=False) in page.replace("&#39;", "'").replace("&#34;", '"')
    assert '<mark class="for-class"' in page


@pytest.mark.parametrize("text", ["redacted", "hash", "full"])
async def test_a_snapshot_says_what_explain_says_and_names_no_command(
    account: Account, tmp_path: Path, text: str
) -> None:
    snapshot.write(str(account.state), str(tmp_path / "s.db"), text=text)
    trace_id = trace_of(account, DEBUG)["id"]
    page = await page_of(await over(tmp_path / "s.db", is_immutable=True), trace_id)
    with closing(database.connect(str(account.state))) as db:
        explained = of_trace(db, trace_id)

    assert explained.nearest("task_type") in words(page)
    assert f"thresholds: {'; '.join(explained.thresholds())}" in words(page)
    assert [one for one in explained.left_out() if one not in words(page)] == []
    assert "enricher explain" not in page


async def test_a_prompt_of_a_snapshot_that_is_not_explained_says_by_its_points_what_came_nearest(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reasons, "MOST_EXPLAINED", 0)
    snapshot.write(str(account.state), str(tmp_path / "s.db"))
    trace_id = trace_of(account, DEBUG)["id"]
    page = await page_of(await over(tmp_path / "s.db", is_immutable=True), trace_id)
    with closing(database.connect(str(account.state))) as db:
        nearest = of_trace(db, trace_id).nearest("task_type")

    assert nearest in words(page)
    assert "thresholds:" not in words(page)


async def test_a_snapshot_without_texts_says_so(account: Account, tmp_path: Path) -> None:
    snapshot.write(str(account.state), str(tmp_path / "s.db"), text="hash")
    said = words(await page_of(await over(tmp_path / "s.db", is_immutable=True), trace_of(account, DEBUG)["id"]))

    assert f"This snapshot holds no texts. It had {len(DEBUG)} characters." in said
    assert "were added, but this snapshot holds no texts." in said


async def test_a_snapshot_says_what_it_covers_where_an_id_is_not_in_it(account: Account, tmp_path: Path) -> None:
    said = snapshot.write(str(account.state), str(tmp_path / "s.db"))
    served = await over(tmp_path / "s.db", is_immutable=True)
    page = await served.client.get("/-/enricher/trace/0fff000000000000aaaaaaaa")

    assert page.status_code == 404
    assert f"It holds 4 prompts, from {said.since[:19].replace('T', ' ')}" in words(page.text)
    assert "Ask whoever published it for a newer one." in page.text


async def test_a_prompt_of_which_the_log_kept_no_text_says_so(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    account.env["ENRICHER_LOG"] = "hash"
    account.ask(DEBUG)
    trace_id = account.trace()["id"]
    said = words(await page_of(await over(account.state / "enricher.db"), trace_id))

    assert f'The text of this prompt was not stored ( log = "hash" ). It had {len(DEBUG)} characters.' in said


async def test_a_very_deep_trace_stays_bounded(tmp_path: Path) -> None:
    spans = [[f"signal {number}", number, 99_000 - number, 3] for number in range(3_000)]
    trace_id = added(
        tmp_path,
        prompt="word <b> &" * 10_000,
        status="ok",
        task_type="debug",
        output_text="\n".join(f"line {number}" for number in range(2_000)),
        output_tokens=9_000,
        scores=[("task_type", "debug", 9, spans), ("task_type", "test", 8, spans)],
        items=[("code", f"file{number}", "text " * 100, "below the floor", 0.1, False) for number in range(3_000)],
    )
    page = await page_of(await over(tmp_path / "enricher.db"), trace_id)

    assert len(page) < 500_000
    assert (page.count("<mark class=") - 2, page.count("file")) < (2 * evidence.MOST_PLACES + 1, 100)
    assert "All 2,000 lines" in words(page)


def test_a_long_prompt_is_folded_without_losing_a_character() -> None:
    text = "one two <three> & four\n" * 2_000
    marked = evidence.mark(text, [{"facet": "task_type", "name": "test", "evidence": [["two", 4, 7, 3]]}], "test")
    whole = html.unescape(re.sub(r"</?mark[^>]*>", "", marked.head + marked.rest))

    assert whole == text
    assert len(marked.head) < len(marked.rest)


@pytest.mark.parametrize(
    ("signal", "is_marked"),
    [
        pytest.param(["crash", 0, 5, 3], True, id="words"),
        pytest.param(["<always>", 0, 5, 3], False, id="a feature of the whole"),
        pytest.param(["plain words", 0, 5, 3], False, id="all words together"),
        pytest.param(["crash", 0, 10, 3], False, id="all of the prompt"),
        pytest.param(["crash", 5, 11, 3], False, id="beyond the text"),
        pytest.param(["crash", 4, 4, 3], False, id="nothing"),
        pytest.param(["crash", -2, 4, 3], False, id="before the text"),
        pytest.param(["crash", 0, 5, -3], False, id="against it"),
        pytest.param(["crash", "0", None, 3], False, id="no numbers"),
        pytest.param(["crash"], False, id="cut short"),
    ],
)
def test_which_evidence_is_a_place(signal: list[Any], *, is_marked: bool) -> None:
    scores = [{"facet": "task_type", "name": "debug", "evidence": [signal]}]

    assert bool(list(places(scores, "debug", length=10))) is is_marked


def test_overlapping_places_are_drawn_once_and_tell_all_their_signals() -> None:
    scores = [
        {"facet": "task_type", "name": "debug", "evidence": [["outer", 0, 8, 2]]},
        {"facet": "task_type", "name": "test", "evidence": [["inner", 4, 12, 5]]},
    ]
    marked = evidence.mark("abcdefghijklmnop", scores, "debug").head

    assert re.sub(r' title="[^"]*"', "", marked) == (
        '<mark class="for-class">abcd</mark><mark class="for-class">efgh</mark><mark class="for-rival">ijkl</mark>mnop'
    )
    assert 'title="task type debug +2: outer\ntask type test +5: inner">efgh' in marked


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('[["why", 0, 3, 6], ["<b>", 0, 3, -7]]', "<b> -7 · why +6"),
        ("[]", ""),
        ("no json", None),
        ('{"a": 1}', None),
        (None, None),
    ],
)
def test_evidence_in_a_table_is_told_in_a_line(value: object, said: str | None) -> None:
    cell = evidence.cell(value)

    assert (None if cell is None else " ".join(cell.striptags().split())) == said
    assert "<b>" not in str(cell)


def test_programs_begin_with_the_stage_and_our_own_channels_follow_each_other() -> None:
    drawn = charts.timeline(
        {
            "latency_ms": 12.0,
            "inputs": {},
            "stages": [{"stage": "read", "latency_ms": 2.0}, {"stage": "gather", "latency_ms": 9.0}],
            "channels": [
                {"channel": "code", "status": "ok", "latency_ms": 3.0},
                {"channel": "memory", "status": "empty", "latency_ms": 1.0},
                {"channel": "session", "status": "ok", "latency_ms": 2.0},
                {"channel": "wiki", "status": "timeout", "latency_ms": 9.0},
            ],
        }
    )

    assert {one.name: one.start_ms for one in drawn.channels} == {
        "code": 2.0,
        "session": 5.0,
        "memory": 7.0,
        "wiki": 2.0,
    }
    assert [(one.name, one.start_ms, one.ms) for one in drawn.stages][-1] == ("record", 11.0, 1.0)


def test_no_question_of_a_page_reads_a_table_from_its_beginning(account: Account) -> None:
    known = {**vars(records), **vars(session)}
    questions = {name: value for name, value in known.items() if name.startswith(("WHICH", "WHAT", "HOW", "WHEN"))}
    named = {"id": "0", "session_id": "s", "limit": 3, "after": ""}
    with closing(sqlite3.connect(f"file:{account.state}/enricher.db?mode=ro", uri=True)) as db:
        plans = {
            name: [row[3] for row in db.execute(f"explain query plan {query}", named)]
            for name, query in questions.items()
        }

    assert len(plans) > 10
    assert [name for name, plan in plans.items() if any(step.startswith("SCAN t") for step in plan)] == []


def test_of_classes_with_as_many_points_the_one_that_the_prompt_got_comes_first() -> None:
    scores = [{"facet": "task_type", "name": name, "score": 4.0, "evidence": []} for name in ("docs", "test", "ops")]

    found = evidence.ranking(scores, "task_type", chosen="test", text="a prompt")

    assert [one.name for one in found] == ["test", "docs", "ops"]
