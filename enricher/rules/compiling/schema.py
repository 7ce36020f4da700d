"""The keys that each kind of rule may have: validated when rules are compiled, never per prompt."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Weight = Annotated[int, Field(ge=1, le=9)]
Name = Annotated[str, Field(min_length=1)]
LONGEST_TITLE, LONGEST_TEXT = 80, 240
"""Maximum characters of a guardrail's title and text, which are part of the answer to every prompt it fits."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    disabled: bool = False
    extend: bool = False


class FacetSettings(_Rule):
    """``## Task type``, ``## Search intent``: how a lead becomes a confidence, and when a best guess is shown.

    Every ``points_that_double`` of lead double the odds. Prompts of ``silent`` classes get
    nothing, nor do prompts for which these classes are likelier than ``max_silent``.
    """

    points_that_double: Annotated[float, Field(gt=0)] = 3.0
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    silent: list[Name] = []
    max_silent: Annotated[float, Field(ge=0, le=1)] = 1.0


class Words(_Rule):
    """``## Words: openers``: a list to which signals, and the code that reads prompts, refer by name."""

    words: Annotated[list[Name], Field(min_length=1)]


class ClassSignals(_Rule):
    """``## Task type: debug``, ``## Search intent: howto``: the signals of one class."""

    signals: list[dict[str, Any]] = []
    leanings: dict[str, list[Name]] = {}
    examples: list[str] = []


class Catalogues(_Rule):
    """``## Catalogues``: files with guardrails and with their short names, relative to this file.

    They are added to the files of lower layers; an id or short name of a higher layer wins.
    """

    guardrails: Name | None = None
    names: Name | None = None


class Prompts(_Rule):
    """``## Prompts``: templates of the prompts for a model, and their modes, relative to this file.

    A file replaces the one of the same name of a lower layer.
    """

    files: list[Name] = []
    modes: Name | None = None


class Workflows(_Rule):
    """``## Workflows``: the path of the workflow index, relative to this file, and the points that a workflow needs.

    A workflow needs ``min_score`` points, and ``min_lead`` more than the next one. In the modes that write a plan,
    an uncertain prompt gets the workflow ``ordered`` if it asks for one thing only, ``stated`` if it only says what is
    the case, and otherwise, or if that is empty, ``fallback``.
    """

    file: Name | None = None
    min_score: Annotated[float, Field(ge=0)] = 3.0
    min_lead: Annotated[float, Field(ge=0)] = 0.1
    fallback: str = "plan-mode"
    ordered: str = ""
    stated: str = ""


class Step(BaseModel):
    """A step of a workflow: the first of its wordings whose placeholders are all known, and the form while it runs.

    ``use`` names a base, whose steps are inserted here. A ``checkpoint`` names the ``evidence`` that ends it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    do: list[Name] = []
    now: Name = "Working"
    checkpoint: bool = False
    evidence: str = ""
    use: str = ""


class Workflow(_Rule):
    """A file of the workflow catalogue (``workflows/ID.md``): what leads to it, what proves it done, its steps.

    ``triggers`` are signals as of a class, or ``{task_type: debug, weight: 9}``: the points for a prompt that is
    certainly of that task type. ``tracked``: where a task tracker is used, the plan begins and ends with its task.
    ``guardrails`` are ids or short names, or ``{name: …, task_types: […]}``.
    """

    id: str = ""
    title: str = ""
    description: str = ""
    quality_gate: str = ""
    commit_required: bool = False
    modifies_files: bool = False
    tracked: bool = False
    bases: list[Name] = []
    guardrails: list[str | dict[str, Any]] = []
    triggers: list[dict[str, Any]] = []
    examples: list[str] = []
    steps: list[Step] = []


class Fitted(_Rule):
    """``## Fitted``: files with the fitted lists of the rules here, relative to this file."""

    files: list[Name] = []


class GuidanceSettings(_Rule):
    """``## Guardrail``, ``## Approach``: the minimum score and the maximum number of lines."""

    min_score: Annotated[int, Field(ge=1)] = 3
    task_type_weight: Weight = 3
    most: Annotated[int, Field(ge=1, le=9)] = 3


class GuardrailSignals(_Rule):
    """``## Guardrail: H5``: the signals that trigger this guardrail; with a title, it also defines the guardrail.

    ``text`` is the statement, which the agent reads after the title. ``task_types`` replace
    those in the table of short names; with ``extend``, they are added to them.
    ``say`` is a sentence about this prompt, shown in place of the title; ``{words}`` are the words that
    triggered it. A prompt gets one guardrail with a sentence, and a session each at most ``times`` times.
    ``needs: past``: only after earlier prompts; ``needs: edits``: not after earlier prompts without
    edits. With ``profile`` the guardrail is used in that profile only. ``unless`` counts for every signal.
    """

    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)] | None = None
    task_types: list[Name] = []
    signals: list[dict[str, Any]] = []
    unless: list[str] = []
    examples: list[str] = []
    always: bool = False
    min_score: Annotated[int, Field(ge=1)] | None = None
    say: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)] | None = None
    needs: Literal["", "past", "edits"] = ""
    times: Annotated[int, Field(ge=1, le=99)] = 1
    profile: Literal["", "as-specified"] = ""


class Approach(_Rule):
    """``## Approach: start-at-frame``: one sentence, the facts it needs, the signals that trigger it.

    With ``profile`` it is used in that profile only, after all others.
    """

    profile: Literal["", "as-specified"] = ""
    say: Name
    needs: list[Name] = []
    task_types: dict[str, Weight] = {}
    signals: list[dict[str, Any]] = []
    examples: list[str] = []


class Channel(_Rule):
    """``## Channel: notes``: a source of items; without ``command``, the program to run, a built-in channel.

    ``model``: it asks a language model, so the gates of ``settings.GATES`` must be open.
    ``endpoint``: it is off unless this environment variable is set.
    """

    command: list[Name] = []
    model: bool = False
    endpoint: str = ""
    deadline_ms: Annotated[int, Field(ge=1, le=150)] = 150
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    most: Annotated[int, Field(ge=1, le=15)] = 3
    priority: Annotated[int, Field(ge=0, le=9)] = 5
    tokens: Annotated[int, Field(ge=1, le=2000)] = 450


class Complexity(_Rule):
    """``## Complexity``: the file of thresholds by which the effort of a prompt is estimated, relative to this file."""

    thresholds: Name


class Lines(_Rule):
    """``## Lines``: when the agent is shown the class: ``never``, ``beside`` other lines, or also ``alone``.

    ``class_alone`` is the form in earlier instructions: true means ``alone``, false ``beside``.
    """

    class_line: Literal["never", "beside", "alone"] = "beside"
    class_alone: bool | None = None


class Budgets(_Rule):
    """``## Budgets``: how much one prompt and one session may receive."""

    tokens: Annotated[int, Field(ge=1, le=2000)] = 450
    session_tokens: Annotated[int, Field(ge=1)] = 1500
    items: Annotated[int, Field(ge=1, le=15)] = 8


KINDS: dict[tuple[str, bool], tuple[str, type[_Rule]]] = {
    ("task_type", False): ("Classification", FacetSettings),
    ("task_type", True): ("Classification", ClassSignals),
    ("search_intent", False): ("Classification", FacetSettings),
    ("search_intent", True): ("Classification", ClassSignals),
    ("words", True): ("Classification", Words),
    ("fitted", False): ("Classification", Fitted),
    ("channel", True): ("Context", Channel),
    ("catalogues", False): ("Guardrails", Catalogues),
    ("guardrail", False): ("Guardrails", GuidanceSettings),
    ("guardrail", True): ("Guardrails", GuardrailSignals),
    ("approach", False): ("Guardrails", GuidanceSettings),
    ("approach", True): ("Guardrails", Approach),
    ("complexity", False): ("Guardrails", Complexity),
    ("budgets", False): ("Output", Budgets),
    ("prompts", False): ("Output", Prompts),
    ("lines", False): ("Output", Lines),
    ("workflows", False): ("Output", Workflows),
    ("workflow", True): ("Output", Workflow),
}
"""Maps (kind, whether the rule is named) to the part of the file and the model of the rule's keys."""

__all__ = ["KINDS", "ValidationError"]
