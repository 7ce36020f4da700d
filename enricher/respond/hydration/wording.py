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
    "i'd like to", "i would like to", "i need to", "we need to", "we're going to", "we are going to", "we should",
    "you should", "you need to", "let's",
    "lets", "let us", "help me", "go ahead and", "hey", "hi", "hello", "ok", "okay", "so", "now", "then", "also",
    "and", "next", "great", "thanks", "thank you", "hmmm", "hmm", "hm", "um", "perfect", "good", "nice", "well",
    "first", "finally", "just", "maybe", "kindly", "yes", "try to", "make sure to", "be sure to",
)  # fmt: skip
VERBS = frozenset(
    """
    adapt add address adjust allow amend analyse analyze apply audit backport benchmark bring build bump bundle cache
    change check clean clear close commit compare compile complete configure connect consider continue convert copy
    correct cover create cut debug decide define delete deploy deprecate describe design detect diagnose disable
    discuss document download draft drop dump embed enable enforce ensure evaluate examine exclude expand explain
    explore export expose extend extract figure fill filter find finish fix format generate get group handle harden
    hide highlight identify implement import improve include increase initialise initialize inline insert inspect
    install integrate introduce investigate keep lint list load log look lower make measure merge migrate mock modify
    monitor move normalise normalize open optimise optimize outline pack parse pin plan polish port prepare prevent
    print propose prove provide publish pull push put raise read rebase record reduce refactor release reload remove
    rename render reorder replace report reproduce require research reset resolve restore restrict restructure return
    revert review rewrite roll rotate run save scan search send separate serve set setup ship show simplify skip sort
    spawn speed split stop store strip structure summarise summarize support swap switch sync tag test think tidy
    track translate trim turn tweak unify update upgrade upload use validate verify wire wrap write
    """.split()
)
CONDITIONS = frozenset(("should", "must", "needs", "need", "shouldn't", "mustn't", "want", "wanted", "wants", "wish"))
WISHES = frozenset(("would", "i'd", "we'd", "id"))
"""Words before "like" that make it a wish; alone it compares."""
NEAR_THE_BEGINNING = 10
"""Words of a sentence among which a word of ``CONDITIONS`` says what the sentence wants."""
NEGATIONS = frozenset(("not", "don't", "dont", "doesn't", "didn't", "never", "no"))
MINOR = frozenset(("look", "check", "see", "keep", "note", "read", "think", "consider"))
PRONOUNS = frozenset(("it", "that", "this", "them", "these", "those"))
FEWEST_WORDS_OF_A_GOAL = 5
"""An order about a pronoun with fewer words says too little: make it so."""
POINTING = PRONOUNS.union(("how", "what", "at", "into", "about"))
"""Words that make a request with a verb of ``MINOR`` one that accompanies another: look at the log, keep that style."""
AUXILIARIES = frozenset("do does did can could should would will has have".split())
GUESSES = ("could be", "might be", "may be", "perhaps", "probably", "could it be", "is it possible")
QUESTIONS = (
    "should we ", "should i ", "do we ", "do i ", "does ", "did ", "is there ", "is it ", "are there ", "am i ", "why ",
    "what is ", "what are ", "what options ", "what does ", "how do ", "how does ", "how can ", "where is ",
    "where do ",
)  # fmt: skip
"""Beginnings of sentences that ask, even without a question mark."""
WISHING = (
    "i want to ", "i wanted to ", "i would like to ", "i'd like to ", "i need to ", "we need to ", "we want to ",
    "we're going to ", "we are going to ", "we should ", "you should ",
)  # fmt: skip
"""Beginnings of sentences that say what is wanted, although ``POLITE`` takes them away."""
REQUESTING = (", so can we ", ", so can you ", ", so please ", ", can you ", ", could you ", ", please ")
"""Words that begin another request within a sentence."""
ENDS = (" -- ", " \u2013 ", " \u2014 ", ". ", "! ", "? ", *REQUESTING)
PAIRS = (("(", ")"), ("[", "]"), ('"', '"'), ("`", "`"))
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
FEWEST_WORDS_BEFORE_COLON = 5
"""Fewer words only introduce what follows the colon, as a time of day does before an error, and "this is my config"."""
DOUBLED = frozenset(
    "run set put cut get stop drop plan ship split swap strip debug commit trim skip tag log pin scan wrap let".split()
)
AROUND = " \t.,;:!?*-_\"'()[]…\u2013\u2014"
EDGES = " \t.,;:!?*-_\"'([\u2026\u2013\u2014"
PASTED = (">", "|", "$ ", "% ", "#!", "at ", 'File "', "+", "diff ", "@@", "Traceback", "\u23bf", "│", "✗", "✖", "E   ")
LIST_MARKS = ("- ", "* ", "• ")


class PromptRequest:
    """One thing that a prompt asks for: its words, whether it is a question, an order or a statement.

    ``is_condition``: a statement of what should or must be the case. ``is_minor``: it accompanies another request.
    """

    __slots__ = ("is_condition", "is_listed", "is_minor", "is_order", "is_question", "text", "verb")

    def __init__(self, text: str, *, is_question: bool = False, is_listed: bool = False, is_wish: bool = False) -> None:
        self.text = text
        first = text.split(None, 1)[0].lower().strip(AROUND) if text else ""
        self.verb = first if first in VERBS and not is_question else ""
        self.is_order = bool(self.verb)
        words = text.lower().split()
        self.is_condition = not is_question and (is_wish or _wants(words[:NEAR_THE_BEGINNING]))
        is_short = bool(self.verb) and len(words) < FEWEST_WORDS_OF_A_GOAL and not PRONOUNS.isdisjoint(words[1:2])
        is_beside = self.verb in MINOR and not POINTING.isdisjoint(words[1:2])
        self.is_minor = is_short or is_beside or words[-1:] == ["accordingly"]
        self.is_question = is_question
        self.is_listed = is_listed

    @property
    def names_its_object(self) -> bool:
        """Whether this is an order in two words, such as "fix load_rates" and not "fix it"."""
        words = self.text.lower().split()
        return self.is_order and len(words) > 1 and words[1] not in POINTING | BEHIND_A_BARE_VERB


def read_requests(prompt: str) -> list[PromptRequest]:
    """Return what the prompt asks for or states, sentence by sentence, in the user's words and order."""
    found: list[PromptRequest] = []
    for line, is_listed in _own_lines(prompt[:LONGEST_READ]):
        for sentence in _sentences(line):
            low = sentence.strip().lower()
            is_question = (low.endswith("?") or low.startswith(QUESTIONS)) and not low.startswith(GUESSES)
            for part in [sentence] if is_question else _orders(sentence):
                text = _plain(part)
                if text and any(char.isalpha() for char in text):
                    asks, wishes = is_question and _asks(text), part.strip().lower().startswith(WISHING)
                    found.append(PromptRequest(text, is_question=asks, is_listed=is_listed, is_wish=wishes))
    return found


def main_request(requests: list[PromptRequest]) -> PromptRequest | None:
    """Return the request that the others belong to: the first order or wish of some words, else question, else line."""
    whole = [one for one in requests if len(one.text.split()) >= FEWEST_WORDS or one.names_its_object]
    wanted = [one for one in whole if one.is_order or one.is_condition]
    for candidates in (
        [one for one in wanted if not one.is_minor],
        [one for one in whole if wanted and not one.is_minor and _names_code(one.text)],
        wanted,
        [one for one in requests if one.is_question],
        [one for one in whole if _names_code(one.text)],
        whole,
        requests,
    ):
        if candidates:
            return candidates[0]
    return None


def _names_code(text: str) -> bool:
    """Return whether a sentence names a file, a symbol or a command: it says more than "that looks better now"."""
    return any(sign in word[1:-1] for word in text.split() for sign in "_/.`(") or "`" in text


def items_of(requests: list[PromptRequest]) -> list[str]:
    """Return the separate requests of a prompt with several: its list items, else its orders; empty for only one."""
    listed = [one for one in requests if one.is_listed]
    orders = [one for one in requests if one.is_order]
    chosen = listed if len(listed) > 1 else [one for one in requests if one.is_order or (orders and one.is_condition)]
    texts = list(dict.fromkeys(closed(shortened(capitalized(one.text), LONGEST_ITEM)) for one in chosen))
    return texts[:MOST_ITEMS] if len(texts) > 1 else []


def object_of(request: PromptRequest) -> str:
    """Return what a request is about: its words without the verb, a question word, and reasons or conditions."""
    text = request.text
    words = text.split()
    if request.verb and not (
        request.verb in ("make", "get") or BEHIND_A_BARE_VERB.intersection(map(str.lower, words[1:2]))
    ):
        words = words[1:]
        if words and words[0].lower() in PARTICLES and len(words) > 1:
            words = words[1:]
    is_asking = words[:1] and words[0].lower() in ASKING and AUXILIARIES.isdisjoint(map(str.lower, words[1:2]))
    if is_asking and (request.verb in INQUIRING or request.is_question):
        words = words[1:]
    text = " ".join(words)
    for end in ENDS_OF_OBJECT:
        head = text.partition(end)[0]
        if len(head.split()) > (FEWEST_WORDS_BEFORE_COLON - 1 if end == ": " else 1):
            text = head
    bare = harmless(text, longest=LONGEST_OBJECT * 2).strip(" \t.,;:!?*-\u2026\u2013\u2014")
    return closed(shortened(bare, LONGEST_OBJECT))


def closed(text: str) -> str:
    """Return the text without a part in brackets or quotation marks that does not end, as after a division."""
    for begin, end in PAIRS:
        is_open = text.count(begin) % 2 if begin == end else text.count(begin) > text.count(end)
        head = text[: text.rindex(begin)].rstrip(" ,;:") if is_open else ""
        if len(head.split()) > 1:
            text = f"{head}\N{HORIZONTAL ELLIPSIS}" if text.endswith("\N{HORIZONTAL ELLIPSIS}") else head
    return text


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
        sentence = closed(sentence)
        if more and len(sentence) + len(more[0].text) + 8 < LONGEST_INTENT:
            sentence += f"; {closed(lowered(more[0].text).rstrip(' .!'))}"
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


def _wants(words: list[str]) -> bool:
    """Return whether words say what should be the case; "I don't want" and "it looks like" do not."""
    for at, word in enumerate(words):
        before = words[max(0, at - 2) : at]
        if word in CONDITIONS and NEGATIONS.isdisjoint(before):
            return True
        if word == "like" and not WISHES.isdisjoint(before):
            return True
        if word in VERBS and before[:1] in (["can"], ["could"]) and before[1] in ("we", "you"):
            return True
    return False


def _sentences(line: str) -> list[str]:
    """Divide a line into sentences, but not within brackets or quotation marks."""
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
        mark = next((one for one in ENDS if line.startswith(one, at)), "") if line[at] in " .!?," else ""
        if mark and not is_quoted and not (depth and any(sign in line[at:] for sign in ")]")):
            found.append(line[start : at + (mark[0] in ".!?")])
            start = at = at + len(mark)
        else:
            at += 1
    return [one for one in (*found, line[start:]) if one.strip()]


def _orders(sentence: str) -> list[str]:
    """Divide a sentence before each further order: "add a flag, update the docs and run the tests"."""
    words = sentence.split(" ")
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth = max(0, depth + word.count("(") - word.count(")"))
        behind = words[at - 1] if at else ""
        is_joined = behind.lower() in ("and", "then", "&") or behind.endswith((",", ";"))
        bare = word.lower().strip(AROUND)
        is_verb = bare in VERBS and at + 1 < len(words) and _begins_with_verb(parts[0] or words)
        follower = words[at + 1].lower() if at + 1 < len(words) else ""
        if not depth and parts[-1] and is_joined and is_verb and follower not in ("and", "or", "of", "is", "are", "to"):
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
