"""Through the real hook: games made with Godot, sketches for small devices, schemas of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FILES = {
    "game/actors/frog.gd": (
        "class_name Frog\nextends CharacterBody2D\n\nsignal splashed(height)\n\nvar leaps_left := 2\n\n"
        "func leap_high() -> void:\n\tleaps_left -= 1\n\nfunc sink_slowly() -> void:\n\tqueue_free()\n"
    ),
    "game/pond.gd": (
        "extends Node2D\n\n@onready var frog: Frog = $Frog\n\nfunc _on_leap_pressed() -> void:\n\tfrog.leap_high()\n"
    ),
    "game/pond.tscn": (
        '[gd_scene format=3]\n[ext_resource type="Script" path="res://game/pond.gd" id="1"]\n'
        '[node name="LeapButton" type="Button" parent="."]\ntext = "Leap over the pond"\n'
        '[connection signal="pressed" from="LeapButton" to="." method="_on_leap_pressed"]\n'
    ),
    "device/lamp/lamp.ino": (
        "const int LAMP_PIN = 13;\n\nvoid flashLamp(int times) {\n  digitalWrite(LAMP_PIN, HIGH);\n}\n\n"
        "void loop() {\n  flashLamp(1);\n}\n"
    ),
    "web/schema.prisma": "model CrateLabel {\n  id String @id\n  kind LabelKind\n}\n\nenum LabelKind {\n  PAPER\n}\n",
    ".github/workflows/web.yml": (
        "name: web\non:\n  push:\n    tags: ['v*']\njobs:\n  export:\n    steps:\n"
        "      - run: butler push build pond/frogs:web\n"
    ),
}


def with_frogs(account: Account) -> Account:
    """Commit the files to the shop of an account and index them."""
    write_all(account.project, FILES)
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Let frogs leap")
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def asked_frogs(asked_shop: Account) -> Account:
    return with_frogs(asked_shop)


@pytest.fixture
def account_with_frogs(account: Account, shop: Path) -> Account:
    del shop
    return with_frogs(account)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        pytest.param(
            "leap_high goes too high",
            "game/actors/frog.gd:8 leap_high — defined here; the only caller: game/pond.gd:6",
            id="a function of a script",
        ),
        pytest.param(
            "is sink_slowly ever called?",
            "game/actors/frog.gd:11 sink_slowly — defined here; no other use found",
            id="a function that nothing calls",
        ),
        pytest.param(
            "what calls _on_leap_pressed?",
            "game/pond.gd:5 _on_leap_pressed — defined here; the only use: game/pond.tscn:5",
            id="a function that a scene connects",
        ),
        pytest.param(
            'the button "Leap over the pond" is too small',
            'game/pond.tscn:4 "Leap over the pond" — the only place that has it',
            id="a text in a scene",
        ),
        pytest.param(
            "res://scenes/pond.tscn does not load",
            "scenes/pond.tscn — does not exist; the nearest is game/pond.tscn",
            id="a resource",
        ),
        pytest.param(
            "use flashLamp when it starts",
            "device/lamp/lamp.ino:3 flashLamp — defined here; the only caller: line 8",
            id="a function of a sketch",
        ),
        pytest.param(
            "LabelKind needs a value for plastic",
            "web/schema.prisma:6 LabelKind — defined here; the only use: line 3",
            id="a type in a schema",
        ),
        pytest.param(
            "release 0.4 of the game",
            ".github/workflows/web.yml:4 — releases on a pushed tag `v*`",
            id="a workflow that pushes a game",
        ),
    ],
)
def test_what_a_game_or_a_device_has_is_found(asked_frogs: Account, prompt: str, line: str) -> None:
    lines = told(asked_frogs, prompt)

    assert any(one.startswith(line) for one in lines), lines


def test_a_function_that_a_script_lost_is_told_with_its_commit(account_with_frogs: Account, shop: Path) -> None:
    frog = FILES["game/actors/frog.gd"].partition("func sink_slowly")[0]
    write_all(shop, {"game/actors/frog.gd": frog})
    git(shop, "commit", "-qam", "Frogs do not sink")
    account_with_frogs.cli("code", "index")

    (line,) = told(account_with_frogs, "bring sink_slowly back")

    assert line.startswith("`sink_slowly` — removed from game/actors/frog.gd in ")
