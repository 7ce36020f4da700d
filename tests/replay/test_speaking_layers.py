"""``enricher replay`` in a project judges by all layers that speak there, as the hook would."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

PROMPT = "frobnicator, sprocket, flange"
CLASS = """# Classification

## Task type: {name}

```yaml
signals:
  - {{phrase: frobnicator, weight: 9}}
  - {{phrase: sprocket, weight: 9}}
  - {{phrase: flange, weight: 9}}
```
"""
NO_GADGET = "\n## Task type: gadget\n\n```yaml\ndisabled: true\n```\n"
QUIET = "# Output\n\n## Lines\n\n```yaml\nclass_line: alone\n```\n"


SPROCKETS = """# Guardrails

## Guardrail: X1

```yaml
title: Sprockets Fit
signals:
  - {phrase: sprocket, weight: 5}
```
"""


@pytest.fixture
def shop(account: Account) -> Path:
    """A trusted project with a layer; the prompt was asked in it, in a package of it, and elsewhere."""
    subprocess.run(["git", "init", "-q", str(account.project)], check=True)
    account.write("project/.enricher/instructions.md", QUIET)
    account.write("project/packages/a/x.py", "")
    account.cli("trust", str(account.project))
    account.compile()
    for session, folder in (("here", "project"), ("package", "project/packages/a"), ("elsewhere", ".")):
        account.ask_patiently(PROMPT, cwd=str(account.home / folder), session_id=session)
    return account.project


def replayed(account: Account, *words: str, cwd: Path | None = None) -> dict[str, tuple[str, str]]:
    """Return task type and cause after the replay, by session, of the prompts that change."""
    found: dict[str, Any] = json.loads(account.cli("replay", *words, "--json", cwd=cwd))
    return {one["session_id"]: (one["after"]["task_type"], one["cause"]) for one in found["changes"]}


def test_an_edit_of_the_persons_own_layer_counts_below_that_of_the_project(account: Account, shop: Path) -> None:
    own = account.instruct(CLASS.format(name="gadget"))

    found = replayed(account, cwd=shop)

    assert {session: kind for session, (kind, _cause) in found.items()} == dict.fromkeys(
        ("here", "package", "elsewhere"), "gadget"
    )
    assert {cause.partition(" ")[0] for _kind, cause in found.values()} == {f"{own}:3"}


def test_the_files_under_aops_count(account: Account, shop: Path) -> None:
    account.give_aops(CLASS.format(name="gadget"))

    assert replayed(account, cwd=shop)["here"][0] == "gadget"


def test_a_projects_files_count_where_they_speak(account: Account, shop: Path) -> None:
    account.instruct(CLASS.format(name="gadget"))
    account.write("project/packages/a/.enricher/instructions.md", CLASS.format(name="widget") + NO_GADGET)
    package = shop / "packages" / "a"
    account.cli("trust", str(package))

    found = {session: kind for session, (kind, _cause) in replayed(account, cwd=package).items()}

    assert found == {"here": "gadget", "package": "widget", "elsewhere": "gadget"}


def test_the_replay_says_what_the_hook_says_next(account: Account, shop: Path) -> None:
    account.instruct(CLASS.format(name="gadget"))
    account.give_aops(SPROCKETS)
    [text] = [
        change["after"]["text"]
        for change in json.loads(account.cli("replay", "--json", cwd=shop))["changes"]
        if change["session_id"] == "here"
    ]
    account.compile()

    assert text == account.ask_patiently(PROMPT).context
    assert "X1 (Sprockets Fit)" in text
