"""The section "Add a channel" of CONTRIBUTING, followed in a copy of the checkout, also with a step left out."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import checkout as checkout_copy
import pytest
from checkout import recipe
from simulator import ROOT

from enricher.context import CHANNELS
from enricher.context.gathering import load
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

pytestmark = pytest.mark.slow

STEPS = recipe("Add a channel")
NAME = "notes"
PROMPT = "the session middleware drops users, please fix it"
LINE = "The session middleware drops users."
EXAMPLE = (ROOT / "examples" / "channel.py").read_text()
VALUES = re.findall(r"^    (\w+)=.*\n", EXAMPLE.partition("\nCHANNEL = ")[2], re.MULTILINE)
README_ROWS = re.compile(
    r"(?<=\| from \| what a prompt gets \| read more \|\n\|---\|---\|---\|\n).*?(?=\| your programs )", re.DOTALL
)


class Checkout(checkout_copy.Checkout):
    """A checkout to which the channel is added, and a project with its notes."""

    def __init__(self, root: Path, account: Account) -> None:
        super().__init__(root, account)
        self.module = root / "enricher" / "context" / "channels" / f"{NAME}.py"
        account.write("project/NOTES.md", f"Buy milk.\n{LINE}\n")

    def add_module(self) -> None:
        """Take the first step: its command."""
        self.copy(STEPS, NAME)

    def add_line(self) -> None:
        """Take the second step: the name among the channels."""
        (file,) = re.findall(r"`CHANNELS` in `(.*?)`", STEPS)
        text = (self.root / file).read_text()
        (self.root / file).write_text(re.sub(r"^(CHANNELS = \(.*)\)$", rf'\1, "{NAME}")', text, flags=re.MULTILINE))

    def explained(self) -> str:
        """Return the explanation of the prompt; on a busy machine a channel may be late a few times."""
        for _attempt in range(8):
            told = self.enricher("explain", PROMPT)
            if f"channel {NAME}: took too long" not in told:
                break
        return told

    def problems(self) -> str:
        """Return what the command of the document finds to be missing."""
        (command,) = re.findall(r"`\.venv/bin/(enricher check)`", STEPS)
        return self.enricher(*command.split()[1:])


@pytest.fixture
def checkout(account: Account, tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout", account)


def test_the_section_has_at_most_eight_lines() -> None:
    assert 0 < len(STEPS.splitlines()) <= 8


def test_who_follows_the_section_sees_the_line_of_the_new_channel(checkout: Checkout) -> None:
    checkout.add_module()
    checkout.add_line()
    (command,) = re.findall(r"`\.venv/bin/(enricher explain) ", STEPS)

    assert "error" not in checkout.problems()
    assert f'NOTES.md:2: "{LINE}"' in checkout.enricher(*command.split()[1:], PROMPT)


@pytest.mark.upkeep
def test_the_real_hook_tells_the_line_and_a_replay_knows_the_channel(checkout: Checkout) -> None:
    checkout.add_module()
    checkout.add_line()
    account, hook = checkout.account, f"'{sys.executable}' -I -S '{checkout.root}/enricher/boot.py' claude"
    for _attempt in range(8):  # the first prompts come while the rules are compiled
        answer = account.run(account.event(PROMPT), shell_line=hook)
        account.rest()
        if LINE in answer.context:
            break

    assert f'- NOTES.md:2: "{LINE}"' in answer.context
    assert {one["channel"]: one["status"] for one in account.trace()["channels"]}[NAME] == "ok"
    assert "byte for byte as recorded, 0 did not" in checkout.enricher("replay", "--verify")


@pytest.mark.parametrize(
    ("does", "told"),
    [("return []", "has nothing to offer"), ("raise ValueError('no such log')", "failed: ValueError: no such log")],
)
def test_what_keeps_the_new_channel_silent_is_explained(checkout: Checkout, does: str, told: str) -> None:
    checkout.add_module()
    checkout.add_line()
    checkout.module.write_text(re.sub(r"    root = request.*?\n\n\n", f"    {does}\n\n\n", EXAMPLE, flags=re.DOTALL))

    assert f"channel {NAME}: {told}\n" in checkout.explained()


def test_an_offered_line_that_is_not_told_is_explained(checkout: Checkout) -> None:
    checkout.add_module()
    checkout.add_line()
    checkout.module.write_text(EXAMPLE.replace("0.4 + 0.2 * shared", "0.1"))

    told = checkout.explained()
    assert f"channel {NAME}: offers 1\n  left out: NOTES.md:2 (0.1): below the floor\n" in told


@pytest.mark.parametrize("missing", VALUES)
def test_a_value_that_the_declaration_lacks_is_an_error_that_names_it(checkout: Checkout, missing: str) -> None:
    checkout.add_module()
    checkout.add_line()
    checkout.module.write_text(re.sub(rf"^    {missing}=.*\n", "", EXAMPLE, flags=re.MULTILINE))

    assert f"{checkout.module}:1: error: the channel '{NAME}' cannot be loaded" in (told := checkout.problems())
    assert f"'{missing}'" in told


def test_a_step_that_is_left_out_is_an_error_that_names_it(checkout: Checkout) -> None:
    checkout.add_module()
    told = checkout.problems()
    assert f"{checkout.module}:1: error: " in told and f"enricher/context/__init__.py does not list '{NAME}'" in told

    checkout.add_line()
    checkout.module.write_text(EXAMPLE.partition("\nCHANNEL = ")[0])
    assert "has no attribute 'CHANNEL'" in checkout.problems()

    checkout.module.unlink()
    assert f"No module named 'enricher.context.channels.{NAME}'" in checkout.problems()


ASKED = """
import sys
sys.path.insert(0, sys.argv[1])
from workbench.replay.channel_inputs import channels_with_changed_input, can_rerun
from enricher.context import ChannelInput
rule = {"name": "notes", "command": [], "model": False, "endpoint": "", "most": 3}
debug, docs = ChannelInput("debug"), ChannelInput("docs")
print(channels_with_changed_input((debug, [rule]), (docs, [rule]), settings={}))
print(channels_with_changed_input((debug, [rule]), (docs, [{**rule, "most": 2}]), settings={}))
print(can_rerun(rule), can_rerun({**rule, "command": ["notes"]}))
"""


def test_a_replay_goes_by_what_the_channel_declares(checkout: Checkout) -> None:
    checkout.add_module()
    checkout.add_line()
    assert checkout.python(ASKED).stdout.splitlines() == ["()", "('notes',)", "True False"]

    checkout.module.write_text(EXAMPLE.replace("can_ask_again=True", "can_ask_again=False"))
    assert checkout.python(ASKED).stdout.splitlines()[-1] == "False False"


def test_the_packaged_instructions_say_what_the_channels_declare() -> None:
    rules = {rule["name"]: rule for rule in compile_layers([Layer("packaged", packaged_file())]).body["channels"]}

    for name in CHANNELS:
        assert rules[name].items() >= load(name).budget.items()


def test_the_readme_has_a_row_for_each_channel(request: pytest.FixtureRequest) -> None:
    links = {name: f"[{page}]({page}) " if (page := load(name).read_more) else "" for name in CHANNELS}
    rows = "".join(f"| {name} | {load(name).gives} | {links[name]}|\n" for name in CHANNELS)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if request.config.getoption("--update-docs"):
        (ROOT / "README.md").write_text(text := README_ROWS.sub(lambda _: rows, text), encoding="utf-8")

    assert README_ROWS.findall(text) == [rows], "write the table anew: pytest --update-docs"
