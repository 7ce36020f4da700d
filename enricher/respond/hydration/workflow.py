"""Choose the workflow of a plan, from the one that the rules chose and from the wording of the prompt's requests."""

from __future__ import annotations

from enricher.respond.hydration.reading.requirements import items_of
from enricher.respond.hydration.reading.vocabulary import AROUND, ASKING_FOR_PLANS, ASSENTS, TIMES
from enricher.respond.hydration.reading.wording import main_request, says_what_is

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.respond.hydration.reading.requests import PromptRequest
    from enricher.rules.cache import Rules

ANSWERING, PLANNING = "simple-question", "plan-mode"
OCCASIONS = {"code-review": ("review",), "ops-release": ("release", "deployment")}
"""Words by which a sentence names a workflow as an occasion: "once the review is over, drop the flag"."""
FARTHEST_TIME = 6
"""How many words may stand from "when" to the occasion, as in "when we are through with the review"."""


def workflow_for(chosen: str, requests: list[PromptRequest], rules: Rules) -> str:
    """Return the workflow of a plan: ``chosen``, or the default workflow if the rules were too uncertain to choose one.

    A question that asks for no plan is answered: "should we close the issue?" has the task type of planning, too.
    If the prompt mentions the chosen workflow only to say when something happens ("once the review is over"), another
    workflow is returned: the one for simple questions if the prompt asks for no work, otherwise the default one.
    """
    can_answer = ANSWERING in rules.packed("plans")
    if chosen in (PLANNING, "") and can_answer and _is_only_asked(requests):
        chosen = ANSWERING
    words = OCCASIONS.get(chosen, ())
    occasional = [one for one in requests if _is_named(one.text, words)]
    if not occasional or not all(_is_only_a_time(one.text, words) for one in occasional):
        return chosen or workflow_of_an_uncertain(requests, rules)
    asked = [one for one in requests if (one.is_order or one.is_condition) and not one.is_minor]
    return ANSWERING if can_answer and not asked else workflow_of_an_uncertain(requests, rules)


def asks_for_plan(requests: list[PromptRequest]) -> bool:
    """Return whether a request mentions a plan, options or the like."""
    texts = [" ".join(word.strip(AROUND) for word in one.text.lower().split()) for one in requests]
    return any(f" {words} " in f" {text} " for text in texts for words in ASKING_FOR_PLANS)


def _is_only_asked(requests: list[PromptRequest]) -> bool:
    """Return whether the main request is a question, and no request is an order or a wish or asks for a plan."""
    main = main_request(requests)
    is_work = any(one.is_order or one.is_condition or one.text.lower().startswith(ASSENTS) for one in requests)
    return main is not None and main.is_question and not is_work and not asks_for_plan(requests)


def workflow_of_an_uncertain(requests: list[PromptRequest], rules: Rules) -> str:
    """Return the default workflow for a prompt whose signals do not determine one.

    The rules name three defaults: for a prompt with a single order or wish, for one whose main request only describes
    how something is, and for all others.
    """
    workflows = rules.body["workflows"]
    main = main_request(requests)
    kind = "fallback"
    if main is not None and not items_of(requests):
        kind = "ordered" if main.is_order or main.is_condition else "stated" if says_what_is(main) else kind
    return str(workflows[kind] or workflows["fallback"])


def _is_named(text: str, occasions: tuple[str, ...]) -> bool:
    return any(word in text.lower() for word in occasions)


def _is_only_a_time(text: str, occasions: tuple[str, ...]) -> bool:
    """Return whether a sentence uses the words in ``occasions`` only to state a time, as in "once the review is over".

    This is so if a word such as "when" or "once" comes before each of them, or "later" after it.
    """
    for clause in text.lower().replace(", ", ",\n").split("\n"):
        words = [word.strip(AROUND) for word in clause.split()]
        for at, word in enumerate(words):
            before = words[max(0, at - FARTHEST_TIME) : at]
            is_timed = not TIMES.isdisjoint(before) or "later" in words[at:]
            if word.startswith(occasions) and ("you" in before or not is_timed):
                return False
    return True
