"""Detect what a prompt asks to remember: "remember: …", "decision: …", "from now on, always …".

Runs in the hook. Only explicit statements at the start of the prompt or of a line count:
"remember to run the tests" is about this turn, "do you remember that bug?" is a question,
and text in a quotation, a code block or a pasted record was not written by the user.
"""

from __future__ import annotations

from enricher.prompt.redaction import redact
from storage.base.fast_stdlib import dumps, keyed_hash, utc_now
from storage.memory.words import extra_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    Row = tuple[str, str, str, str, str, str, str, str, str, str, str, int, str, str]

ORIGIN = "captured"
CUES = (
    ("note to self", "", ":,-"),
    ("for the record", "", ":,-"),
    ("lesson learned", "learnings", ":-"),
    ("lessons learned", "learnings", ":-"),
    ("please remember this", "", ":"),
    ("please remember", "", ":"),
    ("remember this", "", ":"),
    ("to remember", "", ":"),
    ("remember", "", ":"),
    ("decision", "decisions", ":"),
)
"""Rows: words that introduce a memory, its namespace, and punctuation marks, one of which must follow the words.

The namespace is the kind of memory, such as ``decisions``; an empty one is guessed from the text of the memory.
"""

# First letters of all words that introduce a memory; they allow a cheap test of every line of a prompt.
_FIRST_LETTERS = "nflptrd"
_LONGEST = 1000
_MOST_LINES = 400
_MOST = 3
_FEWEST_WORDS = 2
_WORDS_OF_A_CUE = 3
_FEWEST_WORDS_OF_A_DECISION = 4
"""Minimum words of a decision to remember; a shorter one only answers a question, as in "decision: option 2"."""
_STARTS_A_STATEMENT = frozenset(
    """
    we i you it they he she there the our my your its their this these those a an all any every each both no none
    only never always if when in on for with without before after because
    """.split()
)
_VERBS = frozenset(
    """
    is are was were isn't aren't must should shall needs need has have had can can't cannot will won't may does
    doesn't don't never always lives goes runs uses means requires belongs
    """.split()
)
_RELATES = frozenset("from where which that about who of".split())
_RULES_BEGIN = frozenset("always never we use do don't no only all every please prefer run write keep put call".split())
_GO_ON = (". now ", ". please ", ". then ", ". can you ", ". could you ", "; now ", ". next ")
_HINTS = (
    ("decisions", ("decided", "instead of", "rather than", "we chose", "agreed", "in favour of", "in favor of")),
    ("blockers", ("blocked by", "blocked on", "waiting for")),
    ("learnings", ("turned out", "root cause", "gotcha", "learned", "the reason")),
    ("tech-debt", ("tech debt", "technical debt", "workaround", "clean up later", "temporary")),
    ("security", ("password", "secret", "credential", "permission", "security")),
    ("testing", ("test",)),
    ("performance", ("slow", "latency", "performance", "timeout")),
    ("patterns", ("always", "never", "must ", "convention", "every ")),
    ("apis", ("endpoint", " api")),
    ("config", ("config", "setting", "environment", " port ", "env ")),
)


def rows(prompt: str, project: str) -> list[Row]:
    """Return what a prompt asks to remember, as rows for the table ``memories`` without the column ``number``.

    The rows are marked as not yet reviewed by the user.
    """
    found: list[Row] = []
    now = utc_now()
    for namespace, statement in remembered(prompt):
        text = redact(statement)[0]
        key = keyed_hash(b"memory", text.encode(errors="replace"))
        named = f"{project}\0{ORIGIN}\0{key}\x000"  # storage.memory.memories derives the same id
        identity = "m-" + keyed_hash(b"memory", named.encode(errors="replace"))[:10]
        found.append(
            (identity, namespace, text, dumps([]), project, "", "", ORIGIN, key, now, now, 0, "", extra_words(text))
        )
    return found


def remembered(prompt: str) -> list[tuple[str, str]]:
    """Return the (namespace, text) pairs that the prompt asks to remember, at most three."""
    lines = prompt.split("\n", _MOST_LINES)[:_MOST_LINES]
    found: list[tuple[str, str]] = []
    fenced = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and _may_start_memory(lines, number) and (one := _read(lines, number)):
            found.append(one)
            if len(found) == _MOST:
                break
    return found


def is_all(prompt: str) -> bool:
    """Return whether the prompt contains nothing but texts to remember and the words that introduce them."""
    kept = remembered(prompt)
    remembered_words = sum(len(text.split()) for _namespace, text in kept)
    return bool(kept) and len(prompt.split()) - remembered_words <= _WORDS_OF_A_CUE * len(kept)


def namespace_of(text: str) -> str:
    """Return the namespace that the words of a memory suggest, or ``context`` if they suggest none."""
    low = f" {text.lower()} "
    return next((name for name, hints in _HINTS if any(hint in low for hint in hints)), "context")


def _may_start_memory(lines: list[str], number: int) -> bool:
    """Return whether a memory may begin in line ``number``.

    It may not begin in a quotation, or among the ``key: value`` lines of a record.
    """
    line = lines[number]
    if line[:1].lower() not in _FIRST_LETTERS or not line:
        return False
    before = lines[number - 1].strip() if number else ""
    after = lines[number + 1].strip() if number + 1 < len(lines) else ""
    if before.endswith(":") or (number > 1 and not before and lines[number - 2].rstrip().endswith(":")):
        return False
    return not (_is_field(before) or (number and _is_field(after)) or before.startswith((">", "|", "at ", "+", "{")))


def _is_field(line: str) -> bool:
    """Return whether the line looks like ``key: value`` of a pasted record rather than like a sentence."""
    key, colon, value = line.partition(":")
    return bool(colon and key and value[:1] in ("", " ") and " " not in key and not _cue_of(line)[0])


def _cue_of(line: str) -> tuple[str, str]:
    """Return the text after the cue (an entry of ``CUES``) with which a line begins, and the namespace of the cue.

    The text is a line break if nothing follows the cue. Both are empty if the line begins with no cue.
    """
    low = line[:40].lower()  # longer than any cue; a line may be very long
    for cue, namespace, marks in CUES:
        if low.startswith(cue):
            rest = line[len(cue) :].lstrip(" ")
            if rest[:1] and rest[:1] in marks:
                return rest.lstrip(":,-\N{EN DASH} \t") or "\n", namespace
    return "", ""


def _read(lines: list[str], number: int) -> tuple[str, str] | None:
    line = lines[number].rstrip()
    text, namespace = _cue_of(line)
    if text:
        text = _with_list(text, lines, number)
    else:
        text = _statement(line)
        namespace = "patterns" if text and line[:1] in "fF" else ""  # "from now on …" states a rule
    text = _until_the_order(text).strip()
    fewest = _FEWEST_WORDS_OF_A_DECISION if namespace == "decisions" else _FEWEST_WORDS + min(number, 1)
    if len(text.split(None, fewest)) < fewest or text.endswith("?") or len(text) > _LONGEST:
        return None
    return namespace or namespace_of(text), text


def _with_list(text: str, lines: list[str], number: int) -> str:
    """Return ``text``; if it ends with a colon or is a line break, append the list below line ``number``."""
    if text != "\n" and not text.endswith(":"):
        return text
    items: list[str] = []
    for line in lines[number + 1 :]:
        if not line.lstrip().startswith(("- ", "* ")):
            break
        items.append(line.strip())
    return "\n".join([text.strip(), *items]).strip()


def _statement(line: str) -> str:
    """Return the statement in a line such as "remember that …" or "from now on …"; empty if there is none."""
    low = line.lower()
    for opening in ("please remember that ", "remember that "):
        if low.startswith(opening):
            return line[len(opening) :] if _is_sentence(low[len(opening) :].split(None, 7)) else ""
    if low.startswith("from now on"):
        words = low[len("from now on") :].lstrip(" ,:").split(None, 2)
        return line if words and words[0] in _RULES_BEGIN and len(words) > 1 else ""
    return ""


def _is_sentence(words: list[str]) -> bool:
    """Return whether the words form a sentence; phrases such as "bug we had" only name a thing."""
    if not words or words[0] in _STARTS_A_STATEMENT:
        return bool(words)
    # "bug that …", "time we …": the verb of a relative clause after the first word does not make the words a sentence.
    relates = words[1:2] and (words[1] in _STARTS_A_STATEMENT or words[1] in _RELATES)
    return not relates and not _VERBS.isdisjoint(words[1:6])


def _until_the_order(text: str) -> str:
    """Return the text to remember, cut before an instruction for this turn, such as ". Then fix the test"."""
    low = text.lower()
    ends = [at + 1 for mark in _GO_ON if (at := low.find(mark)) > 0]
    return text[: min(ends)] if ends else text
