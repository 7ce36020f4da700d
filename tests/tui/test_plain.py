"""What a terminal is given of prompts and files."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from workbench.tui.panes.trace_text import wrapped
from workbench.tui.widgets.plain_text import fit, one_line, plain, plain_in_place


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u2028", "\r", "\x7f"])
def test_no_character_acts_on_the_terminal(char: str) -> None:
    assert char not in plain(f"a{char}b") + plain_in_place(f"a{char}b") + one_line(f"a{char}b")


def test_offsets_stay_true_in_place() -> None:
    assert plain_in_place("a\tb\x1b[1m\u202ec\nd") == "a b\ufffd[1m\ufffdc\nd"


@pytest.mark.parametrize("text", ["a line of plain words", "納期を確認してから請求書を送る必要があります", "🧪" * 30])
def test_a_wrapped_text_keeps_its_width_in_cells(text: str) -> None:
    assert max(cell_len(line.plain) for line in wrapped(text, width=20)) <= 20


@pytest.mark.parametrize("text", ["short", "納期を確認してから請求書を送る", "a\tb", "\x1b[31mred"])
def test_a_cell_is_exactly_as_wide_as_its_column(text: str) -> None:
    assert cell_len(fit(plain(text), 9)) == 9
