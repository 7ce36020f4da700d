"""What each kind of rule may say: validated when rules are compiled, never per prompt."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Weight = Annotated[int, Field(ge=1, le=9)]
Name = Annotated[str, Field(min_length=1)]
LONGEST_TITLE, LONGEST_TEXT = 80, 240
"""Characters of a guardrail: both are part of the answer to every prompt that calls for it."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    disabled: bool = False
    extend: bool = False


class FacetSettings(_Rule):
    """``## Task type``, ``## Search intent``: what a lead is worth, and when a best guess is shown.

    Every ``points_that_double`` of lead double the odds; ``silent`` classes get
    nothing, and nothing is shown where they are likelier than ``max_silent``.
    """

    points_that_double: Annotated[float, Field(gt=0)] = 3.0
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    silent: list[Name] = []
    max_silent: Annotated[float, Field(ge=0, le=1)] = 1.0


class Words(_Rule):
    """``## Words: openers``: a list that signals and the reader of prompts refer to by name."""

    words: Annotated[list[Name], Field(min_length=1)]


class ClassSignals(_Rule):
    """``## Task type: debug``, ``## Search intent: howto``: what speaks for one class."""

    signals: list[dict[str, Any]] = []
    leanings: dict[str, list[Name]] = {}
    examples: list[str] = []


class Catalogues(_Rule):
    """``## Catalogues``: files with guardrails and with their short names, relative to this one.

    They add to those of lower layers; an id or short name of a higher layer wins.
    """

    guardrails: Name | None = None
    names: Name | None = None


class Fitted(_Rule):
    """``## Fitted``: files with the fitted lists of the rules here, relative to this one."""

    files: list[Name] = []


class GuidanceSettings(_Rule):
    """``## Guardrail``, ``## Approach``: the threshold and the number of lines."""

    min_score: Annotated[int, Field(ge=1)] = 3
    task_type_weight: Weight = 3
    most: Annotated[int, Field(ge=1, le=9)] = 3


class GuardrailSignals(_Rule):
    """``## Guardrail: H5``: what calls for this guardrail; with a title, the guardrail itself.

    ``text`` is the statement, which the agent reads behind the title. ``task_types`` take
    the place of those in the table of short names; with ``extend``, they add to them.
    ``say`` is a sentence for the title's place, about this prompt: ``{words}`` are those that
    called for it. Of all guardrails with a sentence a prompt gets one, each at most ``times`` a
    session. ``needs: past``: only where something was said before; ``needs: edits``: not where something
    was said and nothing edited. With ``profile`` the guardrail takes part in that profile only.
    """

    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)] | None = None
    task_types: list[Name] = []
    signals: list[dict[str, Any]] = []
    examples: list[str] = []
    always: bool = False
    min_score: Annotated[int, Field(ge=1)] | None = None
    say: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)] | None = None
    needs: Literal["", "past", "edits"] = ""
    times: Annotated[int, Field(ge=1, le=99)] = 1
    profile: Literal["", "as-specified"] = ""


class Approach(_Rule):
    """``## Approach: start-at-frame``: one sentence, the facts it needs, what calls for it.

    With ``profile`` it takes part in that profile only, behind all others.
    """

    profile: Literal["", "as-specified"] = ""
    say: Name
    needs: list[Name] = []
    task_types: dict[str, Weight] = {}
    signals: list[dict[str, Any]] = []
    examples: list[str] = []


class Channel(_Rule):
    """``## Channel: notes``: a source of items; a program to ask, or without ``command`` one of our own.

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


class Lines(_Rule):
    """``## Lines``: whether the agent is told the class: ``never``, ``beside`` other lines, or also ``alone``.

    ``class_alone`` is how earlier instructions say it: true means ``alone``, false ``beside``.
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
    ("budgets", False): ("Output", Budgets),
    ("lines", False): ("Output", Lines),
}
"""(kind, named) → the part it belongs to and what it may say."""

__all__ = ["KINDS", "ValidationError"]
