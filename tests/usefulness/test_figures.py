"""The counting of ``python -m tests.usefulness``, on invented rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from enricher.prompt.text import LOOK_ALIKES
from tests.usefulness import figures as count
from tests.usefulness.figures import by_kind, figures, kinds_of_lines, paths_in, pointed
from tests.usefulness.replaying import SET_APART, with_kinds
from tests.usefulness.sample import sample

ROOT = Path(__file__).parents[2]
FILES = (
    "src/jam.py",
    "src/app/(shop)/page.tsx",
    "Makefile",
    "docs/making of.md",
    ".github/workflows/ci.yml",
    "src/pot.py",
)


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("- src/jam.py:41 boil — defined here", ["src/jam.py"]),
        ("- `src/jam.py`, `src/pot.py:3-9` — both hold it", ["src/jam.py", "src/pot.py"]),
        (
            '- decisions 2026-02-01 m-1 (Makefile): "boil in src/pot.py::Pot, never in ./src/jam.py."',
            ["Makefile", "src/pot.py", "src/jam.py"],
        ),
        ("**Applicable Guardrails**: H1 (as .github/workflows/ci.yml#L4 says)", [".github/workflows/ci.yml"]),
        ('- "docs/making of.md":7 — told there', ["docs/making of.md"]),
        ("- src/app/(shop)/page.tsx:12 — route", ["src/app/(shop)/page.tsx"]),
        ("- /w/tree/src/jam.py — spelled in full", ["src/jam.py"]),
        ("- src/jam.pyc, jam.py and src — none of the tree", []),
    ],
)  # fmt: skip
def test_every_path_of_the_tree_is_counted_however_it_is_written(line: str, paths: list[str]) -> None:
    found = paths_in(f"## Prompt Enrichment\n{line}", FILES.__contains__, root="/w/tree")

    assert sorted(found) == sorted((path, line) for path in paths)


def _trace(text: str) -> dict[str, Any]:
    candidates = [
        ["", "src/jam.py", 0.9, "src/jam.py:41 boil — defined here", "", "named", "", 0.9],
        ["Boil jam in src/pot.py, it said <here>.", "m-1", 0.8, "decisions 2026-02-01 m-1", "", "decisions", "", 0.8],
        ["", "src/pot.py", 0.1, "src/pot.py — about jam", "", "file", "", 0.1],
    ]
    kept = [("code", "src/jam.py", True), ("memory", "m-1", True), ("code", "src/pot.py", False)]
    offered = [("code", [candidates[0], candidates[2]]), ("memory", [candidates[1]])]
    return {
        "output_text": text,
        "inputs": {"channels": [{"name": name, "candidates": own} for name, own in offered]},
        "items": [{"channel": channel, "ref": ref, "kept": is_kept} for channel, ref, is_kept in kept],
        "guardrails": [{"guardrail_id": "H19"}],
    }  # fmt: skip


TEXT = """## Prompt Enrichment
**Classification**: question
**Relevant Context** (search results, quoted; may be outdated):
- src/jam.py:41 boil — defined here
- decisions 2026-02-01 m-1: "Boil jam in src/pot.py, it said {}here{}."
**Applicable Guardrails**: H19 (Questions Require Answers)
**Suggested Approach**: read first""".format(*LOOK_ALIKES)


def test_a_line_has_the_kind_that_the_trace_recorded() -> None:
    kinds = kinds_of_lines(TEXT, _trace(TEXT))

    assert list(kinds.values()) == ["class", "code: named", "memory: decisions", "rule", "approach"]


def test_rows_take_the_kinds_of_their_own_traces() -> None:
    said = paths_in(TEXT, FILES.__contains__)
    rows = [
        {"added": "", "pointed": []},
        {"added": TEXT, "pointed": [{"path": path, "reason": line} for path, line in said]},
    ]
    with_kinds(rows, [_trace(""), _trace(TEXT)])

    assert [row["lines"] for row in rows] == [[], ["class", "code: named", "memory: decisions", "rule", "approach"]]
    assert [(one["path"], one["kind"]) for one in rows[1]["pointed"]] == [
        ("src/jam.py", "code: named"), ("src/pot.py", "memory: decisions"),
    ]  # fmt: skip


def _row(repo: str, says: dict[str, str], touched: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "repo": repo,
        "form": "claude",
        "added": "\n".join(says),
        "lines": list(says.values()),
        "pointed": [{"path": path, "kind": kind} for path, kind in says.items()],
        "touched": [{"path": path, "how": how, "existed": path != "made.py"} for path, how in touched.items()],
        "gold_known": True,
        "known_before": [],
        "bm25": ["z.py"],
        **more,
    }


ROWS = [
    _row(
        "jam/one",
        {"a.py": "code: named", "b.py": "memory: decisions"},
        {"a.py": "edit", "c.py": "read", "made.py": "edit"},
    ),
    _row("jam/one", {"a.py": "code: named"}, {"a.py": "read"}, known_before=["a.py"]),
    _row("jam/two", {"d.py": "code: named"}, {}),
    _row("jam/two", {"e.py": "code: named"}, {}, gold_known=False),
    _row("jam/two", {}, {"f.py": "edit"}),
]


def test_pointers_are_counted_against_what_was_touched() -> None:
    found = {name: one[:2] for name, one in figures(ROWS, pointed(), draws=20).items()}

    assert found == {
        count.SILENT: (1, 5),
        count.GETS_FILES: (4, 5),
        count.RIGHT: (2, 3),
        count.EDITED: (1, 3),
        count.RIGHT_NEW: (1, 2),
        count.EDITED_NEW: (1, 2),
        count.ONE_RIGHT: (2, 2),
        count.RECALL: (2, 4),
        count.RECALL_NEW: (1, 3),
        count.FOR_NOTHING: (1, 1),
    }


def test_one_channel_is_counted_by_itself() -> None:
    found = figures(ROWS, pointed(channel="memory:"), draws=20)

    assert (found[count.RIGHT][:2], found[count.FOR_NOTHING][:2]) == ((0, 1), (0, 1))


def test_the_interval_resamples_repositories() -> None:
    assert figures(ROWS, pointed(), draws=200)[count.SILENT][2:] == (0.0, 1 / 3)


def test_kinds_are_counted_with_their_paths() -> None:
    found = by_kind(ROWS)

    assert dict(found["code: named"]) == {
        "lines": 4, "prompts": 4, "paths": 3, "edited": 1, "touched": 2, "new": 2, "new touched": 1, "for nothing": 1,
    }  # fmt: skip
    assert found["memory: decisions"]["touched"] == 0


def test_without_the_data_it_says_so_and_stops() -> None:
    env = {name: value for name, value in os.environ.items() if name != "ENRICHER_EVAL"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.usefulness"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "ENRICHER_EVAL is not set" in done.stderr


def test_seven_repositories_are_set_apart() -> None:
    assert len(SET_APART) == 7


def test_a_sample_for_readers_has_half_of_its_outputs_from_the_repositories_set_apart() -> None:
    apart = min(SET_APART)
    turns = [{"prompt": f"prompt {number}", "assistant": f"answer {number}"} for number in range(20)]
    sessions = [{"id": name, "turns": turns} for name in ("one", "two")]
    bare = {"touched": [], "known_before": []}
    rows = [
        {**bare, "session": name, "repo": repo, "number": number, "added": "text" * (number % 2)}
        for name, repo in (("one", apart), ("two", "other/repository"))
        for number in range(20)
    ]

    found = sample(rows, sessions, size=12, silent=4, each=10)

    assert sorted(one["n"] for one in found) == list(range(1, 13))
    assert sum(not one["text"] for one in found) == 4
    assert sum(one["repository"] == apart for one in found) == 6
    number = int(found[0]["id"].partition(":")[2])
    assert found[0]["prompt"] == f"prompt {number}"
    assert [one["user"] for one in found[0]["last_turns"]] == [
        f"prompt {earlier}" for earlier in range(max(0, number - 3), number)
    ]
