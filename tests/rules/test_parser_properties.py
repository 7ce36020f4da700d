"""Whatever a person writes into the files of the rules, it is read or refused with a line, never a traceback."""
# ruff: noqa: E501 (pieces of files read best side by side)

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from enricher.rules.compiling.compiler import compile_layers, read_configuration
from enricher.rules.compiling.document import read_document
from enricher.rules.compiling.guardrails import GUARDRAILS, NAMES, CatalogueFile, read_catalogue, read_shorthands
from enricher.rules.compiling.named_files import Files
from enricher.rules.layers import Layer, packaged_file
from enricher.settings import CHOICES, DEFAULTS, LIMITS, BadValueError, convert

if TYPE_CHECKING:
    from enricher.rules.compiling.document import Problem

PACKAGED = Path(packaged_file()).read_text(encoding="utf-8")
PIECES = [
    "# Classification\n", "# Guardrails\n", "# Output\n", "# Context\n", "## Task type: debug\n", "## Task type\n", "## Words: x\n",
    "## Guardrail: H5\n", "## Approach: x\n", "## Channel: x\n", "## Budgets\n", "## Catalogues\n", "```yaml\n", "```\n", "\n",
    "signals:\n", '  - {phrase: "a … b", gap: 3, weight: 2}\n', "  - {any: [a, b]}\n", "  - {feature: diff}\n", "  - {words: x}\n",
    "  - [1, 2]\n", "  - null\n", "examples: [x]\n", "words: [x]\n", "extend: true\n", "disabled: true\n", "disabled: 7\n", "say: x\n",
    "needs: [frame]\n", "command: [x]\n", "tokens: 1\n", "min_score: -1\n", "a: &x [*x]\n", "? [a]\n: b\n", "guardrails: ../x\n",
    "{", "}", "[", "]", "\t", "%", "---\n", "!!python/name:os.system", "2026-99-99", ".inf", "0x", "# H5: x\n", "## x (P#1)\n", "é", "\0",
]  # fmt: skip
WRITTEN = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
CUT = st.tuples(st.integers(0, len(PACKAGED)), st.integers(0, 400), st.sampled_from(["", *PIECES])).map(
    lambda place: PACKAGED[: place[0]] + place[2] + PACKAGED[place[0] + place[1] :]
)
FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def stand_inside(problems: list[Problem], text: str) -> bool:
    last = max(len(text.splitlines()), 1)
    return all(1 <= one.line <= last + 1 and one.message and one.severity in ("error", "warning") for one in problems)


@FEW
@given(WRITTEN)
@example("# Output\n\n## Budgets\n\n```yaml\n" + "[" * 5000 + "\n```\n")
@example("# Output\n\n## Budgets\n\n```yaml\nx: 2026-99-99\n```\n")
@example("# Output\n\n## Budgets\n\n```yaml\na: &x [*x]\n```\n")
@example("# Output\n\n## Budgets\n\n```yaml\n" + "- " * 5000 + "\n```\n")
def test_any_text_is_read_as_a_document(text: str) -> None:
    assert stand_inside(read_document("f.md", text).problems, text)


@settings(FEW, max_examples=12)
@given(WRITTEN)
def test_any_text_is_compiled_or_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "instructions.md"
    file.write_text(text, encoding="utf-8")

    compiled = compile_layers([Layer("packaged", packaged_file()), Layer("user", str(file))])

    assert stand_inside([one for one in compiled.problems if one.file == str(file)], text)
    assert bool(compiled.broken) != ("classes" in compiled.body)


@settings(FEW, max_examples=12)
@given(CUT)
def test_the_packaged_file_cut_anywhere_is_compiled_or_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "instructions.md"
    file.write_text(text, encoding="utf-8")
    for name in ("HEURISTICS.md", "guardrails.md"):
        (tmp_path / name).write_text(
            Path(packaged_file()).with_name(name).read_text(encoding="utf-8"), encoding="utf-8"
        )

    compiled = compile_layers([Layer("packaged", str(file))])

    assert stand_inside([one for one in compiled.problems if one.file == str(file)], text)
    assert bool(compiled.broken) != ("classes" in compiled.body)


ROWS = ["| slug | guardrail |\n", "|---|---|\n", "| a | H5 |\n", "||||\n", "|\n"]
ENTRIES = ["[budgets]\n", "tokens = 1\n", "tokens = inf\n", "log = 'x'\n", "a.b = 1\n", "=", "1979-05-27\n"]


@FEW
@given(st.one_of(WRITTEN, st.lists(st.sampled_from(ROWS)).map("".join)))
def test_any_text_is_read_as_a_catalogue_and_as_its_table(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.md"
    file.write_text(text, encoding="utf-8")
    problems: list[Problem] = []

    read_catalogue(CatalogueFile(GUARDRAILS, str(file)), problems, Files())
    read_shorthands(CatalogueFile(NAMES, str(file)), problems, Files())

    assert stand_inside(problems, text)


@FEW
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(ENTRIES)).map("".join)))
def test_any_text_is_read_as_a_configuration(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")

    found, problems = read_configuration(str(file))

    assert stand_inside(problems, text)
    assert all(type(value) is type(DEFAULTS.get(key, True)) for key, value in found.items())


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.lists(st.integers(), max_size=2),
    st.sampled_from(["1", "0", "yes", "OFF", "0.7", "1e400", "nan", "-inf", "٣", "1_000", " 5 ", "9" * 5000]),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([*DEFAULTS, "channels.notes", "hosts.claude"]), VALUES)
def test_any_value_becomes_a_setting_of_its_type_within_its_limits_or_is_refused(key: str, value: Any) -> None:
    try:
        setting = convert(key, value)
    except BadValueError as refusal:
        assert str(refusal).startswith(f"{key} is ")
        assert "; write " in str(refusal)
    else:
        assert type(setting) is type(DEFAULTS.get(key, True))
        low, high = LIMITS.get(key, (setting, setting))
        assert not isinstance(setting, int | float) or low <= setting <= high
        assert key not in CHOICES or setting in CHOICES[key]


@pytest.mark.parametrize("key", [key for key in DEFAULTS if key in LIMITS])
def test_every_default_is_within_its_limits(key: str) -> None:
    assert convert(key, DEFAULTS[key]) == DEFAULTS[key]
