"""Through the real hook: attributes of classes, modules of the same name and options, as in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all

if TYPE_CHECKING:
    from simulator import Account

MODELS = '''class Lot:
    """A lot of tins.

    best_before = 3
    """

    tins_left = Number(default=3)
    best_before: Date = None

    def open_lot(self):
        best_before = today()
        opened_on = best_before


class SealedLot(
    Lot,
):
    sealed_by = Text()

    def break_seal(self):
        return None


class Shelf:
    fields = ["best_before"]
    shelf_height = Number()

    def open_lot(self):
        return None
'''
SETTINGS = """class DepotSettings(BaseSettings):
    freight_host: str = Field(
        default="dock", description="Where freight_host is"
    )
    freight_rate: int = 4

    @classmethod
    def of(
        cls,
        freight_host: str,
    ):
        return cls(freight_host=freight_host)

    model_config = SettingsConfigDict(env_prefix="DEPOT_")


class CraneSettings(BaseSettings):
    crane_mode: str = "slow"
    crane_rope: str = Field("hemp", alias="ROPE")


class TinConfig(BaseModel):
    tin_lacquer: str = "red"


class Barrel(BaseModel):
    barrel_hoops: int = 3


class EastConfig:
    gate_code: int = 3


class WestConfig:
    gate_code: int = 4
"""
READERS = """def ship(
    freight_host: Host = None,
):
    load(conf.freight_host, conf.barrel_hoops, conf.gate_code)
"""
FILES = {
    "src/depot/store/models.py": MODELS,
    "src/depot/conf/classes.py": SETTINGS,
    **{f"src/depot/quays/quay{number}.py": READERS for number in range(6)},
    "src/depot/quays/rope.py": "pull(conf.freight_rate, conf.crane_mode, conf.tin_lacquer)\n",
    **{
        f"tests/test_quay{number}.py": "def test_it():\n    load(freight_host='x', barrel_hoops=3, gate_code=3)\n"
        for number in range(6)
    },
    "src/depot/store/signals.py": "lot_opened = Signal()\n",
    "src/depot/office/signals.py": "lot_opened = Signal()\n\n\ndef count_tins():\n    return 3\n",
    "src/depot/office/desk.py": (
        "from depot.office.signals import lot_opened\n\nlot_opened.send()\n\n\n"
        "class Desk:\n    def break_seal(self):\n        return 3\n\n    def sort_letters(self):\n        return 3\n"
    ),
    "src/depot/cli.py": 'parser.add_argument(\n    "--tin_size", default=3\n)\n',
    "src/depot/train.py": "parser.add_argument('--tin_size')\n",
    "src/depot/shelves.py": "def stack_tins(tins):\n    return sorted(tins)\n\n\nclass TinStack:\n    tins = 3\n",
    "src/depot/sale.py": (
        "from depot.shelves import (  # both\n    TinStack, stack_tins,\n)\n\n"
        "shown = [\n    TinStack, stack_tins,\n]\nstack_tins(shown)\n"
    ),
    "src/depot/labels.py": (
        '# A label for=""" does not fit\n\n\nclass Tag:\n    """\n    A tag.\n    """\n\n    def check(self):\n'
        '        raise TagError("This tag does not fit the tin")\n'
    ),
    "src/depot/tour.py": "from depot.shelves import (\n    stack_tins, TinStack)\n\nTinStack()\nstack_tins([])\n",
    "src/depot/office/clerk.py": "# more\n" * 104 + "def close_up():\n    pass\n",
    "src/depot/store/clerk.py": "def close_up():\n    pass\n",
    "src/depot/a_main.py": "log.warning('--tin_color is deprecated')\n",
    "src/depot/options.py": 'parser.add_argument("--tin_color")\n',
    "src/depot/__main__.py": "log.warning('--tin_size and --lid are deprecated')\n",
    "scripts/all.py": "# python -m depot --train --tin_size 3\n",
    "src/depot/paths.py": "lids = config.tins.lids\n",
    "src/depot/conf/large.yaml": "out: ${tins.lids}-large.bin\n",
    "src/depot/conf/small.yaml": "tins:\n  lids: 3\n",
    "src/depot/lids.py": "class Lids:\n    def lids(self):\n        return 3\n",
    "src/depot/lid_options.py": 'add(\n    "--lid_tint",\n    help="Wins over --lid_shape",\n)\nadd("--lid_shape")\n',
    "src/depot/lid_shapes.py": '"""Shapes.\n\n--lid_shape wins.\n"""\n',
    "src/depot/conf/types.py": "class Settings(TypedDict):\n    MOST_SHELVES: int\n",
    "src/depot/conf/defaults.py": 'DEFAULTS = {\n    "MOST_SHELVES": 4,\n}\n',
    "src/depot/template.py": (
        "QUOTES = ('\"', \"'''\")\nDEFAULT = '''\nshelf_timeout = 3600  # \"\"\"\n'''\n\n\n"
        "class Project:\n    shelf_timeout: int = 300\n\n\ndef fill_in():\n    pass\n"
    ),
    "src/depot/wait.py": "sleep(project.shelf_timeout)\n",
    "src/depot/__init__.py": "from depot.cans import CanStack\n",
    "src/depot/cans.py": "class CanStack:\n    pass\n",
    "tests/test_cans.py": "CanStack()\n",
    "src/depot/limits.py": "MOST_TINS = 9\n\n\ndef run_all():\n    pass\n",
    "src/depot/night.py": "def run_all():\n    pass\n",
    "src/depot/locales/en.json": '{\n  "list": {\n    "hint": "Pick..."\n  }\n}\n',
    **{f"src/depot/hand{number}.py": "# pick one\n" for number in range(4)},
}


def with_depot(account: Account) -> Account:
    """Commit the files to the shop of an account and index them."""
    write_all(account.project, FILES)
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Sell tins")
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def depot(asked_shop: Account) -> Account:
    return with_depot(asked_shop)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        pytest.param(
            "is Lot.tins_left still right?",
            "src/depot/store/models.py:7 Lot.tins_left — defined here",
            id="an attribute of a class",
        ),
        pytest.param(
            "is Lot.best_before still right?",
            "src/depot/store/models.py:8 Lot.best_before — defined here",
            id="an attribute that a docstring, a method and another class have as well",
        ),
        pytest.param(
            "is SealedLot.sealed_by still right?",
            "src/depot/store/models.py:18 SealedLot.sealed_by — defined here",
            id="an attribute of a class whose head has several lines",
        ),
        pytest.param("is Lot.opened_on still right?", "", id="a variable of a method"),
        pytest.param("is Lot.shelf_height still right?", "", id="an attribute of another class of the file"),
        pytest.param(
            "is Shelf.open_lot still right?",
            "src/depot/store/models.py:28 Shelf.open_lot — defined here; no other use found",
            id="a method that two classes of a file have",
        ),
        pytest.param(
            "is Shelf.break_seal still right?",
            "src/depot/office/desk.py:7 break_seal — defined here and in src/depot/store/models.py:20",
            id="a method that only other classes have",
        ),
        pytest.param(
            "is Lot.break_seal still right?",
            "src/depot/office/desk.py:7 break_seal — defined here and in src/depot/store/models.py:20",
            id="a method of the next class in the file",
        ),
        pytest.param(
            "is SealedLot.break_seal still right?",
            "src/depot/store/models.py:20 SealedLot.break_seal — defined here",
            id="a method whose callers may call that of another class",
        ),
        pytest.param(
            "is Lot.sort_letters still right?",
            "src/depot/office/desk.py:10 sort_letters — defined here; no other use found",
            id="a method that another class has",
        ),
        pytest.param(
            "is depot.store.signals.lot_opened sent twice?",
            "src/depot/store/signals.py:1 lot_opened — defined here",
            id="of two modules of a name the one whose path is given",
        ),
        pytest.param(
            "--tin_size does nothing",
            "src/depot/cli.py:2 --tin_size — declared here and in src/depot/train.py:1",
            id="a flag that more files mention than declare",
        ),
        pytest.param(
            "what does --tin_color do?",
            "src/depot/options.py:1 --tin_color — declared here",
            id="what declares a flag comes first",
        ),
        pytest.param(
            "does anything use stack_tins?",
            "src/depot/shelves.py:1 stack_tins — defined here; 2 callers: src/depot/sale.py:8, src/depot/tour.py:5",
            id="a line in the middle of an import is no use",
        ),
        pytest.param(
            "does anything use TinStack?",
            "src/depot/shelves.py:5 TinStack — defined here; 2 uses: src/depot/sale.py:6, src/depot/tour.py:4",
            id="a class in the middle of an import",
        ),
        pytest.param(
            "office/clerk.py: does anything use close_up?",
            "src/depot/office/clerk.py:105 close_up — defined here",
            id="a function of a named file that another file has as well",
        ),
        pytest.param(
            "where is tins.lids used?",
            "src/depot/conf/small.yaml:2 tins.lids — the key is here; used in src/depot/conf/large.yaml:1",
            id="a reference in a configuration",
        ),
        pytest.param(
            "--lid_shape does nothing",
            "src/depot/lid_options.py:5 --lid_shape — the only file that has it outside of docstrings"
            " (src/depot/lid_shapes.py:3); also line 3",
            id="a flag that the help of another and a docstring mention",
        ),
        pytest.param(
            'the error "This tag does not fit the tin" comes for small tins',
            'src/depot/labels.py:10 "This tag does not fit the tin" — the only place that has it',
            id="a text below quotation marks in a comment",
        ),
        pytest.param(
            "MOST_SHELVES is ignored",
            "src/depot/conf/defaults.py:2 MOST_SHELVES — defined here as 4; also in src/depot/conf/types.py:2",
            id="a setting whose type is in another file",
        ),
        pytest.param(
            "shelf_timeout is ignored",
            "src/depot/template.py:8 shelf_timeout — defined here as 300; read in src/depot/wait.py:1",
            id="an attribute that a string has the form of a definition of",
        ),
        pytest.param(
            "is fill_in still right?",
            "src/depot/template.py:11 fill_in — defined here; no other use found",
            id="a function below quotation marks in a string",
        ),
        pytest.param(
            "does anything use CanStack?",
            "src/depot/cans.py:1 CanStack — defined here; exported by src/depot/__init__.py:1;"
            " used by tests only: tests/test_cans.py:1",
            id="a class that the package exports",
        ),
        pytest.param(
            "run_all ignores MOST_TINS",
            "src/depot/limits.py:1 MOST_TINS — defined here; no other use found;"
            " run_all: line 4 and in src/depot/night.py:1",
            id="a function of two files, one of which has a constant that is named",
        ),
        pytest.param(
            "where is freight_host read?",
            'src/depot/conf/classes.py:2 freight_host — defined here, default "dock"; set by DEPOT_FREIGHT_HOST;'
            " read in 6 other files: src/depot/quays/quay0.py:4, …/quay1.py:4, …/quay2.py:4, …/quay3.py:4,"
            " …/quay4.py:4, …/quay5.py:4",
            id="a setting that many files read, of which several have a parameter of its name",
        ),
        pytest.param(
            "which variables set freight_host and freight_rate",
            'src/depot/conf/classes.py:2 freight_host — defined here, default "dock"; set by DEPOT_FREIGHT_HOST;'
            " read in 6 other files; freight_rate: line 5 (set by DEPOT_FREIGHT_RATE)",
            id="two settings and their variables",
        ),
        pytest.param(
            "crane_mode does nothing",
            'src/depot/conf/classes.py:18 crane_mode — defined here as "slow"; read in src/depot/quays/rope.py:1',
            id="a setting of a class in which an alias may name the variable",
        ),
        pytest.param(
            "tin_lacquer does nothing",
            'src/depot/conf/classes.py:23 tin_lacquer — defined here as "red"; read in src/depot/quays/rope.py:1',
            id="a setting of a class that no variable sets",
        ),
        pytest.param("where is barrel_hoops read?", "", id="a field that many files read, but of no settings"),
        pytest.param("where is gate_code read?", "", id="a setting that two classes have"),
        pytest.param(
            'the field says "Pick..." twice',
            "src/depot/locales/en.json:3 Pick... — the English text is here, key list.hint",
            id="a label of one word that ends with dots",
        ),
    ],
)
def test_what_a_program_in_python_has_is_found(depot: Account, prompt: str, line: str) -> None:
    told = [one.removeprefix("- ") for one in depot.ask_patiently(prompt).context.splitlines() if one[:2] == "- "]
    assert told == [line] * bool(line)
