"""``enricher check``: what is wrong with instructions, where, and how to mend it."""
# ruff: noqa: E501 (a table of cases reads best with one line each)

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

PACKAGED = ROOT / "instructions" / "prompt-enricher-instructions.md"
HEAD = "# Classification\n\n## Task type: gadget\n\n```yaml\n"
DEBUG = "# Classification\n\n## Task type: debug\n\n```yaml\nextend: true\n"

WRONG = [
    pytest.param(HEAD + "signals: [1, 2\n```\n", 7, "YAML: ", id="YAML that does not end"),
    pytest.param(HEAD + "signals:\n\t- x\n```\n", 7, "YAML: ", id="a tab in YAML"),
    pytest.param(HEAD + "signals: []\nsignals: []\n```\n", 7, "key 'signals' occurs twice", id="a key twice"),
    pytest.param(HEAD + "signal: []\n```\n", 6, "unknown key 'signal'; known: ", id="an unknown key"),
    pytest.param(HEAD + "- a\n```\n", 6, "must be a mapping", id="a list for a mapping"),
    pytest.param(HEAD + "signals:\n  - {phrase: a b, weight: 31}\n```\n", 7, "weight: 31 is outside 1 to 30", id="a weight"),
    pytest.param(HEAD + "signals:\n  - {phrase: a … b, gap: 13}\n```\n", 7, "gap: 13 is outside 1 to 12", id="a gap"),
    pytest.param(HEAD + "signals:\n  - {phrase: a, at: middle}\n```\n", 7, "at: 'middle' is no place", id="a place"),
    pytest.param(HEAD + "signals:\n  - {feature: rainbow}\n```\n", 7, "unknown feature 'rainbow'", id="a feature"),
    pytest.param(HEAD + "signals:\n  - {words: nowhere}\n```\n", 7, "unknown word list 'nowhere'", id="a word list"),
    pytest.param(HEAD + "signals:\n  - {weight: 3}\n```\n", 7, "needs exactly one of", id="a signal without a subject"),
    pytest.param(HEAD + "signals:\n  - {phrases: a}\n```\n", 7, "unknown key 'phrases'", id="an unknown key of a signal"),
    pytest.param("# Classification\n\n## Colour: red\n\n```yaml\na: 1\n```\n", 3, "'colour' is no kind of rule", id="a kind"),
    pytest.param("# Output\n\n## Task type: red\n\n```yaml\nsignals: []\n```\n", 3, "belongs to the part '# Classification'", id="a part"),
    pytest.param("## Task type: red\n\n```yaml\nsignals: []\n```\n", 1, "is in no part", id="no part"),
    pytest.param("# Output\n\n# Classification\n\n# Output\n", 5, "part 'Output' occurs twice", id="a part twice"),
    pytest.param("# Output\n\n```yaml\na: 1\n```\n", 3, "yaml block without a rule", id="a block without a rule"),
    pytest.param((HEAD + "signals: []\n```\n\n## Task type: gadget\n\n```yaml\nsignals: []\n```\n"), 9, "'task_type.gadget' occurs twice", id="a rule twice"),
    pytest.param("# Guardrails\n\n## Guardrail: H99\n\n```yaml\nsignals: []\n```\n", 3, "guardrail 'H99' is in no catalogue", id="a dangling id"),
    pytest.param(DEBUG + 'examples:\n  - "the tests pass, thanks"\n```\n', 8, "example 'the tests pass, thanks' comes out as", id="an example"),
    pytest.param("# Output\n\n## Budgets\n\n```yaml\ntokens: 5000\n```\n", 6, "tokens: input should be less than or equal to 2000", id="a limit"),
    pytest.param("# Guardrails\n\n## Approach: x\n\n```yaml\nsay: y\nneeds: [moon]\n```\n", 7, "unknown fact 'moon'", id="a fact"),
]  # fmt: skip
DOUBTFUL = [
    pytest.param("# Guardrails\n\n## Approach: x\n\n```yaml\nsay: y\ntask_types: {moon: 3}\n```\n", 7, "unknown task type 'moon'", id="a task type"),
    pytest.param("# Classification\n\n## Task type: gadget\n\nNo block.\n", 3, "reads like a rule but has no yaml block", id="no block"),
]  # fmt: skip


def problems(printed: str) -> list[tuple[str, int, str, str]]:
    found = [re.fullmatch(r"(.+?):(\d+): (error|warning): (.+)", line) for line in printed.splitlines()]
    assert all(found), printed
    return [(one[1], int(one[2]), one[3], one[4]) for one in found]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_a_mistake_is_an_error_with_its_line(account: Account, text: str, line: int, message: str) -> None:
    file = account.instruct(text)

    found = problems(account.cli("check", exit_code=1))

    assert [(one[0], one[1], one[2]) for one in found if message in one[3]] == [(str(file), line, "error")]


@pytest.mark.parametrize(("text", "line", "message"), DOUBTFUL)
def test_a_doubt_is_a_warning_and_no_failure(account: Account, text: str, line: int, message: str) -> None:
    file = account.instruct(text)

    found = problems(account.cli("check"))

    assert [(one[0], one[1], one[2]) for one in found if message in one[3]] == [(str(file), line, "warning")]


@pytest.mark.conformance("E08")
def test_the_shipped_file_has_its_four_parts_and_no_problem(account: Account) -> None:
    told = json.loads(account.cli("check", "--json"))
    parts = re.findall(r"^# (.+)$", re.sub(r"```.*?```", "", PACKAGED.read_text(), flags=re.DOTALL), re.MULTILINE)

    assert told["problems"] == []
    assert parts == ["Classification", "Context", "Guardrails", "Output"]
    kinds = {rule.split(".")[0] for rule in told["effective"]}
    assert {"task_type", "search_intent", "guardrail", "approach", "budgets", "lines", "catalogues"} <= kinds


@pytest.mark.conformance("E08")
@pytest.mark.parametrize("part", ["Classification", "Guardrails", "Output"])
def test_a_missing_part_of_instructions_that_stand_alone_is_an_error(account: Account, part: str) -> None:
    text = re.sub(rf"^# {part}$.*?(?=^# (?!{part})|\Z)", "", PACKAGED.read_text(), flags=re.DOTALL | re.MULTILINE)
    file = account.write("alone.md", text)

    told = account.cli("replay", "--instructions", str(file), exit_code=1)

    assert f"{file}:1: error: the part '# {part}' is missing or empty" in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"# Classification\n\xff\xfe", "it is not UTF-8 text", id="binary"),
        pytest.param(None, "not a regular file", id="a folder"),
    ],
)
def test_what_cannot_be_read_is_an_error(account: Account, content: bytes | None, message: str) -> None:
    if content is None:
        (account.config / "instructions.md").mkdir(parents=True)
    else:
        account.instruct(content)

    assert message in problems(account.cli("check", exit_code=1))[0][3]


def test_all_problems_of_a_file_are_told_at_once_in_the_order_of_their_lines(account: Account) -> None:
    account.instruct(
        HEAD + "signal: []\n```\n\n## Colour: red\n\n```yaml\na: 1\n```\n\n## Task type: thing\n\n```yaml\nb: [\n```\n"
    )

    assert [one[1] for one in problems(account.cli("check", exit_code=1))] == [6, 9, 19]


def test_an_unknown_key_of_the_configuration_is_a_warning_with_its_line(account: Account) -> None:
    file = account.write("config/config.toml", 'log = "redacted"\n\n[budgets]\ntoken = 12\n')

    assert [(one[0], one[1], one[2]) for one in problems(account.cli("check"))] == [(str(file), 4, "warning")]


CATALOGUES = [
    pytest.param("## H5: Error Messages\n\n**Statement**: x.\n\n### H5a: Quote Them\n", {"H5": "Error Messages", "H5a": "Quote Them"}, id="number first"),
    pytest.param("## Fail Fast (P#58)\n\n## Say Less (P#9)\n", {"P#58": "Fail Fast", "P#9": "Say Less"}, id="number last"),
    pytest.param("## H1: One\n## Two (P#2)\n", {"H1": "One", "P#2": "Two"}, id="both"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "titles"), CATALOGUES)
def test_both_heading_formats_of_catalogues_load(account: Account, text: str, titles: dict[str, str]) -> None:
    from enricher.rules.compiling.guardrails import GUARDRAILS, CatalogueFile, read_catalogue
    from enricher.rules.compiling.named_files import Files

    found: list[object] = []
    file = CatalogueFile(GUARDRAILS, str(account.write("HEURISTICS.md", text)))
    catalogue = read_catalogue(file, found, Files())

    assert ({one.id: one.title for one in catalogue.values()}, found) == (titles, [])


def test_an_id_that_stands_twice_in_a_catalogue_is_told(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Catalogues\n\n```yaml\nextend: true\nguardrails: H.md\n```\n")
    catalogue = account.write("config/H.md", (ROOT / "instructions" / "HEURISTICS.md").read_text() + "\n## H5: Again\n")

    found = problems(account.cli("check", exit_code=1))

    assert [(one[0], one[2], one[3][:15]) for one in found] == [(str(catalogue), "error", "H5 occurs twice")]


def test_an_alias_that_stands_twice_and_a_slug_that_dangles_are_told(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Catalogues\n\n```yaml\nextend: true\nnames: names.md\n```\n")
    table = "| slug | guardrail | task types | aliases |\n|---|---|---|---|\n| one | H5 | debug | same |\n| two | H77 | moon | same |\n"
    names = account.write("config/names.md", table)

    found = [one for one in problems(account.cli("check", exit_code=1)) if one[0] == str(names)]

    assert [(one[1], one[2], one[3].split(";")[0]) for one in found] == [
        (4, "error", "'same' occurs twice"),
        (4, "error", "'two' stands for H77, which is in no catalogue"),
        (4, "warning", "'two' names the task type 'moon', which no rule defines"),
    ]


def test_a_clean_file_says_so(account: Account) -> None:
    assert re.fullmatch(r"\d+ rules, no problems \(.+\)\n", account.cli("check"))


def test_what_a_layer_adds_to_a_rule_is_told_with_its_own_line(account: Account) -> None:
    layer = account.instruct(
        "# Classification\n\n## Task type: debug\n\n```yaml\nextend: true\nsignals:\n"
        '  - {phrase: "shop", weight: 9}\n  - {phrase: "two caches", weight: 99}\n  - {feature: nonsense, weight: 9}\n```\n'
    )
    found = json.loads(account.cli("check", "--json", exit_code=1))["problems"]

    assert [(one["file"], one["line"]) for one in found] == [(str(layer), 9), (str(layer), 10)]


def test_an_exception_of_a_guardrail_that_cannot_be_used_is_told_at_its_line(account: Account) -> None:
    layer = account.instruct(
        '# Guardrails\n\n## Guardrail: H3\n\n```yaml\nextend: true\nunless:\n  - "shop"\n  - "[nonsense]"\n```\n'
    )
    [found] = json.loads(account.cli("check", "--json", exit_code=1))["problems"]

    assert (found["file"], found["line"]) == (str(layer), 9)
    assert "unknown word list '[nonsense]'" in found["message"]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param('extend: false\nsignals:\n  - {any: [kaputt], weight: 20}\nexamples: ["kaputt"]', id="replaced"),
        pytest.param("disabled: true", id="disabled"),
    ],
)
def test_a_class_of_a_layer_is_not_measured_by_packaged_examples(account: Account, keys: str) -> None:
    account.instruct(f"# Classification\n\n## Task type: debug\n\n```yaml\n{keys}\n```\n")

    assert "no problems" in account.cli("check")


def test_an_example_of_a_lower_layer_that_fails_is_told_where_the_layer_speaks(account: Account) -> None:
    many = "\n".join(f"  - {{any: [mermaid, unheard{number}], weight: 9}}" for number in range(5))
    own, stronger = (
        f"\n## Task type: {name}\n\n```yaml\nextend: true\nsignals:\n{signals}\n```\n"
        for name, signals in (("docs", "  - {phrase: unheard, weight: 1}"), ("ops", many))
    )
    layer = account.instruct(f"# Classification\n{own}{stronger}")
    [found] = json.loads(account.cli("check", "--json", exit_code=1))["problems"]

    assert (found["file"], found["line"]) == (str(layer), 3)
    assert "comes out as ops, not docs (written in " in found["message"]
