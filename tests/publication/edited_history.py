"""A history whose instructions were edited between its prompts, every one of them typed at the real hook."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING
from unittest.mock import patch

from simulator import Account

from storage import database
from workbench.corpus import opened
from workbench.coverage import measure
from workbench.publication.serving import datasette_over
from workbench.publication.upkeep import catch_up
from workbench.written import in_force

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette

AT = "2026-11-21T12:00:00.000Z"
SCRIPT = "<script>alert('x')</script>"
FIRST = f"""# Classification

Kept short. {SCRIPT}

## Task type: debug

```yaml
extend: true
signals:
  - {{phrase: "two caches", weight: 1}}
```
"""
SECOND = f"""# Classification

Kept short. {SCRIPT}

## Task type: debug

```yaml
extend: true
signals:
  - {{phrase: "two caches", weight: 9}}
  - {{phrase: "{SCRIPT} basket", weight: 9}}
  - {{phrase: "logs out", weight: 9}}
  - {{phrase: "shop", weight: 9}}
```
"""
QUESTION = "which of the two caches is cleared when a user logs out of the shop?"
EARLY = (QUESTION, f"{SCRIPT} basket: where are its prices rounded?", "thanks!", "/clear")
LATE = ("why does the nightly export crash with KeyError: 'sku'?", "add a test for the rounding in prices.py")


def edited(home: Path) -> Account:
    """Return an account that typed some prompts, edited its instructions, and typed some more."""
    account = Account(home)
    account.instruct(FIRST)
    account.compile()
    for prompt in EARLY:
        account.ask(prompt)
    account.instruct(SECOND)
    account.compile()
    for prompt in LATE:
        account.ask(prompt)
    account.traces()
    return account


def up_to_date(account: Account) -> None:
    """Bring what readers need up to date."""
    with closing(database.connect(str(account.state))) as db:
        catch_up(db)


async def served(account: Account) -> Datasette:
    """Return a Datasette over the live history."""
    up_to_date(account)
    datasette = datasette_over(f"{account.state}/enricher.db", is_immutable=False)
    await datasette.invoke_startup()
    return datasette


def measure_coverage(account: Account) -> str:
    """Keep what the workbench measures of the rules in force in the account's project; return their version."""
    with patch.dict(os.environ, account.env, clear=True), opened(str(account.state)) as corpus:
        found = measure(corpus, in_force(str(account.project)))
    clusters = json.dumps([asdict(one) for one in found.clusters])
    with closing(database.connect(str(account.state))) as db:
        db.execute(
            "insert into coverage_measured values (?, ?, ?, ?, ?, ?, ?)",
            (found.rules_hash, AT, found.prompts, found.judged_again, found.labelled, found.unmatched, clusters),
        )
        for position, row in enumerate(found.rows):
            said = (
                row.kind, row.rule, row.facet, row.name, row.label, row.weight, row.file, row.line, row.fired,
                row.tokens, row.right, row.wrong, json.dumps(row.examples),
            )  # fmt: skip
            db.execute(f"insert into rule_coverage values ({', '.join('?' * 15)})", (found.rules_hash, position, *said))
    return found.rules_hash
