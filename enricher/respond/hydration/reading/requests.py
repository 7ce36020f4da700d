"""Split a prompt into requests: its author's orders, wishes, questions and statements, in the author's words.

An order is a request in the imperative ("fix the test"); a wish says what should be the case ("it should be red").
Pasted code, stack traces, logs and quotations are skipped.
"""

from __future__ import annotations

from enricher.respond.hydration.reading.lines import own_lines, places_of
from enricher.respond.hydration.reading.verbs import first_word, is_circumstance, plain, unquoted, verb_of
from enricher.respond.hydration.reading.vocabulary import (
    ABOUT_CONDUCT,
    ANNOUNCING,
    AROUND,
    ASKING_POLITELY,
    BACKWARD,
    BEFORE_AND,
    BEHIND_A_BARE_VERB,
    BEHIND_A_LEADING_VERB,
    BEHIND_A_PRONOUN,
    BEING,
    CONDITIONAL,
    CONDITIONS,
    CONFIRMING,
    DASHES,
    DETERMINERS,
    ENDS,
    FEWEST_WORDS_OF_A_GOAL,
    FILLERS,
    FORBIDDING,
    FORECASTS,
    GUESSES,
    JOINING,
    KNOWING,
    LEARNING,
    MINOR,
    NEAR_THE_BEGINNING,
    NEGATIONS,
    ORDERING,
    POINTING,
    POLITE,
    POSSIBLE,
    PRONOUNS,
    QUESTIONS,
    REFERRING,
    RELATIVES,
    REQUESTING,
    SAMPLING,
    SWEEPING,
    TALKING,
    TRAILING_OFF,
    UNFINISHED,
    UNWANTED,
    VAGUE,
    VERBS,
    WISHES,
    WISHING,
)

LONGEST_READ = 12_000
LONGEST_ANNOUNCEMENT = 5  # maximum words of a wish before a colon that only introduces an order
FARTHEST_VERB = 3  # from 0, after "we can": "we can further simplify this"


class PromptRequest:
    """One request of a prompt: an order, a wish, a question or a statement.

    ``verb`` is the verb of an order, and empty for any other request. ``own`` is the request itself. ``text`` is the
    same, but preceded by the previous statement if the request refers to it ("it should be red"). ``place`` is a note
    on where the request was in the prompt, such as ``(under "Header")``, or empty.

    ``is_condition`` means that the request says what should or must be the case. ``is_minor`` means that it is too
    vague to be the main request, or only accompanies another ("look at the log"). ``is_aside`` means that it asks for
    nothing yet ("let's talk about the menu", "ignore it for now"). ``is_specified`` means that it is a wish that ends
    with a colon ("the columns should be:"), or a line below one. ``is_stop`` means that it asks to discuss something
    before a later step, so the work must end with that discussion. ``is_following`` means that it is short and ends
    with "accordingly", so that the previous request says what is meant. ``is_listed`` means that it is a list item, or
    part of one. ``is_detail`` means that it elaborates on a list item, as a nested item or as a further sentence of the
    item.
    """

    __slots__ = (
        "is_aside", "is_condition", "is_detail", "is_following", "is_listed", "is_minor", "is_order", "is_question",
        "is_specified", "is_stop", "own", "place", "text", "verb",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        *,
        is_question: bool = False,
        is_listed: bool = False,
        is_wish: bool = False,
        is_ordered: bool = False,
    ) -> None:
        self.text = self.own = text
        self.place = ""
        self.is_specified = False
        self.verb = "" if is_question else verb_of(text) or (is_ordered and first_word(text)) or ""
        self.is_order = bool(self.verb)
        low = text.lower()
        words = low.split()
        introduces = words[-1] in ("be", "is", "are")  # "the columns should be:" only introduces a list or drawing
        is_forecast = low.startswith(FORECASTS)
        says_wish = is_wish or _wants(words[:NEAR_THE_BEGINNING])
        self.is_condition = says_wish and not (is_question or introduces or is_forecast)
        is_short = bool(self.verb) and len(words) < FEWEST_WORDS_OF_A_GOAL and not PRONOUNS.isdisjoint(words[1:2])
        is_beside = (self.verb in MINOR and not POINTING.isdisjoint(words[1:2])) or words[:3] == ["have", "a", "look"]
        is_vague = bool(self.verb) and " ".join(words[1:]) in VAGUE
        is_bare = bool(self.verb) and all(word in VERBS or word in BEHIND_A_BARE_VERB for word in words)
        is_unfinished = bool(self.verb) and len(words) < FEWEST_WORDS_OF_A_GOAL and words[-1] in UNFINISHED
        self.is_following = words[-1:] == ["accordingly"] and len(words) <= FEWEST_WORDS_OF_A_GOAL
        self.is_stop = low.startswith(TALKING) and " before " in low
        announces = low.startswith(ANNOUNCING) and " and have " not in low and not self.is_stop
        is_put_off = is_short and words[-2:] == ["for", "now"]
        is_on_conduct = self.verb in ABOUT_CONDUCT
        self.is_aside = is_forecast or (not is_listed and (is_put_off or announces or is_on_conduct))
        is_aim = is_wish and words[0] in LEARNING  # "I want to understand …": the user, not the agent, is to understand
        says_little = is_short or is_vague or is_bare or is_unfinished or self.is_following
        only_forbids = self.is_condition and _forbids(words)
        self.is_minor = says_little or only_forbids or is_forecast or is_aim or is_beside or announces or is_on_conduct
        self.is_detail = False
        self.is_question = is_question
        self.is_listed = is_listed

    @property
    def is_statement(self) -> bool:
        return not (self.is_order or self.is_condition or self.is_question)

    @property
    def points_back(self) -> bool:
        """Return whether the request refers to the previous sentence: "it should be red", "use it for the map"."""
        low = self.text.lower()
        if low.startswith(SWEEPING) and low.endswith((" these", " those", " them")):
            return True
        if self.is_following or low.endswith(REFERRING):
            return True
        if self.is_condition and "further" in low.split()[:NEAR_THE_BEGINNING]:
            return True
        words = [word.strip(AROUND) for word in low.split(None, 3)[:3]]
        first, second, third = words + [""] * (3 - len(words))
        if not self.is_order:
            is_backward = first in BACKWARD or (first in ("this", "that") and second in CONDITIONS)
            return self.is_condition and is_backward
        is_alone = second in ("it", "them") or (second in ("this", "that") and third in BEHIND_A_PRONOUN)
        return first == self.verb and is_alone and not (self.is_minor or self.is_listed)

    @property
    def names_its_object(self) -> bool:
        """Return whether this is an order with its object right after the verb: "fix load_rates", but not "fix it"."""
        words = self.text.lower().split()
        return self.is_order and len(words) > 1 and words[1] not in POINTING | BEHIND_A_BARE_VERB


def read_requests(prompt: str) -> list[PromptRequest]:
    """Return the requests of a prompt from first to last, in the user's own words."""
    found: list[PromptRequest] = []
    lines = own_lines(prompt[:LONGEST_READ])
    is_specifying = False
    for (line, is_listed, is_nested), belongs in zip(lines, places_of(lines), strict=True):
        sentences = _sentences(line)
        for number, (sentence, is_question) in enumerate(map(_questioned, sentences)):
            parts = [sentence] if is_question else _orders(sentence)
            for place, part in enumerate(parts):
                request = _request_of(part, is_question=is_question, is_listed=is_listed, is_alone=len(sentences) == 1)
                if request is None or (found and (number or place) and _is_joined_to(found, request)):
                    continue
                request.place = belongs
                is_further = is_listed and number > 0 and not (request.is_order or request.is_condition)
                request.is_detail = is_nested or is_further
                if place + 1 < len(parts) and _announces(part, request):
                    request.is_aside = request.is_minor = True
                is_specifying = is_specifying and request.is_statement and not is_listed
                request.is_specified = is_specifying
                found.append(request)
        if found and line.endswith(":") and _wants(found[-1].text.lower().split()):
            found[-1].is_specified = is_specifying = True
    if found and found[0].is_statement and _names_a_thing(found[0].text):
        found[0].is_condition = True  # "A tool that renders Markdown" names what is wanted
    return found


def _request_of(part: str, *, is_question: bool, is_listed: bool, is_alone: bool) -> PromptRequest | None:
    """Return a part of a sentence as a request; None if it has no words, or only polite ones before other sentences."""
    text = plain(part)
    is_opener = not is_alone and text.lower() in POLITE  # "First, let's …"
    if not text or is_opener or not any(char.isalpha() for char in text):
        return None
    ordered = _is_ordered(part, text)
    asks = is_question and not ordered and _asks(text)
    wishes = part.strip().lower().startswith(WISHING)
    return PromptRequest(text, is_question=asks, is_listed=is_listed, is_wish=wishes, is_ordered=ordered)


def _is_joined_to(found: list[PromptRequest], request: PromptRequest) -> bool:
    """Connect a request with the one before it to which it refers; return whether it became part of that one."""
    text = f"{request.own[:1].lower()}{request.own[1:]}"
    meant = next((one for one in reversed(found) if not _is_sample(one)), request)
    if request.is_following and not meant.is_statement:
        meant.text += f"; {text}"
        return True
    if request.points_back and meant.is_statement:
        request.text = f"{meant.text}; {text}"
    return False


def _names_a_thing(text: str) -> bool:
    """Return whether a text only names a thing, such as "a page that is empty", without a statement about it."""
    words = text.lower().split()
    at = next((at for at, word in enumerate(words) if word in BEING), len(words))
    is_named = at == len(words) or not RELATIVES.isdisjoint(words[:at])
    return words[:1] in (["a"], ["an"]) and is_named


def _announces(part: str, request: PromptRequest) -> bool:
    """Return whether a wish only introduces the order after its colon: "I want to try something: drop the table"."""
    is_brief = len(request.text.split()) <= LONGEST_ANNOUNCEMENT
    return part.rstrip().endswith(":") and is_brief and request.is_condition and not request.is_order


def _is_sample(request: PromptRequest) -> bool:
    return request.is_statement and any(sign in request.text.lower() for sign in SAMPLING)


def _questioned(sentence: str) -> tuple[str, bool]:
    """Return a sentence without a final request for confirmation ("yeah?"), and whether it is a question.

    An order or wish is not a question, even if it asks for confirmation: "we only need the name, yeah?". A sentence
    that is only a request for confirmation becomes empty.
    """
    low = sentence.strip().lower()
    is_denial = low.startswith(("did not ", "does not ", "do not "))
    if low.startswith(GUESSES) or is_denial or not (low.endswith("?") or low.startswith(QUESTIONS)):
        return sentence, False
    words = sentence.split()
    if words[-1].lower().strip(AROUND) not in CONFIRMING:
        return sentence, True
    text = " ".join(words[:-1])
    if text and not text.endswith((",", "\u2026", ".")):
        return sentence, True
    return text.rstrip(" ,"), bool(text) and not _begins_request(plain(text))


def _wants(words: list[str]) -> bool:
    """Return whether the words express a wish, or say that something is not needed ("no need for a menu")."""
    text = " ".join(words)
    for phrase in UNWANTED:
        unwanted = text.partition(phrase)[2].split()
        if unwanted and (unwanted[0] in DETERMINERS or unwanted[0].endswith("ing")):
            return True
    for at, word in enumerate(words):
        before = words[max(0, at - 2) : at]
        is_unneeded = word == "need" and words[0] in ("we", "i") and "didn't" not in before
        is_certain = "what" not in before and POSSIBLE.isdisjoint(before)
        if word in CONDITIONS and is_certain and (is_unneeded or NEGATIONS.isdisjoint(before)):
            return True
        if word in ("like", "expect") and not WISHES.isdisjoint(before):
            return True
        if word in VERBS and before in (["can", "we"], ["can", "you"], ["could", "we"], ["could", "you"]):
            return True
        if word in VERBS and at <= FARTHEST_VERB and words[:2] in (["we", "can"], ["we", "could"]):
            return True
    return False


def _sentences(line: str) -> list[str]:
    """Split a line into sentences, but not within brackets or quotation marks."""
    line = line.replace("... ", "\u2026 ")
    found, start = [], 0
    depth = at = 0
    is_quoted = False
    while at < len(line):
        if line[at] in "([":
            depth += 1
        elif line[at] in ")]":
            depth = max(0, depth - 1)
        elif line[at] == '"':
            is_quoted = not is_quoted and '"' in line[at + 1 :]
        mark = next((one for one in ENDS if line.startswith(one, at)), "") if line[at] in " .!?,\u2026" else ""
        if mark in DASHES and verb_of(plain(line[start:at])) and not _begins_request(line[at + len(mark) :]):
            mark = ""  # the dash only introduces details of the order: "add two tabs - one for PNG"
        if mark.startswith(", ") and is_circumstance(line[start:at]):
            mark = ""  # the comma only ends a place: "in the settings, can we add a switch"
        if mark == TRAILING_OFF and (line[at - 1 : at] == " " or " " not in line[start:at].strip()):
            mark = ""  # a pause within a sentence, or after a word such as "hm"
        if mark and not is_quoted and not (depth and any(sign in line[at:] for sign in ")]")):
            found.append(line[start : at + (mark[0] in ".!?")])
            start = at + (len(", ") if mark in REQUESTING else len(mark))  # keep "can we", which marks a request
            at += len(mark)
        else:
            at += 1
    return [one for one in (*found, line[start:]) if one.strip()]


def _begins_request(text: str) -> bool:
    words = text.lower().split()[:3]
    return bool(verb_of(plain(text))) or text.lower().startswith((*WISHING, *ORDERING)) or _wants(words)


def _orders(sentence: str) -> list[str]:
    """Split a sentence into its orders: "add a flag, update the docs and run the tests" has three.

    After a statement and a comma, a verb begins an order only if a word such as "the" or "that" follows it:
    "the script sets it, move that here".
    """
    words = sentence.split(" ")
    is_conditional = words[0].lower() in CONDITIONAL
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth = max(0, depth + word.count("(") - word.count(")"))
        behind = words[at - 1] if at else ""
        before = next((one for one in reversed(words[:at]) if one.lower() not in FILLERS), "")
        is_joined = _joins(words[:at]) or before.endswith((",", ";"))
        is_joined = is_joined and words[max(0, at - 2)].lower() not in BEFORE_AND
        if "so" in parts[-1][1:] and not before.endswith((",", ";")):
            is_joined = False  # "so that one can read and check it" states one purpose
        follower = words[at + 1].lower().strip(AROUND) if at + 1 < len(words) else ""
        is_leading = word.lower() == "let" and follower in BEHIND_A_LEADING_VERB
        is_verb = (unquoted(word) in VERBS or is_leading) and at + 1 < len(words)
        is_order = is_verb and follower not in ("and", "or", "of", "is", "are", "to")
        is_whole = follower not in PRONOUNS or len(words) - at >= FEWEST_WORDS_OF_A_GOAL  # unlike "…, make it red"
        is_stated = before.endswith(",") and follower in DETERMINERS and not is_conditional
        is_stated = is_stated and not is_circumstance(" ".join(parts[-1]))
        is_behind_statement = is_order and is_stated and is_whole
        is_further = is_joined and is_order and _begins_with_verb(parts[-1] or words) and not _is_bare_verb(parts[-1])
        is_asked = is_order or (behind.endswith(":") and _begins_request(" ".join(words[at : at + NEAR_THE_BEGINNING])))
        # "it is slow so cache the page"
        is_conclusion = behind == "so" and at > 1 and is_order and follower in DETERMINERS
        is_next = is_conclusion or is_further or is_behind_statement or (is_asked and _introduces(parts[-1], word))
        if parts[-1] and not depth and is_next:
            while parts[-1] and (parts[-1][-1].lower() in FILLERS or (is_conclusion and parts[-1][-1] == "so")):
                parts[-1].pop()
            parts.append([])
        parts[-1].append(word)
    return [" ".join(part) for part in parts]


def _joins(words: list[str]) -> bool:
    """Return whether the words end with a conjunction, perhaps followed by a filler: "and please"."""
    last, before = (words[-1:] or [""])[0].lower(), (words[-2:-1] or [""])[0].lower()
    return last in JOINING or (last in FILLERS and before in JOINING)


def _introduces(words: list[str], word: str) -> bool:
    """Return whether ``words`` end with an unquoted colon that introduces ``word``: "in short: drop the table"."""
    text = " ".join(words)
    return text.endswith(":") and word[:1].isalpha() and not text.count('"') % 2 and not text.count("`") % 2


def _forbids(words: list[str]) -> bool:
    """Return whether a wish is only a prohibition: "we should not use npm install"."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(word in FORBIDDING or (word in ("should", "must") and after == "not") for word, after in pairs)


def _is_bare_verb(words: list[str]) -> bool:
    """Return whether a part of a sentence is only a verb, like the "find and" of "find and fix the leak"."""
    return len(words) == (1 + (words[-1:] in (["and"], ["then"], ["&"])))


def _begins_with_verb(words: list[str]) -> bool:
    text = " ".join(words[:12])
    return bool(verb_of(plain(text))) or text.lower().startswith(ORDERING)


def _is_ordered(part: str, text: str) -> bool:
    """Return whether the words before ``text`` in ``part`` make its first word an imperative: "let's memoize it"."""
    lead, first = f" {part[: part.find(text)].lower()}", first_word(text)
    is_asked = first not in KNOWING and any(f" {opener}" in lead for opener in ASKING_POLITELY)
    return bool(first) and (is_asked or any(f" {opener}" in lead for opener in ORDERING))


def _asks(text: str) -> bool:
    """Return whether a sentence with a question mark asks for an answer, rather than politely for an action."""
    return text.split(None, 1)[0].lower() not in VERBS
