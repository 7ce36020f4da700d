"""Extract from the prompt the facts that a suggested approach may quote, such as a stack frame or "40 files".

The facts come from the text of the prompt alone, except for the name of an installed skill that fits it. A fact that is
not found is absent from the result, and an approach that needs it is not suggested.
"""

from __future__ import annotations

from enricher.prompt.text import singular

THINGS = frozenset(
    "files modules components pages endpoints routes packages services repositories repos scripts migrations screens"
    " views templates handlers plugins projects queries charts locales languages dependencies tables".split()
)
RESULTS = frozenset("pass passes passed passing fail fails failed failing ok green red succeeded skipped".split())
STATES = frozenset(("are", "were"))  # after a count, such a word reports a state: "40 files are …"
FEWEST_TO_SHARE = 5  # minimum count that is worth quoting in an approach
EACH = ["each", "of", "the"]
BEFORE_A_COUNT = ("all", "across", "each")
PASTED = frozenset(("stack_trace", "log", "code_block", "diff", "shell", "pasted_error"))
"""Features of pasted text: a prompt with one of them contains many words that are not the user's own."""
TRACES = frozenset(("stack_trace", "log", "pasted_error", "error_line"))
FEWEST_LISTED = 4
GENERIC_WORDS = frozenset(
    "a about add all also an and any anything are as at be but by can change code could create dev development do does"
    " each file for from have help how if in into is it its make more must my need new no not of on one only or other"
    " our please project should skill so some task that the their them these this those to tool two up update use used"
    " user using via want we what when where which who will with work would write writing you your".split()
)
FEWEST_WORDS = 2  # minimum words that a skill's name and description together must share with the prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def read_facts(prompt: str, features: Iterable[str], skills: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the facts found in a prompt: ``frame``, ``error``, ``count``, ``listed`` (how many) and ``skill``."""
    found: dict[str, str] = {}
    if TRACES.intersection(features):
        from enricher.prompt.wording.frames import error_name, innermost_frame

        found |= {"frame": innermost_frame(prompt), "error": error_name(prompt)}
    found["count"] = _count(prompt)
    if "list" in features:
        found["listed"] = _listed(prompt)
    if not PASTED.intersection(features):
        found["skill"] = _skill(prompt, skills)
    return {name: value for name, value in found.items() if value}


def _count(prompt: str) -> str:
    """Return how many things of what kind a task is about, such as ``40 files`` for "in all 40 files"; else empty."""
    low = prompt[:12_000].lower()
    if not any(word in low for word in BEFORE_A_COUNT):
        return ""
    words = low.split()
    for at, word in enumerate(words):
        if not (word.isascii() and word.isdigit()) or not FEWEST_TO_SHARE <= int(word[:6]) < 100_000:
            continue
        if words[max(0, at - 1) : at] not in (["all"], ["across"]) and words[max(0, at - 3) : at] != EACH:
            continue
        for behind, thing in enumerate(words[at + 1 : at + 3], at + 1):
            bare = thing.strip(".,;:!?()")
            if bare in THINGS:
                return "" if _reports_results(thing, words[behind + 1 : behind + 4]) else f"{word} {bare}"
            if bare != thing:
                break
    return ""


def _reports_results(thing: str, behind: list[str]) -> bool:
    """Return whether a count reports a result, as in "all 40 files pass"; ``behind`` are the words after the thing."""
    if thing[-1] in ".;!?":
        return False
    bare = [word.strip(".,;:!?()") for word in behind]
    if thing[-1] in ",:)" or (behind and behind[0][0] in "(-\u2013\u2014"):
        return any(word.isdigit() or word in RESULTS for word in bare)
    if bare[:1] == ["now"]:
        bare = bare[1:]
    return bool(bare) and (bare[0] in RESULTS or bare[0] in STATES)


def _listed(prompt: str) -> str:
    items = sum(1 for line in prompt.splitlines() if _is_item(line.strip()))
    return str(items) if items >= FEWEST_LISTED else ""


def _is_item(line: str) -> bool:
    if line.startswith(("- ", "* ", "• ")):
        return len(line) > len("- x y")
    number, mark, rest = line.partition(".") if "." in line[:4] else line.partition(")")
    return bool(mark and rest.strip()) and number.isdigit()


def _skill(prompt: str, skills: Iterable[tuple[str, str]]) -> str:
    """Return the name of the installed skill that shares the most words with the prompt.

    Return an empty string if no skill shares enough words, or if two share the most.
    """
    skills = list(skills)
    if not skills:
        return ""
    words = _words(prompt[:4000])
    scored: list[tuple[int, str]] = []
    for name, description in skills:
        in_name = _words(name.replace("-", " ").replace("_", " ")) & words
        further = (_words(description) & words) - in_name
        if in_name and len(in_name) + len(further) >= FEWEST_WORDS:
            scored.append((2 * len(in_name) + len(further), name))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    if not scored or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return ""
    return scored[0][1]


def _words(text: str) -> set[str]:
    signs = str.maketrans(dict.fromkeys("`'\".,;:!?()[]{}<>/\\*#|", " "))
    words = (singular(word) for word in text.lower().translate(signs).split())
    return {word for word in words if len(word) > 1} - GENERIC_WORDS
