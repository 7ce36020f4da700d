"""The page of how often each rule speaks, over coverage that the workbench measured on prompts typed at the hook."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from edited_history import QUESTION, edited, served, up_to_date
from served_history import data, over, page, words
from simulator import Account

from storage.db import database
from storage.traces import labels
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette

LEDGER = """# Classification

## Task type: chat

```yaml
extend: true
signals:
  - {phrase: "ledger", weight: 30}
```
"""


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account whose coverage was measured, with labels of both kinds."""
    account = edited(tmp_path_factory.mktemp("coverage") / "home")
    traces = account.traces()
    for _ in range(2):
        account.ask("xylograph quixotry zymurgy")
    account.cli("trace", "label", traces[0]["id"], "question")
    account.cli("trace", "label", traces[4]["id"], "ok")
    account.cli("trace", "label", traces[5]["id"], "wrong")
    account.traces()
    return account


@pytest.fixture
async def live(account: Account) -> Datasette:
    return await served(account)


async def test_its_numbers_are_those_of_the_command(live: Datasette, account: Account) -> None:
    told = json.loads(account.cli("coverage", "--json"))
    shown = await data(live, "coverage.json")
    for row in told["rows"]:
        del row["condition"]
    del told["left_out"], shown["at"]

    assert shown == told


async def test_it_says_of_which_version_and_over_how_many_prompts_it_was_measured(
    live: Datasette, account: Account
) -> None:
    shown = await page(live, "coverage")

    assert "fires on the newest 7 prompts that were classified." in shown
    assert f'<code title="{account.trace()["rules_hash"]}">' in shown


async def test_a_signal_leads_to_its_prompts_and_to_its_line(live: Datasette) -> None:
    shown = await page(live, "coverage")
    [row] = re.findall(r"<tr>\s*<th[^>]*><code>&#34;two caches&#34;</code>.*?</tr>", shown, re.DOTALL)

    assert 'href="/-/enricher/traces?q=signal%3A%22two%20caches%22">1</a>' in row
    assert re.search(r'href="/-/enricher/instructions/\w{32}#f2-L10"', row)


async def test_the_prompts_that_a_signal_leads_to_are_those_that_have_it(live: Datasette) -> None:
    found = await data(live, 'traces.json?q=signal:"two caches"')

    assert [row["prompt"] for row in found["rows"]] == [QUESTION]


async def test_each_kind_has_its_rules_the_most_speaking_first(live: Datasette) -> None:
    answer = await live.client.get("/-/enricher/coverage.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    kinds = {row["kind"]: [int(one["prompts"]) for one in rows if one["kind"] == row["kind"]] for row in rows}

    assert list(kinds) == ["task type", "search intent", "guardrail", "approach", "workflow", "channel", "signal"]
    assert all(counts == sorted(counts, reverse=True) for counts in kinds.values())


async def test_a_bar_is_as_wide_as_the_share_that_stands_beside_it(live: Datasette) -> None:
    shown = await page(live, "coverage")
    rows = re.findall(r'<rect width="([\d.]+)%".*?<td class="num">([\d.]+) %</td>', shown, re.DOTALL)

    assert len(rows) > 20
    assert all(f"{float(width):.1f}" == share for width, share in rows)


async def test_rules_that_never_spoke_are_counted_and_listed(live: Datasette) -> None:
    shown = await page(live, "coverage")
    dead = [row for row in (await data(live, "coverage.json"))["rows"] if row["dead"]]

    assert f'<a href="#dead">{len(dead)}</a>' in shown
    assert shown[shown.index('id="dead"') : shown.index('id="always"')].count("<li>") == len(dead)


async def test_a_channel_that_was_asked_for_no_prompt_is_not_measured(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    account.compile()
    account.ask("why does the parser crash?")
    account.traces()
    with closing(database.connect(str(account.state))) as db:
        db.execute("update traces set origin = 'import', inputs = json_set(inputs, '$.channels', json('[]'))")
    shown = await page(await served(account), "coverage")
    dead = shown[shown.index('id="dead"') : shown.index('id="always"')]

    assert "Asked for too few of these prompts to tell" in dead
    assert "channels</summary>" not in dead
    assert re.search(r"(\d+) of \1 not measured, because they were asked for no prompt. </p>", shown)


async def test_the_rules_that_may_be_wrong_come_first(live: Datasette) -> None:
    shown = await page(live, "coverage")

    assert re.findall(r'<section class="panel whole" id="([a-z]+)', shown)[:4] == [
        "doubtful",
        "dead",
        "always",
        "unmatched",
    ]


async def test_prompts_with_no_signal_stand_in_groups_with_links(live: Datasette, account: Account) -> None:
    shown = await page(live, "coverage")
    newest = account.trace()["id"]

    assert re.search(r"<th[^>]*>[^<]*xylograph[^<]*</th><td class=\"num\">2</td>", shown)
    assert f'href="/-/enricher/trace/{newest}"' in shown[shown.index('id="unmatched"') :]


async def test_a_script_in_a_signal_is_shown_as_text(live: Datasette) -> None:
    shown = await page(live, "coverage")

    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; basket" in shown
    assert "<script" not in shown


async def test_a_version_is_chosen_by_the_beginning_of_its_hash(live: Datasette, account: Account) -> None:
    chosen = account.trace()["rules_hash"]

    assert (await data(live, f"coverage.json?version={chosen[:8]}"))["rules_hash"] == chosen


@pytest.mark.parametrize("form", ["", ".json", ".csv"])
async def test_a_version_that_was_not_measured_explains_itself(live: Datasette, form: str) -> None:
    answer = await live.client.get(f"/-/enricher/coverage{form}?version=0123abcd")

    assert answer.status_code == 404
    assert "No version whose coverage was measured begins with 0123abcd" in answer.text


async def test_doubtful_signals_are_those_that_labels_do_not_bear_out(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    account.instruct(LEDGER)
    account.compile()
    for number in range(8):
        account.ask(f"ledger {number}")
        account.ask("thanks!")
    right = {trace["id"]: "debug" if "ledger" in trace["prompt"] else "ok" for trace in account.traces()}
    with closing(database.connect(str(account.state))) as db:
        for trace_id, verdict in right.items():
            labels.add(db, trace_id, verdict)
    live = await served(account)
    shown, home = await page(live, "coverage"), await page(live, "")
    told = json.loads(account.cli("coverage", "--json"))["doubtful"]

    assert '"ledger"' in [row["label"] for row in told]
    assert f'<a href="#doubtful">{len(told)}</a>' in shown
    assert 8 in await linked_counts(live, home[home.index("doubtful</dt>") : home.index("unused</dt>")])


async def linked_counts(live: Datasette, text: str) -> list[int]:
    """Follow the links from counts of prompts; return the counts, each of which is that of the prompts there."""
    links = re.findall(r'<a href="/-/enricher/traces\?q=([^"]*)">(\d+)', text)
    rows = [(await data(live, f"traces.json?q={html.unescape(query)}"))["rows"] for query, _count in links]
    assert [len(one) for one in rows] == [int(count) for _query, count in links]
    return [len(one) for one in rows]


async def test_the_counts_of_rules_that_are_always_on_lead_to_their_prompts(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    account.instruct(LEDGER)
    account.compile()
    for number in range(20):
        account.ask(f"ledger {number}")
    live = await served(account)
    shown, home = await page(live, "coverage"), await page(live, "")

    sections = (
        shown[shown.index('id="always"') : shown.index('id="unmatched"')],
        home[home.index("always on</dt>") : home.index("</section>", home.index("always on</dt>"))],
    )

    assert [set(await linked_counts(live, one)) for one in sections] == [{20}, {20}]


async def test_the_version_used_last_is_shown_and_the_others_can_be_chosen(live: Datasette, account: Account) -> None:
    earlier, last = account.traces()[0]["rules_hash"], account.trace()["rules_hash"]
    shown = await page(live, "coverage")

    assert re.findall(r'coverage\?version=(\w+)"( aria-current="page")?', shown) == [
        (last, ' aria-current="page"'), (earlier, ""),
    ]  # fmt: skip


async def test_what_was_not_measured_yet_says_so(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    up_to_date(account)
    live = await served(account)

    assert "It has not been measured yet." in await page(live, "coverage")


async def test_without_labels_it_says_how_to_give_some(account: Account, tmp_path: Path) -> None:
    up_to_date(account)
    with closing(database.connect(str(account.state))) as db:
        db.execute("vacuum into :path", {"path": f"{tmp_path}/enricher.db"})
    with closing(database.connect(str(tmp_path))) as db:
        db.execute("delete from labels")
        db.execute("update coverage_measured set labelled = 0")

    live = await over(f"{tmp_path}/enricher.db", is_immutable=True)
    snapshot.write(str(tmp_path), str(tmp_path / "s.db"))
    in_snapshot = words(await page(await over(tmp_path / "s.db", is_immutable=True), "coverage"))

    assert "<code>enricher trace queue</code>" in await page(live, "coverage")
    assert "No signal fired on a labelled prompt yet." in in_snapshot
