"""The documented form of a plan (seed 003), taken apart, and the three example prompts of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass

EXAMPLE_1 = """check the custodiet agent -- make sure it doesn't use inline python:

  ⎿  Bash(python3 -c "
  import sys; sys.path.insert(0, '/home/nic/src/academicOps/lib')
  from session_state import set_custodiet_block
  set_custodiet_block('$CLAUDE_SESSION_ID', 'Agent modified setup.sh without user approval after discovering root \
cause - violates P#5 (Do One Thing) and
  P#31
  (Acceptance Criteria Own Success)')
  "
  )

  it should package a script if required
"""
EXAMPLE_2 = "what workflows are available?"
EXAMPLE_3 = "figure out why the memory server isn't returning results"
FORM = re.compile(
    r"## Prompt Hydration\n\n"
    r"\*\*Intent\*\*: (?P<intent>[^\n]+)\n"
    r"\*\*Workflow\*\*: (?P<workflow>[a-z-]+) \((?P<gate>[^)\n]+)\)\n"
    r"\*\*Guardrails\*\*: (?P<guardrails>[^\n]+)\n\n"
    r"### Relevant Context\n\n(?P<context>(?:- [^\n]+\n)+)\n"
    r"### TodoWrite Plan\n\n```javascript\nTodoWrite\(todos=\[\n(?P<todos>.*)\n\]\)\n```",
    re.DOTALL,
)
TODO = re.compile(r'  \{content: "((?:[^"\\]|\\.)*)", status: "(\w+)", activeForm: "((?:[^"\\]|\\.)*)"\},?')


@dataclass(frozen=True)
class Plan:
    """The parts of a plan as a reader of the documented form finds them."""

    intent: str
    workflow: str
    gate: str
    guardrails: str
    context: str
    steps: list[str]
    statuses: set[str]
    active: list[str]


def read(text: str) -> Plan:
    """Return the parts of a plan; anything but the documented form is a failed test."""
    found = FORM.fullmatch(text)
    assert found, text
    lines = found["todos"].split("\n")
    todos = [TODO.fullmatch(line) for line in lines]
    assert all(todos), lines
    steps = [(todo[1], todo[2], todo[3]) for todo in todos if todo]
    named = {name: found[name] for name in ("intent", "workflow", "gate", "guardrails", "context")}
    return Plan(
        **named, steps=[one[0] for one in steps], statuses={one[1] for one in steps}, active=[s[2] for s in steps]
    )
