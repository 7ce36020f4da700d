"""The packages as a person gets them; minutes and downloads, so they run on request only: ``make test-packaging``."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NETWORK = ("http_proxy", "https_proxy", "no_proxy", "pip_index_url", "pip_extra_index_url", "pip_cert")
# Each installer and each kind of package once: pipx runs pip, and pip builds a wheel from whatever it is given.
INSTALLATIONS = [
    pytest.param(("pip", "wheel"), id="pip, wheel"),
    pytest.param(("pip", "sdist"), id="pip, sdist"),
    pytest.param(("pipx", "checkout"), id="pipx, checkout"),
]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the installations out unless they were asked for by their marker."""
    if "packaging" in (config.option.markexpr or ""):
        return
    for item in items:
        if item.get_closest_marker("packaging"):
            item.add_marker(pytest.mark.skip(reason="the packages are tested with: make test-packaging"))


@dataclass(frozen=True)
class Workshop:
    """A virtual environment that holds pip, pipx and build, and the environment variables of everything run here."""

    folder: Path
    env: dict[str, str]

    def run(self, *command: str | Path) -> str:
        """Run a command and return what it printed; a failure fails the test."""
        done = subprocess.run(
            list(map(str, command)), env=self.env, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def new_venv(self, name: str) -> Path:
        """Create an empty virtual environment and return its folder of programs."""
        self.run(sys.executable, "-m", "venv", self.folder / name)
        return self.folder / name / "bin"

    @property
    def tools(self) -> Path:
        return self.folder / "tools" / "bin"


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Everything is built and installed under ``PYTHONSAFEPATH``, which pipx sets for the processes it starts."""
    folder = tmp_path_factory.mktemp("packaging")
    here = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TMPDIR": str(folder),
        "PIP_CACHE_DIR": str(folder / "downloads"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONSAFEPATH": "1",
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }
    # Where a machine reaches the package index another way than by its default address, so do these tests.
    network = {name: value for name, value in os.environ.items() if name.lower() in NETWORK}
    shop = Workshop(folder, {**network, **here})
    shop.run(shop.new_venv("tools") / "pip", "install", "--quiet", "build", "pipx")
    return shop


@pytest.fixture(scope="session")
def packages(workshop: Workshop) -> dict[str, Path]:
    """The sdist of this work tree, the wheel built from that sdist, and the work tree itself."""
    workshop.run(workshop.tools / "python", "-m", "build", "--outdir", workshop.folder / "dist", ROOT)
    (sdist,) = (workshop.folder / "dist").glob("*.tar.gz")
    (wheel,) = (workshop.folder / "dist").glob("*.whl")
    return {"sdist": sdist, "wheel": wheel, "checkout": ROOT}


@pytest.fixture(scope="session", params=INSTALLATIONS)
def programs(request: pytest.FixtureRequest, workshop: Workshop, packages: dict[str, Path]) -> Path:
    """The folder of the installed command ``enricher``, for each way of installing it."""
    installer, package = request.param
    if installer == "pip":
        folder = workshop.new_venv(f"pip-{package}")
        workshop.run(folder / "pip", "install", "--quiet", packages[package])
        return folder
    folder = workshop.folder / f"pipx-{package}" / "bin"
    pipx = Workshop(workshop.folder, {**workshop.env, "PIPX_HOME": str(folder.parent), "PIPX_BIN_DIR": str(folder)})
    pipx.run(workshop.tools / "pipx", "install", packages[package])
    return folder
