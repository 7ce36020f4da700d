"""Define the keys that each kind of rule may have in an instructions file, each kind as a pydantic model.

Rules are validated when they are compiled, never while a prompt is answered.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Weight = Annotated[int, Field(ge=1, le=9)]
Name = Annotated[str, Field(min_length=1)]
LONGEST_TITLE, LONGEST_TEXT = 80, 240  # characters; both are added to every prompt that triggers the guardrail


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    disabled: bool = False
    extend: bool = False


class FacetSettings(_Rule):
    """A rule ``## Task type`` or ``## Search intent``: how points become a confidence, and when a class is shown.

    A lead of ``points_that_double`` points doubles the odds. The best class is shown if its confidence reaches
    ``min_confidence``, which a task type may set higher for itself, and if the ``silent`` classes (such as small talk)
    together have at most the probability ``max_silent``. With few exceptions, nothing is added to a prompt whose best
    task type is a silent one.
    """

    points_that_double: Annotated[float, Field(gt=0)] = 3.0
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    silent: list[Name] = []
    max_silent: Annotated[float, Field(ge=0, le=1)] = 1.0


class Words(_Rule):
    """A rule such as ``## Words: openers``: a word list, to which signals and code refer by its name."""

    words: Annotated[list[Name], Field(min_length=1)]


class ClassSignals(_Rule):
    """A rule such as ``## Task type: debug`` or ``## Search intent: howto``: the signals of one class.

    ``unless`` applies to every signal. ``leanings`` gives weights to single words: each key is a weight, and its value
    is the list of words that have it.
    """

    signals: list[dict[str, Any]] = []
    unless: list[str] = []
    leanings: dict[str, list[Name]] = {}
    examples: list[str] = []


class TaskTypeSignals(ClassSignals):
    """A rule such as ``## Task type: debug``: the signals of a task type, and the least confidence to show it with.

    The ``min_confidence`` of all task types counts, too, where it is higher.
    """

    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


class Catalogues(_Rule):
    """The rule ``## Catalogues``: the paths of a file with guardrails and of a file with short names for guardrails.

    Paths are relative to the instructions file. These files are used in addition to those of lower layers; if two
    layers define the same id or short name, the higher one wins.
    """

    guardrails: Name | None = None
    names: Name | None = None


class Prompts(_Rule):
    """The rule ``## Prompts``: the paths of the templates for a language model's prompts.

    The file ``modes`` says of each template whether it asks for a structured answer. Paths are relative to the
    instructions file. A template replaces a lower layer's template with the same file name.
    """

    files: list[Name] = []
    modes: Name | None = None


class Workflows(_Rule):
    """The rule ``## Workflows``: the path of the workflow index, and how many points a workflow needs to be chosen.

    The path is relative to the instructions file. A workflow is chosen for a prompt if it has at least ``min_score``
    points and at least ``min_lead`` points more than the next one; of equals, the first in the index. If no workflow
    has that many, ``ordered`` names the workflow for a prompt that asks for only one thing, ``stated`` the one for a
    prompt that only describes a state, and ``fallback`` the one for any other prompt. An empty ``ordered`` or
    ``stated`` means ``fallback``.
    """

    file: Name | None = None
    min_score: Annotated[float, Field(ge=0)] = 3.0
    min_lead: Annotated[float, Field(ge=0)] = 0.0
    fallback: str = "plan-mode"
    ordered: str = ""
    stated: str = ""


class WorkflowStep(BaseModel):
    """A step of a workflow: either its texts (``do``), or a reference to the steps of another workflow (``use``).

    The first text of ``do`` whose placeholders can all be filled in is used. ``now`` is shown while the step is in
    progress. ``evidence``, which a ``checkpoint`` usually has, says what proves that the step is done. ``use`` must be
    one of the workflow's ``bases``.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    do: list[Name] = []
    now: Name = "Working"
    checkpoint: bool = False
    evidence: str = ""
    use: str = ""


class WorkflowRule(_Rule):
    """The header of a workflow's file (``workflows/ID.md``): when to choose the workflow, and its steps.

    ``triggers`` are signals like those of a class, or ``{task_type: debug, weight: 9}``, which gives these points to a
    prompt that is certainly of that task type. With ``tracked``, in a project with a task tracker, the plan begins by
    creating an issue and ends by closing it. ``guardrails`` are the ids or short names of the guardrails that the plan
    lists; ``{name: …, task_types: […]}`` lists one only for prompts of these task types.
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
    """The rule ``## Fitted``: the paths of files to which a program writes further lists for the rules of a file.

    Paths are relative to the instructions file with the rule.
    """

    files: list[Name] = []


class GuidanceSettings(_Rule):
    """A rule ``## Guardrail`` or ``## Approach``: the score needed to be shown, and the maximum number per prompt."""

    min_score: Annotated[int, Field(ge=1)] = 3
    task_type_weight: Weight = 3
    most: Annotated[int, Field(ge=1, le=9)] = 3


class GuardrailSignals(_Rule):
    """A rule such as ``## Guardrail: H5``: the signals that trigger the guardrail and, optionally, its definition.

    The rule defines the guardrail if it has a ``title``; the agent reads ``text`` after the title. ``task_types``
    replaces the task types that trigger the guardrail according to the table of short names; with ``extend``, they are
    added to those of the table. ``say`` is a sentence about the prompt that is shown in place of the title; ``{words}``
    in it stands for the words that triggered the guardrail. A prompt gets at most one such sentence, and a session gets
    each at most ``times`` times. With ``needs: past``, the sentence is shown only if the session has earlier prompts;
    with ``needs: after-edits``, only if a file was edited; with ``needs: edits``, also if the session is new; with
    ``needs: no-edits``, only if no file was edited. With ``asks_for_run``, it is not shown after the user has said that
    nothing is to be run. With ``profile``, the guardrail is used in that profile only. ``unless`` applies to every
    signal.
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
    needs: Literal["", "past", "edits", "after-edits", "no-edits"] = ""
    asks_for_run: bool = False
    times: Annotated[int, Field(ge=1, le=99)] = 1
    profile: Literal["", "as-specified"] = ""


class Approach(_Rule):
    """A rule such as ``## Approach: start-at-frame``: a sentence that suggests how to proceed, and its triggers.

    ``say`` is the sentence. ``needs`` are the facts about a prompt without which the sentence is not shown. With
    ``profile``, the approach is used in that profile only, after all others.
    """

    profile: Literal["", "as-specified"] = ""
    say: Name
    needs: list[Name] = []
    task_types: dict[str, Weight] = {}
    signals: list[dict[str, Any]] = []
    examples: list[str] = []


class DeclaredChannel(_Rule):
    """A rule such as ``## Channel: notes``: a source of items that may be added to a prompt.

    The source is the program ``command`` or, without it, the built-in channel with the rule's name. With ``model``, it
    queries a language model, so it is off unless the switches in ``settings.GATES`` are on. With ``endpoint``, it is
    off unless the environment variable of that name is set.
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
    """The rule ``## Complexity``: the path of the thresholds by which the effort that a prompt asks for is estimated.

    The path is relative to the instructions file.
    """

    thresholds: Name


class Lines(_Rule):
    """The rule ``## Lines``: when the agent is shown a line with the task type of its prompt.

    The line is shown ``never``, only together with other lines (``beside``), or even as the only line (``alone``).
    """

    class_line: Literal["never", "beside", "alone"] = "beside"


class Budgets(_Rule):
    """The rule ``## Budgets``: the maximum tokens and items added to a prompt, and the maximum tokens of a session."""

    tokens: Annotated[int, Field(ge=1, le=2000)] = 450
    session_tokens: Annotated[int, Field(ge=1)] = 1500
    items: Annotated[int, Field(ge=1, le=15)] = 8


KINDS: dict[tuple[str, bool], tuple[str, type[_Rule]]] = {
    ("task_type", False): ("Classification", FacetSettings),
    ("task_type", True): ("Classification", TaskTypeSignals),
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
"""Maps (kind of rule, whether it has a name) to the part of the file where it belongs and the model of its keys."""

__all__ = ["KINDS", "ValidationError"]
