"""Through the real hook: the fields of types in many languages, asked for as ``Cart.total``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account

HARBOUR = {
    "lib/voyage.ex": (
        "defmodule Ports.Harbour.Voyage do\n  use Ecto.Schema\n\n"
        '  schema "voyages" do\n    field :tide_height, :decimal\n    belongs_to :skipper, Ports.Crew\n  end\n\n'
        "  def changeset(voyage, attrs) do\n    voyage\n    |> cast(attrs, [:tide_height, :notes])\n  end\nend\n"
    ),
    "app/Machines.kt": (
        "data class Crane(\n    val hookLoad: Int,\n    val name: String,\n) {\n    var lastLift: Long = 0\n\n"
        "    fun lift(hookLoad: Int) {\n        var swing = 3\n    }\n}\n\ndata class Buoy(val bellTone: Int)\n"
    ),
    "web/anchor.ts": (
        "export interface Anchor {\n  chainLength: number;\n  fluke?: string;\n}\n\nexport class Winch {\n"
        "  turn(rope: Rope) {\n    const drumSize = 3;\n    this.rope = rope;\n    return slack;\n  }\n\n"
        "  private readonly drumSize = 4;\n}\n\nexport type Mast = {\n  stayCount: number;\n};\n\n"
        "export enum Signal {\n  Calm = 'c',\n  Storm,\n}\n"
    ),
    "app/Rigging.java": (
        "public class Sail {\n    private String clothWeight;\n\n    void hoist(String clothWeight, int reefPoint) {\n"
        "        this.clothWeight = clothWeight;\n    }\n}\n"
    ),
    "app/Quays.cs": "namespace Ports\n{\n    public class Pier\n    {\n        private string _owner;\n    }\n}\n",
    "app/rope.go": (
        'package ports\n\ntype Rope struct {\n\tStrands int `json:"strands"`\n\tknots   map[string]int\n}\n\n'
        "func (r *Rope) Cut(at int) int {\n\trest := at\n\treturn rest\n}\n"
    ),
    "app/lamp.rs": "pub struct Lamp {\n    pub oil_left: u32,\n    wick: String,\n}\n",
    "app/Boats.swift": "struct Oar {\n    var bladeWidth: Int\n    func pull() {\n        let pullForce = 2\n    }\n",
    "app/Signals.php": "<?php\nclass Flag\n{\n    public string $clothColour;\n}\n",
    "app/Keel.kt": "class Keel(val leadWeight: Int)\n",
    "lib/deck.rb": "class Deck\n  attr_accessor :plank_wood, :tar\n\n  def scrub\n    plank_age = 3\n  end\nend\n",
}
PLACES = {
    "Ports.Harbour.Voyage.tide_height": "lib/voyage.ex:5",
    "Voyage.skipper": "lib/voyage.ex:6",
    "Crane.hookLoad": "app/Machines.kt:2",
    "Crane.lastLift": "app/Machines.kt:5",
    "Buoy.bellTone": "app/Machines.kt:12",
    "Anchor.chainLength": "web/anchor.ts:2",
    "Anchor.fluke": "web/anchor.ts:3",
    "Winch.drumSize": "web/anchor.ts:13",
    "Mast.stayCount": "web/anchor.ts:17",
    "Signal.Storm": "web/anchor.ts:22",
    "Sail.clothWeight": "app/Rigging.java:2",
    "Pier._owner": "app/Quays.cs:5",
    "Rope.Strands": "app/rope.go:4",
    "Rope.knots": "app/rope.go:5",
    "Lamp.oil_left": "app/lamp.rs:2",
    "Oar.bladeWidth": "app/Boats.swift:2",
    "Flag.clothColour": "app/Signals.php:4",
    "Deck.tar": "lib/deck.rb:2",
}


@pytest.fixture(scope="module")
def harbour(asked_account: Callable[[Path], Account], tmp_path_factory: pytest.TempPathFactory) -> Account:
    root = tmp_path_factory.mktemp("harbour")
    write_all(root, HARBOUR)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Harbour")
    account = asked_account(root)
    account.cli("code", "index")
    return account


@pytest.mark.parametrize(("name", "place"), PLACES.items())
def test_a_field_is_found_where_its_type_declares_it(harbour: Account, name: str, place: str) -> None:
    short = ".".join(name.split(".")[-2:])
    assert [line.partition(";")[0] for line in told(harbour, f"why is {name} wrong?")] == [
        f"{place} {short} — defined here"
    ]


@pytest.mark.parametrize(
    "name",
    ["Crane.swing", "Winch.rope", "Winch.slack", "Sail.reefPoint", "Rope.rest", "Oar.pullForce", "Deck.plank_age"],
)
def test_parameters_and_variables_of_methods_are_no_fields(harbour: Account, name: str) -> None:
    assert told(harbour, f"why is {name} wrong?") == []


def test_nobody_is_told_that_a_field_is_in_the_file_of_its_type(harbour: Account) -> None:
    assert told(harbour, "why is Keel.leadWeight wrong?") == []
    assert told(harbour, "where is Keel.leadWeight defined?") == ["app/Keel.kt:1 Keel.leadWeight — defined here"]
