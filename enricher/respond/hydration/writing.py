"""Write the format ``hydration``, which is a plan in Markdown, with a token budget for each kind of context.

The original specification describes it (seed 003).
"""

from __future__ import annotations

from enricher.context.channels.session import summary
from enricher.prompt.conversation.followup import basis
from enricher.prompt.text import estimate_tokens, harmless
from enricher.prompt.wording.frames import error_name
from enricher.respond.guidance import Scored
from enricher.respond.hydration.plan import (
    PLANNING,
    TEMPLATE_SIGNS,
    TODO_WRITE,
    PlanStep,
    asks_for_plan,
    orders_commit,
    steps_for,
    task_list,
    workflow_for,
)
from enricher.respond.hydration.reading.requests import read_requests
from enricher.respond.hydration.reading.requirements import conditions_of, items_of, joined
from enricher.respond.hydration.reading.wording import (
    asks_for_tests,
    capitalized,
    closed,
    gerund,
    intent,
    is_unfinished,
    main_request,
    object_of,
    only_asks_why,
    own_requests,
    says_what_fails,
    what_moves,
)
from enricher.respond.render import cut

TITLE = "## Prompt Hydration"
MEMORY, SESSION, CODE = "memory", "session", "code"
SHARES = {CODE: 150, SESSION: 100, MEMORY: 200}  # maximum tokens (seed 003); any other channel counts as code
CHARS_PER_TOKEN = 3
LONGEST_BULLET = 300
LONGEST_PASTED_ERROR = 140
FEWEST_TOKENS = 6
POINTER = (
    "**Plan**: `{}` holds the prompt, the session's state, candidates, the workflow catalogue and a drafted plan."
    " The subagent prompt-hydrator reads this file and returns the finished plan;"
    " `enricher hydrate --context FILE` prints the draft."
)
LONGEST_SHORT_INTENT = 35  # maximum tokens of the intent in the short text that only names the plan's file
DEBUGGING, REFACTOR = "debugging", "refactor"
FEWEST_WORDS = 5  # a prompt whose main request has fewer words is read together with the user's previous request
TRACKED_TYPE = "framework"
AGENT_FILE = "agent_file"
NOTHING_FOUND = "- Nothing beyond the prompt was found"
REVIEWING = ("review", "audit", "critique")
USING = ("start with", "starting with", "begin with", "next file being", "use", "using", "adopt")
"""Words before the name of something that the change uses or starts from, but does not change itself."""
BEFORE_A_NAME = frozenset("the new our a this `".split())  # may stand between ``USING`` and the name
LONGEST_USE = 40  # maximum characters before a name that are searched for such words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from enricher.classify import Rules
    from enricher.respond import Enrichment, Inputs
    from enricher.respond.hydration.reading.requests import PromptRequest


class Hydration:
    """A plan for one prompt: its intent, workflow with the gate, guardrails, context and steps.

    ``tool`` is the name of the tool with which the agent keeps its task list.
    """

    __slots__ = ("context", "gate", "guardrails", "intent", "steps", "tool", "workflow")

    def __init__(self) -> None:
        self.tool = TODO_WRITE
        self.intent = ""
        self.workflow = ""
        self.gate = ""
        self.guardrails: list[str] = []
        self.context: list[str] = []
        self.steps: list[PlanStep] = []

    def text(self) -> str:
        """Return the plan as Markdown, with its steps as a call of the task tool."""
        return "\n".join([
            TITLE,
            "",
            f"**Intent**: {self.intent}",
            f"**Workflow**: {self.workflow} ({self.gate})",
            f"**Guardrails**: {', '.join(self.guardrails) or 'none'}",
            "",
            "### Relevant Context",
            "",
            *(self.context or [NOTHING_FOUND]),
            "",
            f"### {self.tool} Plan",
            "",
            "```javascript",
            task_list(self.steps, self.tool),
            "```",
        ])  # fmt: skip

    def pointing_to(self, file: str) -> str:
        """Return a short text (about 100 tokens) that stands for the plan and names the file that contains it."""
        intent = cut(self.intent, tokens=LONGEST_SHORT_INTENT)
        return "\n".join([
            TITLE,
            "",
            f"**Intent**: {intent}",
            f"**Workflow**: {self.workflow} ({self.gate})",
            POINTER.format(file),
        ])  # fmt: skip


def write(result: Enrichment, inputs: Inputs, rules: Rules) -> None:
    """Set the text of ``result`` to a plan for the chosen workflow, or for the default one if none was certain."""
    hydration = hydrate(result, inputs, rules)
    if hydration is None:
        return
    file = inputs.hydration.get("file", "")
    result.text = hydration.pointing_to(file) if file else hydration.text()
    result.tokens = estimate_tokens(result.text)
    result.guardrails = [Scored(name, name, 0) for name in hydration.guardrails]


def hydrate(result: Enrichment, inputs: Inputs, rules: Rules) -> Hydration | None:
    """Return the plan for a prompt, if the rules define its workflow, and mark the items of ``result`` in it."""
    plans = rules.packed("plans")
    requests = read_requests(inputs.prompt)
    name = workflow_for(result.workflow, requests, rules)
    if name not in plans:
        return None
    is_certain = name == result.workflow and (name != PLANNING or asks_for_plan(requests))
    if result.workflow not in ("", name):
        result.why_workflow += f"; but as the requests are worded, the plan is {name}"
    result.workflow, plan = name, plans[name]
    judged, facts = result.classification, inputs.hydration
    main = main_request(requests, is_report=name == DEBUGGING)
    changing = _not_only_used(facts, inputs.prompt) if name == REFACTOR else facts
    values = _values(changing, error=_error_of(inputs.prompt, judged.features))
    values |= _words_of(requests, main, name, error=values.get("error", ""), changes=bool(plan["changes"]))
    if not is_certain:
        values["assumption"] = "how the prompt is understood"
    found = Hydration()
    found.tool = facts.get("task_tool", TODO_WRITE)
    found.workflow, found.gate = name, plan["gate"]
    found.guardrails = [slug for slug, types in plan["guardrails"] if not types or judged.task_type in types]
    is_question = not any(is_checkpoint for *_rest, is_checkpoint in plan["steps"])
    by_model = facts.get("model", {}).get("plan", {})
    found.intent = by_model.get("intent") or intent(
        requests,
        error=values.get("error", ""),
        earlier=_earlier(inputs, main),
        is_question=is_question,
        is_report=name == DEBUGGING,
    )
    is_of_setup = AGENT_FILE in judged.features or _concerns_setup(judged.scores.get("task_type", {}))
    is_tracked = bool(plan["tracked"]) or (is_of_setup and not is_question)
    steps = {**plan, "steps": [_step_of(one) for one in by_model["steps"]]} if "steps" in by_model else plan
    found.steps = steps_for(steps, values, items_of(requests), prompt=inputs.prompt, is_tracked=is_tracked)
    if not plan["changes"]:  # an answer needs no tests
        facts = {name: value for name, value in facts.items() if name not in ("tests", "all_tests")}
    found.context = _context(result, inputs, facts)
    return found


def _words_of(
    requests: list[PromptRequest], main: PromptRequest | None, name: str, *, error: str, changes: bool
) -> dict[str, str]:
    values: dict[str, str] = {}
    if main:
        about = object_of(main) or main.text
        if not is_unfinished(about) and (name != DEBUGGING or says_what_fails(main)):
            values["object"] = about
        (whole,) = joined([main], own_requests(requests)).texts
        values["task"], values["request"] = main.text, main.text if main.is_question else whole
        if main.is_order:
            values["order"], values["subject"] = closed(capitalized(whole)), closed(capitalized(main.text))
        elif not (main.is_condition or main.is_question):
            values["statement"] = whole
            if says_what_fails(main):
                values["fault"] = whole
    else:
        values["object"] = error or "the pasted text"
    conditions = conditions_of(requests, main, is_report=name == DEBUGGING)
    if name == DEBUGGING and not (main and only_asks_why(requests)):
        values["fix"] = f"the fix ({conditions})" if conditions else "the fix"
    elif conditions and changes:
        values["conditions"] = conditions
    if asks_for_tests(requests):
        values["new_tests"] = "the new tests"
    if moved := what_moves(requests):
        values["old_names"] = moved
    if main and any(word in main.text.lower() for word in REVIEWING):
        values["review"] = values.get("object", main.text)
    return values


def _not_only_used(facts: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    # Nothing changes for the users of the two names in "use load_rates for the errors, start with cart.py".
    low = prompt.lower()
    symbols = [[name, place] for name, place in facts.get("symbols", ()) if not _is_used(name, low)]
    used = {place.rpartition(":")[0] for _name, place in facts.get("symbols", ())}
    used -= {place.rpartition(":")[0] for _name, place in symbols}
    files = [
        path for path in facts.get("files", ())
        if not _is_used(path.rpartition("/")[2], low) and not (path in used and path.rpartition("/")[2] not in low)
    ]  # fmt: skip
    return {**facts, "symbols": symbols, "files": files}


def _is_used(name: str, prompt: str) -> bool:
    leads = [part[-LONGEST_USE:].replace("`", " ").split() for part in prompt.split(name.lower())[:-1]]
    bare = [" ".join(word for word in words if word not in BEFORE_A_NAME) for words in leads]
    return bool(bare) and all(f" {lead}".endswith(tuple(f" {use}" for use in USING)) for lead in bare)


def _concerns_setup(points: Mapping[str, int]) -> bool:
    # The task type for the agent's own setup has at least half the points of the best one.
    return 0 < max(points.values(), default=0) <= 2 * points.get(TRACKED_TYPE, 0)


def _step_of(step: Mapping[str, Any]) -> list[Any]:
    """Convert a model's step to the form of a workflow's step; replace its braces, which mark no placeholders."""
    action = str(step["action"]).translate(TEMPLATE_SIGNS)
    return [[action], gerund(action), step["evidence"], step["is_checkpoint"]]


def _earlier(inputs: Inputs, main: PromptRequest | None) -> str:
    """Return the earlier request on which this prompt depends; empty if the prompt is complete by itself."""
    conversation = inputs.conversation
    if main and not basis(conversation, inputs.prompt) and len(main.text.split()) >= FEWEST_WORDS:
        return ""
    return basis(conversation, inputs.prompt) or (conversation.prompts[-1] if conversation.prompts else "")


def _error_of(prompt: str, features: Iterable[str]) -> str:
    if not {"stack_trace", "log", "pasted_error", "error_line"}.intersection(features):
        return ""
    name = error_name(prompt)
    for line in reversed(prompt.splitlines()):
        bare = line.strip()
        if (name and bare.startswith(name)) or (not name and bare.lower().startswith(("error:", "error[", "fatal:"))):
            return harmless(bare, longest=LONGEST_PASTED_ERROR)
    return name


def _values(facts: Mapping[str, Any], *, error: str) -> dict[str, str]:
    values = {
        name: str(facts[name])
        for name in ("tracker", "failing", "place", "test_command", "all_tests", "lint_command", "build_command")
        if facts.get(name)
    }
    if files := facts.get("files"):
        values["file"], values["files"] = files[0], ", ".join(files)
    if tests := facts.get("tests"):
        values["tests"] = ", ".join(tests)
    if symbols := facts.get("symbols"):
        values["symbol"] = f"{symbols[0][0]} ({symbols[0][1]})"
    if way := facts.get("commit_way"):
        text, place = way
        rule = closed(text).rstrip(" .;")
        if orders_commit(rule):
            values["commit_way"] = f"{place} asks: {rule}"
        else:
            values["commit_form"] = f"{rule} ({place})"
    if error:
        values["error"] = error
    return values


def _context(result: Enrichment, inputs: Inputs, facts: Mapping[str, Any]) -> list[str]:
    bullets: list[str] = []
    shown = [item.label for item in result.items if not item.why]
    offered: dict[str, list[tuple[str, str, Any]]] = {
        CODE: [one for one in _looked_up(facts) if not _is_reported(one[0], shown)],
        SESSION: [],
        MEMORY: [],
    }
    for item in result.items:
        if not item.why:
            kind = item.channel if item.channel in (MEMORY, SESSION) else CODE
            offered[kind].append((item.label, item.text, item))
    if not offered[SESSION] and inputs.conversation:
        for one in summary(inputs.conversation, chars=SHARES[SESSION] * CHARS_PER_TOKEN):
            offered[SESSION].append((one.label, one.text, None))
    for kind, share in SHARES.items():
        left = share
        for label, text, item in offered[kind]:
            bullet = _bullet(label, text, left) if left >= FEWEST_TOKENS else ""
            if item is not None:
                item.kept, item.why = bool(bullet), "" if bullet else "no room"
            if bullet:
                bullets.append(bullet)
                left -= estimate_tokens(bullet)
    late = [*result.partial, *["model"] * (facts.get("model", {}).get("status") == "timeout")]
    return bullets + [f"- Without an answer in time: {', '.join(late)}"] * bool(late)


def _is_reported(label: str, shown: Iterable[str]) -> bool:
    # ``shown`` are the labels of channels' facts, which are more detailed.
    place = label.rpartition("defined in ")[2] if "defined in " in label else label.removeprefix("Tests of it: ")
    return place != label and any(one.startswith(place.partition(",")[0]) for one in shown)


def _looked_up(facts: Mapping[str, Any]) -> Iterable[tuple[str, str, None]]:
    # In the form of channels' facts, whose last two elements are a text and a ``RankedItem``.
    for name, place in facts.get("symbols", []):
        yield f"{name} is defined in {place}", "", None
    placed = {place.rpartition(":")[0] for _name, place in facts.get("symbols", [])}
    if files := [path for path in (*facts.get("files", ()), *facts.get("samples", ())) if path not in placed]:
        yield f"Named in the prompt: {', '.join(files)}", "", None
    if tests := facts.get("tests"):
        run = f", run by `{facts['test_command']}`" if facts.get("test_command") else ""
        yield f"Tests of it: {', '.join(tests)}{run}", "", None
    elif facts.get("all_tests"):
        yield f"The tests are run by `{facts['all_tests']}`", "", None


def _bullet(label: str, text: str, tokens: int) -> str:
    bullet = harmless(label, longest=LONGEST_BULLET)
    if text:
        quoted = harmless(text, longest=LONGEST_BULLET).replace('"', "'")
        bullet = f'{bullet}: "{quoted}"' if bullet else f'"{quoted}"'
    kept = cut(bullet, tokens=tokens - 2)
    return f"- {kept}" + ('"' if kept != bullet and kept.count('"') % 2 else "") if kept else ""
