from __future__ import annotations

import pytest

from workbench.edits.progress import difference
from workbench.views.differences import DiffLine, Piece, compared, folded, unfolded, words

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
EDITS = [
    pytest.param(BEFORE.replace("line 9\n", "line nine\n"), id="a line changed"),
    pytest.param(BEFORE.replace("line 9\n", ""), id="a line went"),
    pytest.param(BEFORE + "more\n", id="a line came at the end"),
    pytest.param("more\n" + BEFORE, id="a line came at the beginning"),
    pytest.param(BEFORE.replace("line 9\n", "9\n\n").replace("line 25\n", "a\nb\n"), id="two places"),
    pytest.param("", id="all went"),
    pytest.param(BEFORE.replace("line 9\n", "line 9\n-- sign\n+ sign\n"), id="lines that begin with signs"),
]


def texts(lines: list[DiffLine]) -> tuple[str, str]:
    """Return both texts that the lines are of."""
    sides = ([line for line in lines if line.mark != other] for other in "+-")
    before, after = ("".join(f"{line.text}\n" for line in side) for side in sides)
    return before, after


@pytest.mark.parametrize("after", EDITS)
def test_the_lines_are_those_of_both_texts_in_order(after: str) -> None:
    assert texts(compared(BEFORE, after)) == (BEFORE, after)


@pytest.mark.parametrize("after", EDITS)
def test_each_line_has_its_number_in_its_text(after: str) -> None:
    lines = compared(BEFORE, after)

    assert all(BEFORE.splitlines()[line.before - 1] == line.text for line in lines if line.before)
    assert all(after.splitlines()[line.after - 1] == line.text for line in lines if line.after)


@pytest.mark.parametrize("after", EDITS)
def test_a_unified_difference_is_read_back_with_the_same_lines(after: str) -> None:
    read = [line for section in unfolded(difference(BEFORE, after, "file.md")) for line in section.lines]
    near = [line for section in folded(compared(BEFORE, after)) if not section.is_folded for line in section.lines]

    assert read == near


def test_only_what_is_far_from_an_edit_is_folded() -> None:
    sections = folded(compared(BEFORE, BEFORE.replace("line 9\n", "line nine\n")))

    assert [(len(one.lines), one.is_folded) for one in sections] == [(5, True), (8, False), (18, True)]


@pytest.mark.parametrize(
    ("line", "against", "pieces"),
    [
        pytest.param("weight: 9", "weight: 1", [("weight: ", False), ("9", True)], id="a word"),
        pytest.param("same", "same", [("same", False)], id="none"),
        pytest.param("one two", "three four", [("one two", False)], id="nothing in common"),
        pytest.param("new", "", [("new", False)], id="no other side"),
    ],
)
def test_words_that_the_other_side_lacks_are_marked(line: str, against: str, pieces: list[tuple[str, bool]]) -> None:
    assert words(line, against) == tuple(Piece(*one) for one in pieces)
