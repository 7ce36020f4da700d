"""An edit of a layer concerns the prompts that the layer speaks for, together with the files it lies on."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

PROMPT = "the shop is slow after lunch, please have a look"
TRACEBACK = """the nightly export died again, can you find out why?

Traceback (most recent call last):
  File "shop/export.py", line 48, in export
    total = order["total"]
KeyError: 'total'
"""
LAYER = """# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {phrase: "slow", weight: %d}
```
"""


@pytest.fixture
def projects(account: Account) -> tuple[Path, Path]:
    """Two projects; in each, the prompt was asked before any layer was there."""
    found = []
    for name in ("one", "other"):
        folder = account.home / name
        folder.mkdir()
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        account.ask(PROMPT, cwd=str(folder), session_id=name)
        found.append(folder)
    return found[0], found[1]


def own_layer(project: Path, weight: int) -> Path:
    file = project / ".enricher" / "instructions.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(LAYER % weight)
    return file


def replayed(account: Account, *words: str, cwd: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(account.cli("replay", *words, "--json", cwd=cwd))
    return found


def test_a_new_layer_concerns_the_earlier_prompts_of_its_project_only(
    account: Account, projects: tuple[Path, Path]
) -> None:
    own_layer(projects[0], 9)
    found = replayed(account, cwd=projects[0])

    assert [change["session_id"] for change in found["changes"]] == ["one"]
    assert found["prompts"] == 2


def test_an_edit_is_judged_though_it_took_the_trust_away(account: Account, projects: tuple[Path, Path]) -> None:
    own_layer(projects[0], 9)
    account.cli("trust", cwd=projects[0])
    account.compile(projects[0])
    account.ask(PROMPT, cwd=str(projects[0]), session_id="trusted")
    file = own_layer(projects[0], 1)
    found = replayed(account, "--where", "session:trusted", cwd=projects[0])

    assert (found["candidate"], found["changed"]) == (str(file), 1)


def test_a_layer_lies_on_the_layers_below_it(account: Account, projects: tuple[Path, Path]) -> None:
    account.instruct("# Classification\n\n## Task type: debug\n\n```yaml\ndisabled: true\n```\n")
    account.compile(projects[0])
    account.ask(PROMPT, cwd=str(projects[0]), session_id="below")
    own_layer(projects[0], 9)
    found = replayed(account, "--where", "session:below", cwd=projects[0])

    assert {change["after"]["task_type"] for change in found["changes"]} <= {"debug"}
    assert found["prompts"] == 1


def test_the_cause_lies_in_the_new_layer(account: Account, projects: tuple[Path, Path]) -> None:
    file = own_layer(projects[0], 9)
    [change] = replayed(account, cwd=projects[0])["changes"]

    assert change["cause"].startswith(f"{file}:3 Task type: debug")


def test_a_catalogue_takes_its_place_like_a_layer(account: Account) -> None:
    account.give_aops(
        "# Guardrails\n\n## Catalogues\n\n```yaml\nguardrails: H.md\nnames: N.md\n```\n",
        H=(ROOT / "instructions" / "HEURISTICS.md").read_text(),
        N=(ROOT / "instructions" / "guardrails.md").read_text(),
    )
    account.compile()
    account.ask(TRACEBACK)
    catalogue = account.home / "aops/hooks/prompts/H.md"
    catalogue.write_text(catalogue.read_text().replace("Error Messages Are Primary Evidence", "Read The Error First"))
    found = replayed(account, "--instructions", str(catalogue), cwd=account.project)

    assert [change["kinds"] for change in found["changes"]] == [["text only"]]
    assert "Read The Error First" in found["changes"][0]["after"]["text"]
