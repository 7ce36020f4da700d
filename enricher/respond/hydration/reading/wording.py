"""Derive a plan's texts from a prompt's requests: the main request, its object, the separate items, and the intent.

The intent restates the prompt. No words are added to it except a beginning such as "Answer the question".
"""

from __future__ import annotations

from enricher.prompt.text import harmless, shortened
from enricher.respond.hydration.reading.verbs import verb_of
from enricher.respond.hydration.reading.vocabulary import (
    AROUND,
    BACKWARD,
    BEHIND_A_BARE_VERB,
    CIRCUMSTANCES,
    MINOR,
    NEAR_THE_BEGINNING,
    ORDERS_ELSEWHERE,
    PRONOUNS,
    STATING,
    UNFINISHED,
    VAGUE,
)

LONGEST_INTENT, LONGEST_OBJECT, LONGEST_ITEM = 180, 90, 220
FEWEST_WORDS = 3  # minimum words of a main request; a shorter one such as "fix it" rarely says what it is about
PLANNING = (" plan about which ", " plan of which ", " plan in which order ", " plan for the order ", " plan which ")
"""Words of an order that only determines the sequence of the others."""
GATHERING = frozenset("run rerun list collect count check".split())  # others may depend on the results
TELLING = frozenset("we we've we're i i've i'm was were".split())  # begin reports, not tasks
FAILING = frozenset(
    """
    error errors fail fails failed failing crash crashes crashed throws broken wrong missing empty blank nothing never
    not no isn't doesn't didn't don't can't cannot won't wasn't aren't complains instead stuck hangs off opposite
    unexpected unchanged
    """.split()
)
"""Words by which a sentence reports a failure."""
FEWEST_WORDS_OF_A_REPORT = 5
OWN_ACTIONS = ("i ", "my bad", "sorry")  # begin statements about the user, not about a failure
OBSERVING = frozenset("get got see saw still have can't cannot don't didn't am was keep notice noticed".split())
"""Words after "I" with which a sentence does report a failure: "I get an error", "I cannot log in"."""
ASKING_WHY = ("why", "how", "what", "where", "which", "whether")
AUXILIARIES = frozenset("do does did can could should would will has have".split())
REJECTING = ("what i need", "what i want", "what i meant", "what i wanted", "what i asked for")
"""Ends of a remark, before a colon, that rejects the last answer: "that is not what I need: the bar is too wide"."""
SOLVED = frozenset("gone fixed works working helped better solved".split())
PAIRS = (("(", ")"), ("[", "]"), ('"', '"'), ("`", "`"))
PARTICLES = frozenset(("up", "out", "down", "into", "at", "for", "off", "on", "over", "through"))
ASKING = ("why", "how", "whether", "if")
INQUIRING = frozenset("figure find look check investigate diagnose debug explain see tell understand work".split())
ENDS_OF_OBJECT = (" so that ", " because ", " since ", " - ", " -- ", " \u2013 ", " \u2014 ", "; ", ": ")
ENDS_OF_ORDER = (*ENDS_OF_OBJECT, ", but ", " but ")  # in a report, unlike an order, the failure often follows "but"
FEWEST_WORDS_BEFORE_COLON = 5  # with fewer words, it only introduces something: "this is my config:"
DOUBLED = frozenset(
    "run set put cut get stop drop plan ship split swap strip debug commit trim skip tag log pin scan wrap let".split()
)
REMARKING = frozenset("i i'm i've it it's its this that there there's we we're we've they you these those what".split())
"""First words of a list item that is only a remark, unless it says what should be the case."""
WRITING = frozenset("add write create extend cover implement include generate provide expand develop make".split())
TESTS = frozenset("test tests unit-test unit-tests spec specs coverage testcase testcases e2e".split())
"""Words that, together with a verb of ``WRITING``, show that tests are to be written."""
LACKING = "no tests"  # says that tests are missing, so that they must be written
RENAMING = frozenset("rename move extract split merge inline consolidate".split())  # may leave old names behind
REPLACING = frozenset("replace port migrate unify delete remove drop get eliminate convert deduplicate".split())
"""Verbs of requests after which some places may still have the old form, or use what was removed."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.respond.hydration.reading.requests import PromptRequest


def main_request(requests: list[PromptRequest], *, is_report: bool = False) -> PromptRequest | None:
    """Return the main request, if any: the first order or wish that is not too vague, else a question or a statement.

    If the prompt reports a failure (``is_report``), a sentence that says what fails is preferred.
    """
    requests = own_requests(requests) or requests
    whole = [one for one in requests if len(one.text.split()) >= FEWEST_WORDS or one.names_its_object]
    wanted = [one for one in whole if one.is_order or one.is_condition]
    reports = [one for one in whole if is_report and not one.is_question and _reports(one.text)]
    reports = [one for one in reports if one.text.lower().partition(" ")[0] not in PRONOUNS] or (
        [one for one in whole if reports and _names_code(one.text)] or reports
    )
    for candidates in (
        [one for one in reports if one.is_order] or reports,
        [one for one in wanted if not one.is_minor and one.verb not in MINOR],
        [one for one in wanted if not one.is_minor],
        [one for one in whole if wanted and not one.is_minor and _names_code(one.text)],
        [one for one in whole if wanted and not one.is_minor and len(one.text.split()) >= FEWEST_WORDS_OF_A_REPORT],
        wanted,
        [one for one in requests if one.is_question],
        [one for one in whole if _names_code(one.text)],
        sorted(whole, key=lambda one: (one.is_minor, -len(one.text))),
        requests,
    ):
        if candidates:
            return candidates[0]
    return None


def _names_code(text: str) -> bool:
    """Return whether a sentence seems to name a file, symbol or command, unlike "that looks better now"."""
    words = [word for word in text.split() if "<" not in word and ">" not in word]
    return any(sign in word[1:-1] for word in words for sign in "_/.`(") or "`" in text


def says_what_is(request: PromptRequest) -> bool:
    """Return whether a request describes how something is: "the last column looks odd"."""
    words = [word.strip(AROUND) for word in request.text.lower().split()]
    return not request.is_question and not STATING.union(FAILING).isdisjoint(words)


def says_what_fails(request: PromptRequest) -> bool:
    """Return whether a request asks for something or says what fails, so that a debugging plan may quote it."""
    return request.is_order or request.is_condition or request.is_question or _reports(request.text)


def _reports(text: str) -> bool:
    head, _but, tail = text.partition(" but ")
    text = tail if head.lower().startswith(OWN_ACTIONS) and tail else text
    words = text.lower().split()
    is_about_the_user = text.lower().startswith(OWN_ACTIONS) and OBSERVING.isdisjoint(words[1:4])
    is_long = len(words) >= FEWEST_WORDS_OF_A_REPORT
    return is_long and not is_about_the_user and not FAILING.isdisjoint(word.strip(AROUND) for word in words)


def separate_requests(requests: list[PromptRequest]) -> list[PromptRequest]:
    """Return the separate requests of a prompt: its list items or, if fewer than two, its orders and other wishes."""
    requests = own_requests(requests)
    listed = [one for one in requests if one.is_listed]
    orders = [one for one in requests if one.is_order]
    wished = [one for one in requests if one.is_order or (orders and one.is_condition and not one.is_minor)]
    chosen = listed if len(listed) > 1 else wished
    chosen = [one for one in chosen if one.text.lower().partition(" ")[2] not in {"", *VAGUE} and not _remarks(one)]
    return _in_sequence([
        one
        for one in chosen
        if not one.is_aside and not (one.is_minor and (one.verb in MINOR or is_unfinished(one.text)))
    ])  # fmt: skip


def _in_sequence(requests: list[PromptRequest]) -> list[PromptRequest]:
    # Gather information, settle the sequence, do the work; a discussion before a later step comes last, as work ends
    # there.
    leading = [one for one in requests if any(words in f" {one.text.lower()} " for words in PLANNING)]
    ending = [one for one in requests if one.is_stop]
    others = [one for one in requests if one not in leading and one not in ending]
    first = next((at for at, one in enumerate(others) if one.verb not in GATHERING), len(others))
    return [*others[:first], *leading, *others[first:], *ending]


def is_unfinished(text: str) -> bool:
    """Return whether a text is incomplete: a single plain word, or an unfinished phrase ("check for")."""
    words = text.lower().split()
    return len(words) < FEWEST_WORDS_OF_A_REPORT and (
        words[-1:] == [] or words[-1].strip(AROUND) in UNFINISHED | PRONOUNS or (len(words) == 1 and words[0].isalpha())
    )


def _remarks(one: PromptRequest) -> bool:
    """Return whether a request only states an opinion or a fact, and asks for nothing."""
    is_asked = one.is_order or one.is_condition or one.is_question
    return not is_asked and one.text.lower().partition(" ")[0] in REMARKING


def asks_for_tests(requests: list[PromptRequest]) -> bool:
    """Return whether the prompt asks for new tests (not only to run or fix some), or says that tests are missing."""
    for one in requests:
        words = [word.strip(AROUND) for word in one.text.lower().split()[:NEAR_THE_BEGINNING]]
        if LACKING in " ".join(words) or (one.verb in WRITING and not TESTS.isdisjoint(words)):
            return True
    return False


def only_asks_why(requests: list[PromptRequest]) -> bool:
    """Return whether the prompt only asks for the cause of something, and not for a change."""
    asked = [one for one in requests if one.is_question or one.is_order or one.is_condition]
    return bool(asked) and all(one.verb in INQUIRING or one.text.lower().startswith(ASKING_WHY) for one in asked)


def what_moves(requests: list[PromptRequest]) -> str:
    """Return what the prompt's changes may leave behind: old names after a renaming, or uses of something removed."""
    verbs = {one.verb for one in requests}
    return "the old names" if verbs & RENAMING else "what is left of the old form" if verbs & REPLACING else ""


def own_requests(requests: list[PromptRequest]) -> list[PromptRequest]:
    """Return the requests that can be steps or requirements.

    Details of list items are left out, and so are lists that only report or explain something.
    """
    own = [one for one in requests if not one.is_detail]
    listed = [one for one in own if one.is_listed]
    is_narrative = bool(listed) and 2 * sum(_tells(one) for one in listed) >= len(listed)
    return [one for one in own if not one.is_listed] if is_narrative or _explains(own) else own


def _explains(requests: list[PromptRequest]) -> bool:
    """Return whether a list requests nothing itself and only gives reasons for the order after it."""
    asked = [one.is_order or one.is_condition for one in requests]
    at = [number for number, one in enumerate(requests) if one.is_listed]
    return bool(at) and not any(asked[number] for number in at) and any(one.is_order for one in requests[at[-1] + 1 :])


def _tells(item: PromptRequest) -> bool:
    """Return whether a list item only reports a fact or finished work, and is neither an order nor a wish."""
    words = item.text.lower().split()[:NEAR_THE_BEGINNING]
    is_past = bool(words) and words[0].endswith("ed")
    return not (item.is_order or item.is_condition) and (is_past or not TELLING.isdisjoint(words))


def object_of(request: PromptRequest) -> str:
    """Return what a request is about: its words without the verb, the question word, reasons and conditions."""
    text = request.text
    words = text.split()
    verb, first = request.verb, words[0].lower().strip(AROUND)
    if verb != first and ("; " in text or (first in CIRCUMSTANCES and ", " not in text)):
        verb = ""  # the words before the order name its object
    if verb and first != verb:  # the order follows its condition
        lowered_words = [word.lower().strip(AROUND) for word in words]
        words = words[lowered_words.index(verb) :] if verb in lowered_words else words
    if verb and not (verb in ("make", "get") or BEHIND_A_BARE_VERB.intersection(map(str.lower, words[1:2]))):
        words = words[1:]
        if words and words[0].lower() in PARTICLES and len(words) > 1:
            words = words[1:]
    is_asking = words[:1] and words[0].lower() in ASKING and AUXILIARIES.isdisjoint(map(str.lower, words[1:2]))
    if is_asking and (verb in INQUIRING or request.is_question):
        words = words[1:]
    text = " ".join(words) if verb else _what_fails(" ".join(words))
    for end in ENDS_OF_ORDER if verb else ENDS_OF_OBJECT:
        head = text.partition(end)[0]
        is_quoted = head.count('"') % 2 or head.count("`") % 2  # "Results - Today" is a name
        if not is_quoted and len(head.split()) > (FEWEST_WORDS_BEFORE_COLON - 1 if end == ": " else 1):
            text = head
    bare = harmless(text, longest=LONGEST_OBJECT * 2).strip(" \t.,;:!?*-\u2026\u2013\u2014")
    return closed(shortened(bare, LONGEST_OBJECT))


def _what_fails(text: str) -> str:
    # "no graph is shown" in "the error is gone but no graph is shown"
    head, _colon, tail = text.partition(": ")
    if head.lower().endswith(REJECTING):
        return tail
    head, _but, tail = text.partition(" but ")
    words = [word.strip(AROUND) for word in head.lower().split()]
    works = FAILING.isdisjoint(words) or not SOLVED.isdisjoint(words)
    is_clear = tail.lower().replace("'", " ").partition(" ")[0] not in PRONOUNS | BACKWARD
    return tail if works and is_clear and _reports(tail) else text


def closed(text: str) -> str:
    """Remove a bracket or quotation that is opened but not closed, as in a text that was cut."""
    for begin, end in PAIRS:
        is_open = text.count(begin) % 2 if begin == end else text.count(begin) > text.count(end)
        head = text[: text.rindex(begin)].rstrip(" ,;:") if is_open else ""
        if len(head.split()) > 1:
            text = f"{head}\N{HORIZONTAL ELLIPSIS}" if text.endswith("\N{HORIZONTAL ELLIPSIS}") else head
    return text


def intent(requests: list[PromptRequest], *, error: str, earlier: str, is_question: bool, is_report: bool) -> str:
    """Return the intent of a plan: one sentence that restates the main request of the prompt.

    ``is_question`` means that the plan only answers a question, and ``is_report`` that the prompt reports a failure.
    """
    chosen = main_request(requests, is_report=is_report)
    if chosen is None:
        return f"Resolve the pasted error: {error}" if error else "Act on the pasted text"
    requests = own_requests(requests)
    text = harmless(chosen.text, longest=LONGEST_INTENT * 2).rstrip(" .!?")
    if chosen.is_question and is_question:
        sentence = f"Answer the question: {text}?"
    elif chosen.is_order:
        sentence = capitalized(text)
        more = [one for one in requests if (one.is_order or one.is_condition) and not (one is chosen or one.is_aside)]
        sentence = closed(sentence)
        if more and len(sentence) + len(more[0].text) + 8 < LONGEST_INTENT:
            sentence += f"; {closed(lowered(more[0].text).rstrip(' .!'))}"
            more = more[1:]
        if more:
            sentence += f" (and {len(more)} more point{'s' * (len(more) > 1)} of the prompt)"
    elif chosen.is_question:
        sentence = f"Do what is asked for: {text}"
    elif chosen.is_condition and not is_report:
        sentence = f"Bring this about: {text}"
    elif is_report and not says_what_fails(chosen):
        sentence = "Find and fix the cause of what the prompt reports"
    elif is_report:
        sentence = f"Find and fix the cause of what is reported: {text}"
    else:
        sentence = f"Act on what the prompt states: {text}"
    if error and error.partition(":")[0] not in sentence:
        sentence += f" ({error})"
    if earlier:
        sentence += f" \u2014 the earlier request was: \u201c{shortened(harmless(earlier, longest=200), 80)}\u201d"
    return shortened(sentence, LONGEST_INTENT + (100 if earlier else 0))


def capitalized(text: str) -> str:
    """Capitalize the first letter, unless the text begins with an identifier such as ``load_rates``."""
    first = text.split(None, 1)[0] if text else ""
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def lowered(text: str) -> str:
    """Return the text with its first letter in lower case, unless the first word looks like a name such as ``CSV``."""
    first = text.split(None, 1)[0] if text else ""
    return text[:1].lower() + text[1:] if first.isalpha() and first[1:].islower() else text


def gerund(text: str) -> str:
    """Return the "-ing" form of the request's verb, capitalized; "Working" if it has no known verb."""
    verb = verb_of(text) or verb_of(text.rpartition("; ")[2])  # as in "the column is odd; fix it"
    if not verb or verb in ORDERS_ELSEWHERE:
        return "Working"
    if verb in DOUBLED:
        return (verb + verb[-1] + "ing").capitalize()
    if verb.endswith("e") and not verb.endswith(("ee", "ye")):
        return (verb[:-1] + "ing").capitalize()
    return (verb + "ing").capitalize()
