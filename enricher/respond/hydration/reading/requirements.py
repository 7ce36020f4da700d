"""Add a prompt's requirements to the steps of a plan: qualities of the result, prohibitions, and minor orders.

A requirement does not get a step of its own. In the words of the prompt, it is added to the step for the request that
it follows.
"""

from __future__ import annotations

from enricher.prompt.text import shortened
from enricher.respond.hydration.reading.vocabulary import ABOUT_CONDUCT, AROUND, POINTING, STATING, VERBS
from enricher.respond.hydration.reading.wording import (
    LONGEST_ITEM,
    capitalized,
    closed,
    lowered,
    own_requests,
    separate_requests,
)

MOST_ITEMS = 6
FEWEST_WORDS, LONGEST_VAGUE = 3, 5  # minimum words of a requirement; maximum words of a vague wish that ends with "it"
MORE = "; and {} more lines of the prompt"
LONGEST_CONDITIONS = 150  # maximum characters of the requirements in a checkpoint
PROHIBITING = ("don't ", "do not ", "dont ", "never ", "avoid ")
LIMITING = (
    *PROHIBITING, "no ", "nothing ", "without ", "only ", "make sure ", "ensure ",
    "leave ", "given ", "note that ", "use only ", "this is wrong", "that is wrong", "that's wrong",
)  # fmt: skip
"""Beginnings of sentences that limit how something is to be done: "don't touch the tests"."""
BINDING = frozenset("keep look check read note use".split())  # verbs of minor requests that are still requirements
LETTING = ("let's ", "lets ", "let's just ", "lets just ")
CONDUCT = ("stick", "stay", "keep", "leave")  # "let's just stick with the old name"
CREATING = frozenset("build create add write implement design develop generate make".split())
"""Verbs of orders behind which "it lets the user choose" says what the new thing does."""
UNDOING = frozenset("revert undo restore".split())
DESCRIBING = frozenset(
    """
    was has does works fails crashes breaks says throws means makes sounds feels takes needs seems happens goes comes
    this thanks its
    """.split()
)
"""Words behind "it" in sentences about what happens at present, not about what is wanted."""
REMARKS = frozenset("i i'm i've was were currently still error errors fails failed crashes throws broken".split())
"""Words that show that a sentence reports what happened or what is the case, and asks for nothing."""
UNWEIGHTY = frozenset("so it now again too please thanks this that e.g eg sure".split())
"""Last words of sentences that say too little to be required."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from enricher.respond.hydration.reading.requests import PromptRequest


class Joined:
    """The texts of a plan's steps while the prompt's requirements are added to them.

    ``others`` are the requirements that fit into no step, and so are listed in the plan's checkpoint.
    """

    __slots__ = ("others", "texts")

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.others: list[str] = []

    def add(self, at: int, requirement: str) -> None:
        """Add a requirement to step ``at``; if ``at`` is -1 or the step has no room, leave it for the checkpoint."""
        text = self.texts[at]
        if at >= 0 and len(text) + 2 + len(requirement) <= LONGEST_ITEM:
            self.texts[at] = f"{text}; {requirement}"
        else:
            self.others.append(requirement)

    def specify(self, at: int, lines: Sequence[str]) -> None:
        """Add the first ``lines`` of a specification to step ``at``, and say how many more lines there are."""
        whole = self.texts[at]
        for number, line in enumerate(lines):
            if len(whole) + 2 + len(line) > LONGEST_ITEM - len(MORE) and number + 1 < len(lines):
                whole += MORE.format(len(lines) - number)
                break
            whole += f"{': ' if number == 1 else '; '}{line}"
        self.texts[at] = whole

    def conditions(self) -> str:
        """Return the text that lists the requirements left for the checkpoint."""
        return closed(shortened("; ".join(self.others), LONGEST_CONDITIONS))


def items_of(requests: list[PromptRequest]) -> list[str]:
    """Return the texts of the separate requests, each with its requirements; empty if there is only one."""
    chosen = separate_requests(requests)
    parts = joined(chosen, own_requests(requests)).texts
    texts = list(dict.fromkeys(closed(shortened(capitalized(text), LONGEST_ITEM)) for text in parts))
    if len(texts) > MOST_ITEMS:
        texts[MOST_ITEMS - 1 :] = [f"Do the other {len(texts) - MOST_ITEMS + 1} points of the prompt"]
    return texts if len(texts) > 1 else []


def conditions_of(requests: list[PromptRequest], main: PromptRequest | None, *, is_report: bool) -> str:
    """Return the requirements that the checkpoint must list because they are not part of a step.

    These are the requirements for which the steps have no room, or all if the prompt reports a failure or has a list.
    """
    own = own_requests(requests)
    chosen = separate_requests(requests)
    if len(chosen) < 2 and main:
        chosen = [main]
    return joined(chosen, own, is_report=is_report).conditions() if chosen else ""


def joined(chosen: Sequence[PromptRequest], requests: Sequence[PromptRequest], *, is_report: bool = False) -> Joined:
    """Return the texts of the chosen requests, each with the requirements that follow it in the prompt.

    Requirements in a prompt with list items or with a report of a failure apply to all requests, so the checkpoint
    lists them.
    """
    result = Joined([f"{one.text}{one.place}" for one in chosen])
    is_apart = is_report or any(one.is_listed for one in chosen)
    early: list[str] = []
    at = -1
    for number, one in enumerate(requests):
        if one in chosen:
            is_first, at = at < 0, [*chosen].index(one)
            for requirement in early if is_first else ():
                result.add(-1 if is_apart else at, requirement)
        elif one.is_listed or any(one.own in text for text in result.texts) or (is_report and one.is_statement):
            continue  # statements next to a report belong to it
        elif at < 0 and one.verb in UNDOING and one.is_minor and result.texts:
            result.texts[0] = f"{one.own}; {lowered(result.texts[0])}"
        elif at < 0 and _limits(one, beginnings=PROHIBITING):
            early.append(lowered(one.own))
        elif at >= 0 and one.is_specified:
            if not requests[number - 1].is_specified:
                result.specify(at, _specification(requests[number:]))
        elif at >= 0 and _is_required(one, of=chosen[at]):
            result.add(-1 if is_apart else at, _with_its_object(one, requests[number - 1], chosen))
    return result


def _specification(requests: Sequence[PromptRequest]) -> list[str]:
    end = next((at for at, one in enumerate(requests) if not one.is_specified), len(requests))
    return [lowered(one.own) for one in requests[:end]]


def _with_its_object(one: PromptRequest, before: PromptRequest, chosen: Sequence[PromptRequest]) -> str:
    # "it was blue before; keep that look"
    is_meant = one.verb == "keep" and before.is_statement and before not in chosen
    own = one.own[3:] if one.own[1:3] == ") " else one.own  # "a) check both"
    return f"{lowered(before.own)}; {lowered(own)}" if is_meant else lowered(own)


def _is_required(one: PromptRequest, *, of: PromptRequest) -> bool:
    """Return whether the request ``one`` is a requirement for the result of the request ``of``."""
    words = [word.strip(AROUND) for word in one.own.lower().split()]
    is_vague = len(words) < FEWEST_WORDS or (
        words[-1] in UNWEIGHTY and not (one.is_condition and len(words) > LONGEST_VAGUE)
    )
    if one.is_question or one.is_stop or is_vague:
        return False
    if _limits(one) or one.is_condition:
        return True
    if one.is_order:
        return not one.is_aside and words[0] in BINDING and (words[0] == "keep" or POINTING.isdisjoint(words[-1:]))
    return _describes(words, is_new=of.verb in CREATING or of.is_condition)


def _limits(one: PromptRequest, *, beginnings: tuple[str, ...] = LIMITING) -> bool:
    low = f" {one.own.lower()}"
    is_conduct = one.verb in ABOUT_CONDUCT or any(f" {opener}{verb} " in low for opener in LETTING for verb in CONDUCT)
    return not one.is_question and (low[1:].startswith(beginnings) or is_conduct)


def _describes(words: list[str], *, is_new: bool) -> bool:
    """Return whether a statement says what the new thing does: "it lets the user choose a colour"."""
    first, second = words[:2]
    if not REMARKS.isdisjoint(words):
        return False
    if first in ("if", "when", "otherwise"):
        return "we" in words or "it" in words
    if first == "we" and second in ("just", "only"):
        return True
    if first in ("it", "they"):
        return is_new and second.endswith("s") and second not in STATING | DESCRIBING
    is_active = first.endswith("s") and (first[:-1] in VERBS or first[:-2] in VERBS)
    return is_new and is_active and second not in STATING  # "and removes empty lines"
