"""Labels ask for small steps; each comes as a diff with what it fixes and breaks, and nothing is written."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from edits_of_rules import ask, instruct, layer

from enricher.rules.layers import packaged_file
from workbench.tuning.rewriting import Rewriter
from workbench.tuning.rule_changes import phrases_for

if TYPE_CHECKING:
    from simulator import Account

RULES = """# Classification

## Task type

```yaml
silent: []
```

## Task type: debug

```yaml
signals:
  - {any: [crash, hang], weight: 3}  # what breaks
  - {phrase: "machine", weight: 4}
examples:
  - "it crashes"
```

## Task type: docs

```yaml
signals:
  - {any: [readme, manual], weight: 2}
  - {phrase: "of the
      house"}
```

# Guardrails

## Guardrail

```yaml
min_score: 3
```

# Output

## Lines

```yaml
class_line: alone
```
"""


@pytest.fixture
def instructions(account: Account) -> Path:
    for name in ("HEURISTICS.md", "guardrails.md"):
        shutil.copy(Path(packaged_file()).parent / name, account.home)
    return account.write("rules.md", RULES)


def _labels(account: Account, *rows: tuple[str, str, str]) -> str:
    texts = [json.dumps({"text": text, "task_type": name, "source": source}) for source, text, name in rows]
    return str(account.write("labels.jsonl", "\n".join(texts)))


def _suggest(account: Account, file: Path, *options: str) -> dict[str, Any]:
    found = json.loads(account.cli("suggest", "--instructions", str(file), "--json", *options))
    assert isinstance(found, dict)
    return found


MANUALS = [(f"s{number}", f"the machine manual {number}", "docs") for number in range(5)]


def test_a_weight_is_proposed_with_the_prompts_that_it_fixes(account: Account, instructions: Path) -> None:
    labels = _labels(account, *MANUALS, ("s9", "the machine crashes", "debug"))

    first = _suggest(account, instructions, "--labels", labels)["proposals"][0]

    assert (first["fixes"], first["breaks"]) == ([f"{labels}:{number}" for number in range(1, 6)], [])
    assert first["p"] == pytest.approx(1 / 32)
    assert (first["sessions"], first["holds"]) == (5, True)


def test_what_a_step_would_break_stands_beside_what_it_fixes(account: Account, instructions: Path) -> None:
    labels = _labels(
        account, *MANUALS, ("s8", "a machine", "debug"), ("s9", "machine manual, where it crashes", "debug")
    )

    found = _suggest(account, instructions, "--labels", labels)
    removal = [one for one in found["proposals"] if "take out" in one["title"]]

    assert all(len(one["fixes"]) > len(one["breaks"]) for one in found["proposals"])
    assert all(f"{labels}:6" in one["breaks"] for one in removal)


def test_a_wording_that_several_sessions_share_is_proposed(account: Account, instructions: Path) -> None:
    rows = [(f"s{number}", f"sprocket list {number}, crash", "docs") for number in range(4)]
    labels = _labels(account, *rows, ("s8", "crash of the list", "debug"), ("s9", "it hangs", "debug"))

    titles = [one["title"] for one in _suggest(account, instructions, "--labels", labels)["proposals"]]

    assert any(title.startswith('docs: add "sprocket') for title in titles)


def test_a_wording_of_one_session_is_not_proposed(account: Account, instructions: Path) -> None:
    labels = _labels(account, *[("s1", f"sprocket {number} crash", "docs") for number in range(4)])

    titles = [one["title"] for one in _suggest(account, instructions, "--labels", labels)["proposals"]]

    assert not any("sprocket" in title for title in titles)


def test_an_applied_diff_passes_the_check_and_does_what_it_says(account: Account, instructions: Path) -> None:
    labels = _labels(account, *MANUALS, ("s9", "the machine crashes", "debug"))
    before = _suggest(account, instructions, "--labels", labels)

    subprocess.run(["patch", "-s", str(instructions)], input=before["proposals"][0]["diff"], text=True, check=True)
    after = _suggest(account, instructions, "--labels", labels)

    assert after["right"] == before["right"] + len(before["proposals"][0]["fixes"])
    assert "error" not in account.cli("check", str(instructions))


def test_nothing_is_written(account: Account, instructions: Path) -> None:
    _suggest(account, instructions, "--labels", _labels(account, *MANUALS))

    assert instructions.read_text() == RULES


def test_a_step_that_a_file_s_own_example_forbids_is_not_proposed(account: Account, instructions: Path) -> None:
    labels = _labels(account, *[(f"s{number}", f"crash {number}", "docs") for number in range(5)])

    proposals = _suggest(account, instructions, "--labels", labels)["proposals"]

    assert not any("crash" in one["title"] and "take out" in one["title"] for one in proposals)


def test_labels_of_the_log_count_and_other_prompts_that_would_change_are_told(account: Account) -> None:
    prompt = "the frobnicator of the shop"
    file = instruct(account, RULES.replace("machine", "frobnicator"))
    for number in range(5):
        account.cli("trace", "label", ask(account, f"{prompt} manual {number}"), "docs")
    ask(account, f"{prompt} manual 9")

    found = _suggest(account, file)

    assert (found["labelled"], found["right"]) == (5, 0)
    assert {(one["log_changes"], one["log_prompts"]) for one in found["proposals"]} == {(1, 1)}


def test_a_layer_that_only_adds_to_a_class_is_improved_where_it_stands(account: Account) -> None:
    file = instruct(account, layer('{phrase: "quux", weight: 1}', '{phrase: "frobnicator", weight: 14}'))
    ask(account, "hello there")
    rows = [(f"s{number}", f"the frobnicator stand {number}", "docs") for number in range(5)]

    proposals = _suggest(account, file, "--labels", _labels(account, *rows))["proposals"]

    assert proposals
    assert {(one["file"], one["line"]) for one in proposals} <= {(str(file), 9)}
    assert all("quux" not in line for one in proposals for line in one["diff"].splitlines() if line[0] in "+-")


def test_a_text_of_windows_keeps_its_line_ends(account: Account, instructions: Path) -> None:
    instructions.write_bytes(RULES.replace("\n", "\r\n").encode())
    labels = _labels(account, *MANUALS)

    diffs = [one["diff"] for one in _suggest(account, instructions, "--labels", labels)["proposals"]]

    assert diffs
    assert all(line.endswith("\r") for diff in diffs for line in diff.split("\n")[3:-1])


def test_few_labels_are_said_plainly(account: Account, instructions: Path) -> None:
    account.cli("trace", "label", ask(account, "the machine"), "wrong")

    missing = _suggest(account, instructions, "--labels", _labels(account, *MANUALS))["missing"]

    assert missing[0] == "5 labelled prompts; below 30 a proposal follows single prompts"
    assert missing[1].startswith("1 labels only say «wrong»") and missing[2].startswith("no label for debug")


def test_without_labels_it_says_how_to_give_some(account: Account) -> None:
    ask(account, "the machine")

    assert "enricher trace queue" in account.cli("suggest", exit_code=1)


def test_broken_instructions_are_said_with_file_and_line(account: Account, instructions: Path) -> None:
    instructions.write_text(RULES.replace("weight: 3", "wieght: 3"))

    said = account.cli("suggest", "--instructions", str(instructions), exit_code=1)

    assert f"{instructions}:13: error: unknown key 'wieght'" in said


def test_instructions_that_are_no_text_are_named(account: Account, instructions: Path) -> None:
    instructions.write_bytes(b"\xff\n")

    said = account.cli("suggest", "--instructions", str(instructions), exit_code=1)

    assert f"{instructions}: cannot be read as UTF-8 text" in said


@pytest.mark.parametrize(
    ("rule", "index", "weight", "line"),
    [
        pytest.param("task_type.debug", 0, 5, "  - {any: [crash, hang], weight: 5}  # what breaks", id="a weight"),
        pytest.param("task_type.docs", 1, 2, '      house", weight: 2}', id="none yet, over two lines"),
    ],
)
def test_a_weight_is_written_in_its_place(rule: str, index: int, weight: int, line: str) -> None:
    text = Rewriter("rules.md", RULES).with_weight(rule, index, weight)

    assert text is not None
    assert [one for one in text.split("\n") if one not in RULES.split("\n")] == [line]


def test_a_signal_over_two_lines_is_taken_out_whole() -> None:
    assert Rewriter("rules.md", RULES).with_weight("task_type.docs", 1, 0) == RULES.replace(
        '  - {phrase: "of the\n      house"}\n', ""
    )


def test_a_phrase_is_added_behind_the_last_signal() -> None:
    line = '  - {phrase: "say \\"x\\"", weight: 2}\n'

    assert Rewriter("rules.md", RULES).with_signal(
        "task_type.debug", {"phrase": 'say "x"', "weight": 2}
    ) == RULES.replace("examples:\n", f"{line}examples:\n")


def test_signals_on_one_line_are_left_alone() -> None:
    rewriter = Rewriter(
        "r.md", "# Classification\n\n## Task type: a\n\n```yaml\nsignals: [{phrase: x}, {phrase: y}]\n```\n"
    )

    assert rewriter.with_weight("task_type.a", 0, 0) is None
    assert rewriter.with_signal("task_type.a", {"phrase": "z", "weight": 1}) is None


def test_without_wrong_prompts_there_is_no_phrase_to_look_for() -> None:
    assert phrases_for([], [], []) == []
