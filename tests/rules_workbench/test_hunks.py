"""An edit is cut into pieces that a person would name, and any choice of them can be undone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replay.hunks import Edits, FileEdit

RULES = """# Classification

What is asked.

## Task type: debug

Something is broken.

```yaml
signals:
  - {any: [crash, hang], weight: 3}
  - {phrase: "does not work", weight: 2}  # the usual complaint
  - {any: [
      glitch,
      hiccup
    ], weight: 1}
examples:
  - "it crashes"
```

## Task type: docs

```yaml
signals:
  - {any: [readme, manual], weight: 4}
```
"""
NEW_RULE = """## Task type: ops

```yaml
signals:
  - {any: [deploy], weight: 4}
```

"""


def _edits(candidate: str, base: str = RULES) -> Edits:
    return Edits([FileEdit("rules.md", base, candidate)])


def _cut(candidate: str, base: str = RULES) -> list[tuple[int, str, str]]:
    return [(one.line, one.heading, (one.after or one.before).strip()) for one in _edits(candidate, base).hunks]


def test_a_new_rule_is_named_by_its_heading_once() -> None:
    [hunk] = _edits(RULES.replace("## Task type: docs", f"{NEW_RULE}## Task type: docs")).hunks

    assert str(hunk) == f"rules.md:{hunk.line} Task type: ops"


@pytest.mark.parametrize(
    ("candidate", "pieces"),
    [
        pytest.param(
            RULES.replace("weight: 3", "weight: 5"),
            [(11, "Task type: debug", "- {any: [crash, hang], weight: 5}")],
            id="a weight",
        ),
        pytest.param(
            RULES.replace("weight: 3", "weight: 5").replace("weight: 2", "weight: 1"),
            [
                (11, "Task type: debug", "- {any: [crash, hang], weight: 5}"),
                (12, "Task type: debug", '- {phrase: "does not work", weight: 1}  # the usual complaint'),
            ],
            id="two lines beside each other",
        ),
        pytest.param(
            RULES.replace("hiccup", "hiccups"),
            [(13, "Task type: debug", "- {any: [\n      glitch,\n      hiccups\n    ], weight: 1}")],
            id="a signal over several lines",
        ),
        pytest.param(
            RULES.replace("## Task type: docs", NEW_RULE + "## Task type: docs"),
            [(21, "Task type: ops", NEW_RULE.strip())],
            id="a new rule",
        ),
        pytest.param(
            RULES.replace("  - {any: [crash, hang], weight: 3}\n", ""),
            [(11, "Task type: debug", "- {any: [crash, hang], weight: 3}")],
            id="a signal that went",
        ),
        pytest.param(
            RULES.replace("the usual complaint", "what people say"),
            [(12, "Task type: debug", '- {phrase: "does not work", weight: 2}  # what people say')],
            id="a comment",
        ),
        pytest.param(RULES, [], id="nothing"),
    ],
)
def test_an_edit_is_cut_at_signals_and_rules(candidate: str, pieces: list[tuple[int, str, str]]) -> None:
    assert _cut(candidate) == pieces


def test_a_rule_that_moved_is_one_piece() -> None:
    head, debug, docs = RULES.partition("## Task type: debug")[0], *RULES.split("## Task type: ")[1:]
    moved = f"{head}## Task type: {docs}\n## Task type: {debug}".rstrip("\n") + "\n"
    edits = _edits(moved)

    assert len([one for one in edits.hunks if one.before.strip() and one.after.strip()]) == 1
    assert edits.undone(edits.hunks) == {"rules.md": RULES}


def test_a_signal_that_moved_is_one_piece() -> None:
    line = "  - {any: [crash, hang], weight: 3}\n"
    moved = RULES.replace(line, "").replace("examples:\n", f"{line}examples:\n")

    assert [one.after for one in _edits(moved).hunks] == [line]


def test_undoing_one_of_two_pieces_leaves_the_other() -> None:
    edits = _edits(RULES.replace("weight: 3", "weight: 5").replace("manual", "handbook"))

    assert edits.undone(edits.hunks[:1]) == {"rules.md": RULES.replace("manual", "handbook")}


def test_a_file_that_came_is_cut_into_its_rules() -> None:
    edits = _edits(NEW_RULE, base="")

    assert [one.heading for one in edits.hunks] == ["Task type: ops"]
    assert edits.undone(edits.hunks) == {"rules.md": ""}


def test_pieces_can_be_joined_by_their_headings() -> None:
    edits = _edits(RULES.replace("weight: 3", "weight: 5").replace("weight: 2", "weight: 1").replace("manual", "guide"))
    edits.by_heading()

    assert [one.heading for one in edits.hunks] == ["Task type: debug", "Task type: docs"]
    assert edits.undone(edits.hunks) == {"rules.md": RULES}


LINES = st.sampled_from([*RULES.splitlines(keepends=True), "\n", "# Output\n", "~~~\n", "x\x0cy\n", "no newline"])


@given(base=st.lists(LINES, max_size=14), candidate=st.lists(LINES, max_size=14))
def test_all_undone_is_the_base_and_none_undone_the_candidate(base: list[str], candidate: list[str]) -> None:
    before, after = "".join(base), "".join(candidate)
    edits = _edits(after, before)

    assert edits.undone([]) == {"rules.md": after}
    assert edits.undone(edits.hunks) == {"rules.md": before}
