"""Check ``complexity_thresholds.yaml``, and compile it to the form that ``enricher.complexity.estimate`` uses.

The hook never imports this module: it reads the compiled form.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Points = Annotated[float, Field(ge=0, le=1000)]
Weight = Annotated[float, Field(gt=0, le=100)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Word = Annotated[str, Field(min_length=1)]
Words = Annotated[list[Word], Field(min_length=1)]

Place = tuple[str | int, ...]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Keywords(_Section):
    """A group of keywords, and what each of them adds to the score and to the estimated lines of code."""

    points: Points
    lines: Annotated[int, Field(ge=0)]
    words: Words


class Kind(_Section):
    """A kind of task, recognized by words in the prompt, whose weight multiplies the points of the keywords."""

    weight: Weight
    words: Words


class Wide(_Section):
    """Words that stand for many files, such as "everywhere", and the number of files assumed if a prompt has one."""

    count: Count
    words: Words


class _Step(_Section):
    """One step of a scale, which applies to values up to the limit ``up_to``; the last step has no limit."""

    up_to: Count | None = None


class FileStep(_Step):
    """The weight of a task that concerns at most ``up_to`` files; it multiplies the points of the keywords."""

    weight: Weight


class DependencyStep(_Step):
    """The points that are added for a task with at most ``up_to`` dependencies between its parts."""

    points: Points


class CategoryStep(_Step):
    """The name of the effort category for scores of at most ``up_to``."""

    name: Word


class FileWeights(_Section):
    """How many files a task concerns, and what follows from that.

    ``counted`` are the words that make a number before them a number of files, ``wide`` the words that stand for many
    files, and ``weights`` the weights of a task, by its number of files.
    """

    counted: Words
    wide: Wide
    weights: Annotated[list[FileStep], Field(min_length=1)]


class Items(_Section):
    """The number of listed parts that add no points, and the points for each further part."""

    free: Annotated[int, Field(ge=0)]
    points: Points


class Verbs(Items):
    """The verbs that state a task, the number of them that adds no points, and the points for each further one."""

    words: Words


class Sizes(_Section):
    """The values from which the lines of code, tokens and minutes of a task are estimated."""

    lines: Annotated[int, Field(ge=0)]
    characters_per_token: Count
    tokens_per_line: Weight
    lines_per_minute: Weight
    least_minutes: Annotated[int, Field(ge=0)]


class Confidence(_Section):
    """The values that add up to the confidence in a suggestion to split a task.

    ``base`` always counts, ``each`` is added for each threshold that is reached, and ``parts`` is added if the prompt
    lists enough parts.
    """

    base: Annotated[float, Field(ge=0, le=1)]
    each: Annotated[float, Field(ge=0, le=1)]
    parts: Annotated[float, Field(ge=0, le=1)]


class Decomposition(_Section):
    """The thresholds of score, lines, files and tokens, each of which is enough to suggest splitting a task.

    If a prompt lists ``least_parts`` parts or more, the confidence in that suggestion is higher.
    """

    score: Annotated[float, Field(ge=0, le=100)]
    lines: Count
    files: Count
    tokens: Count
    least_parts: Count
    confidence: Confidence


class Mix(_Section):
    """The weights of the heuristic score and of a model's score in their mean."""

    heuristic: Weight
    model: Weight


class TaskTypes(BaseModel):
    """The weight by which each listed task type multiplies the score, and the weight of all others (``default``)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Weight] = Field(init=False)

    default: Weight


class ThresholdsFile(_Section):
    """The content of ``complexity_thresholds.yaml``; every key is required, and unknown keys are errors."""

    base: Points
    keywords: Annotated[dict[str, Keywords], Field(min_length=1)]
    files: FileWeights
    kinds: dict[str, Kind]
    verbs: Verbs
    items: Items
    dependencies: Annotated[list[DependencyStep], Field(min_length=1)]
    task_types: TaskTypes
    sizes: Sizes
    categories: Annotated[list[CategoryStep], Field(min_length=1)]
    decomposition: Decomposition
    mix: Mix

    @model_validator(mode="after")
    def _steps_ascend(self) -> Self:
        steps: dict[str, Sequence[_Step]] = {
            "files.weights": self.files.weights, "dependencies": self.dependencies, "categories": self.categories,
        }  # fmt: skip
        for name, rows in steps.items():
            if problem := _order_problem([one.up_to for one in rows]):
                raise ValueError(f"{name}: {problem}")
        return self


def _order_problem(limits: Sequence[int | None]) -> str:
    """Return what is wrong with the limits of the steps of a scale, or an empty string if they are valid."""
    if limits[-1] is not None:
        return "the last step must have no up_to, so that every value has a step"
    if None in limits[:-1]:
        return "only the last step may lack up_to"
    if any(one >= after for one, after in pairwise(filter(None, limits))):
        return "up_to must rise from step to step"
    return ""


def compile_thresholds(
    data: object, *, forms: Callable[[str], Iterable[str]]
) -> tuple[dict[str, Any], list[tuple[Place, str]]]:
    """Return the compiled thresholds and no mistakes, or an empty mapping and each mistake with its place in ``data``.

    ``data`` is the content of the YAML file. ``forms`` returns the inflected forms of a word.
    """
    try:
        read = ThresholdsFile.model_validate(data)
    except ValidationError as failure:
        return {}, [(tuple(detail["loc"]), _message(detail)) for detail in failure.errors()]
    body: dict[str, Any] = read.model_dump()
    for group in (*body["keywords"].values(), *body["kinds"].values(), body["files"]["wide"], body["verbs"]):
        group.update(_compiled_words(group["words"], forms))
    body["files"]["counted"] = list(_compiled_words(body["files"]["counted"], forms)["words"])
    return body, []


def _compiled_words(words: Iterable[str], forms: Callable[[str], Iterable[str]]) -> dict[str, Any]:
    """Return the compiled form of a list of words and phrases: a mapping with the keys "words" and "phrases".

    "words" maps each inflected form of a single word to that word; "phrases" lists the entries that have several words.
    """
    flat = [" ".join(word.lower().split()) for word in words]
    single = [word for word in flat if " " not in word]
    inflected = {form: word for word in single for form in forms(word)}
    # A listed word means itself, even if it is an inflected form of another one.
    return {"words": {**inflected, **{word: word for word in single}}, "phrases": [one for one in flat if " " in one]}


def _message(detail: Any) -> str:
    where = ".".join(map(str, detail["loc"]))
    if detail["type"] == "missing":
        return f"'{where}' is missing; add it, with a value as in the packaged file"
    if detail["type"] == "extra_forbidden":
        return f"unknown key '{where}', which would have no effect; remove it"
    message = str(detail["msg"]).removeprefix("Value error, ")  # pydantic's words for our own ValueError
    return f"{where}: {message[:1].lower()}{message[1:]}" if where else message
