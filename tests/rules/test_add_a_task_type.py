"""The section "Add a task type" of CONTRIBUTING, followed in a copy of the checkout, also with a poor signal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from checkout import Checkout, recipe

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

pytestmark = pytest.mark.slow

STEPS = recipe("Add a task type")
NAME = "translate"
PROMPT = "please translate the buttons into Spanish"
EXAMPLES = 'examples: ["translate the error messages into German", "add the French translation of the settings page"]'
COPIED, BEFORE = re.findall(r"section `(## .*?)` to a new place before `(## .*?)`", STEPS)[0]
(FILE,) = re.findall(r"In `(instructions/.*?)`", STEPS)


@pytest.fixture
def checkout(account: Account, tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout", account)


def add(checkout: Checkout, *, weight: int) -> None:
    """Take the first step: copy a section, and change its heading, sentence, signals and examples."""
    text = (checkout.root / FILE).read_text(encoding="utf-8")
    copied = re.search(rf"^{COPIED}\n.*?(?=^## )", text, re.DOTALL | re.MULTILINE)
    assert copied is not None
    heading = f"{COPIED.partition(':')[0]}: {NAME}"
    signals = f"signals:\n  - {{any: [translate, translation], weight: {weight}}}\n  - {{any: [French], weight: 20}}"
    changed = re.sub(r"(?<=\n).*?\n```yaml\n.*```", f"A text in another language.\n```yaml\n{signals}\n{EXAMPLES}\n```",
                     copied[0].replace(COPIED, heading), flags=re.DOTALL)  # fmt: skip
    checkout.edit(FILE, f"\n{BEFORE}\n", f"\n{changed}{BEFORE}\n")


def test_the_section_has_at_most_eight_lines() -> None:
    assert 0 < len(STEPS.splitlines()) <= 8


def test_who_follows_the_section_gets_prompts_of_the_new_type(checkout: Checkout) -> None:
    add(checkout, weight=30)
    check, explain, replay, label = (
        re.findall(rf"`\.venv/bin/(enricher {name})\b", STEPS)[0].split()[1:]
        for name in ("check", "explain", "replay", "trace label")
    )

    assert "no problems" in checkout.enricher(*check)
    assert f"\n{NAME} " in (explained := checkout.enricher(*explain, PROMPT))
    assert explained.index(f"\n{NAME} ") < explained.index("\ndocs ")
    assert "no recorded prompt was selected" in checkout.enricher(*replay)
    assert "CLASS" in checkout.enricher(*label, "--help")


def test_an_example_that_gets_another_type_is_an_error_with_its_line(checkout: Checkout) -> None:
    add(checkout, weight=1)
    lines = (checkout.root / FILE).read_text(encoding="utf-8").splitlines()

    place = f"{checkout.root / FILE}:{lines.index(EXAMPLES) + 1}: error: example "
    assert place in (told := checkout.enricher("check")) and f", not {NAME}; " in told
