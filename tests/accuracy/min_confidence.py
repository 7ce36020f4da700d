"""What ``search_intent.min_confidence`` trades: fewer prompts with a search intent, and more of them right.

``python -m tests.accuracy.min_confidence`` prints the table of ``docs/memory.md``: the invented prompts of this folder
through ``enricher enrich``, once for each value of the setting. The weights were fitted to these prompts among others,
so fewer are right of the prompts of other people (``docs/performance.md``); what the table shows is the trade.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.accuracy.labelled_sources import INVENTED

ROOT = Path(__file__).parents[2]
START = "from enricher.interfaces.cli import main; main()"  # of this checkout, whatever is installed
NONE = "none"
VALUES = (0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True, slots=True)
class Trade:
    """Of labelled prompts: how many had a search intent, how many got one, and how many of these got the right one."""

    value: float
    seeking: int
    told: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.told)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.seeking)


def trade(value: float, home: Path) -> Trade:
    """Ask ``enricher enrich`` for every invented prompt with ``min_confidence`` at ``value``; ``home`` is an account.

    A prompt counts as told where the agent would get the reminder of its search intent (profile ``as-specified``).
    """
    rows = [json.loads(line) for line in INVENTED.read_text(encoding="utf-8").splitlines()]
    labels = {row["id"]: row["search_intent"] for row in rows}
    prompts = home / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"id": row["id"], "prompt": row["text"]}) + "\n" for row in rows))
    settings = {"HOME": str(home), "ENRICHER_HOME": str(home / "state"), "ENRICHER_PROFILE": "as-specified"}
    ended = subprocess.run(
        [sys.executable, "-c", START, "enrich", "--jsonl", prompts],
        env={**os.environ, **settings, "ENRICHER_SEARCH_INTENT_MIN_CONFIDENCE": str(value), "PYTHONPATH": str(ROOT)},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    told = [one for one in answers if one["memory_context"].get("reminder")]
    right = sum(one["memory_context"]["intent_type"] == labels[one["id"]] for one in told)
    return Trade(value, seeking=sum(label != NONE for label in labels.values()), told=len(told), right=right)


def table(trades: list[Trade]) -> str:
    """Return the trades as a table in Markdown."""
    lines = ["| `min_confidence` | prompts with a search intent | precision | recall |", "|---|---|---|---|"]
    lines += [f"| {one.value} | {one.told} | {one.precision:.2f} | {one.recall:.2f} |" for one in trades]
    return "\n".join(lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        print(table([trade(value, Path(home)) for value in VALUES]))


if __name__ == "__main__":
    main()
