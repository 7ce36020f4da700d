"""``python -m tests.validators``: what the validators find, in code where it is known and in code where it is not.

Prints for each corpus the findings by rule and by 1,000 lines, then how many of the planted violations were found, and
how long ``enricher validate`` takes for 20 files, against a bare interpreter. ``--sample SEED`` prints 100 findings
with their lines, to be read by a person; ``--docstrings`` samples the missing docstrings instead. Needs ENRICHER_EVAL
for the files that agents edited.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
from corpora import edited_by_agents, installed_packages, standard_library
from planted import planted

from enricher.validation.rules import PromptRuleEngine, Violation

if TYPE_CHECKING:
    from corpora import File

DOCSTRINGS = "CODE_003"
SAMPLED = 100
AROUND = 3
FILES = 20
COMMAND = [sys.executable, "-c", "from enricher.interfaces.cli import main; main()", "validate"]


def main() -> None:
    """Measure, or print a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, metavar="SEED", help="print 100 findings with their lines")
    parser.add_argument("--docstrings", action="store_true", help="sample the missing docstrings")
    parser.add_argument("--rule", help="sample this rule only")
    parser.add_argument("--rounds", type=int, default=15, help="runs of the timed command")
    given = parser.parse_args()
    engine = PromptRuleEngine.load()
    corpora = {"edited by agents": _edited(), "standard library": standard_library()}
    corpora["installed packages"] = installed_packages()
    if given.sample is not None:
        _print_sample(engine, corpora, given.sample, rule=DOCSTRINGS if given.docstrings else given.rule or "")
        return
    for name, files in corpora.items():
        _print_findings(engine, name, files)
    _print_planted(engine)
    _print_time(corpora["edited by agents"] or corpora["standard library"], given.rounds)


def _edited() -> list[File]:
    folder = Path(os.environ.get("ENRICHER_EVAL", ""), "sessions")
    if not (folder / "sessions.jsonl").is_file():
        print("ENRICHER_EVAL holds no sessions: without the files that agents edited")
        return []
    return edited_by_agents(folder)


def _findings(engine: PromptRuleEngine, name: str, content: bytes) -> list[Violation]:
    """Return what the command reports of a file; where it still is in a folder, its neighbours show conventions."""
    places = [Path(sysconfig.get_path(kind), name) for kind in ("stdlib", "purelib")]
    return engine.validate(content, file=name, path=next((str(one) for one in places if one.is_file()), ""))


def _print_findings(engine: PromptRuleEngine, name: str, files: list[File]) -> None:
    lines = sum(content.count(b"\n") for _path, content in files)
    found = Counter(one.rule_id for path, content in files for one in _findings(engine, path, content))
    print(f"{name}: {len(files):,} files, {lines:,} lines")
    for rule, count in sorted(found.items()):
        print(f"  {rule:<10} {count:6,} findings, {1000 * count / lines:6.2f} in 1,000 lines")


def _print_planted(engine: PromptRuleEngine) -> None:
    cases = planted()
    rules = [rule for rule in engine.rules if rule.validator and rule.id != DOCSTRINGS]
    found = more = 0
    for case in cases:
        reported = [(one.rule_id, one.line) for one in engine.validate(case.code, rules)]
        found += (case.rule, case.line) in reported
        more += len(reported) - ((case.rule, case.line) in reported)
        if reported != [(case.rule, case.line)]:
            print(f"  expected {case.rule} in line {case.line}, found {reported}:\n{case.code}")
    print(f"planted: {found} of {len(cases)} found, {more} findings that were not planted")


def _print_sample(engine: PromptRuleEngine, corpora: dict[str, list[File]], seed: int, *, rule: str) -> None:
    """Print findings from all corpora in equal parts, as far as there are enough."""
    chance = random.Random(seed)
    chosen: list[tuple[Violation, bytes]] = []
    for left, files in zip(range(len(corpora), 0, -1), corpora.values(), strict=True):
        found = [(one, content) for path, content in files for one in _findings(engine, path, content)]
        wanted = [pair for pair in found if (pair[0].rule_id == rule if rule else pair[0].rule_id != DOCSTRINGS)]
        chosen += chance.sample(wanted, min((SAMPLED - len(chosen)) // left, len(wanted)))
    for number, (one, content) in enumerate(chosen, 1):
        print(f"--- {number}. {one}")
        lines = content.decode("utf-8", "replace").splitlines()
        for at in range(max(1, one.line - AROUND), min(len(lines), one.line + AROUND + 2) + 1):
            print(f"{'>' if at == one.line else ' '} {at:5} {lines[at - 1][:140]}")


def _print_time(files: list[File], rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # The middle of the files by size, so that the figure is that of usual files.
        ordered = sorted(files, key=lambda one: len(one[1]))
        middle = ordered[(len(ordered) - FILES) // 2 :][:FILES]
        names = [f"{folder}/{number}.py" for number in range(len(middle))]
        for name, (_path, content) in zip(names, middle, strict=True):
            Path(name).write_bytes(content)
        timed: dict[str, list[float]] = {"bare": [], "validate": []}
        for _ in range(rounds):
            timed["bare"].append(_seconds([sys.executable, "-c", "pass"]))
            timed["validate"].append(_seconds([*COMMAND, *names]))
    lines = sum(content.count(b"\n") for _path, content in middle)
    ratio = statistics.median(own / bare for bare, own in zip(*timed.values(), strict=True))
    bare, own = (statistics.median(times) * 1000 for times in timed.values())
    print(
        f"validate of {FILES} files ({lines:,} lines): {own:.0f} ms, `python -c pass` {bare:.0f} ms, ratio {ratio:.1f}"
    )


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
