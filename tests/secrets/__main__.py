"""``python -m tests.secrets``: how many made-up secrets the screen takes out, and how many ordinary prompts it touches.

The kinds, forms and languages are split by their names: thresholds were chosen on one part ("chosen on") and had to
hold on the other ("held out"). With ENRICHER_EVAL the prompts that people really typed are counted as well.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from secret_cases import cases, prompts

from enricher.prompt.redaction import redact


def main() -> None:
    made: Counter[tuple[str, bool]] = Counter()
    leaked: Counter[tuple[str, bool]] = Counter()
    for case in cases():
        made[case.group, case.is_held_out] += 1
        leaked[case.group, case.is_held_out] += case.leaks(redact)
        if "--show" in sys.argv and case.leaks(redact):
            print(f"leaked: {case.title}: {case.text!r}")
    for group, is_held_out in sorted(made):
        count, gone = made[group, is_held_out], leaked[group, is_held_out]
        part = "held out" if is_held_out else "chosen on"
        print(f"{group:<10} {part:<10} {count:6,} secrets, {gone:4,} leaked, recall {1 - gone / count:.4f}")
    for name, texts in prompts().items():
        touched = [text for text in texts if redact(text)[1]]
        print(f"{name:<40} {len(texts):6,} prompts, {len(touched):3,} touched")
        if "--show" in sys.argv:
            for text in touched:
                print(f"touched: {redact(text)[0][:400]!r}")


main()
