"""``enricher bench compare`` notices what became slower, and the hook is compared with what it took before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import warm
from simulator import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

BASELINE = ROOT / "tests" / "cli" / "hook_ratios.json"
"""What ``enricher bench hook --runs 60 --json`` printed; write it anew when the hook has become faster."""
ATTEMPTS = 5  # a busy machine disturbs one measurement; what is really slower is slower in all of them


def measured(folder: Path, name: str, **ratios: float) -> str:
    rows = [{"name": row.replace("_", " "), "median_ms": 30.0, "ratio": ratio} for row, ratio in ratios.items()]
    file = folder / f"{name}.json"
    file.write_text(json.dumps(rows))
    return str(file)


@pytest.mark.conformance("S1-6.10a")
@pytest.mark.parametrize(
    ("options", "exit_code"), [pytest.param((), 1, id="ten percent"), pytest.param(("--percent", "25"), 0, id="more")]
)
def test_a_run_that_is_a_fifth_slower_fails(
    account: Account, tmp_path: Path, options: tuple[str, ...], exit_code: int
) -> None:
    before = measured(tmp_path, "before", hook=2.0, hook_through_sh=2.5, once_measured=9.0)
    now = measured(tmp_path, "now", hook=2.4, hook_through_sh=2.6, newly_measured=1.0)

    table = account.cli("bench", "compare", before, now, *options, exit_code=exit_code)

    assert "| hook | 2.00 | 2.40 | +20.0 % |\n| hook through sh | 2.50 | 2.60 | +4.0 % |" in table
    assert "measured" not in table


def test_the_slower_row_is_named_and_a_faster_one_is_not(account: Account, tmp_path: Path) -> None:
    before, now = measured(tmp_path, "before", hook=2.0, sh=2.0), measured(tmp_path, "now", hook=1.0, sh=2.3)

    ended = warm.run(("bench", "compare", before, now), env=account.env, cwd=tmp_path)

    assert (ended.returncode, ended.stderr) == (1, "slower by more than 10 %: sh\n")


def test_both_tables_of_a_benchmark_are_compared(account: Account, tmp_path: Path) -> None:
    file = tmp_path / "context.json"
    file.write_text(
        json.dumps({"search": [{"memories": 1000, "ratio": 4.0}], "hook": [{"name": "hook", "ratio": 2.0}]})
    )

    table = account.cli("bench", "compare", str(file), str(file))

    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| 1000 memories", "| hook"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("no JSON", "write it with --json", id="no JSON"),
        pytest.param("[" * 100_000, "write it with --json", id="nested too deep"),
        pytest.param('{"a": 1}', "write it with --json", id="no rows"),
        pytest.param('[{"name": "hook"}]', "write it with --json", id="no ratio"),
        pytest.param('[{"name": "hook", "ratio": 0}]', "measure again", id="no time"),
        pytest.param('[{"name": "other", "ratio": 1}]', "must be of the same benchmark", id="of another benchmark"),
    ],
)
def test_a_file_that_cannot_be_compared_is_refused(account: Account, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)

    said = account.cli("bench", "compare", measured(tmp_path, "before", hook=2.0), str(file), exit_code=1)

    assert message in said
    assert str(file) in said


@pytest.mark.timed
@pytest.mark.conformance("S1-6.10a", "S1-6.15a")
def test_the_hook_is_not_slower_than_it_was(account: Account, tmp_path: Path) -> None:
    now = tmp_path / "now.json"
    for _ in range(ATTEMPTS):
        now.write_text(account.cli("bench", "hook", "--runs", "20", "--json"))
        ended = warm.run(("bench", "compare", str(BASELINE), str(now)), env=account.env, cwd=tmp_path)
        if ended.returncode == 0:
            break

    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 5)
