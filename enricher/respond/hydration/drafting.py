"""Have a model improve the intent and the steps of a drafted plan, and discard steps that name anything unknown.

The rules still choose the workflow, and with it the gate, the guardrails, the commit and the task tracker's steps.
A step from the model is discarded if it names a file, symbol, command or address that is neither in the prompt, nor in
the draft, nor in the project.
"""

from __future__ import annotations

import time

from enricher.model.opinion_request import start_plan
from enricher.prompt.redaction import redact
from enricher.prompt.text import harmless
from enricher.prompt.wording import ATTACHED, FILE, FRAME, IDENTIFIER
from enricher.prompt.wording.names import read_names
from enricher.respond.decision import decide
from enricher.respond.hydration.gathering import LOOKUP_S, PROGRAMS, existing
from enricher.respond.hydration.plan import LONGEST_STEP
from enricher.respond.hydration.reading.wording import LONGEST_INTENT
from enricher.structured.slots import filled

TEMPLATE = "hydration"
LONGEST_PROMPT = 4000
LONGEST_EVIDENCE = 120
MOST_STEPS = 8
ALSO_VERBS = frozenset(("make", "go", "just", "node", "rake", "rails", "cargo", "git"))
"""Programs whose names are also common words; they count as programs only after a word of ``RUNNING``."""
RUNNING = frozenset(("run", "running", "with", "execute", "rerun", "re-run", "via", "using"))
BEHIND = frozenset(("again", "and", "at", "for", "from", "in", "on", "once", "to", "until", "with", "\N{EM DASH}"))
"""Words that are not an argument if they follow the name of a program: "run pytest again"."""
ENDING = ("commit ", "push ", "git commit", "git push", "close the task", "create a task", "open a pull request")
"""Beginnings of steps that are discarded, because the workflow adds such a step itself or nobody asked for it."""
AROUND = " `\"'.,;:!?()[]"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from enricher.classify import Rules
    from enricher.context import Request
    from enricher.respond import Enrichment, Inputs


def improved(drafted: Enrichment, inputs: Inputs, rules: Rules, request: Request, *, until: float) -> Enrichment:
    """Return the plan as improved by the model, or the draft if the model adds nothing in time.

    Records the call in ``inputs.hydration``. A plan without a checkpoint is not improved.
    """
    prompts = rules.packed("prompts").get(TEMPLATE)
    if prompts is None or "CHECKPOINT: " not in drafted.text:
        return drafted
    prompt, draft = redact(inputs.prompt[:LONGEST_PROMPT])[0], redact(drafted.text)[0]
    text = filled(prompts["forms"][""], {"prompt": prompt, "facts": draft})
    model = start_plan(text, prompts["schema"], request.settings, state=request.state, until=until).record()
    if "plan" in model:
        given = model.pop("plan")
        plan = _usable(given, known=f"{inputs.prompt}\n{drafted.text}", request=request)
        model["left_out"] = len(given.get("steps", ())) - len(plan.get("steps", given.get("steps", ())))
        if plan:
            model["plan"] = plan
        else:
            model["reason"] = model["reason"] or "no step with a checkpoint names only what exists"
    inputs.hydration = {**inputs.hydration, "model": model}
    return decide(inputs, rules, drafted.classification)


def _usable(given: Mapping[str, Any], *, known: str, request: Request) -> dict[str, Any]:
    request.until = time.perf_counter() + LOOKUP_S
    try:
        names_known = _Knowledge(known, request)
        plan: dict[str, Any] = {}
        intent = harmless(str(given.get("intent", "")), longest=LONGEST_INTENT)
        if intent and names_known.covers(intent):
            plan["intent"] = intent
        steps = _usable_steps(given.get("steps", ()), names_known)
    finally:
        request.close()
    if len(steps) > 1 and any(step["is_checkpoint"] for step in steps):
        plan["steps"] = steps
    return plan


def _usable_steps(given: Sequence[Mapping[str, Any]], names_known: _Knowledge) -> list[dict[str, Any]]:
    steps = []
    for step in given:
        action = harmless(step["action"], longest=LONGEST_STEP)
        evidence = harmless(step.get("evidence", ""), longest=LONGEST_EVIDENCE)
        is_added = action.lower().startswith(ENDING) or action.lower() in ("commit", "push")
        if action and not is_added and names_known.covers(f"{action} {evidence}"):
            is_checkpoint = bool(step.get("is_checkpoint")) and bool(evidence)
            shown = evidence if is_checkpoint else ""
            steps.append({"action": action, "evidence": shown, "is_checkpoint": is_checkpoint})
    return steps[:MOST_STEPS]


class _Knowledge:
    """What a model's step may name: everything in the prompt and the draft, and the files of the project."""

    def __init__(self, text: str, request: Request) -> None:
        self._text = text.lower()
        self._request = request
        self._index = request.index() if request.project.root else None

    def covers(self, text: str) -> bool:
        """Return whether every file, symbol, command and address in the text is known."""
        if any("://" in word and word.strip(AROUND).lower() not in self._text for word in text.split()):
            return False
        if any(not self._has(part) for part in text.split("`")[1::2]) or not self._has_commands(text):
            return False
        names = [name for name in read_names(text) if name.kind in (FILE, ATTACHED, FRAME, IDENTIFIER)]
        return all(self._has(name.text) for name in names)

    def _has(self, written: str) -> bool:
        bare = written.strip(AROUND)
        return bare.lower() in self._text or bool(existing(bare, self._request, self._index))

    def _has_commands(self, text: str) -> bool:
        words = [word.strip(AROUND) for word in text.split()]
        for at, word in enumerate(words[:-1]):
            is_program = word in PROGRAMS and (word not in ALSO_VERBS or (at > 0 and words[at - 1].lower() in RUNNING))
            command = word if words[at + 1].lower() in BEHIND else f"{word} {words[at + 1]}"
            if is_program and command.lower() not in self._text:
                return False
        return True
