"""``enricher workbench --web``: the real command, and a visitor who speaks what the page in a browser speaks."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from later import Later

if TYPE_CHECKING:
    from collections.abc import Iterator

    import aiohttp
    from simulator import Account
else:
    aiohttp = Later("aiohttp")

START = "from enricher.interfaces.cli import main; main()"


@pytest.fixture
def address(library: Account) -> Iterator[str]:
    """Serve the workbench, and return the address that the command prints."""
    with subprocess.Popen(
        [sys.executable, "-c", START, "workbench", "--web", "--screen", "traces"],
        stdout=subprocess.PIPE, text=True, env=library.env | {"PYTHONUNBUFFERED": "1"}, cwd=library.project,
    ) as process:  # fmt: skip
        assert process.stdout
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert found
        yield found[0]
        process.terminate()


@pytest.mark.slow
async def test_a_visitor_with_the_token_sees_the_app(address: str) -> None:
    base = address.partition("?")[0]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as visitor:
        page = await visitor.get(address)
        assert (page.status, str(page.url)) == (200, base), "the token is not left in the address"
        assert (page.headers["X-Frame-Options"], page.headers["Referrer-Policy"]) == ("DENY", "no-referrer")
        seen = b""
        async with visitor.ws_connect(f"{base}ws?width=100&height=30") as app:
            while b"what is the difference" not in seen:
                message = await app.receive(60)
                assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), seen
                seen += message.data if isinstance(message.data, bytes) else message.data.encode()


@pytest.mark.parametrize("path", ["", "ws", "static/js/textual.js", "?token=guessed"])
async def test_nothing_is_answered_without_the_token(address: str, path: str) -> None:
    async with aiohttp.ClientSession() as visitor:
        answer = await visitor.get(address.partition("?")[0] + path)

        assert answer.status == 403
        assert "what is the difference" not in await answer.text()


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}], ids=["host", "page"])
async def test_a_page_elsewhere_gets_nothing_with_the_token_either(address: str, header: dict[str, str]) -> None:
    async with aiohttp.ClientSession() as visitor:
        assert (await visitor.get(address, headers=header, allow_redirects=False)).status == 403


def test_without_the_package_it_says_what_to_install(library: Account) -> None:
    hidden = "import sys; sys.modules['textual_serve'] = None; " + START
    ended = subprocess.run(
        [sys.executable, "-c", hidden, "workbench", "--web"],
        capture_output=True, text=True, env=library.env, cwd=library.project, check=False,
    )  # fmt: skip

    assert ended.returncode == 1
    assert "pip install 'textual-serve>=1.1.3'" in ended.stderr
