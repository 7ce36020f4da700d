"""The pages of the kept replays: each was kept by the command, over prompts typed at the real hook."""

from __future__ import annotations

import csv
import io
import re
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from edited_history import EARLY, QUESTION, SCRIPT, SECOND, edited, served, up_to_date
from served_history import data, page
from simulator import Account

from storage.db import database
from storage.evaluation import replays

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette


WITHOUT_H19 = "\n# Guardrails\n\n## Guardrail: H19\n\n```yaml\nextend: true\nmin_score: 99\n```\n"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account with two kept replays: one of an edit on all prompts, one of nothing on some of them."""
    account = edited(tmp_path_factory.mktemp("compare") / "home")
    first = account.traces()[0]
    account.cli("trace", "label", first["id"], first["task_type"])
    file = account.write("config/instructions.md", SECOND.replace("basket", "basket:") + WITHOUT_H19)
    account.cli("replay", "--instructions", str(file), "--keep")
    account.cli("replay", "--instructions", str(file), "--keep", "--where", f'type:chat -"{SCRIPT}"')
    return account


@pytest.fixture(scope="module")
def runs(account: Account) -> tuple[str, str]:
    """The ids of both, in the order in which they were kept."""
    with closing(database.connect(str(account.state))) as db:
        newer, older = replays.listing(db)
    return older.id, newer.id


@pytest.fixture
async def live(account: Account) -> Datasette:
    return await served(account)


@pytest.mark.slow
async def test_kept_replays_are_listed_newest_first(live: Datasette, runs: tuple[str, str]) -> None:
    rows = (await data(live, "compare.json"))["replays"]

    assert [row["id"] for row in rows] == [runs[1], runs[0]]
    assert [row["verdict"] for row in rows] == ["identical", "inconclusive"]


async def test_the_list_tells_the_verdict_in_a_word_and_links_to_each(live: Datasette, runs: tuple[str, str]) -> None:
    shown = await page(live, "compare")

    assert re.search(r'<span class="status warn"[^>]*>inconclusive</span>', shown)
    assert f'href="/-/enricher/compare/{runs[0]}"' in shown


async def test_a_filter_is_shown_as_it_was_typed_and_as_text(live: Datasette, runs: tuple[str, str]) -> None:
    shown = await page(live, f"compare/{runs[1]}")

    assert "type:chat -&#34;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&#34;" in shown
    assert "<script" not in shown


async def test_a_replay_tells_its_verdict_and_its_share_with_an_interval(
    live: Datasette, runs: tuple[str, str]
) -> None:
    shown = await page(live, f"compare/{runs[0]}")
    said = await data(live, f"compare/{runs[0]}.json")

    assert "Some labelled prompts become wrong, and too few labels" in shown
    low, high = said["figures"]["share"]
    assert f"95 %: {100 * low:.1f} to {100 * high:.1f} %, sessions resampled" in shown


async def test_a_changed_prompt_leads_to_its_trace_and_says_what_moved(
    live: Datasette, account: Account, runs: tuple[str, str]
) -> None:
    asked = account.traces()[0]
    shown = await page(live, f"compare/{runs[0]}?trace={asked['id']}")

    assert f'<a href="/-/enricher/trace/{asked["id"]}">{QUESTION}</a>' in shown
    assert re.search(r"<dt>task type</dt><dd><del>question</del>.*<ins>debug</ins></dd>", shown)


async def test_a_change_names_the_line_that_caused_it(live: Datasette, account: Account, runs: tuple[str, str]) -> None:
    shown = await page(live, f"compare/{runs[0]}?trace={account.traces()[0]['id']}")

    assert f"{account.config}/instructions.md:10 Task type: debug" in shown


async def test_a_script_in_the_edit_is_shown_as_text(live: Datasette, runs: tuple[str, str]) -> None:
    shown = await page(live, f"compare/{runs[0]}")

    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; basket<b>:</b>&#34;, weight: 9}" in shown
    assert "<script" not in shown


async def test_the_edit_begins_with_what_the_newest_recorded_version_had(
    live: Datasette, runs: tuple[str, str]
) -> None:
    diff = (await data(live, f"compare/{runs[0]}.json"))["diff"]

    assert f'-  - {{phrase: "{SCRIPT} basket", weight: 9}}\n' in diff
    assert diff.count("\n+ ") == 1


async def test_kinds_filter_the_changes_and_count_them(live: Datasette, runs: tuple[str, str]) -> None:
    said = await data(live, f"compare/{runs[0]}.json")
    only = await data(live, f"compare/{runs[0]}.json?kind=guardrail+dropped")

    assert said["by_kind"]["guardrail dropped"] == len(only["results"]) > 0
    assert all("guardrail dropped" in one["kinds"] for one in only["results"])


async def test_an_unknown_kind_finds_nothing_and_is_shown_as_text(live: Datasette, runs: tuple[str, str]) -> None:
    shown = await page(live, f"compare/{runs[0]}?kind=<script>")

    assert "is of the kind <code>&lt;script&gt;</code>" in shown


async def test_a_prompt_that_does_not_change_explains_itself(
    live: Datasette, account: Account, runs: tuple[str, str]
) -> None:
    shown = await page(live, f"compare/{runs[0]}?trace={account.traces()[2]['id']}")

    assert "Both sides say the same to" in shown


async def test_the_table_has_one_line_for_each_changed_prompt(live: Datasette, runs: tuple[str, str]) -> None:
    answer = await live.client.get(f"/-/enricher/compare/{runs[0]}.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))

    assert answer.headers["content-type"].startswith("text/csv")
    assert (rows[-1]["prompt"], rows[-1]["task_type_after"]) == (EARLY[0], "debug")


@pytest.mark.parametrize("form", ["", ".json", ".csv"])
async def test_a_replay_that_is_not_there_explains_itself(live: Datasette, form: str) -> None:
    answer = await live.client.get(f"/-/enricher/compare/ffff{form}")

    assert answer.status_code == 404
    assert "o kept replays begin with" in answer.text


@pytest.fixture
def crowded(account: Account, tmp_path: Path) -> tuple[Account, str]:
    """An account with 120 prompts like the changed one, and the id of a replay that changes all of them."""
    many = Account(tmp_path / "home")
    up_to_date(many)
    with closing(database.connect(str(account.state))) as db:
        kept, [result, *_] = replays.show(db, replays.listing(db)[1].id)
        db.execute("attach :path as many", {"path": f"{many.state}/enricher.db"})
        columns = [row[1] for row in db.execute("pragma table_info(traces)")]
        for number in range(120):
            named = ", ".join("?" if name == "id" else name for name in columns)
            query = f"insert into many.traces ({', '.join(columns)}) select {named} from main.traces where id = ?"
            db.execute(query, (f"{number:024x}", result.trace_id))
    cases = ["gone", *(f"{number:024x}" for number in range(119))]
    figures = {**kept.figures, "by_kind": dict.fromkeys(result.kinds, 120), "approved": 200, "regressed": cases}
    with closing(database.connect(str(many.state))) as db:
        results = [replace(result, trace_id=f"{number:024x}") for number in range(120)]
        return many, replays.store(db, replace(kept, id="", changed=120, figures=figures), results)


async def test_many_changes_are_paged_newest_prompt_first(crowded: tuple[Account, str]) -> None:
    live = await served(crowded[0])
    older = re.search(r'href="([^"]*)">Older prompts', await page(live, f"compare/{crowded[1]}"))

    assert older is not None
    assert re.findall(r'id="t-(\w+)"', (await live.client.get(older[1].removesuffix("#changes"))).text) == [
        f"{number:024x}" for number in range(69, 19, -1)
    ]


async def test_approved_cases_that_fail_now_are_named_by_their_prompt(crowded: tuple[Account, str]) -> None:
    shown = await page(await served(crowded[0]), f"compare/{crowded[1]}")
    [section] = re.findall(r'id="regressed">.*?</section>', shown, re.DOTALL)
    named = re.findall(r'<a href="/-/enricher/compare/\w+\?trace=(\w+)#changes">(.*?)</a>', section)

    assert named[:2] == [("gone", "<code>gone</code>"), (f"{0:024x}", EARLY[0])]
    assert len(named) == 100
    assert "And 20 more" in section
    assert '<a href="#regressed">120</a> of 200 approved cases regressed' in shown


async def test_prompts_that_were_deleted_since_are_not_counted_among_the_kinds(crowded: tuple[Account, str]) -> None:
    account, run = crowded
    with closing(database.connect(str(account.state))) as db:
        db.execute("delete from traces where id < :id", {"id": f"{20:024x}"})
    said = await data(await served(account), f"compare/{run}.json")

    assert said["by_kind"]["task type"] == len(said["results"]) == 100


async def test_nothing_kept_says_how_to_keep_one(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    up_to_date(account)

    assert "<code>enricher replay --keep</code>" in await page(await served(account), "compare")
