"""A rule whose lines are called wrong is proposed for a higher floor, with the judged lines that it takes out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from simulator import Account

from storage.traces import line_labels
from workbench.tuning.rewriting import Rewriter

if TYPE_CHECKING:
    from pathlib import Path

WEAK, STRONG = "frobnicate the exporter", "frobnicate and twiddle the exporter"
LAYER = """# Guardrails

## Guardrail: X1

```yaml
title: Ask Before Frobnicating
text: "Ask before the exporter is frobnicated."
signals:
  - {phrase: "frobnicate", weight: 5}
  - {phrase: "twiddle", weight: 4}
```
"""


@pytest.fixture
def account(tmp_path: Path) -> Account:
    account = Account(tmp_path / "home")
    account.instruct(LAYER)
    account.compile()
    return account


def _judged(account: Account, prompt: str, session: str, *options: str) -> str:
    """Type a prompt and judge the line of its guardrail; return the id of the line."""
    account.ask(prompt, session_id=session)
    trace = json.loads(account.cli("trace", "last", "--json"))
    number = next(one.number for one in line_labels.lines(trace) if one.rule == "X1")
    account.cli("trace", "wrong", trace["id"], str(number), *options)
    return f"{trace['id']}:{number}"


def _suggest(account: Account, path: str) -> dict[str, Any]:
    return dict(json.loads(account.cli("suggest", "--instructions", path, "--json")))


@pytest.mark.slow
def test_a_higher_floor_is_proposed_for_a_guardrail_whose_lines_are_called_wrong(account: Account) -> None:
    path = str(account.instruct(LAYER))
    wrong = [_judged(account, WEAK, f"s{number}") for number in range(3)]
    _judged(account, STRONG, "s8", "--right")
    account.ask(WEAK, session_id="s9")

    found = _suggest(account, path)
    (proposal,) = found["proposals"]

    assert proposal["title"] == "guardrail X1: raise min_score to 6"
    assert (sorted(proposal["fixes"]), proposal["breaks"]) == (sorted(wrong), [])
    assert (proposal["sessions"], proposal["holds"], proposal["p"]) == (3, True, pytest.approx(1 / 8))
    assert "+min_score: 6\n" in proposal["diff"]
    assert (proposal["log_changes"], proposal["log_prompts"]) == (1, 1)
    assert found["judged_lines"] == 4
    assert "guardrail X1: raise min_score to 6" in account.cli("suggest", "--instructions", path)


def test_no_floor_is_proposed_where_as_many_lines_are_right(account: Account) -> None:
    path = str(account.instruct(LAYER))
    _judged(account, WEAK, "s1")
    _judged(account, WEAK, "s2", "--right")

    assert _suggest(account, path)["proposals"] == []


def test_the_floor_of_a_packaged_guardrail_is_proposed_as_a_section_that_extends_it(account: Account) -> None:
    path = str(account.instruct(LAYER))
    for session in ("s1", "s2"):
        account.ask("revert your last changes in the exporter", session_id=session)
        account.cli("trace", "wrong", "last", "1")

    found = _suggest(account, path)["proposals"]

    assert [(one["title"].split()[0], len(one["fixes"])) for one in found] == [("guardrail", 2)]
    assert "+extend: true\n+min_score: " in found[0]["diff"]


@pytest.mark.parametrize(
    ("block", "after"),
    [
        ("most: 3\nmin_score: 0.3  # why", "most: 3\nmin_score: 0.6  # why"),
        ("{min_score: 0.3, most: 3}", "{min_score: 0.6, most: 3}"),
        ("{most: 3}", "{min_score: 0.6, most: 3}"),
        ("most: 3", "min_score: 0.6\nmost: 3"),
    ],
)
def test_one_number_of_a_rule_is_written_where_it_stands(block: str, after: str) -> None:
    text = "# Context\n\n## Channel: git\n\n```yaml\n{}\n```\n"

    written = Rewriter("x.md", text.replace("{}", block)).with_value("channel.git", "min_score", 0.6)

    assert written == text.replace("{}", after)
