"""The small library functions give what the public ones give, also where the private ones behind them are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator import ROOT

from storage.base import fast_stdlib

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
WITHOUT_PRIVATE = """
import sys
sys.modules["_json"] = None
sys.path.insert(0, sys.argv[1])
from storage.base import fast_stdlib
import json
for line in sys.stdin:
    value = json.loads(line)
    text = fast_stdlib.dumps(value)
    print(text == json.dumps(value, separators=(",", ":")) and fast_stdlib.loads(text) == value)
"""
SAMPLES = [None, True, -1.5e300, 10**400, "", 'é\ud83d\U0001f600\x00"\\', [], {}, {"a": [1, {"b": None}]}, ["x"] * 100]


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_json_is_written_and_read_as_by_the_public_module(value: object) -> None:
    text = fast_stdlib.dumps(value)

    assert text == json.dumps(value, separators=(",", ":"))
    assert fast_stdlib.loads(text) == value


def test_without_the_private_module_everything_is_the_same() -> None:
    given = "".join(json.dumps(value) + "\n" for value in SAMPLES)

    command = [sys.executable, "-I", "-S", "-c", WITHOUT_PRIVATE, str(ROOT)]
    ended = subprocess.run(command, input=given, capture_output=True, text=True, check=True)

    assert ended.stdout.splitlines() == ["True"] * len(SAMPLES)


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=1, max_size=64), st.binary(max_size=300))
def test_the_hash_is_keyed_blake2b(key: bytes, data: bytes) -> None:
    assert fast_stdlib.keyed_hash(key, data) == blake2b(data, key=key, digest_size=16).hexdigest()


@pytest.mark.parametrize("text", ["", " ", "{", '{"a"', "[1,", "nul", "tru", "-", "\ufeff{}"])
def test_an_incomplete_value_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        fast_stdlib.loads(text)


@pytest.mark.parametrize("text", ["{} x", "1 2", "[] []"])
def test_text_behind_the_value_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        fast_stdlib.loads(text)
    assert fast_stdlib.scan(text)[1] < len(text)


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", {(1, 2): 3}])
def test_what_is_no_json_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        fast_stdlib.dumps(value)


def test_nesting_without_end_is_a_recursion_error() -> None:
    with pytest.raises(RecursionError):
        fast_stdlib.loads("[" * 200_000)
