from __future__ import annotations

import html
import re
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from big_history import write_history
from served_history import over

from storage.db import database
from storage.evaluation import replays
from storage.traces import violations
from workbench.web.native.description import queries, source
from workbench.web.native.facets import searched
from workbench.web.server.upkeep import catch_up
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette


PARAMETER = re.compile(r":([a-z_]+)")
PROMPTS = 3_000
NEEDS_MORE = {"how_does_the_model_answer_by_day"}
"""What the generated history has nothing of."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("questions")
    write_history(state, PROMPTS)
    with closing(database.connect(str(state))) as db:
        first = db.execute("select min(id) from traces").fetchone()[0]
        changed = replays.ChangedPrompt(first, ("task type",), "instructions.md:12", {}, {})
        figures = {"identical": False}
        stub = violations.PromptRuleViolation(
            "CODE_001", "NO_STUBS", "code_generation", "critical", "a.py", 1, "empty", ""
        )
        violations.store(db, first, [stub])
        replays.store(
            db,
            replays.StoredReplay("HEAD", "a", "working copy", "b", "", "", "changed", PROMPTS, 1, figures),
            [changed],
        )
        catch_up(db)
    return state


@pytest.fixture
async def full(state: Path) -> Datasette:
    return await over(state / "enricher.db")


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("nothing")
    with closing(database.connect(str(state))):
        pass
    return state / "enricher.db"


@pytest.fixture
async def empty(nothing: Path) -> Datasette:
    return await over(nothing)


@pytest.fixture(scope="module")
def published(state: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("textless") / "s.db"
    snapshot.write(str(state), str(path), text="hash")
    return path


@pytest.fixture
async def textless(published: Path) -> Datasette:
    return await over(published, is_immutable=True)


async def ask(datasette: Datasette, question: str, /, **typed: str) -> list[dict[str, Any]]:
    answer = await datasette.client.get(f"/history/{question}.json", params={"_shape": "array", **typed})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def answers(datasette: Datasette) -> dict[str, list[dict[str, Any]]]:
    return {
        name: await ask(datasette, name, **dict.fromkeys(query.get("params", ()), ""))
        for name, query in queries().items()
    }


@pytest.mark.slow
async def test_a_full_history_answers_every_question(full: Datasette) -> None:
    found = await answers(full)

    assert {name for name, rows in found.items() if not rows} == NEEDS_MORE


async def test_violations_are_counted_by_rule_and_by_task_type(full: Datasette) -> None:
    (row,) = await ask(full, "which_rules_are_violated")

    assert (row["rule_id"], row["violations"], row["prompts"]) == ("CODE_001", 1, 1)
    assert row["task_type"]


async def test_an_empty_history_answers_every_question_with_nothing(empty: Datasette) -> None:
    found = await answers(empty)

    assert {name: rows for name, rows in found.items() if rows} == {}


async def test_a_snapshot_without_text_answers_every_question(textless: Datasette) -> None:
    found = await answers(textless)

    assert {name for name, rows in found.items() if not rows} == NEEDS_MORE


async def test_every_question_has_a_page_that_says_what_can_be_typed(full: Datasette) -> None:
    pages = {name: (await full.client.get(f"/history/{name}")).text for name in queries()}

    assert [name for name, query in queries().items() if not said(query, pages[name])] == []


def said(query: dict[str, Any], page: str) -> bool:
    return query["title"] in page and all(
        f'name="{name}"' in page and source()["parameters"][name] in page for name in query.get("params", ())
    )


def test_there_are_at_most_twelve_questions_each_in_a_group() -> None:
    groups = [query["title"].partition(":")[0] for query in queries().values()]

    assert len(groups) <= 12
    assert list(dict.fromkeys(groups)) == ["Right", "Added", "State", "Speed"]


async def test_a_question_by_day_counts_the_facet_that_is_typed(full: Datasette) -> None:
    usual, guardrails = await ask(full, "how_often_by_day"), await ask(full, "how_often_by_day", facet="guardrail")

    assert "debug" in {row["value"] for row in usual}
    assert {"H3"} <= {row["value"] for row in guardrails} <= {"H2", "H3", "H5", "H7", "H9"}


def test_no_question_has_the_name_of_a_table() -> None:
    assert set(queries()) & set(source()["tables"]) == set()


def test_a_question_names_the_parameters_of_its_sql() -> None:
    named = {name: set(PARAMETER.findall(one["sql"])) for name, one in queries().items()}

    assert named == {name: set(one.get("params", ())) for name, one in queries().items()}


async def test_the_days_add_up_to_the_traces(full: Datasette) -> None:
    days = await ask(full, "how_many_prompts_by_day", days="10000")
    hosts = await ask(full, "which_clients_are_in_use")

    assert sum(day["prompts"] for day in days[:1000]) == await of_the_hook(full) == sum(row["prompts"] for row in hosts)


async def test_prompts_by_day_are_drawn_and_each_day_leads_to_its_prompts(full: Datasette) -> None:
    page = (await full.client.get("/history/how_many_prompts_by_day?days=7")).text
    days = {row["day"]: row["prompts"] for row in await ask(full, "how_many_prompts_by_day", days="7")}
    drawn = re.findall(r'<a href="([^"]*)" tabindex="-1" aria-label="([\d-]{10}): ([^"]*)">', page)

    counted = {day: sum(map(int, re.findall(r"(\d+) prompts", text))) for _href, day, text in drawn}
    listed = (await full.client.get(html.unescape(drawn[-1][0]).replace("traces?", "traces.json?"))).json()["rows"]
    assert len(days) == 7
    assert counted == days
    assert len(listed) == days[drawn[-1][1]]


async def test_an_empty_history_has_no_chart(empty: Datasette) -> None:
    assert "<figure" not in (await empty.client.get("/history/how_many_prompts_by_day")).text


async def of_the_hook(datasette: Datasette) -> int:
    answer = await datasette.client.get("/history/traces.json?origin=hook&_size=0&_extra=count")
    found = answer.json()
    return found.get("count", found.get("filtered_table_rows_count"))


async def test_percentiles_of_a_day_are_those_of_its_traces(full: Datasette, state: Path) -> None:
    found = (await ask(full, "how_long_does_it_take_by_day"))[0]
    with closing(database.connect(str(state))) as db:
        every = [
            row[0]
            for row in db.execute(
                "select latency_ms from traces where origin = 'hook' and status <> 'skipped' and substr(at, 1, 10) = ?"
                " order by latency_ms",
                (found["day"],),
            )
        ]

    assert found["measurements"] == len(every)
    assert found["p95_ms"] == pytest.approx(every[-(-len(every) * 95 // 100) - 1], rel=0.03)


async def test_latencies_of_a_version_are_exact(full: Datasette, state: Path) -> None:
    found = (await ask(full, "how_long_does_each_version_take", newest="1000000"))[0]
    with closing(database.connect(str(state))) as db:
        every = [
            row[0]
            for row in db.execute(
                "select latency_ms from traces where origin = 'hook' and status <> 'skipped' and rules_hash = ?"
                " order by latency_ms",
                (found["rules_hash"],),
            )
        ]

    assert found["p50_ms"] == pytest.approx(every[-(-len(every) * 50 // 100) - 1], abs=0.051)


async def test_labels_are_counted_once_and_the_newest_counts(full: Datasette) -> None:
    said = await ask(full, "what_people_said", _size="max")
    rows = await ask(full, "how_often_is_the_class_right")

    assert 0 < sum(row["labelled"] for row in rows) <= len(said)
    assert all(row["right"] + row["wrong"] == row["labelled"] for row in rows)


@pytest.mark.parametrize(
    ("typed", "match"),
    [
        pytest.param("nightly export", '"nightly" "export"', id="words"),
        pytest.param('"nightly export" sku', '"nightly export" "sku"', id="a phrase"),
        pytest.param('x" OR (y', '"x" "OR" "y"', id="no operator of the index"),
        pytest.param("export* it's", '"export"* "it s"', id="the beginning of a word"),
        pytest.param("", '""', id="nothing"),
        pytest.param(None, '""', id="no value"),
    ],
)
def test_what_is_typed_is_searched_as_words(typed: object, match: str) -> None:
    assert searched(typed) == match


@pytest.mark.parametrize("typed", ["abc", "-1", "1; drop table traces", "999999999999"])
async def test_what_is_typed_for_days_breaks_nothing(full: Datasette, typed: str) -> None:
    assert isinstance(await ask(full, "how_many_prompts_by_day", days=typed), list)


@pytest.mark.parametrize("typed", ["abc", "-1", "0"])
async def test_a_limit_that_is_none_gives_no_rows(full: Datasette, typed: str) -> None:
    assert await ask(full, "what_does_each_channel_offer", newest=typed) == []


async def changed(state: Path, *changes: str) -> Datasette:
    """Return a small history that is counted after these changes."""
    write_history(state, 60)
    with closing(database.connect(str(state))) as db:
        for change in changes:
            db.execute(change)
        catch_up(db, with_coverage=False)
    return await over(state / "enricher.db")


async def test_the_last_days_end_with_the_newest_prompt_of_the_hook_as_on_the_home_page(tmp_path: Path) -> None:
    of_the_hook = "(select max(id) from traces where origin = 'hook')"
    later = (
        "update traces set origin = 'import', at = '2027-12-31T00:00:00.000Z' where id = (select min(id) from traces)"
    )
    history = await changed(tmp_path, later)

    days = [row["day"] for row in await ask(history, "how_many_prompts_by_day", days="1")]
    newest = await ask(history, "traces", _where=f"id = {of_the_hook}")
    assert days == [newest[0]["at"][:10]]


async def test_of_a_client_that_was_told_nothing_the_share_is_zero(tmp_path: Path) -> None:
    history = await changed(tmp_path, "update traces set status = 'silent', skip_reason = ''")

    rows = await ask(history, "which_clients_are_in_use")
    assert {(row["shown_percent"], row["failed_percent"]) for row in rows} == {(0.0, 0.0)}


async def test_the_questions_are_quick(full: Datasette) -> None:
    begun = time.process_time()
    await answers(full)

    assert time.process_time() - begun < 0.2 * len(queries())
