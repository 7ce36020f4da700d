"""Interpret a prompt that refers to earlier turns: find what "the other one", "option 2" or "continue" means.

No I/O: the same prompt and the same recorded conversation always give the same result. A
prompt that names a file, an identifier or a URL is assumed not to refer to earlier turns.
"""

from __future__ import annotations

from enricher.prompt import MOST_RECORDED, POINTING_WORDS
from enricher.prompt.text import cut
from enricher.prompt.wording.structure import CODE, URL, chunk_marker, survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.conversation import Conversation
    from enricher.prompt.conversation.choices import PromptChoice
    from enricher.prompt.conversation.enumerations import Option

ASKED, OTHER, CHOICE, SAME, APPROVAL, POINTING = "asked", "other", "choice", "same", "approval", "pointing"

FEW_WORDS = 8
FEWEST_WORDS_OF_AN_ORDER = 3
MOST_REFERENTS = 3
MENTIONS_CHARS = 4000
OPEN_POINT_CHARS = 120
EDGES = " \t\n\r.,;:!?()[]{}<>\"'`*_~\u2019\u2018“”"

NAMED = frozenset(
    "path file doc_file agent_file test_file identifier inline_code url quote mention code_block stack_trace log diff"
    " error_line image".split()
)
"""Features of a prompt that names its subject itself."""
_ASKED = (
    "where were we", "where was i", "where are we", "where did we leave off", "where did we stop", "where we left off",
    "where i left off", "what were we doing", "what were you doing", "what was i doing", "what did we do",
    "what have we done", "what did you do so far", "what have you done", "what was the last thing", "catch me up",
    "bring me up to speed", "recap", "remind me what we", "remind me where we", "summarize what we",
    "summarize this session", "summarise this session", "summarize our", "pick up where", "what is left to do",
    "what's left to do", "summarise what we", "continue what we", "continue with what we", "resume what we",
    "what were we working on", "what are we working on",
)  # fmt: skip
_OPENERS = frozenset(
    "yes yeah yep yup ok okay sure please pls then so and now well great good perfect thanks"
    " alright also ja oui".split()
)
_APPROVALS = (
    "continue", "go on", "go ahead", "proceed", "carry on", "keep going", "do it", "do that", "do so", "resume",
    "keep working", "next", "go for it", "make it so", "yes", "ok", "okay", "sure", "sounds good", "looks good", "lgtm",
    "weiter", "mach weiter", "ja", "oui", "sigue", "continúa", "continua", "adelante", "sì", "sí", "да", "продолжай",
    "继续", "続けて",
)  # fmt: skip
_BEHIND = frozenset(
    "one ones two three file files module modules script scripts page pages function functions method methods class"
    " classes variable variables test tests too now please also next then".split()
) | {"", "as", "and"}
"""Words that may follow "other" or "rest" in a reference; before any other word, they are part of a name."""
_COUNTED = ("one", "file", "test", "function", "")
_SAME = ("do the same", "same for", "same thing", "same with", "the same to", "same again", "likewise")
_MAY_CHOOSE = (
    "fir", "sec", "thi", "fou", "fif", "las", "one", "two", "thr", "bot", "oth", "opt", "cho", "ers", "zwe", "dri",
    "dre", "vie", "let", "ein", "bei", "and", "pre", "pri", "deu", "tro", "qua", "der", "aut", "les", "seg", "ter",
    "cua", "qui", "amb", "los", "otr", "out", "dos", "doi", "dua", "ult", "ent", "alt", "l'", "all", "every", "tou",
    "tod", "tutt", "sugg", "suge", "recom", "propo", "prefe", "vorsc", "empfe", "racco", "latte", "forme",
)  # fmt: skip
"""Beginnings of the words by which ``choices`` recognises a choice, if they are ASCII and longer than one letter."""
_STEPS = frozenset("step phase part item point fix task stage approach".split())
_POINTERS = frozenset("it this that them these those its their ones both".split())
_PLURALS = frozenset("others rest remaining ones all".split())
_OPEN = ("other", "also", "as well", " too", "remaining", "not yet", "still", "next", "second", "left")
"""Words which show that a question is about work that is left to do, not about work already done."""
_OF_FILES = frozenset("file files module modules script scripts page pages".split())
_OF_NAMES = frozenset("function functions method methods class classes variable variables test tests".split())


def needs_the_answer(prompt: str) -> bool:
    """Return whether the meaning of this prompt depends on the agent's last answer."""
    return kind(prompt) in (CHOICE, OTHER, SAME, APPROVAL)


def read_answer(conversation: Conversation, prompt: str, answers: list[tuple[int, str]]) -> None:
    """Store in ``conversation`` what this prompt refers to in the agent's answers: options, names or a question.

    ``answers`` are the answers in the transcript as (how many prompts ago, text), newest first.
    """
    how, answer = kind(prompt), conversation.answer
    if how == CHOICE:
        from enricher.prompt.conversation import choices, enumerations

        choice = choices.read(prompt)
        found, _, ago = enumerations.find(choice, answers)
        _choose(conversation, found, ago, noun=choice.noun)
    elif how == APPROVAL:
        from enricher.prompt.conversation import enumerations

        step = enumerations.next_step(answer)
        found, _, ago = enumerations.find(step, answers[:1]) if step else ([], [], 0)
        _choose(conversation, found, ago)
    elif how == OTHER and (left := _option_left(conversation, answers)):
        _choose(conversation, *left)
    elif how == OTHER:
        conversation.answer_files = mentions(answer, is_file=True)[:MOST_RECORDED]
        conversation.answer_names = mentions(answer, is_file=False)[:MOST_RECORDED]
        if not the_others(conversation, prompt):
            conversation.open_point = _open_point(answer)


def _choose(conversation: Conversation, found: list[Option], ago: int, *, noun: str = "") -> None:
    """Store the chosen options, ``found``, in ``conversation``, with names such as "option 2 of the last answer".

    ``ago`` says how many prompts ago they were offered; ``noun`` is the prompt's word for an option.
    """
    conversation.chosen = [(_name_option(one, ago, noun.rstrip("s")), one.first_words()) for one in found]
    conversation.option = "; ".join(text for _, text in conversation.chosen)
    body = " ".join(line for one in found for line in (one.text, *one.body))
    conversation.answer_files = mentions(body, is_file=True)[:MOST_REFERENTS]


def _name_option(one: Option, ago: int, noun: str) -> str:
    noun = one.noun or (noun if noun in _STEPS else "option")
    where = "the last answer" if not ago else f"the answer {ago} prompt{'s' * (ago > 1)} back"
    return f"{noun} {one.label.upper()} of {where}" if one.label else f"meant from {where}"


def _option_left(conversation: Conversation, answers: list[tuple[int, str]]) -> tuple[list[Option], int] | None:
    """Return the one of two options that the last prompt did not choose, and how many prompts ago they were offered.

    Return None if the last prompt did not choose one of two options.
    """
    chosen = _choice(conversation.prompts[-1]) if conversation.prompts else None
    if not chosen:
        return None
    from enricher.prompt.conversation import enumerations

    found, offered, ago = enumerations.find(chosen, [(ago, text) for ago, text in answers if ago > 0])
    left = [one for one in offered if one not in found]
    return (left, ago) if len(found) == len(left) == 1 else None


def _open_point(answer: str) -> str:
    """Return the last question of the answer about work that is left to do; empty if there is none."""
    flat = " ".join(answer.split())
    for sentence in reversed(flat.replace("? ", "?\n").replace(". ", ".\n").replace("! ", "!\n").split("\n")):
        if sentence.endswith("?") and any(word in f" {sentence.lower()}" for word in _OPEN):
            return cut(sentence, OPEN_POINT_CHARS)
    return ""


def kind(prompt: str) -> str:
    """Return the way in which a prompt refers to earlier turns, such as CHOICE ("option 2").

    It is empty if the prompt does not refer to any, or if it names its subject itself.
    """
    low = prompt.lower().replace("\u2019", "'")
    words = [word.strip(EDGES) or word for word in low.split()]
    if not words or len(words) > POINTING_WORDS:
        return ""
    flat = " ".join(words)
    if any(phrase in flat for phrase in _ASKED):
        return ASKED
    own = words
    while len(own) > 1 and own[0] in _OPENERS:
        own = own[1:]
    choice = _choice(prompt)
    if choice and not choice.is_other:  # checked before approvals: "yes, option 2" also chooses
        return CHOICE
    if " ".join(own).removesuffix(" please").removesuffix(" then") in _APPROVALS:
        return APPROVAL
    if _names_something(prompt):
        return ""
    if (choice and choice.is_other) or _means_the_rest(words):
        return OTHER
    if any(phrase in flat for phrase in _SAME):
        return SAME
    return POINTING if len(own) <= FEW_WORDS and _POINTERS & set(own) else ""


def means_the_other(prompt: str) -> bool:
    """Return whether a prompt means the other of two things: "no, the other one"."""
    choice = _choice(prompt.replace("? ", ". ").replace("! ", ". ").partition(". ")[0])
    return choice is not None and choice.is_other


def _choice(prompt: str) -> PromptChoice | None:
    """Return the choice that a prompt makes; None if a quick look at its words shows that it can make none."""
    words = prompt.lower().split()
    if not any(
        word.startswith(_MAY_CHOOSE) or not word.isascii() or any(map(str.isdigit, word)) or len(word.strip(EDGES)) == 1
        for word in words
    ):
        return None
    from enricher.prompt.conversation import choices

    return choices.read(prompt)


def _names_something(prompt: str) -> bool:
    """Return whether the prompt contains a file, an identifier, a URL or a quotation."""
    return not NAMED.isdisjoint(survey(prompt).features)


def basis(conversation: Conversation, prompt: str) -> str:
    """Return the earlier text that a prompt such as "yes, option 2" stands for; empty if the prompt stands alone.

    The text is classified together with the prompt. A prompt such as "continue" refers to earlier text only if the
    host has dropped the conversation.
    """
    how = kind(prompt) if conversation.may_be_meant_by(prompt) else ""
    if how == CHOICE or (how == OTHER and conversation.option):
        return conversation.option
    if how in (OTHER, SAME) or (how in (APPROVAL, ASKED) and conversation.resumed):
        return next(iter(_last_orders(conversation)), "")
    return ""


def subject(conversation: Conversation, prompt: str) -> str:
    """Return words to add to the search for a prompt that refers to earlier turns; empty for any other prompt."""
    how = kind(prompt) if conversation.may_be_meant_by(prompt) else ""
    if not how:
        return ""
    if how in (CHOICE, OTHER) and conversation.option:
        return conversation.option
    orders = _last_orders(conversation)
    if how == OTHER and (found := referents(conversation, prompt)):
        return " ".join([*found, *orders])
    return " ".join([*orders, *(conversation.changed[:1] or conversation.files[:1])])


def _last_orders(conversation: Conversation) -> list[str]:
    """Return the earlier prompts with a request, newest first, up to the first that is complete by itself."""
    found: list[str] = []
    for text in reversed(conversation.prompts):
        how = kind(text)
        # A prompt that refers to earlier turns states a task only if it does so with a pronoun ("rename it to …").
        if how in ("", POINTING) and len(text.split()) >= FEWEST_WORDS_OF_AN_ORDER:
            found.append(text)
        if found and not how:
            break
    return found


def _means_the_rest(words: list[str]) -> bool:
    """Return whether the words refer to the remaining items: "the other one", "the rest", "the remaining tests"."""
    for at, word in enumerate(words):
        before, behind = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        if word in ("other", "others", "remaining", "rest", "latter", "former"):
            if behind not in _BEHIND or before in ("each", "any", "no"):
                continue
            if before in ("the", "that", "this", "these", "those", "all", "my", "our", "both", "for", "two"):
                return True
        is_alone = _BEHIND.issuperset(words[at + 2 : at + 3])  # not "the second test run"
        if is_alone and before == "the" and word in ("second", "third") and behind in _COUNTED:
            return True
    return False


def the_others(conversation: Conversation, prompt: str) -> list[str]:
    """Return the names that "the other one" or "the rest" refers to; empty if more than one reading is possible.

    Only the last exchange is searched. Several names are returned only if the prompt uses a plural.
    """
    if kind(prompt) != OTHER:
        return []
    found = referents(conversation, prompt, further_back=False)
    if _OF_NAMES.isdisjoint(prompt.lower().split()):
        found = [one for one in found if "." in one.rpartition("/")[2] and mentions(one, is_file=True)]
    return found if len(found) == 1 or not _PLURALS.isdisjoint(prompt.lower().split()) else []


def referents(conversation: Conversation, prompt: str, *, further_back: bool = True) -> list[str]:
    """Return the files or identifiers that "the other one" can mean, except those that were just worked on.

    The names come from the most recent source that has any: the last prompt with its answer and then, with
    ``further_back``, the files that the agent used and earlier prompts. If this source has more than MOST_REFERENTS
    names, none is returned.
    """
    words = set(prompt.lower().replace(",", " ").split())
    wants_files, wants_names = not words.isdisjoint(_OF_FILES), not words.isdisjoint(_OF_NAMES)
    last = conversation.prompts[-1] if conversation.prompts else ""
    for is_file in (True, False):
        if (is_file and wants_names) or (not is_file and wants_files):
            continue
        asked = mentions(last, is_file=is_file)
        answered = conversation.answer_files if is_file else conversation.answer_names
        done = conversation.changed if is_file else []
        # If no files were changed, names of the last prompt that the answer repeats count as done.
        done = done or [one for one in asked if _is_among(one, answered)] or asked
        places = [asked + answered]
        if further_back:
            places.append(conversation.files if is_file else [])
            places += [mentions(text, is_file=is_file) for text in reversed(conversation.prompts[:-1])]
        for place in places:
            left = _distinct([one for one in place if not _is_among(one, done)])
            if left:
                return left if len(left) <= MOST_REFERENTS else []
    return []


def mentions(text: str, *, is_file: bool) -> list[str]:
    """Return the file names in a text or, without ``is_file``, its identifiers, in order of appearance."""
    found: list[str] = []
    for chunk in text[:MENTIONS_CHARS].split():
        bare = chunk.strip(EDGES)
        bare = bare.partition(":")[0] if "://" not in bare else bare  # "app.py:15" mentions app.py
        marker = chunk_marker(bare) if bare else ""
        if marker and marker is not URL and (marker is not CODE) == is_file:
            name = bare.strip(EDGES).removesuffix("()").removeprefix("@")
            if name not in found:
                found.append(name)
    return found


def _distinct(names: list[str]) -> list[str]:
    """Return the names without duplicates; a path counts as a duplicate of a longer path that ends with it."""
    kept: list[str] = []
    for name in sorted(names, key=len, reverse=True):
        if not _is_among(name, kept):
            kept.append(name)
    return sorted(kept, key=names.index)


def _is_among(name: str, names: list[str]) -> bool:
    return any(one == name or one.endswith("/" + name) or name.endswith("/" + one) for one in names)
