"""Prepare an experiment that asks a language model: its two variants (arms), its cases, and the most it can cost.

The arms differ in the mode of a prompt template (structured or unstructured) or in the model.

A case in a file is a JSON object whose keys are the template's variables, except ``id`` and ``session_id``. For a case
from a recorded prompt, that prompt is the value of the template's main variable, whatever its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.prompt.redaction import redact
from enricher.prompt.text import estimate_tokens
from storage.base.fast_stdlib import dumps, keyed_hash
from storage.evaluation import corpus
from storage.traces import storable
from workbench.experiments.questions import QuestionError, lines

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from enricher.settings import Value
    from storage.evaluation.corpus import RecordedPrompt
    from storage.traces.selection import Selection

    Render = Callable[["ModelCase", Mapping[str, Any], str | None], str]
    """Returns the prompt to send for a case with these variables and mode; None means the configured mode."""
    Prices = Mapping[str, tuple[float, float]]
    """US dollars per million tokens of prompts and of responses, by model name."""

MODES = ("structured", "unstructured")
MODEL = "model:"
REMEDY = "write structured, unstructured, model:NAME, structured@NAME or unstructured@NAME"
FRAME_TOKENS = 16
"""Maximum number of tokens that an endpoint counts for a message in addition to those of its text."""
NAMES = ("a", "b")
NOT_VARIABLES = ("id", "session_id")
MAIN_VARIABLES = ("prompt", "task", "question", "error", "material", "code")
"""Names that templates use for their main variable, the text that they are about."""


class ArmError(ValueError):
    """Raised if an arm, a template or a price cannot be used; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class ModelCase:
    """One input about which both arms ask the model.

    If a case has no session, ``session`` is an id that no other case has.
    """

    id: str
    session: str
    variables: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PromptArm:
    """One way to ask about a case: the template's mode (None means the configured mode) and the name of the model."""

    label: str
    mode: str | None
    model: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """A case with the prompt that each arm sends, from which secrets were removed.

    ``hash`` is the hash of both prompts, and so changes if one of them does.
    """

    case: ModelCase
    prompts: Mapping[str, str]
    hash: str


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bounds for the tokens and the cost of model calls; ``most_usd`` is None if a price is unknown.

    A token is at least one byte of text, so ``most_prompt_tokens`` is an upper bound for every model. ``prompt_tokens``
    is not a bound but an estimate.
    """

    calls: int
    prompt_tokens: int
    most_prompt_tokens: int
    most_response_tokens: int
    most_usd: float | None


def named(text: str, *, model: str) -> PromptArm:
    """Return the arm that a text such as ``structured@NAME`` describes; raises ArmError.

    If the text names no model, the arm asks ``model``.
    """
    if text.startswith(MODEL) and len(text) > len(MODEL):
        return PromptArm(text, None, text.removeprefix(MODEL))
    mode, at, other = text.partition("@")
    if mode in MODES and bool(at) == bool(other):
        return PromptArm(text, mode, other or model)
    raise ArmError(f"{text!r} is no arm of a template; {REMEDY}")


def prices_of(settings: Mapping[str, Value], given: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the prices of models: of the configured one, if its price is set, and of those in ``given``.

    ``given`` has texts such as ``NAME=IN,OUT``, in US dollars per million tokens; raises ArmError for any other text.
    """
    known = {}
    configured = tuple(float(settings[f"model.usd_per_million_{name}"]) for name in ("input", "output"))
    if any(configured):
        known[str(settings["model.name"])] = (configured[0], configured[1])
    for one in given:
        name, _, both = one.rpartition("=")
        try:
            price, response_price = (float(value) for value in both.split(","))
        except ValueError:
            raise ArmError(f"{one!r} is no price; write NAME=IN,OUT in US dollars per million tokens") from None
        if not name or min(price, response_price) < 0:
            raise ArmError(f"{one!r} is no price; write NAME=IN,OUT in US dollars per million tokens")
        known[name] = (price, response_price)
    return known


def cost(prices: Prices, model: str, prompt_tokens: int | None, response_tokens: int | None) -> float | None:
    """Return the cost of a call in US dollars; None if the price or the number of tokens is unknown."""
    if model not in prices or prompt_tokens is None or response_tokens is None:
        return None
    return (prompt_tokens * prices[model][0] + response_tokens * prices[model][1]) / 1e6


def pairing(case: ModelCase, arms: Mapping[str, PromptArm], render: Render) -> Pairing:
    """Return a case with the prompts that both arms send, from which secrets were removed."""
    variables = _without_secrets(case.variables)
    prompts = {name: render(case, variables, arms[name].mode) for name in NAMES}
    return Pairing(case, prompts, _hash(list(prompts.values())))


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redact(storable(value))[0]
    if isinstance(value, dict):
        return {key: _without_secrets(one) for key, one in value.items()}
    return [_without_secrets(one) for one in value] if isinstance(value, list) else value


def arm_hash(name: str, arm: PromptArm, asked: Sequence[Pairing]) -> str:
    """Return a hash of all that an arm sends: arms that send the same prompts to the same model have equal hashes."""
    return _hash([arm.model, *(one.prompts[name] for one in asked)])


def _hash(texts: Sequence[str]) -> str:
    return keyed_hash(b"prompts", dumps(list(texts)).encode())


def bound(calls: Iterable[tuple[str, str]], prices: Prices, *, most_tokens: int) -> Bound:
    """Return an upper bound for the cost of ``calls``, which are pairs of a model and a prompt.

    ``most_tokens`` is the maximum number of tokens of one response.
    """
    made = list(calls)
    most = [len(prompt.encode()) + FRAME_TOKENS for _model, prompt in made]  # bytes: see Bound
    usd = [cost(prices, model, tokens, most_tokens) for (model, _prompt), tokens in zip(made, most, strict=True)]
    return Bound(
        len(made),
        sum(estimate_tokens(prompt) for _model, prompt in made),
        sum(most),
        most_tokens * len(made),
        None if None in usd else sum(one or 0.0 for one in usd),
    )


def cases_in_file(path: str) -> Iterator[ModelCase]:
    """Yield the cases of a JSONL file in order; raises QuestionError if a line cannot be used."""
    seen: set[str] = set()
    for place, value in lines(path):
        case_id = str(value.get("id") or place.rpartition(":")[2])  # or the number of the line
        if case_id in seen:
            raise QuestionError(f"{place}: the id {case_id!r} occurs twice; give each case its own")
        seen.add(case_id)
        variables = {name: one for name, one in value.items() if name not in NOT_VARIABLES}
        if "prompt_hmac" in value:  # an exported trace
            variables = dict.fromkeys(MAIN_VARIABLES, str(value.get("prompt", "")))
        yield ModelCase(case_id, str(value.get("session_id") or f"case {case_id}"), variables)


def cases_of_log(db: sqlite3.Connection, selection: Selection, *, limit: int) -> Iterator[ModelCase]:
    """Yield the selected prompts as cases, newest first, without those whose text was not recorded.

    ``limit`` is the maximum number of prompts read; 0 means all.
    """
    for page in corpus.rows(db, selection, limit=limit):
        yield from _with_text(page)


def cases_of_traces(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[ModelCase]:
    """Yield the recorded prompts with these ids as cases, without those that have been deleted."""
    yield from _with_text(corpus.rows_of(db, ids))


def _with_text(rows: Iterable[RecordedPrompt]) -> Iterator[ModelCase]:
    for row in rows:
        if row.prompt.strip():
            yield ModelCase(row.id, row.session_id or f"prompt {row.id}", dict.fromkeys(MAIN_VARIABLES, row.prompt))
