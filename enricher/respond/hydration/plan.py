"""Choose the workflow of a plan, and fill its step templates with names from the prompt and the project.

The workflow is the one that the rules chose, unless the wording of the prompt's requests speaks against it.
"""

from __future__ import annotations

from enricher.prompt.text import harmless, shortened
from enricher.respond.hydration.reading.requirements import items_of
from enricher.respond.hydration.reading.vocabulary import AROUND
from enricher.respond.hydration.reading.wording import closed, gerund, main_request, says_what_is

ASKING_FOR_PLANS = (
    "plan", "plans", "planning", "option", "options", "design", "designs", "propose", "proposal", "proposals",
    "approach", "approaches", "alternative", "alternatives", "another way", "best way", "ideas",
)  # fmt: skip
"""Words in a question that asks for a plan, not only for an answer."""
ASSENTS = ("if yes", "if so", "if no", "if not", "otherwise", "if it is", "if that is")
"""Beginnings of a task that depends on the answer to a question: "should we close it? if yes, delete the branch"."""
TIMES = frozenset("when whenever once before after until".split())
"""Words before an occasion that only states a time: "before the release"."""
ANSWERING, PLANNING = "simple-question", "plan-mode"
OCCASIONS = {"code-review": ("review",), "ops-release": ("release", "deployment")}
"""Words for a workflow that is only the occasion for something else: "once the review is over, drop the flag"."""
FARTHEST_TIME = 6  # maximum words from "when" to the occasion: "when we are through with the review"
LONGEST_STEP = 320
LONGEST_SUBJECT = 72  # maximum characters of a request that becomes the subject of the commit
SHORTEST_SUBJECT = 3  # minimum words of such a request: "fix both" would say nothing in a history
TODO_WRITE, TASK_CREATE, UPDATE_PLAN, WRITE_TODOS = "TodoWrite", "TaskCreate", "update_plan", "write_todos"
"""Tools with which agents keep their task lists: the first two in Claude Code, then Codex's and Gemini's."""
CALLS = {
    TODO_WRITE: ("TodoWrite(todos=[", '  {{content: {0}, status: "pending", activeForm: {1}}}', ",", "])"),
    TASK_CREATE: ("", 'TaskCreate({{subject: {0}, description: "", activeForm: {1}}})', "", ""),
    UPDATE_PLAN: ("update_plan({plan: [", '  {{step: {0}, status: "pending"}}', ",", "]})"),
    WRITE_TODOS: ("write_todos({todos: [", '  {{description: {0}, status: "pending"}}', ",", "]})"),
}
"""For each tool: the start of the call, the template of a step, the separator of steps, and the end of the call."""
LONGEST_VALUE = 220
COMMIT_LEADS = frozenset("always please then and must should you we then, and, finally".split())  # "always commit"
COMMIT_NOUNS = ("messag", "convention", "format", "style", "title", "subject", "bod", "histor", "type", "hook", "log")
"""Beginnings of words before which "commit" is not a verb: "commit messages"."""
TRACKED = "Create {tracker} task to track this: {task}"
EVIDENCE = " \u2014 evidence: "
CONDITIONS = "; and these hold: "  # precedes, in the last checkpoint, the requirements that no step contains
CLOSED = "Update and close {tracker} task with resolution"
NO_COMMIT = ("no commit", "not commit", "don't commit", "without committing", "don't push any", "no git")
TEMPLATE_SIGNS = str.maketrans("{}", "\u2774\u2775")  # so that a brace in a value is never taken for a placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from enricher.classify import Rules
    from enricher.respond.hydration.reading.requests import PromptRequest


def workflow_for(chosen: str, requests: list[PromptRequest], rules: Rules) -> str:
    """Return the workflow of a plan: ``chosen``, or the default workflow if the rules were too uncertain to choose one.

    A question that does not ask for a plan is only answered, even with the task type planning: "should we close the
    issue?" A workflow that is only mentioned to say when something happens ("once the review is over") is not used.
    """
    can_answer = ANSWERING in rules.packed("plans")
    if chosen in (PLANNING, "") and can_answer and _is_only_asked(requests):
        chosen = ANSWERING
    words = OCCASIONS.get(chosen, ())
    occasional = [one for one in requests if _is_named(one.text, words)]
    if not occasional or not all(_is_only_a_time(one.text, words) for one in occasional):
        return chosen or _default_workflow(requests, rules)
    asked = [one for one in requests if (one.is_order or one.is_condition) and not one.is_minor]
    return ANSWERING if can_answer and not asked else _default_workflow(requests, rules)


def asks_for_plan(requests: list[PromptRequest]) -> bool:
    """Return whether a request mentions a plan, options or the like."""
    texts = [" ".join(word.strip(AROUND) for word in one.text.lower().split()) for one in requests]
    return any(f" {words} " in f" {text} " for text in texts for words in ASKING_FOR_PLANS)


def _is_only_asked(requests: list[PromptRequest]) -> bool:
    main = main_request(requests)
    is_work = any(one.is_order or one.is_condition or one.text.lower().startswith(ASSENTS) for one in requests)
    return main is not None and main.is_question and not is_work and not asks_for_plan(requests)


def _default_workflow(requests: list[PromptRequest], rules: Rules) -> str:
    # The rules define three: for a single order or wish, for a description of a state, and for any other prompt.
    workflows = rules.body["workflows"]
    main = main_request(requests)
    kind = "fallback"
    if main is not None and not items_of(requests):
        kind = "ordered" if main.is_order or main.is_condition else "stated" if says_what_is(main) else kind
    return str(workflows[kind] or workflows["fallback"])


def _is_named(text: str, occasions: tuple[str, ...]) -> bool:
    return any(word in text.lower() for word in occasions)


def _is_only_a_time(text: str, occasions: tuple[str, ...]) -> bool:
    # As in "once the review is over", each has a word of TIMES before it, or "later" after it.
    for clause in text.lower().replace(", ", ",\n").split("\n"):
        words = [word.strip(AROUND) for word in clause.split()]
        for at, word in enumerate(words):
            before = words[max(0, at - FARTHEST_TIME) : at]
            is_timed = not TIMES.isdisjoint(before) or "later" in words[at:]
            if word.startswith(occasions) and ("you" in before or not is_timed):
                return False
    return True


class PlanStep:
    """A step of the agent's task list: ``text``, and ``active``, the text shown while the step is in progress."""

    __slots__ = ("active", "text")

    def __init__(self, text: str, active: str) -> None:
        self.text = text
        self.active = active


def task_list(steps: Sequence[PlanStep], tool: str) -> str:
    """Return the steps as one call of the client's task tool, or as one call per step, depending on the tool."""
    begin, step, divider, end = CALLS[tool]
    calls = f"{divider}\n".join(step.format(_quoted(one.text), _quoted(one.active)) for one in steps)
    return "\n".join(part for part in (begin, calls, end) if part)


def _quoted(text: str) -> str:
    # Three backticks in a row would end the code block.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("```", "'''")
    return f'"{escaped}"'


def steps_for(
    plan: Mapping[str, Any], values: Mapping[str, str], items: Sequence[str], *, prompt: str, is_tracked: bool
) -> list[PlanStep]:
    """Return a workflow's steps for one prompt, each with its number or, for a checkpoint, the word CHECKPOINT.

    ``items`` are the separate requests of the prompt. If ``is_tracked`` and the project has a task tracker, the first
    step creates a task in it and the last step closes the task. A single step has no number.
    """
    values = {**values, **({"items": "all points"} if items else {"others": "the others"})}
    tracker = values.get("tracker", "") if is_tracked else ""
    found: list[tuple[str, str, bool]] = []
    if tracker:
        found.append(
            (_filled(TRACKED, {"task": values.get("object", "what is pasted"), **values}), "Creating issue", False)
        )
    last = max((at for at, (*_rest, is_checkpoint) in enumerate(plan["steps"]) if is_checkpoint), default=-1)
    for at, (wordings, active, evidence, is_checkpoint) in enumerate(plan["steps"]):
        for text, own in _worded(wordings, active, values, items):
            step = _conditioned(text, values["conditions"], evidence) if at == last and "conditions" in values else text
            found.append((f"{step}{EVIDENCE}{evidence}" if evidence else step, own, is_checkpoint))
    if plan["commits"] and not any(words in prompt.lower() for words in NO_COMMIT):
        commit = _commit(values, is_pushed=bool(tracker), is_asked="commit" in prompt.lower())
        found.append((commit, "Committing", False))
    if tracker:
        found.append((_filled(CLOSED, values), "Closing issue", False))
    return _numbered(found)


def _conditioned(step: str, conditions: str, evidence: str) -> str:
    room = LONGEST_STEP - len(f"{step}{CONDITIONS}{EVIDENCE}{evidence}")
    return f"{step}{CONDITIONS}{closed(shortened(harmless(conditions, longest=LONGEST_VALUE), room))}"


def _worded(
    wordings: Sequence[str], active: str, values: Mapping[str, str], items: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the steps from the first of ``wordings`` whose placeholders are all known, each as (text, active form).

    A wording with ``{item}`` gives one step per item. ``active`` is the active form of steps that do not have their
    own.
    """
    for wording in wordings:
        if "{item}" in wording:
            if items:
                return [(_filled(wording, {**values, "item": item}), gerund(item)) for item in items]
        elif all(name in values for name in _names(wording)):
            return [(_filled(wording, values), gerund(values["order"]) if wording.startswith("{order}") else active)]
    return []


def _names(wording: str) -> list[str]:
    return [part.partition("}")[0] for part in wording.split("{")[1:]]


def _filled(wording: str, values: Mapping[str, str]) -> str:
    for name in _names(wording):
        value = harmless(values.get(name, ""), longest=LONGEST_VALUE).translate(TEMPLATE_SIGNS)
        wording = wording.replace("{" + name + "}", value)
    return wording.translate({0x2774: "{", 0x2775: "}"})


def _commit(values: Mapping[str, str], *, is_pushed: bool, is_asked: bool) -> str:
    """Return the step for the commit, which quotes the project's rule about commits or, without one, the request."""
    if values.get("commit_form"):
        return f"If you commit: {values['commit_form']}"
    way, order = values.get("commit_way", ""), values.get("subject", "")
    if way:
        return f"{'Commit and push' if is_pushed and 'push' in way.lower() else 'Commit'}, as {way}"
    step = "Commit and push" if is_pushed else "Commit" if is_asked else "Commit, unless the person does"
    is_subject = len(order.split()) >= SHORTEST_SUBJECT and len(order) <= LONGEST_SUBJECT and "items" not in values
    return f"{step}: {order}" if is_subject and not is_pushed else step


def orders_commit(rule: str) -> bool:
    """Return whether a rule demands a commit or push ("Commit after each task"), not only a certain form of commits."""
    words = ["", *rule.lower().split(), ""]
    for at, word in enumerate(words[:-1]):
        before, behind = words[at - 1], words[at + 1]
        bare = word.strip(AROUND + "`")
        is_begun = not before or before.endswith((".", ":", ";", ",", "!")) or before in COMMIT_LEADS
        if bare in ("commit", "push") and is_begun and not behind.startswith(COMMIT_NOUNS):
            return True
        if bare in ("committed", "pushed") and before in ("be", "are", "is", "get", "gets"):
            return True
    return False


def _numbered(found: Sequence[tuple[str, str, bool]]) -> list[PlanStep]:
    if len(found) == 1:
        ((text, active, _is_checkpoint),) = found
        return [PlanStep(harmless(text, longest=LONGEST_STEP), active)]
    steps, number = [], 0
    for text, active, is_checkpoint in found:
        number += not is_checkpoint
        lead = "CHECKPOINT" if is_checkpoint else f"Step {number}"
        steps.append(PlanStep(f"{lead}: {harmless(text, longest=LONGEST_STEP)}", active))
    return steps
