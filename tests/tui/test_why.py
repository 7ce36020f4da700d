"""The Why screen: what a model thought, what each channel's items came to, and figures that bear their comparison."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from piloting import list_lines, run_workbench, screen_text, settle
from textual import events

from enricher.interfaces.explanation import beside
from workbench.tui.widgets.lists.line_list import LineList

if TYPE_CHECKING:
    from simulator import Account

NOTES = """\
# Contributing

## Commits

Write commit messages as `area: what changed`, in the imperative, below 60 characters.
"""
MODEL = {
    "model": "local-7b", "status": "ok",
    "opinion": {"task_type": "docs", "confidence": 0.8, "search_intent": "general", "intent_confidence": 0.5},
}  # fmt: skip


def commit_notes(account: Account) -> None:
    """Make the project a repository that says how its commits are to be written, and index it."""
    account.write("project/CONTRIBUTING.md", NOTES)
    who = ("-c", "user.name=dev", "-c", "user.email=dev@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "start")):
        subprocess.run(["git", *who, *words], cwd=account.project, check=True, capture_output=True)
    account.cli("code", "index")


async def reasons(account: Account) -> list[str]:
    """Return all lines of the newest prompt's Why screen, with the text at their right."""
    async with run_workbench(account.state, screen="traces", size=(160, 60)) as (app, pilot):
        await pilot.press("w")
        await settle(app, pilot)
        found = app.screen.query_one(LineList)
        heads = [group.head for group in found._groups]  # noqa: SLF001 (headings are no lines)
        return [f"{line.text}  {line.right}" for line in (*heads, *list_lines(found))]


async def test_slash_leads_to_the_filter_of_the_list(library: Account) -> None:
    async with run_workbench(library.state, screen="traces", size=(120, 30)) as (app, pilot):
        await pilot.press("w")
        await settle(app, pilot)
        footer = screen_text(app).splitlines()[-1]
        for key in "/rounding":  # as a fast typist does: no key waits for the one before
            app.post_message(events.Key({"/": "slash"}.get(key, key), key))
        await settle(app, pilot)
        await pilot.press("enter")
        await settle(app, pilot)
        listed = [app.screen.rows.line(row) for row in range(app.screen.rows.row_count)]

    assert "/ Filter" in footer
    assert [line.prompt for line in listed if line] == ["add a test for the rounding in prices.py"]


async def test_each_channel_lists_the_items_that_were_added(library: Account) -> None:
    commit_notes(library)
    added = library.ask("commit the changes", session_id="session-w").context
    trace_id = library.traces()[-1]["id"]
    printed = library.cli("explain", "--trace", trace_id).splitlines()
    shown = await reasons(library)

    line = "; ".join(one.strip() for one in shown if one.startswith("added: "))
    assert "CONTRIBUTING.md:5" in line
    assert "CONTRIBUTING.md:5" in added
    assert f"  {line}" in printed


async def test_a_text_that_was_only_recorded_is_never_called_added(library: Account) -> None:
    commit_notes(library)
    library.ask("commit the changes", session_id="session-x")
    library.traces()
    with closing(sqlite3.connect(library.state / "enricher.db")) as db, db:
        db.execute("update traces set status = 'shadow'")
    async with run_workbench(library.state, screen="traces", size=(160, 60)) as (app, pilot):
        trace = screen_text(app)
        await pilot.press("w")
        await settle(app, pilot)
        why = screen_text(app)

    assert "shadow: recorded only, the agent was given nothing" in trace
    assert "Would have been added" in trace
    assert "Added " not in trace
    assert "tokens would have been added, but the agent was given nothing" in why
    assert "▸ Would have been added" in why


async def test_what_plain_words_are_is_said_where_they_give_points(library: Account) -> None:
    meaning = "plain words: ordinary words that lean towards this class or away from it"
    shown = await reasons(library)
    async with run_workbench(library.state, screen="traces", size=(200, 60)) as (app, _pilot):
        trace = screen_text(app)

    assert [one for one in shown if f" {meaning}" in one]
    assert f"({meaning})" in " ".join(trace.split())


async def test_a_model_s_opinion_stands_beside_the_points_of_its_class(library: Account) -> None:
    trace_id = library.traces()[-1]["id"]
    with closing(sqlite3.connect(library.state / "enricher.db")) as db, db:
        set_model = "update traces set inputs = json_set(inputs, '$.model', json(?)) where id = ?"
        db.execute(set_model, (json.dumps(MODEL), trace_id))
    shown = await reasons(library)

    (head,) = [one for one in shown if " docs  task type, " in one]
    assert head.endswith(", the model names it (0.80)")
    told = "local-7b: ok, docs (0.80) and general (0.50)"
    assert [one.strip() for one in shown if one.startswith("local-7b")] == [told]
    assert f"model: {told}" in library.cli("explain", "--trace", trace_id).splitlines()


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        pytest.param(0.8, 0.54, "0.80", id="two digits do"),
        pytest.param(0.0204, 0.02, "0.0204", id="a little above"),
        pytest.param(0.53996, 0.54, "0.53996", id="a little below"),
        pytest.param(0.54, 0.54, "0.54", id="equal"),
    ],
)
def test_a_share_has_the_digits_that_show_on_which_side_of_its_limit_it_lies(
    value: float, limit: float, text: str
) -> None:
    assert beside(value, limit) == text


def test_explain_never_calls_a_share_above_a_limit_that_looks_the_same(library: Account) -> None:
    library.write(
        "config/instructions.md", "# Classification\n\n## Task type\n\n```yaml\nextend: true\nmax_silent: 0\n```\n"
    )
    printed = " ".join(library.cli("explain", "add a test for the rounding in prices.py").split())

    assert "0.00 is above max_silent 0" not in printed
    assert "is above max_silent 0" in printed
