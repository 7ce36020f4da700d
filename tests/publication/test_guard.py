"""The guard as configuration of Datasette: the same for the command and for a plain ``datasette serve``."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from datasette.utils import StartupError

from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from datasette.app import Datasette
    from simulator import Account

PASSWORD = "correct horse battery"
PLACES = ("/", "/-/enricher", "/-/enricher.json", "/history", "/history/traces.json", "/-/static/app.css", "/-/nothing")


@pytest.fixture
def serve(library: Account, live: Datasette, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a Datasette over the live history with this configuration of the plugin."""
    monkeypatch.setenv("PAGES_PASSWORD", PASSWORD)

    def served(base_url: str = "/", **plugin: object) -> Datasette:
        path = f"{library.state}/enricher.db"
        return datasette_over(path, is_immutable=False, plugin=plugin, base_url=base_url)

    return served


def basic(password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()}


@pytest.mark.parametrize("path", PLACES)
async def test_without_the_password_nothing_is_answered(serve: Any, path: str) -> None:
    page = await serve(password_env="PAGES_PASSWORD").client.get(path)

    assert page.status_code == 401
    assert page.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.parametrize("given", [basic(PASSWORD), {"authorization": f"bearer {PASSWORD}"}], ids=["basic", "bearer"])
async def test_the_password_opens(serve: Any, given: dict[str, str]) -> None:
    page = await serve(password_env="PAGES_PASSWORD").client.get("/-/enricher", headers=given)

    assert page.status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        basic(PASSWORD + "x"),
        basic(""),
        {"authorization": f"Digest {PASSWORD}"},
        {"authorization": "Basic ???"},
        {"authorization": ""},
        {"authorization": "Bearer \xe9"},
    ],
    ids=["another", "none", "another scheme", "no base64", "empty", "not ascii"],
)
async def test_anything_else_does_not(serve: Any, given: dict[str, str]) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    page = await serve(password_env="PAGES_PASSWORD").client.get("/-/enricher", headers=headers)

    assert page.status_code == 401


@pytest.mark.parametrize("password", ["", "short"])
def test_a_missing_or_short_password_keeps_the_server_from_starting(
    serve: Any, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("PAGES_PASSWORD", password)

    with pytest.raises(StartupError, match="PAGES_PASSWORD"):
        serve(password_env="PAGES_PASSWORD").app()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8765", 200),
        ("127.0.0.1", 200),
        ("[::1]:8765", 200),
        ("History.Example.org", 200),
        ("localhost.:80", 200),
        ("evil.example", 421),
        ("localhost:evil.example", 421),
        ("localhost:80@evil.example", 421),
        ("[::1].evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("", 421),
    ],
)
async def test_only_known_host_names_are_answered(serve: Any, host: str, status: int) -> None:
    served = serve(allowed_hosts=["history.example.org"])
    page = await served.client.get("/-/enricher", headers={"host": host})

    assert page.status_code == status


async def test_the_home_page_is_at_the_root_and_the_list_of_databases_beside_it(serve: Any) -> None:
    client = serve(home=True).client

    assert (await client.get("/")).text == (await client.get("/-/enricher")).text
    assert "/history" in (await client.get("/-/")).text


@pytest.mark.parametrize("path", ["/shown", "/shown/", "/"])
async def test_behind_a_prefix_the_home_page_is_at_the_prefix(serve: Any, path: str) -> None:
    client = serve(base_url="/shown/", home=True, allowed_hosts=["localhost"]).client
    page = await client.request("GET", path, avoid_path_rewrites=True)

    assert page.text == (await client.get("/-/enricher")).text
    assert 'href="/shown/-/enricher' in page.text


@pytest.mark.parametrize("path", ["/-/databases.json", "/-/databases", "/-/threads.json", "/p/-/databases.json"])
async def test_what_names_folders_of_the_machine_is_not_shown(serve: Any, path: str) -> None:
    page = await serve(home=True, base_url="/p/").client.request("GET", path, avoid_path_rewrites=True)

    assert page.status_code == 404
    assert "enricher.db" not in page.text


@pytest.mark.parametrize("path", PLACES)
async def test_every_answer_forbids_what_the_pages_do_not_need(serve: Any, path: str) -> None:
    headers = (await serve(home=True).client.get(path)).headers

    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_pages_of_ours_run_no_script(serve: Any) -> None:
    served = serve(home=True)

    for path in ("/", "/-/enricher", "/-/enricher/traces"):
        assert "script-src 'none'" in (await served.client.get(path)).headers["content-security-policy"]


async def test_without_configuration_nothing_is_changed(serve: Any) -> None:
    page = await serve().client.get("/-/enricher", headers={"host": "anything.example"})

    assert page.status_code == 200
    assert "content-security-policy" not in page.headers


@pytest.mark.parametrize("sql", ["select file from pragma_database_list", "select file from PRAGMA_database_list()"])
async def test_a_query_does_not_tell_where_the_file_lies(serve: Any, sql: str) -> None:
    page = await serve(home=True).client.get("/history.json", params={"sql": sql}, follow_redirects=True)

    assert page.status_code == 200
    assert page.json()["rows"] == []


async def test_a_query_does_not_tell_addresses_in_memory(serve: Any) -> None:
    asked = {"sql": "select fts3_tokenizer('simple') as address", "_shape": "array"}
    page = await serve(home=True).client.get("/history.json", params=asked, follow_redirects=True)

    assert page.json() == [{"address": None}]


async def test_a_query_does_not_build_huge_values(serve: Any) -> None:
    asked = {"sql": "select length(zeroblob(200000000)) as size"}
    page = await serve(home=True).client.get("/history.json", params=asked, follow_redirects=True)

    assert "too big" in page.text


@pytest.mark.parametrize(
    ("path", "is_kept"),
    [
        pytest.param("/-/static/codemirror-5.57.0.min.js", True, id="its name has a version"),
        pytest.param("/-/static/codemirror-5.57.0-sql.min.js", True, id="a version and a word"),
        pytest.param("/-/static/app.css?d59929", True, id="a hash"),
        pytest.param("/-/static/table.js", False, id="neither"),
    ],
)
async def test_a_browser_keeps_files_whose_address_changes_with_their_content(
    serve: Any, path: str, *, is_kept: bool
) -> None:
    guard = serve(allowed_hosts=["localhost"])
    answer = await guard.client.get(path)

    assert ("immutable" in answer.headers.get("cache-control", "")) == (is_kept and answer.status_code == 200)
