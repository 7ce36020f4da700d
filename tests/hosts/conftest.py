"""Real clients run on request only (``make test-hosts``): they cost a gigabyte of download and minutes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from installed_copy import InstalledCopy
from real_clients import PACKAGES, REPOSITORY, Client, client_or_skip, end_leftovers
from stub_models import StubModels, running_stub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the real clients out unless they were asked for by their marker."""
    if "hosts" in (config.option.markexpr or ""):
        return
    for item in items:
        if item.get_closest_marker("hosts"):
            item.add_marker(pytest.mark.skip(reason="real clients run with: make test-hosts"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this work tree."""
    folder = tmp_path_factory.mktemp("wheel")
    has_builder = importlib.util.find_spec("hatchling") is not None
    flags = ["--no-deps", "--quiet", "--wheel-dir", str(folder), *(["--no-build-isolation"] if has_builder else [])]
    command = [sys.executable, "-m", "pip", "wheel", *flags, str(REPOSITORY)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"the wheel cannot be built:\n{done.stdout}{done.stderr}")
    return next(folder.glob("*.whl"))


@pytest.fixture
def stub() -> Iterator[StubModels]:
    with running_stub() as server:
        yield server


@pytest.fixture
def copy(tmp_path: Path, wheel: Path) -> Iterator[InstalledCopy]:
    """The product, installed from its wheel for a person with an empty home."""
    installed = InstalledCopy(tmp_path, wheel)
    yield installed
    end_leftovers(installed.home)


@pytest.fixture(params=sorted(PACKAGES))
def any_client(request: pytest.FixtureRequest, copy: InstalledCopy, stub: StubModels) -> Client:
    """Each real client in turn, in the same home as the product."""
    return client_or_skip(request.param, home=copy.home, project=copy.project, model_url=stub.url)


@pytest.fixture(params=sorted(PACKAGES.keys() - {"opencode"}))
def client(request: pytest.FixtureRequest, copy: InstalledCopy, stub: StubModels) -> Client:
    """Each real client that has command hooks of its own; OpenCode takes ten times as long to start."""
    return client_or_skip(request.param, home=copy.home, project=copy.project, model_url=stub.url)
