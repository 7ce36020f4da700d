"""Describe what the hook did with a recorded prompt, and find the words of the prompt that led to it.

Both the app and the web pages call this module, so that they say the same. Offsets into a prompt count its code points.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from enricher.interfaces.explanation import model_summary
from enricher.prompt.event import SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

STATUS_TEXTS = {
    "ok": "text was added",
    "partial": "text was added; a channel ran out of time",
    "silent": "silent: nothing to add",
    "skipped": "skipped",
    "shadow": "shadow: recorded only, the agent was given nothing",
    "error": "failed",
}
FACET_TEXTS = {
    "task_type": "Task type",
    "search_intent": "Search intent",
    "guardrail": "Guardrails",
    "approach": "Approach",
}
CHANNEL_TEXTS = {
    "ok": "answered",
    "empty": "found nothing",
    "timeout": "took too long",
    "error": "failed",
    "off": "switched off",
    "untrusted": "not trusted",
}
VERDICT_TEXTS = {
    "identical": "No prompt changes.",
    "changed": "Prompts change; no approved case is among them, and labels do not show that it is worse.",
    "regressed": "An approved case changes, or significantly more labelled prompts become wrong than right.",
    "inconclusive": "Some labelled prompts become wrong, and too few labels show that more become right.",
}
"""The meaning of each verdict on edited rules, under which recorded prompts were evaluated again."""
TASK_TYPE, SEARCH_INTENT, NO_INTENT = "task_type", "search_intent", "none"
SIGNAL_TEXTS = {
    "plain words": "ordinary words that lean towards this class or away from it",
    "earlier turn": "words of an earlier prompt that this one points back to",
}
"""What the names of signals mean that are neither words of the prompt nor features of its form."""
OF_THE_WHOLE = ("plain words", "earlier turn")
"""Signals that do not match one phrase of the prompt: they sum up many of its words, or words of the prompt before."""


def status_text(trace: Row) -> str:
    """Return in words what the hook did with a prompt; ``trace`` is its record."""
    if (trace["status"], trace["origin"]) == ("shadow", "import"):
        return "imported from a past conversation: the agent was given nothing"
    return STATUS_TEXTS.get(trace["status"], str(trace["status"]))


def why_nothing(trace: Row) -> list[str]:
    """Return sentences that say why nothing was added to a prompt; empty if its record does not show the reason.

    ``trace`` is the record, as ``storage.traces.queries.show`` returns it.
    """
    reasons = {
        "skipped": [SKIPS.get(trace["skip_reason"], str(trace["skip_reason"]))],
        "error": [f"the hook failed: {trace['error']}" if trace["error"] else "the hook failed"],
        "shadow": [_why_shadow(trace)],
    }.get(trace["status"])
    return list(_why_silent(trace)) if reasons is None else reasons


def _why_shadow(trace: Row) -> str:
    if trace["origin"] == "import":
        return "the prompt was imported from a past conversation, without a hook"
    return "the hook only records (enricher on)"


def _why_silent(trace: Row) -> Iterator[str]:
    name, settings = trace["task_type"], _recorded(trace, "settings") or {}
    most, spent = settings.get("budgets.session_tokens"), _recorded(trace, "spent")
    if most and isinstance(spent, int) and spent >= most:
        yield f"the session's budget of {most:,} tokens was spent"
    if not name:
        return
    if not trace["channels"]:  # also those that are switched off are recorded, so none at all has another reason
        yield f"a prompt of the class {name} gets no enrichment, so no channel was asked"
    elif trace["uncertain"]:
        yield f"the class {name} was too uncertain to be shown"
    else:
        yield f"the class {name} alone is not shown"
    if trace["items"]:
        yield "what the channels offered was too weak, outdated, or already told"
    elif trace["channels"]:
        yield "no channel offered anything"
    if trace["channels"]:
        yield "no guardrail and no approach applied"


def describe_model_call(trace: Row) -> str:
    """Return a description of the hook's request to a language model about this prompt; empty if there was none."""
    record = _recorded(trace, "model")
    return model_summary(record) if record else ""


def describe_plan(trace: Row) -> list[str]:
    """Return up to two texts: why the prompt's workflow was chosen, and which model was asked for the plan's steps.

    A text is left out if its subject was not recorded.
    """
    reason = _recorded(trace, "workflow")
    by_model = (_recorded(trace, "hydration") or {}).get("model")
    chosen = [f"{trace['workflow'] or 'none'}: {reason}"] if reason else []
    return chosen + ([f"intent and steps, asked of {model_summary(by_model)}"] if by_model else [])


def _recorded(trace: Row, name: str) -> Any:
    return trace["inputs"].get(name) if isinstance(trace["inputs"], dict) else None


class PromptInSession(Protocol):
    """What ``drifts`` needs to know about a prompt."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def task_type(self) -> str: ...


def drifts(prompts: Iterable[PromptInSession]) -> set[str]:
    """Return the ids of the prompts of a session whose task type differs from that of the preceding prompt.

    ``prompts`` begins with the oldest. Prompts that were skipped, or have no task type, are ignored.
    """
    found, former = set(), ""
    for one in prompts:
        if one.status == "skipped" or not one.task_type:
            continue
        if former and one.task_type != former:
            found.add(one.id)
        former = one.task_type
    return found


class EvidenceSignal(NamedTuple):
    """A signal (a phrase or feature of a prompt) that gave points to a class, such as the task type "debug".

    ``start`` and ``end`` are the offsets of the words that it matched; ``weight`` is its points, which may be negative.
    """

    name: str
    start: int
    end: int
    weight: float

    def is_at_a_place(self, length: int) -> bool:
        """Return whether the signal matched a certain part of the prompt, whose length is ``length``.

        It is False for signals that stand for the whole prompt, for features such as ``<file>``, whose names are in
        angle brackets, and for offsets beyond the prompt.
        """
        is_of_words = not self.name.startswith("<") and self.name not in OF_THE_WHOLE
        # A signal may match the whole prompt; marking all of it would say nothing.
        return is_of_words and 0 <= self.start < self.end <= length and self.end - self.start < length


class ScoredSignal(NamedTuple):
    """A signal with the class ``name`` to which it gave points, and the ``facet`` of that class, such as "task_type".

    ``is_chosen`` says whether the prompt got this class.
    """

    facet: str
    name: str
    signal: EvidenceSignal
    is_chosen: bool

    @property
    def is_for_class(self) -> bool:
        """Return whether the signal gave points to the task type that the prompt got."""
        return self.is_chosen and self.facet == TASK_TYPE


def signals(evidence: object) -> Iterator[EvidenceSignal]:
    """Parse the recorded evidence for the score of one class, and yield its signals; malformed entries are left out.

    Evidence is a list ``[[signal, start, end, weight], …]``.
    """
    for one in evidence if isinstance(evidence, list) else ():
        if isinstance(one, list) and len(one) == 4:
            name, start, end, weight = one
            # Not isinstance for the offsets, because JSON's true and false would pass as integers.
            if isinstance(name, str) and type(start) is type(end) is int and isinstance(weight, int | float):
                yield EvidenceSignal(name, start, end, weight)


def places(
    scores: Sequence[Row], task_type: str, *, length: int, with_rivals: bool = False, most: int | None = None
) -> Iterator[ScoredSignal]:
    """Yield the signals that matched words at a known position and gave points to a class that the prompt got.

    ``scores`` are the prompt's rows of the table ``trace_scores``, with parsed evidence, and ``length`` is the length
    of the prompt. ``with_rivals`` adds the signals for classes that the prompt did not get. At most the first ``most``
    signals of each class are read.
    """
    intents = [one["name"] for one in scores if one["facet"] == SEARCH_INTENT]
    chosen = {TASK_TYPE: task_type, SEARCH_INTENT: intents[0] if intents else ""}
    for one in scores:
        facet, name = one["facet"], one["name"]
        is_chosen = chosen.get(facet, name) == name  # of other facets, such as guardrails, a prompt gets several
        if (not is_chosen and not with_rivals) or (facet == SEARCH_INTENT and name == NO_INTENT):
            continue
        for signal in islice(signals(one["evidence"]), most):
            if signal.weight > 0 and signal.is_at_a_place(length):
                yield ScoredSignal(facet, name, signal, is_chosen)
