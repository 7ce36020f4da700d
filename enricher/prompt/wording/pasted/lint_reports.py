"""Find the rules that a pasted report of a linter names: "app/cart.rb:3:5: C: Style/GuardClause: Use a guard clause".

This module runs in the hook, where importing ``re`` would take longer than its work.
"""

from __future__ import annotations

MOST_RULES = 4
LONGEST_CODE, FEWEST_DIGITS = 8, 3
_AROUND = "()[]:,.;"
_LEVELS = ("error", "warning", "error:", "warning:")


def reported_rules(prompt: str) -> list[str]:
    """Return the rules that the lines of a report name, in order and without duplicates."""
    found = (rule for line in prompt.splitlines() if (rule := _rule(line.strip())))
    return list(dict.fromkeys(found))[:MOST_RULES]


def _rule(bare: str) -> str:
    """Return the rule in a line of a report, which begins with a place ("a.py:3:5:", or "3:5"); empty if it has none.

    The rule is a code at the beginning (E501, Style/GuardClause), or the last word (no-console, [attr-defined]).
    """
    place, _, rest = bare.partition(" ")
    numbers = place.rstrip(":").split(":")
    if len(numbers) < 2 or not numbers[-1].isdecimal() or not rest:
        return ""
    words = rest.split()
    for word in words[:2]:
        if _is_code(word.strip(_AROUND)) or _is_cop(word):
            return word.strip(_AROUND)
    last = words[-1]
    is_of_level = words[0] in _LEVELS and len(words) > 2
    is_marked = last[0] + last[-1] in ("()", "[]")
    plain = last.strip(_AROUND)
    letters = plain.lstrip("@").replace("-", "").replace("/", "").replace("_", "")
    is_rule = letters.isalnum() and letters.islower() and (is_marked or (is_of_level and "-" in plain))
    return plain if is_rule and (is_of_level or len(numbers) > 2) else ""


def _is_code(word: str) -> bool:
    """Return whether a word is a code such as E501, SC2086 or PLR0913."""
    letters = word.rstrip("0123456789")
    digits = len(word) - len(letters)
    return letters.isalpha() and letters.isupper() and digits >= FEWEST_DIGITS and len(word) <= LONGEST_CODE


def _is_cop(word: str) -> bool:
    """Return whether a word is the name of a rule of RuboCop and its department: ``Style/GuardClause:``."""
    department, _, name = word.removesuffix(":").rpartition("/")
    return word.endswith(":") and all(part[:1].isupper() and part.isalnum() for part in (*department.split("/"), name))
