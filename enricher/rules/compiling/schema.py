"""The keys that each kind of rule may have: validated when rules are compiled, never per prompt."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Weight = Annotated[int, Field(ge=1, le=9)]
Name = Annotated[str, Field(min_length=1)]
LONGEST_TITLE, LONGEST_TEXT = 80, 240
"""Maximum characters of a guardrail's title and text, which are part of the answer to every matching prompt."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    disabled: bool = False
    extend: bool = False


class FacetSettings(_Rule):
    """``## Task type``, ``## Search intent``: how points become a confidence, and when the best class is shown.

    A lead of ``points_that_double`` points doubles the odds. The best class is shown if its confidence reaches
    ``min_confidence``, and if the ``silent`` classes together have at most the probability ``max_silent``. A prompt
    whose best class is silent gets nothing.
    """

    points_that_double: Annotated[float, Field(gt=0)] = 3.0
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    silent: list[Name] = []
    max_silent: Annotated[float, Field(ge=0, le=1)] = 1.0


class Words(_Rule):
    """``## Words: openers``: a word list that signals, and the code that reads prompts, use by its name."""

    words: Annotated[list[Name], Field(min_length=1)]


class ClassSignals(_Rule):
    """``## Task type: debug``, ``## Search intent: howto``: the signals of one class.

    ``leanings`` are weights of plain words: each key is a weight, its value the words that have it.
    """

    signals: list[dict[str, Any]] = []
    leanings: dict[str, list[Name]] = {}
    examples: list[str] = []


class Catalogues(_Rule):
    """``## Catalogues``: the paths, relative to this file, of a file with guardrails and one with their short names.

    They are added to the files of lower layers; an id or short name of a higher layer wins.
    """

    guardrails: Name | None = None
    names: Name | None = None


class Prompts(_Rule):
    """``## Prompts``: the paths, relative to this file, of the templates for a model's prompts, and of their modes.

    A template replaces a lower layer's template with the same file name.
    """

    files: list[Name] = []
    modes: Name | None = None


class Workflows(_Rule):
    """``## Workflows``: the path of the workflow index, relative to this file, and the points that a workflow needs.

    A workflow needs ``min_score`` points, and ``min_lead`` more than the next one. If no workflow is certain, the modes
    that write a plan use the workflow ``ordered`` for a prompt that asks for one thing only, ``stated`` for one that
    only describes a state, and ``fallback`` for any other, or if the key is empty.
    """

    file: Name | None = None
    min_score: Annotated[float, Field(ge=0)] = 3.0
    min_lead: Annotated[float, Field(ge=0)] = 0.1
    fallback: str = "plan-mode"
    ordered: str = ""
    stated: str = ""


class WorkflowStep(BaseModel):
    """A step of a workflow, with the texts ``do``, or a reference by ``use`` to the steps of another workflow.

    The first text of ``do`` whose placeholders are all known is used; ``now`` is the text while the step runs.
    ``evidence`` is what shows that the step, usually a ``checkpoint``, is done. ``use`` names one of ``bases``.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    do: list[Name] = []
    now: Name = "Working"
    checkpoint: bool = False
    evidence: str = ""
    use: str = ""


class WorkflowRule(_Rule):
    """A file of the workflow catalogue (``workflows/ID.md``): when it is chosen, what proves it done, its steps.

    ``triggers`` are signals like those of a class, or ``{task_type: debug, weight: 9}``: the points for a prompt that
    is certainly of that task type. With ``tracked``, in a project with a task tracker, the plan begins by creating an
    issue and ends by closing it. ``guardrails`` are ids or short names, or ``{name: …, task_types: […]}``.
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
    steps: list[WorkflowStep] = []


class Fitted(_Rule):
    """``## Fitted``: the paths, relative to this file, of files with fitted lists for the rules in this file."""

    files: list[Name] = []


class GuidanceSettings(_Rule):
    """``## Guardrail``, ``## Approach``: the minimum score, and the maximum number of lines that a prompt gets."""

    min_score: Annotated[int, Field(ge=1)] = 3
    task_type_weight: Weight = 3
    most: Annotated[int, Field(ge=1, le=9)] = 3


class GuardrailSignals(_Rule):
    """``## Guardrail: H5``: the signals that trigger this guardrail; with a title, it also defines the guardrail.

    ``text`` is the statement, which the agent reads after the title. ``task_types`` replace
    those in the table of short names; with ``extend``, they are added to them.
    ``say`` is a sentence about the prompt, shown in place of the title; ``{words}`` stands for the words that
    triggered it. A prompt gets at most one such sentence, and a session gets each at most ``times`` times.
    With ``needs: past`` it is shown only after earlier prompts; with ``needs: edits``, after earlier prompts only if
    files were edited. With ``profile`` the guardrail is used in that profile only. ``unless`` applies to every signal.
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


class DeclaredChannel(_Rule):
    """``## Channel: notes``: a source of items, either the program ``command`` or the built-in channel of that name.

    With ``model``, it asks a language model, so it is off unless the switches in ``settings.GATES`` are on.
    With ``endpoint``, it is off unless the environment variable of that name is set.
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
    """``## Complexity``: the path, relative to this file, of the thresholds by which a prompt's effort is estimated."""

    thresholds: Name


class Lines(_Rule):
    """``## Lines``: when the agent is shown the prompt's class: ``never``, ``beside`` other lines, or also ``alone``.

    ``class_alone`` is the key of earlier releases: true means ``alone``, false ``beside``.
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
    ("channel", True): ("Context", DeclaredChannel),
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
    ("workflow", True): ("Output", WorkflowRule),
}
"""Maps (kind, whether the rule is named) to the part of the file and the model of the rule's keys."""

__all__ = ["KINDS", "ValidationError"]
