"""``enricher workbench --web``: the address with its token, what is refused, and the app through the websocket."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator import Account

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")
CODE = "from enricher.interfaces.cli import main; main()"


@pytest.fixture
def address(library: Account) -> Iterator[str]:
    """Serve the app and yield the address that was printed."""
    with subprocess.Popen(
        [sys.executable, "-c", CODE, "workbench", "--web", "--screen", "traces"],
        stdout=subprocess.PIPE, env=library.env, cwd=library.project, text=True,
    ) as process:  # fmt: skip
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
            assert found
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)


async def test_the_address_shows_the_prompts_through_a_websocket(address: str) -> None:
    jar = aiohttp.CookieJar(unsafe=True)  # else aiohttp keeps no cookies of an IP address
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(60)) as browser:
        async with browser.get(address) as page:
            socket = re.search(r"ws://[^\"]+/ws", await page.text())
            url = str(page.url)
        seen = b""
        async with browser.ws_connect(f"{socket[0]}?width=100&height=30", headers={"Origin": origin(address)}) as app:
            while b"what is the difference" not in seen:
                message = await app.receive(60)
                seen += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)

    assert "token" not in url, "the token does not stay in the history of the browser"


async def test_without_the_token_everything_is_refused(address: str) -> None:
    base = origin(address)
    async with aiohttp.ClientSession() as stranger:
        status = {}
        for path in ("/", "/?token=", "/?token=wrong", "/static/js/textual.js", "/download/x", "/ws"):
            async with stranger.get(base + path) as answer:
                status[path] = answer.status

    assert set(status.values()) == {401}


@pytest.mark.parametrize(
    ("headers", "status"), [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)]
)
async def test_other_hosts_and_origins_are_refused_with_the_token(
    address: str, headers: dict[str, str], status: int
) -> None:
    async with aiohttp.ClientSession() as stranger, stranger.get(address, headers=headers) as answer:
        assert answer.status == status


def test_a_missing_package_is_named_with_its_remedy(library: Account) -> None:
    code = f"import sys; sys.modules['textual_serve'] = sys.modules['textual_serve.server'] = None; {CODE}"
    ended = subprocess.run(
        [sys.executable, "-c", code, "workbench", "--web"],
        env={**os.environ, **library.env}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == 1
    assert 'pip install "prompt-enricher[web]"' in ended.stderr


def origin(address: str) -> str:
    return address.split("/?", maxsplit=1)[0]
