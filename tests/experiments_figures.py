"""Print the figures about structured prompts: what seed 002 published, and what this project measures.

    python -m tests.experiments_figures [--json]

The published records are not part of this project. Of them only a summary is known (design/PRIOR_ART.md, section 2.5);
what follows from it is computed here, and what cannot be is said. Our own figures come from ``examples/ab`` with a
simulated model, from the packaged templates, and from fifty responses that are written below. They say nothing about a
real model: for one, run ``enricher ab ask``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import t as student

from enricher.prompt.text import estimate_tokens
from enricher.structured.responses import StructuredResponseParser
from enricher.structured.templates import PromptGenerator
from workbench.statistics.intervals import wilson
from workbench.statistics.pairs import mean_by_session

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "ab"
PER_ARM = 5
"""Records per arm in the published file, which claims 25."""
PUBLISHED: dict[str, dict[str, float]] = {
    "tokens": {"structured": 732.6, "unstructured": 1130.0, "of_the_records": 740.6, "t": -27.8, "p": 3.0e-9},
    "latency_ms": {"structured": 1910.0, "unstructured": 2469.0, "p": 2.7e-4, "published_p": 3.5e-10},
    "quality": {"structured": 0.61, "unstructured": 0.60},
    "violations": {"structured": 1.4, "unstructured": 1.4},
}
NOT_KNOWN = (
    "single records, standard deviations and intervals; the published t of -42.3 with p 1.2e-22, and p 2.7e-4 of the "
    "latency, because both need the records"
)
RULES = [
    ("CODE_001", "NO_STUBS", "critical", "A function does what its name promises; no pass, no TODO in its place."),
    ("CODE_002", "NO_HARDCODED_VALUES", "high", "Addresses, ports and limits come from settings or named constants."),
    ("CODE_003", "DOCSTRINGS", "medium", "A public function says in one sentence what it is for."),
    ("CODE_004", "NO_SWALLOWED_EXCEPTIONS", "high", "An exception is handled, reported or passed on; never dropped."),
    ("SEC_001", "NO_SECRETS", "critical", "Keys and passwords are read from the environment or a keyring."),
    ("TEST_001", "ASSERTIONS", "medium", "A test asserts something that can fail."),
    ("DOC_001", "CHANGELOG", "low", "A change that users notice has a line in the changelog."),
]
PATTERNS = {
    "is_valid": re.compile(r"\bis[_ ]valid\W+(true|false|yes|no)\b", re.IGNORECASE),
    "quality_score": re.compile(r"\bquality[_ ]score\W+(\d+(?:\.\d+)?)", re.IGNORECASE),
    "rule_id": re.compile(r"\b[A-Z]+_\d{3}\b"),
}
"""What one would look for in a response without a schema."""

Truth = tuple[bool, float, list[str]]


def published() -> dict[str, Any]:
    """Return what follows from the summary of the published records."""
    tokens, latency = PUBLISHED["tokens"], PUBLISHED["latency_ms"]
    df = 2 * PER_ARM - 2
    scale = (tokens["unstructured"] - tokens["structured"]) / (tokens["unstructured"] - tokens["of_the_records"])
    return {
        "per_arm": PER_ARM,
        "tokens_saved_as_published": 1 - tokens["structured"] / tokens["unstructured"],
        "tokens_saved_by_the_records": 1 - tokens["of_the_records"] / tokens["unstructured"],
        "tokens_p_of_t_with_5_per_arm": 2 * float(student.sf(abs(tokens["t"]), df)),
        "tokens_t_if_25_per_arm": tokens["t"] * scale * (25 / PER_ARM) ** 0.5,
        "latency_saved": 1 - latency["structured"] / latency["unstructured"],
        "latency_t_that_p_needs": float(student.isf(latency["p"] / 2, df)),
        "latency_t_that_published_p_needs": float(student.isf(latency["published_p"] / 2, df)),
        "quality_difference": PUBLISHED["quality"]["structured"] - PUBLISHED["quality"]["unstructured"],
        "violations_difference": PUBLISHED["violations"]["structured"] - PUBLISHED["violations"]["unstructured"],
        "not_known": NOT_KNOWN,
    }


def measured() -> dict[str, Any]:
    """Return the report of ``examples/ab``: a is unstructured, b is structured."""
    command = [sys.executable, str(EXAMPLE / "demo.py"), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(ended.stdout)
    return {name: report[name] for name in ("prompts", "metrics", "calls", "verdict")}


def sizes(rules: int) -> dict[str, Any]:
    """Return the tokens (estimated) of both forms of the prompts of ``examples/ab``, with so many rules."""
    generator = PromptGenerator()
    given = [dict(zip(("id", "name", "severity", "description"), rule, strict=True)) for rule in RULES[:rules]]
    cases = [json.loads(line) for line in (EXAMPLE / "cases.jsonl").read_text("utf-8").splitlines()]
    both = {
        mode: [estimate_tokens(generator.generate("validation", {**case, "rules": given}, mode=mode)) for case in cases]
        for mode in ("structured", "unstructured")
    }
    differences = [s - u for s, u in zip(*both.values(), strict=True)]
    found = mean_by_session(differences, sessions=[case["id"] for case in cases])
    means = {mode: fmean(values) for mode, values in both.items()}
    return {
        "rules": rules,
        "cases": len(cases),
        **means,
        "difference": found.estimate,
        "interval": [found.interval.low, found.interval.high],
        "unstructured_to_structured": means["unstructured"] / means["structured"],
    }


def responses() -> list[tuple[str, Truth]]:
    """Return fifty responses to a validation in five forms, and the content of each."""
    found = []
    for at in range(10):
        ids = [rule[0] for rule in RULES[: at % 4]]
        listed = [{"rule_id": one, "severity": "high", "message": f"{one} is broken"} for one in ids]
        truth: Truth = (not ids, 1 - 0.2 * len(ids), ids)
        data = {"is_valid": truth[0], "quality_score": truth[1], "violations": listed}
        hundred = {**data, "quality_score": round(truth[1] * 100)}
        word = "yes" if truth[0] else "no"
        block, of_hundred = (f"<METADATA>\n{json.dumps(one)}\n</METADATA>" for one in (data, hundred))
        earlier = f"An earlier version was marked is_valid: {str(not truth[0]).lower()}, which I looked into."
        forms = (
            f"{block}\n<CONTENT>\nSee above.\n</CONTENT>",
            f"Here it is:\n```json\n{json.dumps(hundred, indent=2)}\n```\nTell me if I can help.",
            f"Is valid: {word}. Quality score: {truth[1]:.1f}. Broken: {', '.join(ids) or 'nothing'}.",
            f"{block}\n<CONTENT>\nCODE_009 does not apply to this file.\n</CONTENT>",
            f"{earlier}\n{of_hundred}",
        )
        found += [(text, truth) for text in forms]
    return found


def by_schema(text: str) -> Truth | None:
    """Return what the parser reads; None if the response is not valid."""
    parsed = StructuredResponseParser().parse(text, "validation")
    if not parsed.is_valid:
        return None
    listed = parsed.data.get("violations", [])
    return parsed.data["is_valid"], parsed.data["quality_score"], [one["rule_id"] for one in listed]


def by_pattern(text: str) -> Truth | None:
    """Return what the patterns find; None if one finds nothing."""
    valid, score = (PATTERNS[name].search(text) for name in ("is_valid", "quality_score"))
    if valid is None or score is None:
        return None
    number = float(score[1])
    ids = list(dict.fromkeys(PATTERNS["rule_id"].findall(text)))
    return valid[1].lower() in ("true", "yes"), number / 100 if number > 1 else number, ids


def reliability() -> dict[str, Any]:
    """Return how many of the fifty responses each way reads, and how many it reads rightly."""
    every = responses()
    found: dict[str, Any] = {"responses": len(every)}
    for name, read in (("by_schema", by_schema), ("by_pattern", by_pattern)):
        results = [(read(text), truth) for text, truth in every]
        right = sum(_is_right(result, truth) for result, truth in results)
        interval = wilson(right, len(every))
        found[name] = {
            "read": sum(result is not None for result, _truth in results),
            "right": right,
            "right_share": right / len(every),
            "interval": [interval.low, interval.high],
        }
    return found


def _is_right(found: Truth | None, truth: Truth) -> bool:
    return found is not None and (found[0], found[2]) == (truth[0], truth[2]) and abs(found[1] - truth[1]) < 0.001


def figures() -> dict[str, Any]:
    """Return all figures."""
    return {
        "published": published(),
        "measured": measured(),
        "sizes": [sizes(rules) for rules in (0, len(RULES))],
        "reliability": reliability(),
    }


def main() -> None:
    """Print all figures."""
    found = figures()
    if "--json" in sys.argv:
        print(json.dumps(found, indent=2))
        return
    print(f"Published by seed 002: 25 cases; the records hold {PER_ARM} for each arm")
    for name, value in found["published"].items():
        print(f"  {name.replace('_', ' ')}: {value if isinstance(value, str | int) else f'{value:.4g}'}")
    _print_measured(found["measured"])
    for one in found["sizes"]:
        _print_sizes(one)
    for name in ("by_schema", "by_pattern"):
        of = found["reliability"][name]
        low, high = of["interval"]
        told = f"{of['read']} read, {of['right']} rightly ({of['right_share']:.0%}, 95 % {low:.0%} to {high:.0%})"
        print(f"{found['reliability']['responses']} responses {name.replace('_', ' ')}: {told}")


def _print_measured(report: dict[str, Any]) -> None:
    print(f"Measured here (examples/ab, {report['prompts']} cases, simulated model): a unstructured, b structured")
    for name, one in report["metrics"].items():
        interval = one["interval"]
        print(
            f"  {name}: {one['a']['mean']:.4g} and {one['b']['mean']:.4g}, b - a {one['difference']:+.4g}, "
            f"95 % {interval['low']:+.4g} to {interval['high']:+.4g}, p {one['p_adjusted']:.3g}, {one['verdict']}"
        )


def _print_sizes(one: dict[str, Any]) -> None:
    low, high = one["interval"]
    print(
        f"Both forms of {one['cases']} prompts with {one['rules']} rules: structured {one['structured']:.0f} tokens, "
        f"unstructured {one['unstructured']:.0f} (estimated); difference {one['difference']:+.1f}, "
        f"95 % {low:+.1f} to {high:+.1f}; {one['unstructured_to_structured'] - 1:+.0%} without the structure"
    )


if __name__ == "__main__":
    main()
