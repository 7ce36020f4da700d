"""Read from a prompt what it asks for: its requests one by one, what they are about, and the intent as a sentence.

Works on the user's own lines; pasted code, traces and quotations are left out. Nothing is added to the words but a
lead such as "Answer the question": the intent restates the prompt and promises nothing.
"""

from __future__ import annotations

from enricher.prompt.text import harmless, shortened

MOST_ITEMS = 6
LONGEST_INTENT, LONGEST_OBJECT, LONGEST_ITEM = 180, 90, 110
LONGEST_READ = 12_000
FEWEST_WORDS = 3
"""Shorter requests such as "fix it" rarely name what they are about."""
POLITE = (
    "please", "pls", "can you please", "could you please", "can you", "could you", "would you", "will you",
    "can we", "could we", "i want you to", "i would like you to", "i'd like you to", "i need you to", "i want to",
    "i'd like to", "i would like to", "i need to", "we need to", "we should", "you should", "you need to", "let's",
    "lets", "let us", "help me", "go ahead and", "hey", "hi", "hello", "ok", "okay", "so", "now", "then", "also",
    "and", "next", "great", "thanks", "thank you", "hmm", "hm", "um", "perfect", "good", "nice", "well",
    "first", "finally", "just", "maybe", "kindly", "yes", "try to", "make sure to", "be sure to",
)  # fmt: skip
VERBS = frozenset(
    """
    add adjust allow amend analyse analyze apply audit backport benchmark bring build bump bundle cache change check
    clean clear close commit compare compile complete configure connect consider convert copy correct cover create
    cut debug decide define delete deploy deprecate describe design detect diagnose disable discuss document
    download draft drop dump embed enable enforce ensure evaluate examine exclude expand explain explore export
    expose extend extract figure fill filter find finish fix format generate group handle harden hide highlight
    identify implement import improve include increase initialise initialize inline insert inspect install integrate
    introduce investigate keep lint list load log look lower make measure merge migrate mock modify monitor move
    normalise normalize open optimise optimize outline pack parse pin plan polish port prepare prevent print propose
    prove publish pull push put raise read rebase record reduce refactor release reload remove rename render reorder
    replace report reproduce require research reset resolve restore restrict restructure return revert review
    rewrite roll rotate run save scan search send separate serve set setup ship show simplify skip sort speed split
    stop store strip structure summarise summarize support swap switch sync tag test think tidy track translate trim
    turn tweak unify update upgrade upload use validate verify wire wrap write
    """.split()
)
CONDITIONS = frozenset(("should", "must", "needs", "need", "shouldn't", "mustn't", "want", "like", "wish"))
BEHIND_A_BARE_VERB = frozenset(("and", "or", "it", "this", "that", "them", "sure"))
PARTICLES = frozenset(("up", "out", "down", "into", "at", "for", "off", "on", "over", "through"))
ASKING = ("why", "how", "what", "where", "which", "when", "who", "whether", "if")
INQUIRING = frozenset("figure find look check investigate diagnose debug explain see tell understand work".split())
ENDS_OF_OBJECT = (
    " so that ",
    " because ",
    " since ",
    " - ",
    " -- ",
    " \u2013 ",
    " \u2014 ",
    "; ",
    ": ",
    ", but ",
    " but ",
)
DOUBLED = frozenset(
    "run set put cut get stop drop plan ship split swap strip debug commit trim skip tag log pin scan wrap let".split()
)
AROUND = " \t.,;:!?*-_\"'()[]…\u2013\u2014"
EDGES = " \t.,;:!?*-_\"'([\u2026\u2013\u2014"
PASTED = (">", "|", "$ ", "% ", "#!", "at ", 'File "', "+", "diff ", "@@", "Traceback", "\u23bf", "│", "✗", "✖", "E   ")
LIST_MARKS = ("- ", "* ", "• ")


class PromptRequest:
    """One thing that a prompt asks for: its words, whether it is a question, an order or a statement.

    ``is_condition``: a statement of what should or must be the case.
    """

    __slots__ = ("is_condition", "is_listed", "is_order", "is_question", "text", "verb")

    def __init__(self, text: str, *, is_question: bool = False, is_listed: bool = False) -> None:
        self.text = text
        first = text.split(None, 1)[0].lower().strip(AROUND) if text else ""
        self.verb = first if first in VERBS and not is_question else ""
        self.is_order = bool(self.verb)
        self.is_condition = not is_question and any(word in CONDITIONS for word in text.lower().split()[:6])
        self.is_question = is_question
        self.is_listed = is_listed


def read_requests(prompt: str) -> list[PromptRequest]:
    """Return what the prompt asks for or states, sentence by sentence, in the user's words and order."""
    found: list[PromptRequest] = []
    for line, is_listed in _own_lines(prompt[:LONGEST_READ]):
        for sentence in _sentences(line):
            is_question = sentence.rstrip().endswith("?")
            for part in [sentence] if is_question else _orders(sentence):
                text = _plain(part)
                if text and any(char.isalpha() for char in text):
                    found.append(PromptRequest(text, is_question=is_question and _asks(text), is_listed=is_listed))
    return found


def main_request(requests: list[PromptRequest]) -> PromptRequest | None:
    """Return the request that the others belong to: the first order or wish of some words, else question, else line."""
    whole = [one for one in requests if len(one.text.split()) >= FEWEST_WORDS]
    for candidates in (
        [one for one in whole if one.is_order or one.is_condition],
        [one for one in requests if one.is_question],
        whole,
        requests,
    ):
        if candidates:
            return candidates[0]
    return None


def items_of(requests: list[PromptRequest]) -> list[str]:
    """Return the separate requests of a prompt with several: its list items, else its orders; empty for only one."""
    listed = [one for one in requests if one.is_listed]
    orders = [one for one in requests if one.is_order]
    chosen = listed if len(listed) > 1 else [one for one in requests if one.is_order or (orders and one.is_condition)]
    texts = list(dict.fromkeys(shortened(capitalized(one.text), LONGEST_ITEM) for one in chosen))
    return texts[:MOST_ITEMS] if len(texts) > 1 else []


def object_of(request: PromptRequest) -> str:
    """Return what a request is about: its words without the verb, a question word, and reasons or conditions."""
    text = request.text
    words = text.split()
    if request.verb and not (request.verb == "make" or BEHIND_A_BARE_VERB.intersection(map(str.lower, words[1:2]))):
        words = words[1:]
        if words and words[0].lower() in PARTICLES and len(words) > 1:
            words = words[1:]
    if words and words[0].lower() in ASKING and (request.verb in INQUIRING or request.is_question):
        words = words[1:]
    text = " ".join(words)
    for end in ENDS_OF_OBJECT:
        head = text.partition(end)[0]
        if len(head.split()) > 1:
            text = head
    return shortened(
        harmless(text, longest=LONGEST_OBJECT * 2).strip(AROUND.replace(")", "").replace("]", "")), LONGEST_OBJECT
    )


def intent(requests: list[PromptRequest], *, error: str, earlier: str, is_question: bool, is_debugging: bool) -> str:
    """Return one sentence that restates the prompt and names its object."""
    chosen = main_request(requests)
    if chosen is None:
        return f"Resolve the pasted error: {error}" if error else "Act on the pasted text"
    text = harmless(chosen.text, longest=LONGEST_INTENT * 2).rstrip(" .!?")
    if chosen.is_question and is_question:
        sentence = f"Answer the question: {text}?"
    elif chosen.is_order:
        sentence = capitalized(text)
        more = [one for one in requests if (one.is_order or one.is_condition) and one is not chosen]
        if more and len(sentence) + len(more[0].text) + 8 < LONGEST_INTENT:
            sentence += f"; {lowered(more[0].text).rstrip(' .!')}"
            more = more[1:]
        if more:
            sentence += f" (and {len(more)} more point{'s' * (len(more) > 1)} of the prompt)"
    elif chosen.is_question:
        sentence = f"Do what is asked for: {text}"
    elif chosen.is_condition and not is_debugging:
        sentence = f"Bring this about: {text}"
    elif is_debugging:
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
    """Return the text with a small first letter, unless its first word has other capitals or signs."""
    first = text.split(None, 1)[0] if text else ""
    return text[:1].lower() + text[1:] if first.isalpha() and first[1:].islower() else text


def gerund(text: str) -> str:
    """Return the first word of a request in its "-ing" form, capitalized; "Working" if it is no known verb."""
    verb = text.split(None, 1)[0].lower().strip(AROUND) if text else ""
    if verb not in VERBS:
        return "Working"
    if verb in DOUBLED:
        return (verb + verb[-1] + "ing").capitalize()
    if verb.endswith("e") and not verb.endswith(("ee", "ye")):
        return (verb[:-1] + "ing").capitalize()
    return (verb + "ing").capitalize()


def _own_lines(prompt: str) -> list[tuple[str, bool]]:
    """Return the user's own lines, each with whether it is a list item."""
    lines: list[tuple[str, bool]] = []
    fenced = pasted = False
    for line in prompt.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").splitlines():
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not bare:
            pasted = False
            continue
        if bare.startswith(PASTED) and not bare.startswith(("- ", "+ ")):
            pasted = bare.startswith(("Traceback", "\u23bf"))
            continue
        if fenced or pasted or _is_code(line, bare):
            continue
        if len(numbered := _numbered(bare)) > 1:
            lines += [(one, True) for one in numbered]
            continue
        marked = next((bare[len(mark) :] for mark in LIST_MARKS if bare.startswith(mark)), "")
        number, dot, rest = bare.partition(".") if "." in bare[:4] else bare.partition(")")
        if not marked and dot and number.isdigit() and rest.startswith(" "):
            marked = rest.strip()
        lines.append((marked or bare, bool(marked)))
    return lines


def _numbered(line: str) -> list[str]:
    """Return the items of a list within one line, "1. add x 2. fix y"; empty if there is none."""
    items: list[list[str]] = []
    for word in line.split():
        if word in (f"{len(items) + 1}.", f"{len(items) + 1})", f"({len(items) + 1})"):
            items.append([])
        elif items:
            items[-1].append(word)
    return [" ".join(item) for item in items if item]


def _is_code(line: str, bare: str) -> bool:
    is_indented = line.startswith(("    ", "\t")) and not bare.startswith(LIST_MARKS)
    return bare.endswith(("{", "}", ";", "=>", "/>")) or (is_indented and any(sign in bare for sign in "=(){}<>"))


def _sentences(line: str) -> list[str]:
    for dash in (" -- ", " \u2013 ", " \u2014 "):
        line = line.replace(dash, "\n")
    for mark in (". ", "! ", "? "):
        line = line.replace(mark, f"{mark[0]}\n")
    return [one for one in line.split("\n") if one.strip()]


def _orders(sentence: str) -> list[str]:
    """Divide a sentence before each further order: "add a flag, update the docs and run the tests"."""
    words = sentence.split(" ")
    parts: list[list[str]] = [[]]
    for at, word in enumerate(words):
        behind = words[at - 1] if at else ""
        is_joined = behind.lower() in ("and", "then", "&") or behind.endswith((",", ";"))
        bare = word.lower().strip(AROUND)
        is_verb = bare in VERBS and at + 1 < len(words) and _begins_with_verb(parts[0] or words)
        follower = words[at + 1].lower() if at + 1 < len(words) else ""
        if parts[-1] and is_joined and is_verb and follower not in ("and", "or", "of", "is", "are", "to"):
            while parts[-1] and parts[-1][-1].lower() in ("and", "then", "&"):
                parts[-1].pop()
            parts.append([])
        parts[-1].append(word)
    return [" ".join(part) for part in parts]


def _begins_with_verb(words: list[str]) -> bool:
    text = _plain(" ".join(words[:12]))
    return bool(text) and text.split(None, 1)[0].lower().strip(AROUND) in VERBS


def _plain(clause: str) -> str:
    """Return the clause without surrounding punctuation and without polite words before it."""
    clause = clause.strip(" \t,;:*_…").rstrip(" .!?,;:")
    is_shorter = True
    while is_shorter:
        is_shorter = False
        low = clause.lower()
        for words in POLITE:
            if low.startswith(words) and low[len(words) : len(words) + 1] in (" ", ","):
                clause, is_shorter = clause[len(words) :].lstrip(" ,"), True
                break
    return clause


def _asks(text: str) -> bool:
    """Return whether a sentence with a question mark asks for an answer, not politely for an action."""
    return text.split(None, 1)[0].lower() not in VERBS
