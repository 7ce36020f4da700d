"""Through the real hook: what programs in Perl have that others do not, and errors of other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from simulator import Account

FILES = {
    "cpanfile": "requires 'perl', '5.26';\n",
    "lib/Shop/Crate.pm": (
        "package Shop::Crate;\nour @EXPORT_OK = qw(seal_crate weigh_crate);\n\n"
        "sub seal_crate {\n  my $crate = shift;\n"
        '  die qq{Crate "$crate" has no lid} unless $ENV{SHOP_LIDS_OPEN};\n}\n\n'
        "sub weigh_crate { 3 }\n\n1;\n\n"
        "=head1 FUNCTIONS\n\n  seal_crate('red');\n  weigh_crate('red');\n\n=cut\n"
    ),
    "lib/Shop/Pallet.pm": (
        "package Shop::Pallet;\nuse Shop::Crate qw(seal_crate weigh_crate);\n\n"
        "sub pile {\n  seal_crate $_ for @_;\n  seal_crate(shift);\n  return weigh_crate(1);\n}\n\n1;\n"
    ),
    "lib/Shop/Command/inventory.pm": "package Shop::Command::inventory;\nsub run { 1 }\n\n1;\n",
    "t/shop/crate.t": "use Test::More;\nuse Shop::Crate;\nis Shop::Crate::weigh_crate('red'), 3;\ndone_testing;\n",
}
CRATE = "lib/Shop/Crate.pm"


@pytest.fixture(scope="module")
def asked_perl(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    git(asked_shop.project, "add", "-A")
    git(asked_shop.project, "commit", "-qm", "Sell crates in Perl")
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        pytest.param(
            "who calls seal_crate?",
            [f"{CRATE}:4 seal_crate — defined here; 2 uses: lib/Shop/Pallet.pm:5, lib/Shop/Pallet.pm:6"],
            id="a call without brackets",
        ),
        pytest.param(
            "who calls weigh_crate?",
            [f"{CRATE}:9 weigh_crate — defined here; one caller: lib/Shop/Pallet.pm:7; and t/shop/crate.t"],
            id="neither the documentation nor a list of exports is a call",
        ),
        pytest.param(
            "what does SHOP_LIDS_OPEN do?",
            [f"{CRATE}:6 SHOP_LIDS_OPEN — read from the environment here"],
            id="the environment",
        ),
        pytest.param(
            'it dies with\n\nCrate "red" has no lid at /srv/app/lib/App.pm line 14.\n\nwhy?',
            [f'{CRATE}:6 "has no lid" — the only place that has it'],
            id="an error",
        ),
        pytest.param(
            "weigh_crate must round up, fix it",
            [f"{CRATE}:9 weigh_crate — defined here; one caller: lib/Shop/Pallet.pm:7; and t/shop/crate.t",
             "t/shop/crate.t:3 — tests weigh_crate, named there once; run it alone: `prove -l t/shop/crate.t`"],
            id="the test of a function",
        ),
        pytest.param(
            "how can I run t/shop/crate.t with warnings on",
            ["t/shop/crate.t — run it alone: `prove -l t/shop/crate.t`"],
            id="the command of a test",
        ),
        pytest.param(
            "`shop inventory` takes ages",
            ['lib/Shop/Command/inventory.pm:1 "shop inventory" — declares this command'],
            id="a command",
        ),
    ],
)  # fmt: skip
def test_what_a_program_in_perl_has_is_told(asked_perl: Account, prompt: str, lines: list[str]) -> None:
    assert told(asked_perl, prompt) == lines
