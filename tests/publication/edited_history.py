"""A history whose instructions were edited between its prompts, every one of them typed at the real hook."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from served_history import over
from simulator import Account

from storage.db import database
from workbench.web.server.upkeep import catch_up

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette

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
QUESTION = "your take: which of the two caches is cleared when a user logs out of the shop?"
EARLY = (QUESTION, f"{SCRIPT} basket: where are its prices rounded?", "thanks!", "/clear")
LATE = (
    "why does the nightly export crash with KeyError: 'sku'?",
    "add a test for the rounding in prices.py and nothing else",
)


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
    """Bring what readers need up to date, the measured coverage too."""
    with closing(database.connect(str(account.state))) as db:
        catch_up(db)


async def served(account: Account) -> Datasette:
    """Return a Datasette over the live history."""
    up_to_date(account)
    return await over(f"{account.state}/enricher.db")
