"""What all tests share: a fresh account, the shipped rules compiled, and the conformance rows in the report."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from simulator import ROOT, Account

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


# How long an example takes on the wall says nothing on a busy machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


# NumPy would start a thread for each core in each process, and these threads wait for each other in loops:
# the fits of one test took 108 seconds of processor time instead of 30.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

OBJECTS_BEFORE_A_COLLECTION = 20_000
"""Python's 700 costs four hundredths of the time: a test of the app makes that many objects in no time."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many tests run beside each other: more than there are cores, because half of their time is waiting."""
    return 5 * (os.cpu_count() or 1) // 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-docs", action="store_true", help="write the README's table of channels anew")
    parser.addoption("--update-screens", action="store_true", help="write the text snapshots of the app anew")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the state, the settings or the temporary folder of whoever runs it."""
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME", "TMPDIR"):
            patch.setenv(name, str(folder / name.lower()))
        (folder / "tmpdir").mkdir()
        patch.setattr("tempfile.tempdir", None)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_rules() -> None:
    """A wheel holds the packaged instructions compiled; a work tree may hold an older form."""
    from enricher.rules.cache import _read_shipped
    from enricher.rules.layers import Layer, Layers, packaged_file

    layers = Layers()
    layers.instructions.append(Layer("packaged", packaged_file()))
    if _read_shipped(layers) is None:
        subprocess.run(
            [sys.executable, "-m", "enricher.rules.compiling.compiler"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL
        )


@pytest.fixture
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Account:
    """Return an account that has been used; what works behind its prompts runs for tests that are marked ``upkeep``."""
    return Account(tmp_path / "home", has_upkeep=request.node.get_closest_marker("upkeep") is not None)


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Raise the schema by a made-up migration of the given statements, for this process."""
    from sqlite_utils import Migrations

    from storage import traces
    from storage.db import migrations

    def add(*statements: str) -> None:
        made_up = Migrations(migrations.migrations.name)
        made_up(name="made_up")(lambda db: [db.execute(statement) for statement in statements])
        monkeypatch.setattr(migrations, "migrations", made_up)
        monkeypatch.setattr(traces, "SCHEMA_VERSION", traces.SCHEMA_VERSION + 1)

    return add


@pytest.fixture
def new_account(tmp_path: Path) -> Account:
    """Return an account in which nothing of ours has run yet."""
    return Account(tmp_path / "new", is_new=True)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what ``enricher demo`` prints, which takes five seconds of processor time; again if a prompt was late."""
    for _attempt in range(3):
        printed = Account(tmp_path_factory.mktemp("demo") / "home").cli("demo", "--width", "200")
        if "_Partial: " not in printed:
            break
    return printed


@pytest.fixture(scope="session")
def unprivileged() -> tuple[str, ...]:
    """Return what starts a program for which file permissions hold, also where the tests run as root."""
    if os.geteuid():
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("file permissions do not bind root, and setpriv is not installed")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all", "--")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without garbage collections: they find nothing, and are half of the time.

    Nor do those of the tests look at what was collected, which stays until the end.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS_BEFORE_A_COLLECTION, 20)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Write the rows that a test proves into the JUnit report, where ``make conformance`` reads them.

    Each process begins with one of the tests that take long: at the end, the others would wait for it.
    """
    for item in items:
        for marker in item.iter_markers("conformance"):
            item.user_properties += [("conformance", row) for row in marker.args]
    long = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if item not in long]
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    part = len(items) // processes  # xdist gives each process as many tests, in their order
    for number, item in enumerate(long):
        items.insert(part * (number % processes), item)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has their programs ignore ctrl+c, which some tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
