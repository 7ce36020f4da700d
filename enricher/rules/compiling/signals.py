"""Define what a class and its signals may contain in an instructions file, and split their phrases into words.

The inflected forms of English words are computed only when rules are compiled; when a prompt is read, its words are
looked up in the compiled table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from enricher.classify import matching, reading
from enricher.prompt.wording import structure

PLACES = {
    "any": matching.ANY,
    "start": matching.START,
    "end": matching.END,
    "first-sentence": matching.FIRST_SENTENCE,
    "last-sentence": matching.LAST_SENTENCE,
    "whole": matching.WHOLE,
    "lead": matching.LEAD,
    "order": matching.ORDER,
    "last-order": matching.LAST_ORDER,
    "object": matching.OBJECT,
}
MARKERS = {
    "<code>": structure.CODE,
    "<file>": structure.FILE,
    "<doc>": structure.DOC_FILE,
    "<agent-file>": structure.AGENT_FILE,
    "<test-file>": structure.TEST_FILE,
    "<url>": structure.URL,
    "<quote>": structure.QUOTE,
    "<image>": structure.IMAGE,
}
# What ``enricher.classify`` finds in the structure of a prompt.
FEATURES = frozenset(
    "always question_mark ends_with_question no_words tiny short medium long very_long order imperative several_orders"
    " order_last polite_request prohibition approval several_sentences non_english code_block inline_code diff"
    " stack_trace log shell table pasted_error error_line list heading quoted quote path file doc_file agent_file"
    " test_file url image mention identifier".split()
)
KEYS = frozenset({"phrase", "any", "words", "feature", "at", "gap", "weight", "unless", "with", "exact"})
SUBJECTS = ("phrase", "any", "words", "feature")
MOST_GAP, LEAST_WEIGHT = 12, 1
MOST_WEIGHT = 30  # one signal that a user writes can outweigh all those that a program fitted
MOST_FITTED = 9  # maximum weight that ``enricher tune`` writes, and that a single word (in ``leanings``) may have
DEFAULT_GAP = 6
LONGEST_WORDING = 2  # maximum number of words in an entry of ``leanings``; a longer phrase must be a signal
WORDING_PLACES = (matching.AT_LEAD, matching.AT_OBJECT)
LATE = "task_"  # prefix of features like ``task_debug``, known only once the task type is chosen
RESERVED = frozenset(";|=~")  # these separate values in the compiled table; prompts have spaces instead

LISTS = ("openers", "requests", "approvals", "english", "no-topics")
"""Names of the word lists that the code for reading prompts needs; all other word lists are used by signals only."""


@dataclass(frozen=True, slots=True)
class ClassRule:
    """One class of a facet (such as ``task_type``): its signals, and example prompts that must be assigned to it."""

    facet: str
    name: str
    signals: list[dict[str, Any]]
    examples: list[str]
    word_weights: dict[str, list[str]] = field(default_factory=dict)
    min_confidence: float = 0.0


def check_signal(signal: object, lists: dict[str, list[str]]) -> list[str]:
    """Return what is wrong with a signal, which gives points to a class, each problem with its correction."""
    if not isinstance(signal, dict):
        return ['a signal is a mapping such as {phrase: "how do i", weight: 4}']
    found = [f"unknown key '{key}'; known: {', '.join(sorted(KEYS))}" for key in signal if key not in KEYS]
    subjects = [key for key in SUBJECTS if key in signal]
    if len(subjects) != 1:
        found.append(f"needs exactly one of {', '.join(SUBJECTS)}")
    if not isinstance(signal.get("at", "any"), str) or signal.get("at", "any") not in PLACES:
        found.append(f"at: '{signal['at']}' is no place; known: {', '.join(PLACES)}")
    gap = signal.get("gap", DEFAULT_GAP)
    if not _is_whole(gap) or not 0 < gap <= MOST_GAP:
        found.append(f"gap: {gap} is outside 1 to {MOST_GAP}")
    weight = signal.get("weight", LEAST_WEIGHT)
    if not _is_whole(weight) or not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        found.append(f"weight: {weight} is outside {LEAST_WEIGHT} to {MOST_WEIGHT}")
    if "feature" in signal and not _is_feature(signal["feature"]):
        found.append(f"unknown feature '{signal['feature']}'; known: {', '.join(sorted(FEATURES))}")
    if "words" in signal and (not isinstance(signal["words"], str) or signal["words"] not in lists):
        found.append(f"unknown word list '{signal['words']}'; known: {', '.join(sorted(lists))}")
    if not found:
        found += _check_phrases(signal, lists)
    return found


def check_word_weights(leanings: dict[str, list[str]]) -> list[str]:
    """Return what is wrong with the weights that a class gives to single words (``leanings``)."""
    found = []
    for strength, words in leanings.items():
        figure = int(strength) if strength.removeprefix("-").isdecimal() else 0
        if not LEAST_WEIGHT <= abs(figure) <= MOST_FITTED:
            found.append(f"leanings: '{strength}' is outside 1 to {MOST_FITTED} and -1 to -{MOST_FITTED}")
        found += [
            f"leanings: '{word}' is not one word, two, or one at @lead or @object; a longer wording is a signal"
            for word in words
            if not wording_key(word)
        ]
    return found


@cache
def wording_key(written: str) -> tuple[str, str] | None:
    """Split an entry of ``leanings`` into (word, condition for its weight); None if the entry is malformed.

    The condition is empty, a word that must follow, or the position ``@lead`` or ``@object``.
    """
    wording, at, place = written.partition("@")
    words = tokens(wording)
    if "…" in words or RESERVED.intersection(written):
        return None
    if at:
        return (words[0], at + place) if len(words) == 1 and at + place in WORDING_PLACES else None
    return (words[0], "".join(words[1:])) if 1 <= len(words) <= LONGEST_WORDING else None


def _is_feature(name: object) -> bool:
    return isinstance(name, str) and (name in FEATURES or name.startswith(LATE))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # YAML's "yes" is True, which is an int


def _check_phrases(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[str]:
    for key in ("any", "unless", "with"):
        if not isinstance(signal.get(key, []), list):
            return [f"{key}: needs a list in square brackets"]
    guards = [*signal.get("unless", []), *signal.get("with", [])]
    found = []
    for phrase in [*alternatives(signal, lists), *guards]:
        if not isinstance(phrase, str):
            found.append(f"{phrase!r} is no text; put it in quotes")
        elif problem := _phrase_problem(phrase, has_place="at" in signal) or _list_problem(phrase, lists):
            found.append(problem)
    for phrase in guards:
        if (
            isinstance(phrase, str)
            and phrase.startswith("<")
            and phrase not in MARKERS
            and phrase[1:-1] not in FEATURES
        ):
            found.append(f"unknown feature '{phrase[1:-1]}'")
    return found


@cache
def _phrase_problem(phrase: str, *, has_place: bool) -> str:
    # ``has_place`` means that the signal has the key ``at``.
    words = tokens(phrase)
    if not words or words[0] == "…" or words[-1] == "…":
        return f"'{phrase}' is empty, or begins or ends with …"
    if is_contained(phrase) and (phrase.isascii() or has_place):
        return f"'{phrase}': only words of scripts without spaces may be between stars, and without 'at'"
    if RESERVED.intersection(phrase):
        signs = " ".join(sorted(RESERVED))
        return f"'{phrase}' holds one of {signs}, which no prompt is read with; leave it out"
    return ""


def _list_problem(phrase: str, lists: dict[str, list[str]]) -> str:
    """Return what is wrong with a reference to a word list, such as ``[defects]@object``; empty for other phrases."""
    if not phrase.startswith("["):
        return ""
    name, _, place = phrase.partition("@")
    if name[1:-1] not in lists:
        return f"unknown word list '{phrase}'"
    return f"'{place}' in '{phrase}' is no place; known: {', '.join(PLACES)}" if place and place not in PLACES else ""


def alternatives(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[Any]:
    """Return the phrases of a signal, or of the word list that it names; any one of them makes the signal fire."""
    if "phrase" in signal:
        return [signal["phrase"]]
    if "any" in signal:
        return list(signal["any"])
    return list(lists[signal["words"]]) if "words" in signal else []


@cache
def tokens(phrase: str) -> tuple[str, ...]:
    """Split a phrase into words in the same way as a prompt is split."""
    found: list[str] = []
    spaced = reading.spaced_foreign_text(phrase.lower()) if not phrase.isascii() else phrase.lower()
    for chunk in spaced.replace("…", " … ").replace("?", " ? ").replace(",", " , ").split():
        found += CONTRACTIONS.get(chunk, [MARKERS.get(chunk, chunk)])
    return tuple(found)


def is_contained(phrase: str) -> bool:
    """Return whether a phrase is between stars (``*为什么*``): in scripts without spaces, it is found inside words."""
    return len(phrase) > len("**") and phrase[0] == phrase[-1] == "*"


def label(signal: dict[str, Any]) -> str:
    """Return the text by which ``enricher explain`` shows a signal, such as ``"how do i" at start``."""
    if "feature" in signal:
        text = f"<{signal['feature']}>"
    elif "words" in signal:
        text = f"[{signal['words']}]"
    elif "phrase" in signal:
        text = f'"{signal["phrase"]}"'
    else:
        shown = signal["any"][:3]
        text = "/".join(map(str, shown)) + ("/…" if len(signal["any"]) > len(shown) else "")
    return text + (f" at {signal['at']}" if signal.get("at", "any") != "any" else "")


def condition_of(signal: dict[str, Any]) -> str:
    """Return a text for everything in a signal except its weight: signals with equal texts always fire together."""
    return repr(sorted((key, value) for key, value in signal.items() if key != "weight"))


_VOWELS = "aeiou"
_SHORTEST = 3

_IRREGULAR_VERBS = (
    "begin began begun, break broke broken, bring brought, build built, choose chose chosen, come came, "
    "do did does done doing, draw drew drawn, fall fell fallen, find found, forget forgot forgotten, "
    "freeze froze frozen, get got gotten, give gave given, go went gone goes, hide hid hidden, hold held, "
    "keep kept, know knew known, leave left, lose lost, make made, mean meant, put, read, run ran, say said, "
    "see saw seen, send sent, set, show shown, speak spoke, split, stick stuck, take took taken, tell told, "
    "think thought, throw threw thrown, understand understood, undo undid undone, write wrote written"
)
_IRREGULAR = {word: others for word, *others in map(str.split, _IRREGULAR_VERBS.split(", "))}

_NOT = "do does did is are was were has have had should would could must need ai"
CONTRACTIONS: dict[str, list[str]] = {
    **{f"{word}n't": [word, "not"] for word in _NOT.split()},
    **{f"{word}nt": [word, "not"] for word in "do does did is are was has have should would could".split()},
    **{f"{word}'s": [word, "is"] for word in "what that it where who how there here why when he she".split()},
    **{f"{word}s": [word, "is"] for word in "what that where how there".split()},
    **{f"{word}'re": [word, "are"] for word in "you we they what".split()},
    **{f"{word}'ve": [word, "have"] for word in "i you we they".split()},
    **{f"{word}'ll": [word, "will"] for word in "i you we they it that".split()},
    **{f"{word}'d": [word, "would"] for word in "i you we they it that".split()},
    **{word: ["can", "not"] for word in ("can't", "cant", "cannot")},
    **{word: ["will", "not"] for word in ("won't", "wont")},
    **{word: ["i", "am"] for word in ("i'm", "im")},
    **{word: ["let", "us"] for word in ("let's", "lets")},
    **{word: ["please"] for word in ("pls", "plz", "plese", "pleae", "pelase")},
    "ive": ["i", "have"],
    "gonna": ["going", "to"],
    "wanna": ["want", "to"],
    "gotta": ["have", "to"],
    "u": ["you"],
    "y'all": ["you"],
}
"""The words for which each contraction or chat spelling stands; ``its`` is missing, because it is a word itself."""


def forms(word: str) -> list[str]:
    """Return the inflected forms of a base word; none for a word that seems to be an inflected form itself."""
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha() or word.endswith(("ing", "ed", "ly", "ous")):
        return []
    if word in _IRREGULAR:
        return [*_IRREGULAR[word], *_regular(word, past=not _IRREGULAR[word] and word not in ("put", "set"))]
    if word.endswith("s") and not word.endswith("ss"):
        return []
    return _regular(word, past=True)


def _regular(word: str, *, past: bool) -> list[str]:
    stem = word
    if word.endswith("e") and not word.endswith(("ee", "ye", "oe")):
        stem = word[:-1]
    elif _doubles(word):
        stem = word + word[-1]
    if word.endswith("y") and word[-2] not in _VOWELS:
        found = [word[:-1] + "ies", word + "ing"]
        return [*found, word[:-1] + "ied"] if past else found
    plural = word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
    found = [plural, stem + "ing"]
    return [*found, stem + "ed"] if past else found


def _doubles(word: str) -> bool:
    if len(word) < _SHORTEST or word[-1] in _VOWELS + "wxy" or word[-2] not in _VOWELS or word[-3] in _VOWELS:
        return False
    return sum(letter in _VOWELS for letter in word) == 1 or word in ("commit", "debug", "refer", "submit")
