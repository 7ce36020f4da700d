"""Editing TOML as text changes what was asked and nothing else."""

from __future__ import annotations

import tomllib

import pytest

from enricher.install import toml_edits


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "enabled = true\n", id="no file"),
        pytest.param("# mine\nshadow = true", "# mine\nshadow = true\nenabled = true\n", id="no line end"),
        pytest.param("enabled = false  # why\n", "enabled = true  # why\n", id="in its old place"),
        pytest.param('"enabled" = "no"\n', "enabled = true\n", id="quoted key and value"),
        pytest.param("[budgets]\ntokens = 1\n", "enabled = true\n\n[budgets]\ntokens = 1\n", id="before the tables"),
        pytest.param("a = [\n[1],\n]\n[b]\n", "a = [\n[1],\n]\nenabled = true\n\n[b]\n", id="brackets of an array"),
        pytest.param("a = 1\r\n", "a = 1\r\nenabled = true\r\n", id="windows line ends"),
    ],
)
def test_a_switch_is_set_beside_everything_else(before: str, after: str) -> None:
    assert toml_edits.with_setting(before, "enabled", value=True) == after


def test_a_table_of_that_name_elsewhere_is_left_alone() -> None:
    before = '[hosts]\nenabled = "x"\n'

    assert tomllib.loads(toml_edits.with_setting(before, "enabled", value=False)) == {
        "enabled": False,
        "hosts": {"enabled": "x"},
    }


@pytest.mark.parametrize("text", ['a = """\nenabled = 1\n"""\n', "enabled = [\n]\n", "a = = 1"])
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(toml_edits.NotTomlError):
        toml_edits.with_setting(text, "enabled", value=True)
