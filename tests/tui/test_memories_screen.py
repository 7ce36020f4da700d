"""The Memories screen: list, search, filters, review, deletion, who was told, what an empty one says."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from histories import fix_times, name_project
from piloting import notices, run_workbench, screen_text, settle, until

from storage.db import database
from storage.memory import memories
from workbench.tui.panes import memory_text
from workbench.tui.screens.memories import SETTLED_S
from workbench.tui.widgets.dialogs import Question
from workbench.tui.widgets.lists.figures import FiguresTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

PROJECT = "example.org/acme/shop"
KEPT = (
    ("the export job must never retry more than three times", "learnings", PROJECT, True),
    ("we decided to keep prices as integers, in cents", "decisions", PROJECT, True),
    ("the basket is rebuilt on every request", "tech-debt", PROJECT, False),
    ("commit messages are imperative sentences", "patterns", "shared", True),
    ("the other shop runs on Postgres", "context", "example.org/acme/other", True),
)


@pytest.fixture(scope="session")
def _told(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """Keep five memories of three projects, one of them told to a prompt by a real hook call."""
    from simulator import Account

    account = Account(tmp_path_factory.mktemp("memories") / "home")
    name_project(account)
    with closing(database.connect(str(account.state))) as db:
        for content, namespace, project, is_reviewed in KEPT:
            one = memories.Memory(content, project=project, namespace=namespace, reviewed=is_reviewed)
            one.origin = "added" if is_reviewed else "captured"
            memories.add(db, one)
    account.ask("why does the export job retry so often, more than three times?")
    account.traces()
    fix_times(account)
    return account


@pytest.fixture
def shop(_told: Account, account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return an account of its own over those memories; the app is started in the project."""
    import shutil

    shutil.copytree(_told.state, account.state)
    name_project(account)
    monkeypatch.setenv("ENRICHER_HOME", str(account.state))
    monkeypatch.setenv("ENRICHER_CONFIG_HOME", str(account.config))
    monkeypatch.chdir(account.project)
    return account


def table(app: Workbench, name: str = "entries") -> FiguresTable:
    return app.screen.query_one(f"#{name}", FiguresTable)


def texts(app: Workbench) -> list[str]:
    return [table(app).shown[row].cells[3] for row in range(table(app).row_count)]


def kept(account: Account) -> dict[str, bool]:
    with closing(database.connect(str(account.state))) as db:
        return {one.content: one.reviewed for one in memories.listing(db)}


async def rest(app: Workbench, pilot: Pilot[None]) -> None:
    await asyncio.sleep(SETTLED_S * 2)
    await settle(app, pilot)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_screen(shop: Account, check_screen: Callable[[Workbench, str], None], size: tuple[int, int]) -> None:
    async with run_workbench(shop.state, size=size, screen="memories") as (app, pilot):
        await rest(app, pilot)

        check_screen(app, f"memories-{size[0]}x{size[1]}")


async def test_what_nobody_has_approved_stands_first(shop: Account) -> None:
    async with run_workbench(shop.state, size=(160, 30), screen="memories") as (app, _pilot):
        assert texts(app)[0].startswith("the basket")
        assert len(texts(app)) == 4


async def test_a_single_memory_is_counted_as_one(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library.project)
    library.cli("memory", "add", "the exporter writes commas")
    async with run_workbench(library.state, screen="memories") as (app, pilot):
        await rest(app, pilot)

        assert " 1 memory, " in screen_text(app)


async def test_p_shows_other_projects_too(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("p")
        await settle(app, pilot)

        assert "the other shop runs on Postgres" in texts(app)
        assert "all projects" in screen_text(app)


async def test_approving_is_kept_and_the_mark_goes(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("a")
        await settle(app, pilot)
        await until(pilot, lambda: "u to review 0" in screen_text(app))

        assert kept(shop)["the basket is rebuilt on every request"]


async def test_after_a_review_the_next_one_is_under_the_cursor(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        following = texts(app)[1]
        await pilot.press("a")
        await until(pilot, lambda: "u to review 0" in screen_text(app))

        assert texts(app)[table(app).cursor] == following != texts(app)[-1]


async def test_what_is_approved_already_is_told(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("j", "a")

        assert "approved already" in notices(app)


async def test_forgetting_asks_and_a_no_keeps_it(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("d")
        assert isinstance(app.screen, Question)
        assert "nothing brings it back" in " ".join(screen_text(app).split())

        await pilot.press("n")
        await settle(app, pilot)

    assert len(kept(shop)) == 5


async def test_forgetting_deletes_it_from_the_index_too(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("d", "y")
        await until(pilot, lambda: "basket is rebuilt" in notices(app))
        await settle(app, pilot)

        left = b"".join(file.read_bytes() for file in shop.state.glob("enricher.db*"))
        assert b"basket is rebuilt" not in left
        assert "the basket is rebuilt on every request" not in texts(app)
    with closing(database.connect(str(shop.state))) as db:
        found = db.execute("select count(*) from memories_fts where memories_fts match 'basket'").fetchone()[0]
        assert found == 0


async def test_a_click_answers_the_question(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("d")
        await pilot.click("#answers", offset=(1, 0))
        await until(pilot, lambda: len(kept(shop)) == 4)

        assert not isinstance(app.screen, Question)


async def test_search_finds_by_words_the_best_first(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("slash", *"prices cents")
        await until(pilot, lambda: len(texts(app)) == 1)
        await pilot.press("enter")

        assert "prices as integers" in texts(app)[0]
        assert app.focused is table(app)


async def test_search_covers_every_project_where_all_are_meant(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("p", "slash", *"Postgres")
        await until(pilot, lambda: len(texts(app)) == 1)

        assert "the other shop" in texts(app)[0]


async def test_only_what_waits(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await pilot.press("u")
        await settle(app, pilot)
        assert len(texts(app)) == 1

        await pilot.press("escape")
        await settle(app, pilot)
        assert len(texts(app)) == 4


async def test_the_list_of_namespaces_chooses_one(shop: Account) -> None:
    async with run_workbench(shop.state, size=(160, 30), screen="memories") as (app, pilot):
        table(app, "shelves").focus()
        await pilot.press("j", "enter")
        await settle(app, pilot)

        assert "we decided to keep prices as integers, in cents"[:20] in texts(app)[0]
        assert len(texts(app)) == 1


async def test_enter_leads_to_the_prompts_that_were_told_it_and_to_the_trace(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        app.screen.want(words="export retry")
        await settle(app, pilot)
        await rest(app, pilot)
        assert "told to 1 prompt" in screen_text(app)

        await pilot.press("enter", "enter")
        await settle(app, pilot)

        assert app.place_screen().PLACE == "traces"


def test_the_pane_wraps_paragraphs_itself_and_keeps_lists_and_code() -> None:
    source = (
        "Sessions:\nkept in cookies,\nnot in a store.\n\n- never import\n  from globals\n- run\n\n```\na\nb\n```\nend\n"
    )

    shown = memory_text.about(memories.Memory(source, project=PROJECT)).partition("\n\nm-")[0]

    wrapped = "Sessions:\nkept in cookies, not in a store.\n\n- never import from globals\n- run\n\n```\na\nb\n```\nend"
    assert shown.startswith(wrapped)


async def test_a_memory_that_nobody_was_told_says_so(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        await rest(app, pilot)
        await pilot.press("enter")

        assert "told to no prompt yet" in screen_text(app)
        assert "has not been added" in notices(app)


async def test_what_arrives_is_shown_at_once(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        shop.ask("remember: the invoice numbers have no gaps")
        await until(pilot, lambda: any("invoice numbers" in text for text in texts(app)))

        assert "u to review 2" in screen_text(app)


async def test_search_and_filters_survive_a_restart(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        app.screen.want(words="export", namespace="learnings")
        await settle(app, pilot)
        before = texts(app)
    async with run_workbench(shop.state, screen="memories") as (app, _pilot):
        assert texts(app) == before
        assert "learnings" in screen_text(app)


async def test_nothing_remembered_says_what_to_do_next(tmp_path: Path) -> None:
    async with run_workbench(tmp_path / "new", screen="memories") as (app, _pilot):
        assert "enricher memory import" in screen_text(app)
        assert "remember: …" in screen_text(app)


async def test_a_project_without_memories_points_to_the_others(
    shop: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(database.connect(str(shop.state))) as db:
        db.execute("delete from memories where project = 'shared'")
    async with run_workbench(shop.state, screen="memories") as (app, _pilot):
        assert "other projects have 4 memories" in screen_text(app)


async def test_nothing_found_says_how_to_leave(shop: Account) -> None:
    async with run_workbench(shop.state, screen="memories") as (app, pilot):
        app.screen.want(words="zebra")
        await settle(app, pilot)
        told = screen_text(app)
        await pilot.press("escape")
        await settle(app, pilot)

        assert "No memory matches" in told
        assert len(texts(app)) == 4
