"""Find the stems of English words by Porter's algorithm (journal Program 14/3, 1980), as SQLite's tokenizer does.

SQLite does not show which stem it finds for a word, but the same stems are needed to weigh the terms of its index. A
test compares the two. The hook uses this module.
"""

from __future__ import annotations

_VOWELS = "aeiou"
_STEP_2 = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("entli", "ent"), ("ousli", "ous"), ("alli", "al"), ("eli", "e")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("alism", "al")),
    "t": (("biliti", "ble"), ("aliti", "al"), ("iviti", "ive")),
}
_STEP_3 = {
    "e": (("icate", "ic"), ("ative", ""), ("alize", "al")),
    "i": (("iciti", "ic"),),
    "l": (("ical", "ic"), ("ful", "")),
    "s": (("ness", ""),),
}
_STEP_4 = {
    "a": ("al",),
    "c": ("ance", "ence"),
    "e": ("er",),
    "i": ("ic",),
    "l": ("able", "ible"),
    "n": ("ement", "ment", "ant", "ent"),
    "o": ("ion", "ou"),
    "s": ("ism",),
    "t": ("ate", "iti"),
    "u": ("ous",),
    "v": ("ive",),
    "z": ("ize",),
}
"""Suffixes that steps 2 to 4 of the algorithm replace or remove, by one letter of the word.

It is the second to last letter in steps 2 and 4, and the last one in step 3.
"""


def stem(word: str) -> str:
    """Return the stem of a lower-case word; a word that is not ASCII, or very short or long, stays unchanged."""
    if not 3 <= len(word) <= 64 or not word.isascii():  # the lengths for which SQLite finds a stem
        return word
    word = _past(_plural(word))  # steps 1a and 1b of the paper
    if word[-1] == "y" and _has_vowel(word[:-1]):  # step 1c
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2.get(word[-2:-1], ()))
    word = _replaced(word, _STEP_3.get(word[-1:], ()))
    for ending in _STEP_4.get(word[-2:-1], ()):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
                word = rest
            break  # only the first, which is the longest, counts, even if it is not removed
    if word[-1] == "e":  # step 5a
        size = _measure(word[:-1])
        if size > 1 or (size == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word  # step 5b


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    if not ending or not _has_vowel(word[:-ending]):
        return word
    word = word[:-ending]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if _measure(rest) > 0 else word
    return word


def _is_consonant(word: str, at: int) -> bool:
    char = word[at]
    if char in _VOWELS:
        return False
    return char != "y" or at == 0 or not _is_consonant(word, at - 1)


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """Return how many times a consonant follows a vowel in the word, which is Porter's measure of its length."""
    turns = 0
    after_vowel = False
    for at in range(len(word)):
        is_vowel = not _is_consonant(word, at)
        turns += after_vowel and not is_vowel
        after_vowel = is_vowel
    return turns


def _ends_short(word: str) -> bool:
    """Return whether the word ends with a consonant, a vowel and a consonant that is not w, x or y."""
    last = len(word) - 1
    return (
        last > 1
        and _is_consonant(word, last)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last - 2)
        and word[last] not in "wxy"
    )
