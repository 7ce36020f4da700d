"""Choose the workflow of a plan: the one that the rules give, or a default where they are uncertain."""

from __future__ import annotations

from enricher.respond.hydration.requirements import items_of
from enricher.respond.hydration.vocabulary import AROUND, TIMES
from enricher.respond.hydration.wording import main_request, says_what_is

ANSWERING = "simple-question"
OCCASIONS = {"code-review": ("review",), "ops-release": ("release", "deployment")}
"""Words by which a sentence names a workflow as an occasion: "once the review is over, drop the flag"."""
FARTHEST_TIME = 6
"""Maximum words between "when" and the occasion."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.respond.hydration.requests import PromptRequest
    from enricher.rules.cache import Rules


def workflow_for(chosen: str, requests: list[PromptRequest], rules: Rules) -> str:
    """Return the workflow of a plan; ``chosen`` is the one that the rules give, and empty if they are uncertain.

    A workflow that the prompt only names as a time is not taken; if nothing else is asked for, an answer is.
    """
    words = OCCASIONS.get(chosen, ())
    occasional = [one for one in requests if _is_named(one.text, words)]
    if not occasional or not all(_is_only_a_time(one.text, words) for one in occasional):
        return chosen or workflow_of_an_uncertain(requests, rules)
    asked = [one for one in requests if (one.is_order or one.is_condition) and not one.is_minor]
    return workflow_of_an_uncertain(requests, rules) if asked else ANSWERING


def workflow_of_an_uncertain(requests: list[PromptRequest], rules: Rules) -> str:
    """Return the default workflow for a prompt: for a single order or wish, a single statement, or anything else."""
    workflows = rules.body["workflows"]
    main = main_request(requests)
    kind = "fallback"
    if main is not None and not items_of(requests):
        kind = "ordered" if main.is_order or main.is_condition else "stated" if says_what_is(main) else kind
    return str(workflows[kind] or workflows["fallback"])


def _is_named(text: str, occasions: tuple[str, ...]) -> bool:
    return any(word in text.lower() for word in occasions)


def _is_only_a_time(text: str, occasions: tuple[str, ...]) -> bool:
    """Return whether a sentence names each occasion behind "when", "once" and the like, or before "later"."""
    for clause in text.lower().replace(", ", ",\n").split("\n"):
        words = [word.strip(AROUND) for word in clause.split()]
        for at, word in enumerate(words):
            before = words[max(0, at - FARTHEST_TIME) : at]
            is_timed = not TIMES.isdisjoint(before) or "later" in words[at:]
            if word.startswith(occasions) and ("you" in before or not is_timed):
                return False
    return True
