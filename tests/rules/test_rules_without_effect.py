"""``enricher check`` names every rule that can never act, and calls nothing of a valid layer missing."""
# ruff: noqa: E501 (a table of cases reads best with one line each)

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

PACKAGED = ROOT / "instructions" / "prompt-enricher-instructions.md"
AS_SEED_000_OUTLINES = """---
title: Prompt Enricher Instructions
---

# Prompt Enricher Instructions

## Classification rules

- Debug: the person reports a failure.

## Guardrail selection rules

- Debug work: H3 and H5.
"""
SMALL_LAYER = """# Guardrails

## Guardrail: X1

```yaml
title: Migrations Run Twice
signals:
  - {phrase: migration, weight: 5}
```

## Guardrail: H2

```yaml
disabled: true
```
"""


def rule(heading: str, *lines: str, part: str = "Guardrails") -> str:
    """Return a layer of one rule, whose first line of yaml is line 6."""
    return f"# {part}\n\n## {heading}\n\n```yaml\n" + "\n".join(lines) + "\n```\n"


def classified(heading: str, *lines: str) -> str:
    return rule(heading, *lines, part="Classification")


IDLE = [
    pytest.param(classified("Task type: debugg", "extend: true", "signals: [{phrase: x, weight: 2}]"), 3, "error", "this extends nothing: no lower layer has a rule 'Task type: debugg'; did you mean 'debug'?", id="extends an unknown class"),
    pytest.param(classified("Task type: Debug", "disabled: true"), 3, "warning", "this disables nothing: no lower layer has a rule 'Task type: Debug'; did you mean 'debug'?", id="disables an unknown class"),
    pytest.param(rule("Guardrail: H99", "disabled: true"), 3, "warning", "'H99' is in no catalogue, so this disables nothing; did you mean", id="disables an unknown guardrail"),
    pytest.param(rule("Guardrail: H2", "disabled: true", "always: true"), 7, "warning", "'always' has no effect", id="disabled with more"),
    pytest.param(classified("Task type: planning", "signals: [{phrase: x, weight: 2}]"), 3, "warning", "signals that the class has; write 'extend: true' to keep them", id="a class that loses its signals"),
    pytest.param(classified("Task type: gadget", "signals: []"), 3, "warning", "this class has no signals", id="a class without signals"),
    pytest.param(classified("Task type", "extend: true", "silent: [chatt]"), 7, "warning", "silent: no rule defines 'chatt'; did you mean 'chat'?", id="a threshold of no class"),
    pytest.param(classified("Words: tools", "words: [hammer]"), 3, "warning", "no signal uses this word list", id="an unused word list"),
    pytest.param(classified("Task type: debug", "extend: true", "signals:", "  - {phrase: my_table, weight: 2}"), 8, "warning", "'my_table' never matches: a prompt's 'my_table' is read as '<code>'", id="a word that is read otherwise"),
    pytest.param(classified("Task type: gadget", "leanings:", "  2: [claude.md]"), 7, "warning", "'claude.md' never matches: a prompt's 'claude.md' is read as '<agent-file>'", id="a file name as a plain word"),
    pytest.param(classified("Task type: debug", "extend: true", "signals: [{feature: task_docs, weight: 2}]"), 7, "warning", "'task_docs' holds only once the task type is chosen", id="a late feature of a task type"),
    pytest.param(rule("Guardrail: H5", "extend: true", "signals: [{feature: task_debugg, weight: 2}]"), 7, "warning", "no rule defines the task type 'debugg'; did you mean 'debug'?", id="a late feature of no class"),
    pytest.param(classified("Task type: debug", "extend: true", "signals: [{feature: short, with: ['<long>'], weight: 2}]"), 7, "warning", "a prompt that is 'short' has no other length", id="two lengths"),
    pytest.param(classified("Task type: debug", "extend: true", "signals: [{feature: table, at: start, weight: 2}]"), 7, "warning", "has no use for 'at'", id="a place of a feature"),
    pytest.param(classified("Task type: debug", "extend: true", "signals: [{phrase: flange, gap: 3, weight: 2}]"), 7, "warning", "has no use for 'gap'", id="a gap without a gap"),
    pytest.param(rule("Guardrail: X1", "title: T", "signals: [{phrase: migration}]"), 3, "warning", "X1 can never be shown: its signals and task types add up to 1, but min_score is 3; raise a weight", id="a guardrail below its threshold"),
    pytest.param(rule("Guardrail: X1", "title: T"), 3, "warning", "X1 can never be shown: nothing calls for it", id="a guardrail that nothing calls for"),
    pytest.param(rule("Guardrail: X1", "title: T", "task_types: [chat]"), 3, "warning", "X1 can never be shown", id="a guardrail of a silent class"),
    pytest.param(rule("Guardrail: X1", "title: T", "always: true", "task_types: [debugg]"), 8, "warning", "unknown task type 'debugg'", id="a guardrail of no class"),
    pytest.param(rule("Guardrail: X1", "signals: [{phrase: migration, weight: 5}]"), 3, "error", "guardrail 'X1' is in no catalogue; it is left out. Give it a title", id="a guardrail of no catalogue"),
    pytest.param(rule("Guardrail: verify_before_complete", "task_types: [ops]") + rule("Guardrail: H3", "task_types: [ops]").partition("\n\n")[2], 3, "error", "'verify_before_complete' and 'H3'", id="two rules of one guardrail"),
    pytest.param(rule("Guardrail: my own, rule", "title: T", "always: true"), 3, "error", "'my own, rule' is not an id", id="an id of several words"),
    pytest.param(rule("Catalogues", "extend: true"), 3, "warning", "this names no file", id="catalogues without a file"),
    pytest.param(rule("Approach: wait", "say: wait"), 3, "warning", "this approach can never be suggested: nothing calls for it", id="an approach nothing leads to"),
    pytest.param(rule("Approach: wait", "say: 'see {frame}'", "task_types: {debug: 3}"), 6, "warning", "'{frame}' is printed as written for a prompt without a frame", id="a fact that is not needed"),
    pytest.param(rule("Approach: wait", "say: wait", "signals: [{phrase: later, weight: 3}]", "examples: [now]"), 8, "error", "example 'now' comes out as nothing, not wait", id="an example below the threshold"),
    pytest.param(rule("Channel: notes", "command: [/no/such/program]", part="Context"), 6, "warning", "the program '/no/such/program' is not there", id="a channel without a program"),
    pytest.param(rule("Guardrail: H2", "disabled: true") + "\n# Output\n\nAnswer in two lines.\n", 9, "warning", "the part '# Output' has no rule", id="a part of prose"),
    pytest.param(rule("Guardrail: H2", "disabled: true") + "\n## Selection rules\n\nDebug: H3\n", 9, "warning", "'Selection rules' has no yaml block", id="a heading of prose"),
    pytest.param(rule("Guardrail: H2", "disabled: true") + "\n# Output format\n\nShort.\n", 9, "warning", "'# Output format' is not a part, so its text changes nothing; write '# Output'", id="a part by another name"),
    pytest.param(AS_SEED_000_OUTLINES, 1, "warning", "no rule in this file, so its text changes nothing", id="prose in the outline of seed 000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "severity", "message"), IDLE)
def test_what_can_never_act_is_told_with_its_line(
    account: Account, text: str, line: int, severity: str, message: str
) -> None:
    file = account.instruct(text)

    found = json.loads(account.cli("check", "--json", exit_code=1 if severity == "error" else 0))["problems"]

    told = [(one["file"], one["line"], one["severity"]) for one in found if message in one["message"]]
    assert told == [(str(file), line, severity)], found


def test_a_class_that_is_written_anew_on_purpose_is_no_problem(account: Account) -> None:
    account.instruct(classified("Task type: planning", "extend: false", "signals: [{phrase: x, weight: 2}]"))

    assert "no problems" in account.cli("check")


def test_a_switch_of_no_channel_is_a_warning_with_its_line(account: Account) -> None:
    file = account.write("config/config.toml", "[channels]\nmemory = false\nmemmory = false\n\n[hosts]\nclod = false\n")

    found = [line.partition(" ")[0] for line in account.cli("check").splitlines()]

    assert found == [f"{file}:3:", f"{file}:6:"]


def test_guardrails_of_a_catalogue_that_nothing_calls_for_are_told(account: Account) -> None:
    account.give_aops("# Output\n")
    file = account.write("aops/HEURISTICS.md", "## H5: Error Messages\n\n## H8: One\n\n## H9: Other\n")

    assert f"{file}:3: warning: nothing calls for H8, H9; write a rule such as '## Guardrail: H8'" in account.cli(
        "check"
    )


def test_a_table_of_short_names_without_a_row_is_told(account: Account) -> None:
    account.instruct(rule("Catalogues", "names: names.md"))
    file = account.write("config/names.md", "| name | id |\n|---|---|\n| x | H5 |\n")

    assert f"{file}:1: warning: no row found; the columns are slug | guardrail" in account.cli("check")


@pytest.mark.parametrize("path", ["config/instructions.md", "project/.enricher/instructions.md", "draft.md"])
def test_a_small_layer_is_checked_as_a_layer_wherever_it_lies(account: Account, path: str) -> None:
    file = account.write(path, SMALL_LAYER)

    printed = account.cli("check", str(file))

    assert "no problems" in printed
    assert f"{PACKAGED}, {file}" in printed


def test_a_small_layer_with_a_mistake_is_told_as_a_layer(account: Account) -> None:
    file = account.write("draft.md", IDLE[0].values[0])

    [found] = account.cli("check", str(file), exit_code=1).splitlines()

    assert found.startswith(f"{file}:3: error: this extends nothing")


def test_a_copy_of_the_packaged_file_stands_alone(account: Account) -> None:
    file = account.write("copy.md", PACKAGED.read_text())

    assert str(PACKAGED) not in account.cli("check", str(file)).splitlines()[-1]
