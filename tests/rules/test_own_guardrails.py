"""A guardrail of one's own takes one rule, and catalogues of one's own add to the packaged one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

OWN = """# Guardrails

## Guardrail: X1

```yaml
title: Migrations Run Twice
text: a second run of a migration (also after a failure) changes nothing
task_types: [implementation]
signals:
  - {phrase: migration, weight: 5}
```
"""
MINE = """# Guardrails

## Catalogues

```yaml
guardrails: mine.md
```

## Guardrail: H40

```yaml
signals:
  - {phrase: invoice, weight: 5}
```
"""
TRACE = """the nightly export died again:

Traceback (most recent call last):
  File "shop/export.py", line 48, in export
    total = order["total"]
KeyError: 'total'
"""
QUESTION = "why do we need the hydrator?"
ANSWER_ONLY = 'H19 (the prompt asks "why do we need the hydrator": an answer is wanted'


def test_one_rule_defines_a_guardrail_and_the_packaged_ones_stay(account: Account) -> None:
    account.instruct(OWN)
    account.compile()

    own, packaged = account.ask("the migration of the orders table fails"), account.ask(QUESTION)

    shown = "X1 (Migrations Run Twice: a second run of a migration [also after a failure] changes nothing)"
    assert shown in own.context
    assert ANSWER_ONLY in packaged.context
    assert "rules, no problems (" in account.cli("check")


def test_the_task_types_of_a_rule_call_for_its_guardrail(account: Account) -> None:
    account.instruct(OWN.replace("[implementation]", "[question]"))
    account.compile()

    assert "X1 (" in account.ask(QUESTION).context


def test_explain_says_why_a_guardrail_of_ones_own_was_shown(account: Account) -> None:
    account.instruct(OWN)
    account.compile()
    account.ask("the migration of the orders table fails")

    assert "Migrations Run Twice" in account.cli("explain", "--trace", account.trace()["id"])


def test_a_higher_layer_disables_a_guardrail_of_a_lower_one(account: Account) -> None:
    account.instruct(OWN)
    account.give_aops("# Guardrails\n\n## Guardrail: X1\n\n```yaml\ndisabled: true\n```\n")
    account.compile()

    assert "X1" not in account.ask("the migration of the orders table fails").context
    assert json.loads(account.cli("check", "--json"))["problems"] == []


def test_a_catalogue_of_ones_own_adds_ids_and_overrides_titles(account: Account) -> None:
    account.instruct(MINE)
    account.write("config/mine.md", "## H40: Money Has Two Decimals\n\n## H5: Read The Error First\n")
    account.compile()

    assert "H40 (Money Has Two Decimals)" in account.ask("the invoice total is wrong, fix it").context
    assert "H5 (Read The Error First)" in account.ask(TRACE).context
    assert ANSWER_ONLY in account.ask(QUESTION).context


def test_a_catalogue_that_is_not_there_costs_no_packaged_guardrail(account: Account) -> None:
    file = account.instruct(MINE)
    account.compile()

    assert ANSWER_ONLY in account.ask(QUESTION).context
    told = account.cli("check", exit_code=1)
    assert f"{file}:6: error: the catalogue {account.config / 'mine.md'} does not exist" in told


def test_heuristics_under_aops_are_read_before_the_packaged_catalogue(account: Account) -> None:
    account.give_aops()
    account.ask(QUESTION)  # with rules that were compiled without the file
    heuristics = (ROOT / "instructions" / "HEURISTICS.md").read_text()
    account.write("aops/HEURISTICS.md", heuristics.replace("Questions Require Answers", "Just Answer"))
    account.compile()

    assert "H19 (Just Answer)" in account.ask(QUESTION).context


def test_a_rule_may_call_for_a_guardrail_of_the_heuristics(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Guardrail: H33\n\n```yaml\ntask_types: [question]\n```\n")
    account.give_aops()
    account.write("aops/HEURISTICS.md", "## H33: Say What You Do Not Know\n\n**Statement**: x.\n")
    account.compile()

    context = account.ask(QUESTION).context

    assert "H33 (Say What You Do Not Know)" in context
    assert ANSWER_ONLY in context


def test_an_edit_of_the_heuristics_is_honoured(account: Account) -> None:
    account.give_aops()
    account.write("aops/HEURISTICS.md", "## H19: First\n")
    account.compile()
    first = account.ask(QUESTION).context
    account.write("aops/HEURISTICS.md", "## H19: Second one\n")

    assert ("H19 (First)" in first, "H19 (Second one)" in account.ask_patiently(QUESTION).context) == (True, True)
