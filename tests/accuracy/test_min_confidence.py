"""A higher ``search_intent.min_confidence`` makes the product say less, and what it says is as often right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

from tests.accuracy.min_confidence import table, trade

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.conformance("S1-6.X")
def test_a_higher_threshold_takes_away_more_wrong_intents_than_right_ones(tmp_path: Path) -> None:
    usual, strict = trade(0.5, tmp_path), trade(0.7, tmp_path)

    assert 0 < strict.told < usual.told / 2
    assert strict.precision > usual.precision
    assert strict.recall < usual.recall
    documented = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    for row in table([usual, strict]).splitlines():
        assert row in documented
