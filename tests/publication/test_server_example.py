"""``examples/publication`` is true: Datasette takes it, and its files agree with each other and with the command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datasette
import pytest
import yaml
from datasette.app import Datasette

from workbench.web.server import serving
from workbench.web.server.serving import SETTINGS

if TYPE_CHECKING:
    from simulator import Account

FOLDER = Path(__file__).parents[2] / "examples" / "publication"
PASSWORD = "correct horse battery"


def example() -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((FOLDER / "datasette.yaml").read_text())
    return value


@pytest.fixture
def served(library: Account, live: Datasette, monkeypatch: pytest.MonkeyPatch) -> Datasette:
    monkeypatch.setenv("ENRICHER_PUBLISH_PASSWORD", PASSWORD)
    settings, plugins = example()["settings"], {"plugins": example()["plugins"]}
    way: dict[str, Any] = {"metadata" if datasette.__version__.startswith("0.") else "config": plugins}
    return Datasette([f"{library.state}/enricher.db"], memory=False, settings=settings, **way)


@pytest.mark.parametrize(("password", "status"), [(PASSWORD, 200), ("", 401)])
async def test_datasette_takes_the_example(served: Datasette, password: str, status: int) -> None:
    headers = {"host": "history.example.org", "authorization": f"Bearer {password}"}
    page = await served.client.get("/", headers=headers)

    assert page.status_code == status


def test_its_settings_are_those_of_the_command() -> None:
    assert {
        name: SETTINGS.get(name) for name in example()["settings"] if name != "base_url"
    }.items() <= SETTINGS.items()


def test_the_proxy_leads_to_the_port_and_the_path_of_the_server() -> None:
    proxy, unit = (FOLDER / "nginx.conf").read_text(), (FOLDER / "enricher-history.service").read_text()
    told = example()

    assert f"location {told['settings']['base_url']} {{" in proxy
    assert f"server_name {told['plugins']['enricher']['allowed_hosts'][0]};" in proxy
    assert re.findall(r"--port (\d+)", unit) == re.findall(r"proxy_pass http://127.0.0.1:(\d+);", proxy)


@pytest.mark.parametrize("name", ["datasette.yaml", "nginx.conf", "enricher-history.service"])
def test_every_file_is_told_of(name: str) -> None:
    assert f"`{name}`" in (FOLDER / "README.md").read_text()


def test_files_of_others_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "metadata.yaml").write_text("title: mine\n")

    with pytest.raises(FileExistsError, match="was not written by this command"):
        serving.write_files(str(tmp_path), plugin={}, base_url="/")
    assert (tmp_path / "metadata.yaml").read_text() == "title: mine\n"


def test_the_same_command_writes_them_anew(tmp_path: Path) -> None:
    first = serving.write_files(str(tmp_path), plugin={"home": True}, base_url="/")

    assert serving.write_files(str(tmp_path), plugin={"home": True}, base_url="/") == first
    assert yaml.safe_load((tmp_path / "metadata.yaml").read_text())["title"] == "Prompt history"
