"""Tables and functions for the forms of English words, contractions and chat spellings.

They are used while compiling; when a prompt is read, its words are looked up in the compiled dictionary.
"""

from __future__ import annotations

VOWELS = "aeiou"
SHORTEST = 3

_IRREGULAR = {
    "begin": "began begun",
    "break": "broke broken",
    "bring": "brought",
    "build": "built",
    "choose": "chose chosen",
    "come": "came",
    "do": "did does done doing",
    "draw": "drew drawn",
    "fall": "fell fallen",
    "find": "found",
    "forget": "forgot forgotten",
    "freeze": "froze frozen",
    "get": "got gotten",
    "give": "gave given",
    "go": "went gone goes",
    "hide": "hid hidden",
    "hold": "held",
    "keep": "kept",
    "know": "knew known",
    "leave": "left",
    "lose": "lost",
    "make": "made",
    "mean": "meant",
    "put": "",
    "read": "",
    "run": "ran",
    "say": "said",
    "see": "saw seen",
    "send": "sent",
    "set": "",
    "show": "shown",
    "speak": "spoke",
    "split": "",
    "stick": "stuck",
    "take": "took taken",
    "tell": "told",
    "think": "thought",
    "throw": "threw thrown",
    "understand": "understood",
    "undo": "undid undone",
    "write": "wrote written",
}

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
    """Return the inflected forms of a base word; an empty list for a word that is itself inflected."""
    if len(word) < SHORTEST or not word.isascii() or not word.isalpha() or word.endswith(("ing", "ed", "ly", "ous")):
        return []
    if word in _IRREGULAR:
        return [*_IRREGULAR[word].split(), *_regular(word, past=not _IRREGULAR[word] and word not in ("put", "set"))]
    if word.endswith("s") and not word.endswith("ss"):
        return []
    return _regular(word, past=True)


def _regular(word: str, *, past: bool) -> list[str]:
    stem = word
    if word.endswith("e") and not word.endswith(("ee", "ye", "oe")):
        stem = word[:-1]
    elif _doubles(word):
        stem = word + word[-1]
    if word.endswith("y") and word[-2] not in VOWELS:
        found = [word[:-1] + "ies", word + "ing"]
        return [*found, word[:-1] + "ied"] if past else found
    plural = word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
    found = [plural, stem + "ing"]
    return [*found, stem + "ed"] if past else found


def _doubles(word: str) -> bool:
    if len(word) < SHORTEST or word[-1] in VOWELS + "wxy" or word[-2] not in VOWELS or word[-3] in VOWELS:
        return False
    return sum(letter in VOWELS for letter in word) == 1 or word in ("commit", "debug", "refer", "submit")
