"""Measure a replay: prompts per second of one core by kind of edit, and the time from a save to its figures.

The history is generated, then imported by the product's own command, so that the recorded outcomes are those of the
rules. The yardstick, in the same run, is reading the same prompts and inputs from the database, which every replay has
to do.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.home import root_dir, state_dir
from enricher.interfaces.bench import REPLAYED_PER_SECOND, SAVE_TO_COMPLETE_MS, SAVE_TO_FIRST_MS, home
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from workbench.edits.live import EditTimes, TimedEdit, measure
from workbench.replay.corpus import opened
from workbench.replay.replay import Replay
from workbench.replay.rulesets import compared_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

READ = "prompts read, not replayed"
ENTRY = "import sys; sys.path.insert(0, sys.argv.pop(1)); from enricher.interfaces.cli import main; main()"
FIRST_MS = 1_700_000_000_000
PROMPTS_PER_SESSION = 5
SIGNAL = re.compile(r"^(  - \{phrase: .*weight: )(\d)\}$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReplayRate:
    """The replay speed of an edit on one core; ``ratio`` is its time per prompt divided by that of reading prompts."""

    name: str
    prompts_per_second: float
    ratio: float
    judged: float
    changed: int
    runs: int


def edits() -> dict[str, str]:
    """Return the packaged instructions after three edits, by name; they affect few, some and all prompts."""
    text = Path(packaged_file()).read_text(encoding="utf-8")
    signal = next(one for one in SIGNAL.finditer(text) if "<" not in one[0])  # edits of <file> etc. affect all prompts
    return {
        "one signal's weight": text[: signal.start()] + f"{signal[1]}{10 - int(signal[2])}}}" + text[signal.end() :],
        "a threshold": text.replace("min_confidence: ", "min_confidence: 0.6 #", 1),
        "every prompt judged anew": text.replace("## Task type: chat", "## Task type: talk", 1),
    }


def rates(prompts: int, runs: int) -> tuple[list[ReplayRate], list[EditTimes]]:
    """Measure every edit on a generated history of ``prompts`` prompts, in ``runs`` rounds of random order."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        _invent(folder, prompts)
        texts = edits()
        seconds: dict[str, list[float]] = {name: [] for name in (READ, *texts)}
        counts: dict[str, tuple[float, int]] = {}
        with opened(state_dir()) as corpus:
            made = {
                name: compared_rules.from_text(packaged_file(), text, versions=corpus.versions)
                for name, text in texts.items()
            }
            for _ in range(runs):
                # Shuffled, so that no kind of edit always profits from what the previous one left in caches.
                for name in random.sample(list(seconds), len(seconds)):
                    began = time.process_time()
                    if name == READ:
                        for page in corpus.pages():
                            for row in page:
                                json.loads(row.inputs)
                    else:
                        run = Replay(corpus, made[name])
                        radius = run.blast_radius()
                        for replayed in run.batches(processes=1):
                            radius.add(replayed)
                        counts[name] = run.judged / max(1, radius.prompts), radius.changed
                    seconds[name].append(time.process_time() - began)
        before = Path(packaged_file()).read_text(encoding="utf-8")
        saves = measure(state_dir(), [TimedEdit(name, packaged_file(), before, text) for name, text in texts.items()])
    floor = statistics.median(seconds[READ])
    found = [_rate(name, prompts, times, floor, *counts.get(name, (0.0, 0))) for name, times in seconds.items()]
    return found, saves


def _rate(name: str, prompts: int, times: list[float], floor: float, judged: float, changed: int) -> ReplayRate:
    median = statistics.median(times)
    return ReplayRate(name, prompts / median, median / floor, judged, changed, len(times))


def missed(found: list[ReplayRate], saves: list[EditTimes]) -> list[str]:
    """Return the names of measurements that missed their limits; empty if none did."""
    slow = [one.name for one in found if one.prompts_per_second < REPLAYED_PER_SECOND]
    late = [one.name for one in saves if one.first_ms > SAVE_TO_FIRST_MS or one.complete_ms > SAVE_TO_COMPLETE_MS]
    return [*slow, *(f"save: {name}" for name in late)]


def _invent(folder: str, prompts: int) -> None:
    path = os.path.join(folder, "prompts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in _prompts(prompts))
    command = [sys.executable, "-c", ENTRY, root_dir(), "trace", "import", path, "--yes"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)


def _prompts(count: int) -> Iterator[dict[str, object]]:
    """Yield prompts composed of the instructions' examples, some of one sentence, some of several."""
    chance = random.Random(count)
    compiled = compile_layers([Layer("packaged", packaged_file())])
    examples = [example for rule in compiled.classes for example in rule.examples]
    for number in range(count):
        text = " ".join(chance.sample(examples, chance.choice((1, 1, 2, 3, 6))))
        yield {
            "id": f"p{number}", "prompt": f"{text} ({number})", "session_id": f"s{number // PROMPTS_PER_SESSION}",
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST_MS / 1000 + 60 * number)),
        }  # fmt: skip
