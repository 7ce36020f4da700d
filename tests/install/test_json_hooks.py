"""Whatever else a client's settings hold, our entry goes in once and comes out again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher import hosts
from enricher.install import json_edits, launcher, registration

JSON_HOSTS = [host for host in hosts.NAMES if host != "opencode"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OTHER_HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(), "bash": st.text()})
OTHER_KEYS = st.text().filter(lambda key: key != "hooks")
LAYOUTS: list[dict[str, Any]] = [{"indent": 2}, {"indent": "\t"}, {"indent": None}, {"separators": (",", ":")}]


@st.composite
def settings(draw: st.DrawFn, shape: json_edits.Shape) -> dict[str, Any]:
    others = draw(st.lists(OTHER_HANDLER, max_size=2))
    entries = [{"matcher": "", "hooks": [other]} for other in others] if shape.is_grouped else others
    events = draw(st.dictionaries(st.text(), VALUES, max_size=2)) | ({shape.event: entries} if entries else {})
    tree: dict[str, Any] = draw(st.dictionaries(OTHER_KEYS, VALUES, max_size=3)) | shape.root
    return tree | ({"hooks": events} if events else {})


@pytest.mark.parametrize("host", JSON_HOSTS)
@given(data=st.data(), layout=st.sampled_from(LAYOUTS))
def test_our_entry_goes_in_once_and_out_without_a_trace(host: str, data: st.DataObject, layout: dict[str, Any]) -> None:
    shape = json_edits.Shape(registration.facts(host))
    tree = data.draw(settings(shape))
    before = json.dumps(tree, **layout)
    command = launcher.command(host, is_portable=True)

    once = json_edits.with_entry(shape, before, command)

    assert json_edits.commands(shape, once) == [command]
    assert json_edits.with_entry(shape, once, command) == once
    assert json_edits.without_entry(shape, once) == before
    assert json_edits.is_bare(shape, before) == (tree == shape.root)
    assert {key: value for key, value in json.loads(once).items() if key != "hooks"} == {
        key: value for key, value in tree.items() if key != "hooks"
    }


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_copies_of_our_entry_become_one(host: str) -> None:
    shape = json_edits.Shape(registration.facts(host))
    command = launcher.command(host, is_portable=True)
    tree = {**shape.root, "hooks": {shape.event: [shape.entry(command)] * 3}}

    once = json_edits.with_entry(shape, json.dumps(tree), command)

    assert json_edits.commands(shape, once) == [command]


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_an_entry_that_asks_a_person_to_wait_is_never_written(host: str) -> None:
    shape = json_edits.Shape(registration.facts(host))
    timeout = shape.handler.get("timeout", shape.handler.get("timeoutSec", 5))

    assert isinstance(timeout, int)
    assert timeout == {"gemini": 5000, "claude": 20}.get(host, 5)
