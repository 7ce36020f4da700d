"""The pages of the versions of the instructions, over prompts that were typed before and after an edit."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from edited_history import FIRST, SCRIPT, SECOND, edited, served, up_to_date
from served_history import data, page

from storage.db import database

if TYPE_CHECKING:
    from datasette.app import Datasette
    from simulator import Account


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    return edited(tmp_path_factory.mktemp("instructions") / "home")


@pytest.fixture(scope="module")
def hashes(account: Account) -> tuple[str, str]:
    """The versions before and after the edit."""
    traces = account.traces()
    return traces[0]["rules_hash"], traces[-1]["rules_hash"]


@pytest.fixture
async def live(account: Account) -> Datasette:
    return await served(account)


async def test_the_versions_that_prompts_name_are_listed_newest_use_first(
    live: Datasette, hashes: tuple[str, str]
) -> None:
    rows = (await data(live, "instructions.json"))["versions"]

    assert [(row["hash"], row["prompts"]) for row in rows] == [(hashes[1], 2), (hashes[0], 3)]
    assert [row["before"] for row in rows] == [hashes[0], None]


async def test_a_version_is_listed_with_a_link_to_its_prompts_and_to_what_was_edited(
    live: Datasette, hashes: tuple[str, str]
) -> None:
    shown = await page(live, "instructions")

    assert f'href="/-/enricher/traces?q=version%3A{hashes[1]}">2</a>' in shown
    assert f'href="/-/enricher/instructions/{hashes[1]}?against={hashes[0]}#edits"' in shown


async def test_the_link_to_a_versions_prompts_finds_as_many_as_it_says(
    live: Datasette, hashes: tuple[str, str]
) -> None:
    found = await data(live, f"traces.json?q=version:{hashes[0]}")

    assert len(found["rows"]) == 3


async def test_a_version_shows_its_files_with_numbered_lines(live: Datasette, hashes: tuple[str, str]) -> None:
    shown = await page(live, f"instructions/{hashes[1]}")
    files = (await data(live, f"instructions/{hashes[1]}.json"))["files"]

    named = [*["fitted"] * 4, *["prompts"] * 9, *["workflows"] * 14, "thresholds", "catalogue", "catalogue"]
    assert [file["layer"] for file in files] == ["packaged", "user", *named]
    assert files[1]["text"] == SECOND
    assert re.search(r'id="f2-L5"><a [^>]*>5</a><span>## Task type: debug\n', shown)


async def test_the_difference_to_the_version_before_has_a_sign_and_an_element_for_each_line(
    live: Datasette, hashes: tuple[str, str]
) -> None:
    shown = await page(live, f"instructions/{hashes[1]}")

    assert '<span class="sign">-</span><del>  - {phrase: &#34;two caches&#34;, weight: <b>1</b>}</del>' in shown
    assert '<span class="sign">+</span><ins>  - {phrase: &#34;two caches&#34;, weight: <b>9</b>}</ins>' in shown


async def test_the_difference_turns_round_with_the_versions(live: Datasette, hashes: tuple[str, str]) -> None:
    [edit] = (await data(live, f"instructions/{hashes[0][:12]}.json?against={hashes[1][:12]}"))["edits"]

    assert '+  - {phrase: "two caches", weight: 1}\n' in edit["difference"]
    assert (edit["layer"], edit["added"], edit["cut"]) == ("user", 1, 4)


async def test_lines_far_from_an_edit_are_folded_and_counted(live: Datasette, hashes: tuple[str, str]) -> None:
    assert "<summary>6 lines the same</summary>" in await page(live, f"instructions/{hashes[1]}")


async def test_the_first_version_is_compared_with_nothing(live: Datasette, hashes: tuple[str, str]) -> None:
    assert (await data(live, f"instructions/{hashes[0]}.json"))["against"] is None
    assert 'id="edits"' not in await page(live, f"instructions/{hashes[0]}")


@pytest.mark.parametrize("form", ["", ".json"])
async def test_a_version_that_no_prompt_names_explains_itself(live: Datasette, form: str) -> None:
    answer = await live.client.get(f"/-/enricher/instructions/0123abcd{form}")

    assert answer.status_code == 404
    assert "No prompt names a version that begins with 0123abcd." in answer.text


async def test_a_version_to_compare_with_that_is_not_there_explains_itself(
    live: Datasette, hashes: tuple[str, str]
) -> None:
    answer = await live.client.get(f"/-/enricher/instructions/{hashes[0]}?against=<script>")

    assert answer.status_code == 404
    assert "<script>" not in answer.text


async def test_a_script_in_the_instructions_is_shown_as_text(live: Datasette, hashes: tuple[str, str]) -> None:
    shown = await page(live, f"instructions/{hashes[1]}")

    assert SCRIPT in FIRST
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in shown
    assert "<script" not in shown


async def test_a_version_whose_files_were_not_stored_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    account = edited(tmp_path_factory.mktemp("unstored") / "home")
    with closing(database.connect(str(account.state))) as db:
        db.execute("delete from instructions_sources")
    live = await served(account)
    shown = await page(live, f"instructions/{account.trace()['rules_hash']}")

    assert "The files of this version were not stored: it came from a release" in shown
    assert "so that nothing can be compared" in shown


async def test_an_empty_history_says_what_to_do(tmp_path_factory: pytest.TempPathFactory) -> None:
    from simulator import Account

    account = Account(tmp_path_factory.mktemp("empty") / "home")
    up_to_date(account)

    assert "No prompt names a version of the instructions yet" in await page(await served(account), "instructions")
