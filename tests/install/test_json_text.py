"""Editing JSON as text changes what was asked and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.install import json_edits

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
TREES = st.dictionaries(
    st.text(), st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
)
LAYOUTS: list[dict[str, Any]] = [
    {"indent": 2},
    {"indent": 4, "ensure_ascii": False},
    {"indent": "\t"},
    {"indent": None},
    {"indent": None, "separators": (",", ":")},
]
MINE = {"type": "command", "command": "sh x 2>/dev/null || true"}


@pytest.mark.slow
@given(TREES, st.sampled_from(LAYOUTS))
def test_what_was_added_can_be_taken_out_without_a_trace(tree: dict[str, Any], layout: dict[str, Any]) -> None:
    tree.pop("mine", None)
    text = json.dumps(tree, **layout)
    edited = json_edits.appended(text, json_edits.parse(text), MINE, key="mine")
    root = json_edits.parse(edited)

    assert root.value == {**tree, "mine": MINE} == json.loads(edited)
    assert json_edits.removed(edited, root, root.index("mine")) == text


@given(st.lists(SCALARS, min_size=1), st.sampled_from(LAYOUTS), st.data())
def test_any_element_can_be_removed(items: list[Any], layout: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(items, **layout)
    index = data.draw(st.integers(0, len(items) - 1))
    edited = json_edits.removed(text, json_edits.parse(text), index)

    assert json.loads(edited) == items[:index] + items[index + 1 :]


@given(st.text())
def test_text_is_judged_as_the_standard_parser_judges_it(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        with pytest.raises(json_edits.NotJsonError):
            json_edits.parse(text)
    else:
        assert json_edits.parse(text).value == expected


def _refuse(name: str) -> None:
    raise ValueError(name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "b": 2\n}\n', id="comment behind the last"),
        pytest.param('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"b": 2\n}', id="tabs"),
        pytest.param('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "b": 2\r\n}', id="windows line ends"),
        pytest.param('{"a":1}', '{"a":1, "b": 2}', id="one line"),
        pytest.param("{}", '{\n  "b": 2\n}', id="empty"),
        pytest.param("\ufeff{}\n", '\ufeff{\n  "b": 2\n}\n', id="byte order mark"),
        pytest.param("/* mine */ {\n}\n", '/* mine */ {\n  "b": 2\n}\n', id="comment before"),
    ],
)
def test_an_addition_follows_the_layout_it_finds(before: str, after: str) -> None:
    root = json_edits.parse(before, comments=True)

    assert json_edits.appended(before, root, 2, key="b") == after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param('{\n  "a": 1,\n}', 2, id="trailing comma"),
        pytest.param('{\n  "a": 1\n  "b": 2\n}', 3, id="missing comma"),
        pytest.param("{\n  'a': 1\n}", 2, id="single quotes"),
        pytest.param('{"a": 1}\n}', 2, id="text behind the end"),
        pytest.param('{"a": 1\n', 2, id="cut off"),
        pytest.param('{"a": "\n"}', 1, id="line end in a string"),
        pytest.param("// note\n{}", 1, id="comment where none may be"),
        pytest.param("", 1, id="nothing"),
        pytest.param("[" * 100_000, 1, id="too deep"),
    ],
)
def test_the_line_of_a_mistake_is_named(text: str, line: int) -> None:
    with pytest.raises(json_edits.NotJsonError) as caught:
        json_edits.parse(text)

    assert caught.value.line == line


def test_of_repeated_keys_the_last_is_edited() -> None:
    text = '{"a": {}, "a": {"b": 1}}'

    assert json_edits.parse(text).at("a", "b") is not None
