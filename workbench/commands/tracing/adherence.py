"""``enricher trace stats --adherence``: print how often agents followed the workflow that was chosen for a prompt."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.output import new_console, new_table, print_json
from enricher.rules.cache import NoRulesError
from workbench.adherence import ABOUT_THE_LIST, DECISIVE, measure

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from rich.table import Table

    from storage.traces.selection import Selection
    from workbench.adherence import Adherence, CriterionShare


def report(db: sqlite3.Connection, selection: Selection | None, *, is_json: bool) -> None:
    """Print for each workflow how often agents followed it after the selected prompts."""
    try:
        figures = measure(db, selection, os.getcwd())
    except (NoRulesError, OSError) as failure:
        raise click.ClickException(f"{failure}; to find out more, run: enricher check") from failure
    if is_json:
        print_json([asdict(one) for one in figures])
    else:
        _print(figures)


def _print(figures: list[Adherence]) -> None:
    console = new_console()
    if not figures:
        console.print("no recorded prompt has a workflow")
        return
    for had_plan, title in ((True, "with a plan"), (False, "without a plan")):
        chosen = [one for one in figures if one.had_plan is had_plan]
        if chosen:
            console.print(_table(title, chosen, DECISIVE))
    with_plan = [one for one in figures if one.had_plan]
    if with_plan:
        console.print(_table("task list", with_plan, ABOUT_THE_LIST))
    console.print("a/b: held in a of the b prompts to which it applies; docs/hydration.md explains the columns")


def _table(title: str, figures: list[Adherence], criteria: Sequence[str]) -> Table:
    is_about_list = criteria is ABOUT_THE_LIST
    columns = () if is_about_list else ("prompts", "transcripts", "followed")
    table = new_table(title, *columns, *criteria, numbers=len(columns) + len(criteria))
    for one in figures:
        counts = () if is_about_list else (str(one.prompts), str(one.found), _of(one.followed))
        table.add_row(one.workflow, *counts, *(_of(one.criteria[name]) for name in criteria))
    return table


def _of(share: CriterionShare) -> str:
    return f"{share.held}/{share.of}" if share.of else "-"
