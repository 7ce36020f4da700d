"""Find the verb of a request in the imperative (an order), which may follow polite words, a condition or a place."""

from __future__ import annotations

from enricher.respond.hydration.reading.vocabulary import (
    AROUND,
    ASKING_POLITELY,
    BEHIND_A_LEADING_VERB,
    CIRCUMSTANCES,
    CONDITIONAL,
    CONDITIONS,
    DETERMINERS,
    NEGATIONS,
    ORDERS_ELSEWHERE,
    POLITE,
    VERBS,
)

LONGEST_CIRCUMSTANCES = 8  # words of a place or source: "in the settings of the app, can we add …"
SUPPOSING = frozenset(("if", "unless"))  # such a condition is usually about the program: "if the user leaves, stop it"
LEADING_VERBS = frozenset(("have", "let", "do", "comment", "call", "name"))
"""Verbs of an order only before a word of ``BEHIND_A_LEADING_VERB``: "have the parser skip empty lines"."""
NO_ORDERS = (["instead", "of"], ["use", "case"], ["use", "cases"])
NO_VERBS = DETERMINERS.union(NEGATIONS, "i we you it's there is are if when for be".split())
RESTRICTING = frozenset("only ever always never just also please".split())  # "in rates.py only accept numbers"
INTERJECTIONS = frozenset("k kk mk mmk mmmk mmm hm hmm hmmm hmmmm uh ah oh ugh huh".split())  # before a comma or dots
SUBJECTS = frozenset("i we you they he she it who which that to can could will would not users people".split())
"""Words after which a verb is no order: "when I select a row"."""


def verb_of(text: str) -> str:
    """Return the verb of a text that is an order, such as "fix the leak"; empty if the text is not an order."""
    words = [unquoted(word) for word in text.split(None, 2)[:2]]
    is_behind_condition = words[:1] and words[0] in CONDITIONAL and words[0] not in SUPPOSING
    if is_behind_condition or words in NO_ORDERS:  # "once it runs, tell me"
        return verb_of(plain(text.partition(", ")[2])) or _verb_within(text.lower().split())
    if words[:1] and words[0] in CIRCUMSTANCES:
        return _verb_behind_circumstances(text)
    is_aside = text.partition(" ")[0].endswith(("\u2026", ","))
    if is_aside or not words or (words[0] in LEADING_VERBS and BEHIND_A_LEADING_VERB.isdisjoint(words[1:])):
        return ""
    return words[0] if words[0] in VERBS or words[0] in LEADING_VERBS or words[0] in ORDERS_ELSEWHERE else ""


def _verb_within(words: list[str]) -> str:
    """Return the verb of an order that follows its condition without a comma: "once it runs add another row"."""
    places = range(2, len(words) - 1)
    verbs = (at for at in places if words[at] in VERBS and words[at - 1] not in SUBJECTS)
    return next((words[at] for at in verbs if words[at + 1] in DETERMINERS), "")


def _verb_behind_circumstances(text: str) -> str:
    # "in a.py only accept numbers", but not "in the future we only support numbers", which has a subject
    head, comma, tail = text.partition(", ")
    if comma and is_circumstance(head):
        return verb_of(plain(tail))
    words = text.lower().split()
    for at in range(2, len(words) - 1):
        if words[at] in SUBJECTS:
            break
        is_second = words[at - 1] == "and" and words[at - 2] in VERBS and words[at + 1] in DETERMINERS
        if words[at] in VERBS and (words[at - 1] in RESTRICTING or is_second):
            return words[at]
    return ""


def is_circumstance(text: str) -> bool:
    """Return whether a text only names a place or source, such as "in the menu of the app"."""
    words = [word.strip(AROUND) for word in text.lower().split()]
    is_clause = any(word in SUBJECTS or word in CONDITIONS for word in words)
    return bool(words) and words[0] in CIRCUMSTANCES and len(words) <= LONGEST_CIRCUMSTANCES and not is_clause


def unquoted(word: str) -> str:
    """Return a word in lower case without punctuation; empty if it is in quotation marks, because it is then a name."""
    bare = word.strip(" ,.;:!?")
    return "" if bare[:1] in ('"', "`") and bare[-1:] == bare[:1] else word.lower().strip(AROUND)


def first_word(text: str) -> str:
    word = text.split(None, 1)[0].lower().strip(AROUND)
    return word if word.isalpha() and word not in NO_VERBS else ""


def plain(clause: str) -> str:
    """Return the clause without surrounding punctuation and leading polite words."""
    clause = clause.strip(" \t,;:*_…").rstrip(" .!?,;:")
    first, _space, rest = clause.partition(" ")
    if first[-1:] in (",", ".", "\u2026") and first.lower().rstrip(",.\u2026") in INTERJECTIONS:
        clause = rest
    is_shorter = True
    while is_shorter:
        is_shorter = False
        low = clause.lower()
        for words in POLITE:
            rest = low[len(words) :]
            if (
                low.startswith(words)
                and rest[:1] in (" ", ",", ":", "\u2026")
                and not rest.startswith((" not ", " never ", " of "))
            ):
                clause, is_shorter = clause[len(words) :].lstrip(" ,:\u2026"), True
                break
    for opener in ASKING_POLITELY:
        head, asked, tail = clause.partition(f" {opener}")
        if asked and is_circumstance(head) and first_word(tail) in VERBS:
            return f"{head.rstrip(',')}, {tail}"  # "in the menu can we add a line"
    return clause
