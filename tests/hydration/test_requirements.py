"""What a prompt requires beside its orders stands in the steps of its plan, too: limits, choices, specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from plan_form import read

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture
def hydrated(account: Account) -> Account:
    """An account in the mode ``hydrate``."""
    account.env["ENRICHER_MODE"] = "hydrate"
    return account


def steps_of(account: Account, prompt: str) -> list[str]:
    return read(account.ask_patiently(prompt).context).steps


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        pytest.param(
            "build a page for the menus of the week. It lets the guest choose a language.",
            "Build a page for the menus of the week; it lets the guest choose a language",
            id="what the new thing does",
        ),
        pytest.param(
            "add a price to each dish. Don't touch the drinks.",
            "Add a price to each dish; don't touch the drinks",
            id="what is forbidden",
        ),
        pytest.param(
            "For the names let's just stick with the old ones. Sort the menu by the time of the day.",
            "Sort the menu by the time of the day; for the names let's just stick with the old ones",
            id="what limits the work before it",
        ),
        pytest.param(
            "Don't touch the drinks. Sort the menu by the time of the day.",
            "Sort the menu by the time of the day; don't touch the drinks",
            id="what is forbidden before the work",
        ),
        pytest.param(
            "can you revert that and sort the dishes by their price",
            "Revert that; sort the dishes by their price",
            id="a short order before another",
        ),
        pytest.param(
            "Add the lunch as a table. We just rely on the list of the cook. If a dish has no price, we show a dash.",
            "Add the lunch as a table; we just rely on the list of the cook; if a dish has no price, we show a dash",
            id="what is chosen",
        ),
        pytest.param(
            "The colours of the menu should be calmer. We had soft colours before. please keep that look.",
            "The colours of the menu should be calmer; we had soft colours before; keep that look",
            id="what is to stay, and what that is",
        ),
        pytest.param(
            "create the table of dishes. the columns should be:\nthe name of the dish\nthe price in euros",
            "Create the table of dishes; the columns should be: the name of the dish; the price in euros",
            id="the lines of a specification",
        ),
        pytest.param(
            "- add a price to each dish\n- sort the dishes by name\n\nDon't touch the drinks.",
            "; and these hold: don't touch the drinks \u2014 evidence: ",
            id="what holds for a whole list",
        ),
        pytest.param(
            "the export of the dishes is broken: the second row is empty. It should hold the price.",
            "Make the fix (it should hold the price) at the cause",
            id="what is right, behind a report",
        ),
    ],
)
def test_requirements_stand_in_the_steps(hydrated: Account, prompt: str, part: str) -> None:
    steps = steps_of(hydrated, prompt)

    assert part.lower() in "\n".join(steps).lower()
    assert all(len(step) <= 330 for step in steps)


@pytest.mark.parametrize(
    "remark",
    [
        "It looks nice so far.",
        "I was not sure about that.",
        "It works on my machine.",
        "Tests are slow today.",
        "Thanks",
    ],
)
def test_a_remark_is_no_requirement(hydrated: Account, remark: str) -> None:
    steps = steps_of(hydrated, f"build a page for the menus of the week. {remark}")

    assert remark.rstrip(".").lower() not in "\n".join(steps).lower()


def test_a_remark_before_an_order_does_not_limit_it(hydrated: Account) -> None:
    steps = "\n".join(steps_of(hydrated, "No change so far. Add a price to each dish of the menu."))

    assert "Add a price to each dish of the menu" in steps
    assert "no change" not in steps.lower()


def test_a_long_specification_is_cut_and_counted(hydrated: Account) -> None:
    lines = "\n".join(f"the {word} of the dish as the cook has written it down" for word in ("name", "price", "origin"))
    steps = steps_of(hydrated, f"create the table of dishes. the columns of it should be:\n{lines}\nthe weight")

    assert "the name of the dish as the cook has written it down; the price" in " ".join(steps)
    assert "; and 2 more lines of the prompt" in " ".join(steps)
