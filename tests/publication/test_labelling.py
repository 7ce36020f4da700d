"""A reader labels a prompt on its page: stored in the live history, downloaded as a line from a snapshot."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from datasette import hookimpl
from datasette.plugins import pm
from served_history import over, page, words

from storage.db import database
from workbench.web.reading.history import LABEL_PROMPT
from workbench.web.server.serving import sign_in_address
from workbench.web.snapshot import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from datasette.app import Datasette
    from httpx import Response
    from simulator import Account

NEWEST_LINE = "select trace_id, line, verdict from line_labels order by id desc limit 1"
NEWEST_LABEL = "select trace_id, verdict, task_type from labels order by id desc limit 1"


def newest_id(path: Path | str) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("select id from traces where prompt like 'add a test%'").fetchone()[0])


async def posted(
    served: Datasette,
    identity: str,
    verdict: str,
    cookies: dict[str, str],
    *,
    line: str = "",
    meanwhile: Callable[[], object] = lambda: None,
) -> Response:
    """Send a form of the prompt's page, as a browser does after it has opened the page and something happened."""
    opened = await served.client.get(f"/-/enricher/trace/{identity}", cookies=cookies)
    token = re.search(r'name="csrftoken" value="([^"]+)"', opened.text)
    form = {"verdict": verdict, "csrftoken": token[1] if token else "", **({"line": line} if line else {})}
    kept = cookies | dict(opened.cookies)
    meanwhile()
    address = f"/-/enricher/label/{identity}"
    return await served.client.post(address, data=form, cookies=kept, follow_redirects=False)


async def signed_in(served: Datasette) -> dict[str, str]:
    """Open the address that ``enricher publish`` prints, and return the cookies of the signed-in reader."""
    answer = await served.client.get(sign_in_address(served, "/"), follow_redirects=False)
    return dict(answer.cookies)


@pytest.mark.parametrize(
    ("verdict", "kept"), [("ok", ("ok", "")), ("wrong", ("wrong", "")), ("docs", ("class", "docs"))]
)
async def test_a_signed_in_reader_labels_a_prompt(
    live: Datasette, library: Account, verdict: str, kept: tuple[str, str]
) -> None:
    identity = newest_id(library.state / "enricher.db")

    answer = await posted(live, identity, verdict, await signed_in(live))

    assert answer.headers["location"] == f"/-/enricher/trace/{identity}#label"
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        assert db.execute(NEWEST_LABEL).fetchone() == (identity, *kept)


async def test_a_reader_who_is_not_signed_in_labels_nothing(live: Datasette, library: Account) -> None:
    path = library.state / "enricher.db"
    identity = newest_id(path)
    with closing(sqlite3.connect(path)) as db:
        before = db.execute("select count(*) from labels").fetchone()

    answer = await posted(live, identity, "wrong", {})

    assert answer.status_code == 403
    assert "sign in with the address that enricher publish printed" in words(await page(live, f"trace/{identity}"))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select count(*) from labels").fetchone() == before


class Denial:
    """A plugin with which somebody who serves the history denies everybody the permission to label prompts."""

    __name__ = "denial"

    @hookimpl(optionalhook=True)
    def permission_allowed(self, action: str) -> bool | None:
        """Deny it in Datasette 0.65."""
        return False if action == LABEL_PROMPT else None

    @hookimpl(optionalhook=True)
    def permission_resources_sql(self, action: str) -> Any:
        """Deny it in Datasette 1.0."""
        if action != LABEL_PROMPT:
            return None
        from datasette.permissions import PermissionSQL

        return PermissionSQL.deny(reason="nobody may")


@pytest.fixture
def denying() -> Iterator[Callable[[], object]]:
    """A function after whose call nobody may label prompts."""
    denial = Denial()
    yield lambda: pm.register(denial)
    pm.unregister(denial)


async def test_a_signed_in_reader_without_the_permission_labels_nothing(
    live: Datasette, library: Account, denying: Callable[[], object]
) -> None:
    path = library.state / "enricher.db"
    identity, cookies = newest_id(path), await signed_in(live)
    with closing(sqlite3.connect(path)) as db:
        before = db.execute("select count(*) from labels").fetchone()

    answer = await posted(live, identity, "wrong", cookies, meanwhile=denying)
    opened = words((await live.client.get(f"/-/enricher/trace/{identity}", cookies=cookies)).text)

    assert answer.status_code == 403
    assert LABEL_PROMPT in answer.text
    assert "Whoever serves this history does not let you label prompts." in opened
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select count(*) from labels").fetchone() == before


async def test_a_form_of_another_site_is_refused(live: Datasette, library: Account) -> None:
    identity = newest_id(library.state / "enricher.db")
    headers = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}

    answer = await live.client.post(
        f"/-/enricher/label/{identity}", data={"verdict": "ok"}, cookies=await signed_in(live), headers=headers
    )

    assert answer.status_code == 403


async def test_a_verdict_that_does_not_exist_is_refused(live: Datasette, library: Account) -> None:
    answer = await posted(live, newest_id(library.state / "enricher.db"), "nonsense", await signed_in(live))

    assert answer.status_code == 400


async def test_a_snapshot_gives_a_file_that_the_command_takes_in(library: Account, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.db"
    with closing(database.connect(str(library.state))):
        writing.write(str(library.state), str(file), text="redacted")
    served = await over(file, is_immutable=True)
    identity = newest_id(library.state / "enricher.db")

    answer = await posted(served, identity, "docs", {})

    assert json.loads(answer.text) == {"id": identity, "verdict": "docs"}
    sent = tmp_path / "label.jsonl"
    sent.write_text(answer.text, encoding="utf-8")
    assert library.cli("trace", "label", "--from", str(sent)) == f"{identity}: docs\n"
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        assert db.execute(NEWEST_LABEL).fetchone() == (identity, "class", "docs")


async def test_a_signed_in_reader_calls_a_line_wrong(live: Datasette, library: Account) -> None:
    identity, cookies = newest_id(library.state / "enricher.db"), await signed_in(live)
    opened = words((await live.client.get(f"/-/enricher/trace/{identity}", cookies=cookies)).text)

    answer = await posted(live, identity, "wrong", cookies, line="1")

    assert "Was each line right?" in opened
    assert "called wrong" not in opened
    assert answer.headers["location"] == f"/-/enricher/trace/{identity}#lines"
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        assert db.execute(NEWEST_LINE).fetchone() == (identity, 1, "wrong")
    assert "called wrong" in words(await page(live, f"trace/{identity}"))


@pytest.mark.parametrize(("line", "verdict", "status"), [("99", "wrong", 404), ("1", "docs", 400), ("x", "ok", 400)])
async def test_what_no_line_can_be_called_is_refused(
    live: Datasette, library: Account, line: str, verdict: str, status: int
) -> None:
    identity = newest_id(library.state / "enricher.db")

    answer = await posted(live, identity, verdict, await signed_in(live), line=line)

    assert answer.status_code == status


async def test_a_snapshot_gives_the_label_of_a_line_as_a_file(library: Account, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.db"
    with closing(database.connect(str(library.state))):
        writing.write(str(library.state), str(file), text="redacted")
    identity = newest_id(library.state / "enricher.db")

    answer = await posted(await over(file, is_immutable=True), identity, "wrong", {}, line="1")

    assert json.loads(answer.text) == {"id": identity, "line": 1, "verdict": "wrong"}
    sent = tmp_path / "label.jsonl"
    sent.write_text(answer.text, encoding="utf-8")
    assert library.cli("trace", "label", "--from", str(sent)) == f"{identity} line 1: wrong\n"
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        assert db.execute(NEWEST_LINE).fetchone() == (identity, 1, "wrong")
    sent.write_text(f'{{"id": "{identity}", "line": 1, "verdict": "docs"}}\n', encoding="utf-8")
    assert f"{sent}:1: 'docs' is not ok or wrong" in library.cli("trace", "label", "--from", str(sent), exit_code=1)


@pytest.mark.parametrize("line", ['{"id": "00"}', '{"id": "00", "verdict": "ok", "line": 1e999}', "[" * 100_000])
def test_a_line_that_is_no_label_is_reported_with_its_place(library: Account, tmp_path: Path, line: str) -> None:
    sent = tmp_path / "label.jsonl"
    sent.write_text(f"{line}\n", encoding="utf-8")

    told = library.cli("trace", "label", "--from", str(sent), exit_code=1)

    assert f'{sent}:1: this line is not a label; write an object such as {{"id"' in told


def test_a_file_of_labels_that_is_no_text_is_named(library: Account, tmp_path: Path) -> None:
    sent = tmp_path / "label.jsonl"
    sent.write_bytes(b"\xff\n")

    assert f"{sent}: cannot be read as UTF-8 text" in library.cli("trace", "label", "--from", str(sent), exit_code=1)
