"""Define the golden case: a recorded prompt, the other inputs of the decision on it, and the expected result.

A case contains no facts from the user's machine (no memory, file or task), so that it gives the same result everywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.classify.verdict import verdict
from enricher.prompt.conversation import Conversation
from enricher.prompt.redaction import redact
from enricher.respond import Inputs
from enricher.respond.decision import decide
from enricher.settings import DEFAULTS
from storage.traces import storable

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.classify import Rules
    from enricher.respond import Enrichment
    from enricher.settings import Value

OK, WRONG, CLASS = VERDICTS = ("ok", "wrong", "class")
EXPECTED, UNWANTED = "expected", "unwanted"
FIELD_NAMES = {
    "task_type": "task type", "search_intent": "intent", "shown": "shown", "workflow": "workflow",
    "approach": "approach", "guardrails": "guardrails",
}  # fmt: skip
"""What reports call the fields of ``Decided``; ``workbench.replay.compare`` uses the same names for kinds of change."""
CONFLICT_MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")  # ||||||| in git's style diff3
LONGEST_SHOWN = 60  # characters of a wrong value in the message of a LineError


class LineError(ValueError):
    """Raised if a line of the cases file is not a valid case; the message says how to correct the line."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision on a prompt, without the facts added to it; a field that is None is unknown and is not compared.

    ``approach`` is the name of the approach's rule, not its text, so that rewording it makes no difference; it is empty
    if there is no approach. ``workflow`` is empty if no workflow was certain.
    """

    task_type: str | None = None
    shown: bool | None = None
    search_intent: str | None = None
    guardrails: tuple[str, ...] | None = None
    approach: str | None = None
    workflow: str | None = None

    def differences(self, other: Decided) -> tuple[str, ...]:
        """Return the names of the fields that are known in both decisions and differ."""
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return tuple(name for name, mine, its in pairs if None not in (mine, its) and mine != its)

    def to_json(self) -> dict[str, Any]:
        """Return the known fields as a JSON object, in a fixed order."""
        fields = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields if value is not None}


class Excerpt(Conversation):
    """A conversation reduced to the words that its last prompt refers to.

    ``past`` is true if the conversation had earlier turns, ``has_edits`` if a file was edited in them.
    """

    __slots__ = ("past", "words")

    def __init__(self, words: str, *, past: bool = False, edited: bool = False) -> None:
        super().__init__()
        self.words = words
        self.past = past
        self.has_edits = edited

    def __bool__(self) -> bool:
        return self.past

    def basis(self, _prompt: str) -> str:
        """Return the words that the prompt refers back to."""
        return self.words


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """A prompt, everything else that the decision on it depends on, and the expected result.

    ``says`` is the expected result, or for the verdict ``wrong`` the result that must not occur again. ``earlier``
    contains the words that the prompt refers back to; ``past`` is true if the session had earlier turns, ``edited`` if
    a file was edited in them; ``settings`` are values that override those of the instructions. ``skills``,
    ``injected``, ``spent`` and ``form`` have the same meaning as in ``enricher.respond.Inputs``.
    """

    id: str
    prompt: str
    verdict: str
    says: Decided
    earlier: str = ""
    past: bool = False
    edited: bool = False
    settings: dict[str, Value] = field(default_factory=dict)
    skills: tuple[tuple[str, str], ...] = ()
    injected: tuple[str, ...] = ()
    spent: int = 0
    form: str = ""
    note: str = ""
    by: str = ""
    """The name of the person who approved or labelled the case."""

    def decided_by(self, rules: Rules) -> Decided:
        """Return the decision on the case's prompt under these rules."""
        inputs = Inputs(
            self.prompt,
            settings={**rules.body["settings"], **self.settings},
            skills=list(self.skills),
            injected=list(self.injected),
            spent=self.spent,
            form=self.form,
            conversation=Excerpt(self.earlier, past=self.past, edited=self.edited),
        )
        return decided_of(decide(inputs, rules, verdict(self.prompt, rules, inputs.conversation)))

    def faults(self, got: Decided) -> tuple[str, ...]:
        """Return the names of the fields in which the decision ``got`` fails the case; empty if the case passes."""
        differing = self.says.differences(got)
        if self.verdict != WRONG:
            return differing
        return () if differing else tuple(self.says.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the case as JSON for the file: keys in fixed order, texts redacted again, empty values left out."""
        expected = {UNWANTED if self.verdict == WRONG else EXPECTED: self.says.to_json()}
        rest = {
            "earlier": clean(self.earlier),
            "past": self.past,
            "edited": self.edited,
            "settings": {key: self.settings[key] for key in sorted(self.settings)},
            "skills": [[clean(name), clean(description)] for name, description in self.skills],
            "injected": list(self.injected),
            "spent": self.spent,
            "form": self.form,
            "note": clean(self.note),
            "by": clean(self.by),
        }
        first = {"id": self.id, "verdict": self.verdict, "prompt": clean(self.prompt), **expected}
        return first | {name: value for name, value in rest.items() if value}


def clean(text: str) -> str:
    """Return the text with secrets redacted and without characters that a file cannot store."""
    return redact(storable(text))[0]


def decided_of(enrichment: Enrichment) -> Decided:
    """Return the decisions in an enrichment (the hook's full result for a prompt), without the facts added."""
    judged = enrichment.classification
    return Decided(
        task_type=judged.task_type,
        shown=not judged.uncertain,
        search_intent=judged.search_intent or "none",
        guardrails=tuple(one.id for one in enrichment.guardrails),
        approach=enrichment.approach.id if enrichment.approach else "",
        workflow=enrichment.workflow,
    )


def from_line(line: bytes) -> GoldenCase:
    """Return the case on a line of the cases file; raises LineError, whose message says how to correct the line."""
    if line.startswith(CONFLICT_MARKS):
        raise LineError("a merge was left unfinished here: keep the cases of both sides, delete this mark")
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LineError(f"no JSON ({_first_line(error)}); write one object, or label the trace again") from None
    if not isinstance(value, dict):
        raise LineError('a case is an object: {"id", "verdict", "prompt", "expected"}')
    return _case(value)


def _case(value: dict[str, Any]) -> GoldenCase:
    verdict = value.get("verdict")
    if verdict not in VERDICTS:
        raise LineError(f"verdict is {_shown(verdict)}; write one of {', '.join(VERDICTS)}")
    wanted = UNWANTED if verdict == WRONG else EXPECTED
    required = ("id", "verdict", "prompt", wanted)
    known = (*required, *OPTIONAL)
    if missing := [name for name in required if name not in value]:
        raise LineError(f"no {missing[0]!r}; a case with the verdict {verdict!r} has {', '.join(required)}")
    if unknown := sorted(value.keys() - set(known)):
        raise LineError(f"unknown key {_shown(unknown[0])}; known: {', '.join(known)}")
    for name in ("id", "prompt", *OPTIONAL):
        if name in value and not CHECKS[name][0](value[name]):
            raise LineError(f"{name} is {_shown(value[name])}; write {CHECKS[name][1]}")
    given = {name: value[name] for name in OPTIONAL if name in value}
    given["skills"] = tuple((name, description) for name, description in value.get("skills", ()))
    given["injected"] = tuple(value.get("injected", ()))
    says = _judgement(value[wanted], wanted, verdict=verdict)
    return GoldenCase(value["id"], value["prompt"], verdict, says, **given)


def _judgement(value: object, name: str, *, verdict: str) -> Decided:
    known = Decided.__slots__
    if not isinstance(value, dict) or not value:
        raise LineError(f"{name} is {_shown(value)}; write an object with one or more of {', '.join(known)}")
    if unknown := sorted(value.keys() - set(known)):
        raise LineError(f"unknown key {_shown(unknown[0])} in {name}; known: {', '.join(known)}")
    for key, given in value.items():
        if not CHECKS[key][0](given):
            raise LineError(f"{name}.{key} is {_shown(given)}; write {CHECKS[key][1]}")
    if verdict == CLASS and not {"task_type", "workflow"} & value.keys():
        raise LineError(f"no 'task_type' in {name}; a correction needs it, or a 'workflow'")
    fields: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in value.items()}
    return Decided(**fields)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _is_filled_text(value) and value.isprintable()


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, value))


def _is_settings(value: object) -> bool:
    # A bool is an int to Python, and an int is as good as a float.
    return isinstance(value, dict) and all(
        key in DEFAULTS and isinstance(given, bool) == isinstance(DEFAULTS[key], bool)
        and isinstance(given, (int, float) if isinstance(DEFAULTS[key], (int, float)) else str)
        for key, given in value.items()
    )  # fmt: skip


def _is_skills(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in value
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "id": (_is_name, "the trace's id"),
    "prompt": (_is_filled_text, "the prompt"),
    "earlier": (_is_text, "a text"),
    "past": (lambda value: isinstance(value, bool), "true or false"),
    "edited": (lambda value: isinstance(value, bool), "true or false"),
    "settings": (_is_settings, "an object of settings (enricher config show)"),
    "skills": (_is_skills, "a list of [name, description]"),
    "injected": (_is_names, "a list of texts such as guardrail:H3"),
    "spent": (_is_count, "a number of tokens"),
    "form": (_is_text, "a text"),
    "note": (_is_text, "a text"),
    "by": (_is_text, "a name"),
    "task_type": (_is_name, "a task type"),
    "shown": (lambda value: isinstance(value, bool), "true or false"),
    "search_intent": (_is_name, "a search intent, or none"),
    "guardrails": (_is_names, "a list of guardrail ids, empty for none"),
    "approach": (_is_text, "the name of an approach, empty for none"),
    "workflow": (_is_text, "the id of a workflow, empty for none"),
}
OPTIONAL = ("earlier", "past", "edited", "settings", "skills", "injected", "spent", "form", "note", "by")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _first_line(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
