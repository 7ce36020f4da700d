"""An edit of the packaged instructions becomes a layer with the same effect that holds only what was changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from enricher.rules.own_layer import LayerError, OwnLayer, layer_of_edit

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.rules.compiling.compiled import Compiled

PACKAGED = Path(packaged_file()).read_text(encoding="utf-8")
NEW_CLASS = "## Task type: migration\n\nA class.\n\n```yaml\nsignals:\n  - {phrase: zork, weight: 9}\n```\n\n"
EXAMPLE = '"How is the hydrator made?"'
FIRST_EXAMPLE = '["What is the hydrator?"'
LAST_EXAMPLE = '"how can I see the logs of the last deploy?"]'


def saved(tmp_path: Path, edited: str, own: str = "") -> OwnLayer:
    layer = Layer("user", str(tmp_path / "instructions.md"))
    if own:
        Path(layer.path).write_text(own, encoding="utf-8")
    stack = [Layer("packaged", packaged_file()), layer]
    return layer_of_edit(edited, opened=PACKAGED, stack=stack, own=layer)


def section(heading: str) -> str:
    """Return a rule of the packaged file with everything up to the next heading."""
    start = PACKAGED.index(f"{heading}\n")
    return PACKAGED[start : PACKAGED.index("\n#", start + 1) + 1]


def without(heading: str) -> str:
    return PACKAGED.replace(section(heading), "")


def classes_of(compiled: Compiled) -> list[str]:
    """Return the classes in the order that decides ties; a guardrail without signals is a class of no weight."""
    table = compiled.body["classes"]
    return [name for of, name in table["classes"] if table["facets"][of]["name"] != "guardrail"]


EDITS = [
    pytest.param(lambda text: text.replace("tokens: 450", "tokens: 300"), "extend: true\ntokens: 300", id="a budget"),
    pytest.param(
        lambda text: text.replace(LAST_EXAMPLE, f"{LAST_EXAMPLE[:-1]}, {EXAMPLE}]", 1),
        "extend: true\nexamples: ['How is the hydrator made?']\n```",
        id="one more item at the end of a list",
    ),
    pytest.param(
        lambda text: text.replace(FIRST_EXAMPLE, f"[{EXAMPLE}, {FIRST_EXAMPLE[1:]}", 1),
        "## Task type: question\nThe turn ends with an answer",
        id="an item in the middle of a list copies the rule",
    ),
    pytest.param(lambda _text: without("## Guardrail: H4"), "H4\n\n```yaml\ndisabled: true", id="a removed guardrail"),
    pytest.param(lambda _text: without("## Guardrail: H5"), "{}", id="a guardrail that its task type still calls for"),
    pytest.param(lambda text: text.replace("at: lead, exact: true, weight: 6}", "at: lead, exact: true, weight: 5}", 1),
                 "can take uncommitted work with it", id="a weight of a guardrail copies its sentence"),
    pytest.param(lambda _text: without("## Task type: ops"), "ops\n\n```yaml\ndisabled: true", id="a removed class"),
    pytest.param(lambda text: text.replace("## Search intent\n", f"{NEW_CLASS}## Search intent\n"), NEW_CLASS.strip(),
                 id="a new class"),
    pytest.param(lambda text: text.replace("The person drew a line", "Somebody drew a line"), "Somebody drew",
                 id="prose"),
    pytest.param(lambda text: text.replace("Start at {frame}: the", "Begin at {frame}: the"),
                 'extend: true\nsay: "Begin at {frame}', id="the sentence of an approach that has task types"),
    pytest.param(lambda text: text.replace("min_confidence: 0.42", "# mine\nmin_confidence: 0.42"), "# mine",
                 id="a comment in a block"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "written"), EDITS)
def test_a_layer_says_what_the_edit_says_and_little_else(
    tmp_path: Path, edit: Callable[[str], str], written: str
) -> None:
    edited = edit(PACKAGED)
    try:
        layer = saved(tmp_path, edited)
    except LayerError as refusal:
        pytest.fail(str(refusal))
    own = Layer("user", str(tmp_path / "instructions.md"))
    got = compile_layers([Layer("packaged", packaged_file()), own], texts={own.path: layer.text})
    wanted = compile_layers([Layer("packaged", packaged_file())], texts={packaged_file(): edited})

    assert written in layer.text
    assert len(layer.rules) == 1
    assert "catalogues" not in layer.rules
    assert got.body["guardrails"] == wanted.body["guardrails"]
    assert got.body["budgets"] == wanted.body["budgets"]
    assert classes_of(got) == classes_of(wanted)


def test_a_rule_that_is_copied_brings_its_fitted_lists(tmp_path: Path) -> None:
    layer = saved(tmp_path, PACKAGED.replace("{feature: ends_with_question, weight: 4}", "{phrase: zork, weight: 4}"))

    order = [layer.text.index(one) for one in ("{phrase: zork", "{words: inverted", "examples:", "leanings:")]
    assert order == sorted(order)


def test_what_nobody_changed_is_no_layer(tmp_path: Path) -> None:
    layer = saved(tmp_path, PACKAGED)

    assert (layer.text, layer.rules) == ("", ())


def test_the_layer_that_is_there_keeps_its_text_and_gains_the_rule_in_its_part(tmp_path: Path) -> None:
    own = "# Classification\n\nMine.\n\n# Output\n\n## Lines\n\n```yaml\nclass_line: alone\n```\n"

    text = saved(tmp_path, PACKAGED.replace("min_confidence: 0.42", "min_confidence: 0.6"), own).text

    added = "## Task type\n\n```yaml\nextend: true\nmin_confidence: 0.6\n```\n\n"
    assert text == own.replace("# Output", f"{added}# Output")


@pytest.mark.parametrize(
    ("edited", "own", "told"),
    [
        pytest.param(
            PACKAGED.replace("## Task type: question", f"{NEW_CLASS}## Task type: question"),
            "",
            "put '## Task type: migration' behind '## Task type: chat' on line",
            id="a new class that would win ties",
        ),
        pytest.param(
            PACKAGED.replace("tokens: 450", "tokens: 300"),
            "# Output\n\n## Budgets\n\n```yaml\nextend: true\nitems: 3\n```\n",
            "instructions.md:3; make this change there",
            id="a rule that the layer has already",
        ),
        pytest.param(PACKAGED.replace("min_confidence", "min_confidense"), "", "unknown key", id="a broken edit"),
        pytest.param(PACKAGED.replace(": guardrails.md", ": gone.md"), "", "gone.md does not exist", id="no catalogue"),
    ],
)
def test_what_a_layer_cannot_say_is_refused_with_the_line(tmp_path: Path, edited: str, own: str, told: str) -> None:
    with pytest.raises(LayerError) as refused:
        saved(tmp_path, edited, own)

    assert told in str(refused.value)
    assert refused.value.problems[0].file == packaged_file()
    assert refused.value.problems[0].line > 1
