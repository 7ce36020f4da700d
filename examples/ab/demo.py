"""Compare both forms of the validation prompt on twenty cases: its cost at most, a budget that ends it, the report.

The model is the loopback server of the tests (``tests/model/serving.py``). It knows an answer to each case, and leaves
out a part of some. Everything is written to a temporary folder. With ``--json``, only the report is printed, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests" / "model"))

from serving import MODEL, ModelServer, anthropic_environment, serving  # noqa: E402 (found by the line above)

INCOMPLETE = 0.15
"""Share of the prompts to which the model answers without a quality score."""
ASKED = ("ab", "ask", "--template", "validation", "--prompts", str(HERE / "cases.jsonl"), "--most-tokens", "300")
BUDGET = 0.015


def answers() -> dict[str, str]:
    """Return the answer to each case by the first line of its code."""
    rows = [json.loads(line) for line in (HERE / "answers.jsonl").read_text("utf-8").splitlines()]
    return {row["prompt"]: row["answer"] for row in rows}


def reply(text: str, _body: dict[str, Any]) -> str:
    """Return the answer to the case in a prompt; the same prompt always gets the same one."""
    answer = next(one for line, one in answers().items() if line in text)
    share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32
    return answer.replace('"quality_score"', '"score"') if share < INCOMPLETE else answer


def environment(home: Path, server: ModelServer) -> dict[str, str]:
    """Return the environment of someone with a home folder of their own, and a model that has a price."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        **anthropic_environment(server),
        "HOME": str(home),
        "ENRICHER_HOME": str(home / "state"),
        "ENRICHER_CONFIG_HOME": str(home / "config"),
        "ENRICHER_MODEL_USD_PER_MILLION_INPUT": "1",
        "ENRICHER_MODEL_USD_PER_MILLION_OUTPUT": "5",
        "COLUMNS": "110",
    }


def command(env: dict[str, str], *words: str) -> str:
    program = [str(Path(sys.executable).parent / "enricher"), *words]
    return subprocess.run(program, env=env, capture_output=True, text=True, check=True).stdout


def show(title: str, text: str = "") -> None:
    print(f"\n== {title}\n{text.rstrip()}", flush=True)


def main() -> None:
    """Run the demo."""
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        env = environment(Path(folder), server)
        server.reply = reply
        if "--json" in sys.argv:
            print(command(env, *ASKED, "--json"), end="")
            return
        show("What it would cost at most (--dry-run asks nothing)", command(env, *ASKED, "--dry-run"))
        begun = json.loads(command(env, *ASKED, "--budget", str(BUDGET), "--json"))
        show(f"With a budget of {BUDGET} USD: {len(server.calls)} calls, then", begun["stopped"])
        report = command(env, "ab", "resume", begun["id"], "--budget", "1")
        show(f"The rest of it with a larger budget: {len(server.calls)} calls of {MODEL} in all, none twice", report)
        show(
            "What this says",
            "The prompts are real; the simulated model counts four characters as a token. Its answers are the same\n"
            "for both forms: quality, success and latency of a real model have to be measured with that model.",
        )


if __name__ == "__main__":
    main()
