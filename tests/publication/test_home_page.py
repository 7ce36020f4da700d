from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasette.app import Datasette


async def test_it_says_how_many_prompts_there_are(live: Datasette) -> None:
    page = await live.client.get("/-/enricher")

    assert "5 prompts" in page.text
