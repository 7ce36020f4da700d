"""An invented shop and the prompts of the people who work on it, as the real hook recorded them.

Two versions of the instructions spoke, a replay of a third was kept, some prompts carry a label, and one holds
markup that runs where a page forgets to escape.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).parents[1] / "tui"))
from histories import fix_times, name_project

if TYPE_CHECKING:
    from simulator import Account

FILES = {
    "shop/export.py": 'def nightly_export(rows):\n    """Write it."""\n    return [r["sku"] for r in rows]\n',
    "shop/prices.py": "def rounded(cents):\n    return round(cents / 100, 2)\n",
    "shop/basket.py": "class Basket:\n    def total(self):\n        return sum(self.prices)\n",
    "tests/test_basket.py": "def test_an_empty_basket_costs_nothing():\n    assert Basket().total() == 0\n",
}
DECISION = "prices are integer cents, because floats lost money in May"
CRASH = """why does the nightly export crash?

  File "shop/export.py", line 3, in nightly_export
    return [r["sku"] for r in rows]
KeyError: 'sku'"""
SESSIONS = (
    (
        CRASH,
        "add a test for the rounding in prices.py",
        "thanks!",
    ),
    (
        "the price sync had a hiccup last night, have a look",
        "refactor the basket so that it no longer knows the database",
        "fix the failing test in test_basket.py",
        "/clear",
    ),
    ("what is the difference between the two caches here?", "how do I run a single migration?"),
)
MARKUP = """<script>window.ran = true</script><img src=x onerror='window.ran = true'> why is the basket empty?

  File "<svg onload='window.ran = true'>.py", line 3
KeyError: '<b>sku</b>'"""
LATER = (
    (MARKUP, "another hiccup of the search index, three customers saw an empty page"),
    ("write the release notes for 2.4", "there was a hiccup of the upload queue on friday"),
)
LAYER = """\
# Classification

## Task type: debug

Words that this team uses when something is broken.

```yaml
extend: true
signals:
  - {phrase: "gives up", weight: 5}
```
"""
EDITED = LAYER.replace('"gives up", weight: 5}', '"gives up", weight: 5}\n  - {any: [hiccup, hiccups], weight: 9}')


def set_up_shop(account: Account, *, with_markup: bool = True) -> None:
    """Let the people type their prompts, label some, and try an edit on all of them."""
    name_project(account)
    for name, text in FILES.items():
        account.write(f"project/{name}", text)
    account.cli("memory", "add", DECISION, "--namespace", "decisions")
    _type(account, SESSIONS, "first")
    account.instruct(LAYER)
    account.compile()
    _type(account, LATER if with_markup else LATER[1:], "later")
    account.traces()
    fix_times(account)
    account.cli("replay", "--instructions", str(account.instruct(EDITED)), "--keep")
    for trace, verdict in zip(account.traces(), ("ok", "ok", "wrong", "debug"), strict=False):
        account.cli("trace", "label", trace["id"], verdict)


def _type(account: Account, sessions: tuple[tuple[str, ...], ...], name: str) -> None:
    for number, prompts in enumerate(sessions):
        for prompt in prompts:
            account.ask(prompt, session_id=f"{name}-{number}")
