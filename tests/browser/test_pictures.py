"""The two pictures of ``examples/publication``: invented prompts only; ``--update-pictures`` takes them anew.

Otherwise it is checked that they are there, wide enough to be read, and small enough to be loaded.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from published import published
from shop import set_up_shop
from simulator import Account
from visiting import HOME, WIDE, visiting

sys.path.append(str(Path(__file__).parents[1]))
from big_history import write_history

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parents[2] / "examples" / "publication"
PROMPTS = 20_000
HEIGHTS = {"home": 1410, "trace": 1220}
LARGEST_BYTES = 300_000


@pytest.fixture(scope="module", autouse=True)
def _taken_anew(request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    if request.config.getoption("--update-pictures", default=False):
        folder = tmp_path_factory.mktemp("pictures")
        write_history(folder, PROMPTS)
        _take(browser, folder, "home", HOME)
        account = Account(folder / "home")
        set_up_shop(account, with_markup=False)
        _take(browser, account.state, "trace", f"{HOME}/trace/{account.traces()[0]['id']}")


def _take(browser: Browser, state: Path, name: str, path: str) -> None:
    with (
        published(state, "--snapshot", str(state / "snapshot.db"), "--serve") as address,
        visiting(browser, address) as visit,
    ):
        visit.open(path).screenshot(
            path=PICTURES / f"{name}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": WIDE, "height": HEIGHTS[name]},
        )


@pytest.mark.parametrize("name", HEIGHTS)
def test_a_picture_of_the_published_history_is_there_and_small(name: str) -> None:
    data = (PICTURES / f"{name}.png").read_bytes()

    assert struct.unpack(">II", data[16:24]) == (WIDE, HEIGHTS[name])
    assert len(data) < LARGEST_BYTES
