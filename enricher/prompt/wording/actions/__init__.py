"""Detect which of a project's usual actions a prompt asks for: commit, open a pull request, release, run the tests.

Each clause of a prompt is read separately. In English, a clause asks for an action if it begins with the verb (polite
words may come first), and the object is not the first half of a longer term ("the pull request template"). In the other
languages, the verb and the object may be anywhere in a short clause. This module runs in the hook, so it uses no
regular expressions.
"""

from __future__ import annotations

from enricher.prompt.text import is_version, without_code
from enricher.prompt.wording.actions import words as tables

TEST, NEW_TEST, RELEASE, BUILD, RUN = "test", "new-test", "release", "build", "run"
TRIGGER = "trigger"
"""The action for a question such as "what happens when I push this"."""
NAMED_BETWEEN = ("dependency", "contributor", "changelog", "migration")
"""Actions whose object may be preceded by a name: "add zod as a dependency", "create a drizzle migration"."""

READ_CHARS = 4_000
MOST_WORDS = 160
"""Maximum words of a prompt that is read completely; of a longer one, only the beginning and the end are read."""
ENDS_OF_A_LONG_ONE = 300
LONGEST_CLAUSE = 14
SHORTEST_MISSPELT = 4
LONGEST_VERB = 15
WORDS_OF_A_LABEL = 3
WORDS_BEFORE_COMMAND = 5
MOST_BETWEEN = 6
"""Maximum words between the verb and the object: "run all of the failing unit tests"."""

_BREAKS = (
    " and then ", " and ", " then ", " & ", " und ", " dann ", " et ", " puis ", " y ", " luego ", " e ", " depois ",
    " poi ", " и ", " затем ", " before i ", " before we ", " before you ", " after you ", " plus ", ", ", "; ", " - ",
    " — ", " + ", "\N{FULLWIDTH COMMA}",
    "。", "、", "\N{FULLWIDTH SEMICOLON}", "\N{FULLWIDTH EXCLAMATION MARK}", "\N{FULLWIDTH QUESTION MARK}",
    "\N{FULLWIDTH COLON}", "然后", "再", "并",
    "\N{FULLWIDTH LEFT PARENTHESIS}", "\N{FULLWIDTH RIGHT PARENTHESIS}", "(", ")",
)  # fmt: skip
NEEDS_A_THING = ("format", "build", "test", "compile", "tag", "cut")
"""Verbs that request something only with an object, because they may also be nouns."""
GOING_ON = frozenset("continue keep resume start finish go carry".split())
"""Verbs that precede a gerund with the action: "continue fixing", "go on with running"."""
_ASKING_WHICH = ("which", "what", "what's", "whats")
_ASKING = frozenset("where which what what's whats how will would does do is are must".split())
_PERSONS = ("i", "we", "you")
_SENDING = frozenset("push merge pushing merging pushed merged".split())
_STARTED = frozenset("deploy deploys release releases publish publishes deployment ci workflow workflows".split())
_OWN = frozenset(
    "it this that these them everything pr branch my the a our main master to into tag pull request deploy here or /"
    " push merge".split()
)
"""Words that may follow "push" or "merge" in the sense of git."""
_HOW = frozenset("how where which".split())
_DOING = frozenset(tables.DOING.split())
_SECOND_HALVES = ("message", "messages", "request", "requests", "entry")
_OWN_CHANGES = frozenset(
    "changes change work code fix fixes file files update updates result rest diff refactoring branch commits".split()
)
_WIDE_BETWEEN = 8
"""Maximum characters between the two words of a row of ``words.WIDE``."""
WIDE_NOT = (
    "按钮", "页面", "组件", "失败", "数据", "报错", "ボタン", "ページ", "画面", "データ", "失敗", "コンポーネント",
    "没有", "还没",
    "した", "された", "不要", "别", "しないで",
)  # fmt: skip
"""Chinese and Japanese words for screens, data, failures, the past and prohibitions.

A clause with one of them requests no action.
"""
NEGATIONS = frozenset(
    "don't dont not never without nicht ohne kein keine pas sans sin não sem non senza не без no".split()
)
_PARTICLES = frozenset("me up out us off with as to".split())
_FOREIGN_ARTICLES = frozenset("le la les une du des el los das den der eine il gli os um uma laufen".split())
ENGLISH_WORDS = frozenset("the is are to of this that for with in".split())


def _rows(text: str) -> list[list[str]]:
    joined = text.strip().replace("\n  ", " ")
    return [(line + " ").split(": ", 2) for line in joined.split("\n")]


def _cells(text: str) -> list[str]:
    return [cell for one in text.split("|") if (cell := " ".join(one.split()))]


# Each hook process parses these tables. To save time, the verbs of an English row stay one string, in which
# ``f" {verb} "`` is looked up.
_ENGLISH = [(action, f" {verbs} ", things) for action, verbs, things in _rows(tables.ENGLISH)]
_ALONE = {verb: (action, frozenset(behind.split())) for action, verb, behind in _rows(tables.ALONE)}
_FOREIGN = [
    (action, tuple(verbs.split()), frozenset(things.split())) for action, verbs, things in _rows(tables.FOREIGN)
]
_WIDE = _rows(tables.WIDE)
_GO_ON, _BETWEEN = frozenset(tables.GO_ON.split()), frozenset(tables.BETWEEN.split())
_POLITE = sorted(_cells(tables.POLITE), key=len, reverse=True)
_VERBS = f" {' '.join(_ALONE)} {''.join(verbs for _action, verbs, _things in _ENGLISH)}"


def asked_actions(prompt: str) -> list[str]:
    """Return the actions that the prompt asks for, without duplicates, in the order in which it mentions them."""
    found: list[str] = []
    all_clauses = clauses(lowered(prompt))
    for clause in all_clauses:
        action = _english(clause) or _foreign(clause) or _wide(clause) or _begun_by_object(clause)
        if not action and clause is all_clauses[-1]:
            action = _without_verb(clause)
        if action and action not in found:
            found.append(action)
    return found


def _without_verb(clause: str) -> str:
    """Return the action whose object a clause names without a verb: "and the changelog", "changelog too please"."""
    fillers, entry = tables.FILLERS.split(), tables.ENTRY.split()
    words = [word for word in map(bare, _with_changelog(clause).split()) if word not in fillers]
    action = tables.LAST_WORDS.get(" ".join(words), "")
    return action or ("changelog" if [word for word in words if word not in entry] == ["changelog"] else "")


def _begun_by_object(clause: str) -> str:
    """Return the action whose object begins a clause without a verb: "commit msg for this", "changelog entry pls"."""
    ticket, found, behind = clause.partition(" in the message")
    if found and behind.strip() in ("", "please", "pls") and " " not in ticket and any(map(str.isdigit, ticket)):
        return "commit"  # "ABC-123 in the message please"
    words = [bare(word) for word in _with_changelog(clause).split()]
    while words and words[0] in tables.BEFORE_FIRST.split():
        del words[0]
    length = 2 if " ".join(words[:2]) in tables.FIRST_WORDS else 1
    action = tables.FIRST_WORDS.get(" ".join(words[:length]), "")
    is_open = words[length : length + 1] and words[length] in tables.BEHIND_FIRST.split()
    return action if is_open and not set(tables.REPORTING.split()).intersection(words) else ""


def _with_changelog(clause: str) -> str:
    """Return ``clause`` with the name that release notes have in another language replaced by "changelog"."""
    name = next((one for one in tables.NOTES if one in clause), "")
    return clause.replace(name, "changelog") if name else clause


def lowered(prompt: str) -> str:
    # The middle of a long prompt is usually pasted.
    return prompt[:READ_CHARS].lower() + ("\n" + prompt[-400:].lower() if len(prompt) > READ_CHARS else "")


def clauses(text: str) -> list[str]:
    """Return the clauses of a prompt, without pasted text and without the polite words at the start of a clause."""
    return [clause for line in unpolished(text) if (clause := _plain(line))]


def unpolished(text: str) -> list[str]:
    """Return the clauses of a prompt as they are, without pasted text; of a long prompt, only its beginning and end."""
    own_text = "\n".join(_own_lines(text)).replace("()", "_")  # "commit()" is a name
    if len(own_text.split()) > MOST_WORDS:
        head, tail = own_text[:ENDS_OF_A_LONG_ONE], own_text[-ENDS_OF_A_LONG_ONE:]
        own_text = f"{head.rpartition(' ')[0]}\n{tail.partition(' ')[2]}"  # without the words that the cuts have split
    for mark in (". ", "! ", "? ", *_BREAKS):
        if mark in own_text:
            own_text = own_text.replace(mark, "\n")
    return own_text.split("\n")


def _own_lines(text: str) -> list[str]:
    """Return the lines that the user wrote, without code blocks, quotations and stack traces.

    If a line begins with a short label and a colon, as in "Commit: 1a2b3c4", the label is removed as well.
    """
    lines: list[str] = []
    for line in without_code(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").splitlines()):
        bare = line.strip()
        if bare and not bare.startswith((">", "|", "$ ", "#!", "at ", "file ", "+", "diff ")):
            head, colon, behind = bare.partition(": ")
            is_label = bool(colon) and len(head.split()) <= WORDS_OF_A_LABEL
            lines.append(behind if is_label else bare.replace(": ", "\n"))
    return lines


def _plain(clause: str) -> str:
    """Remove the surrounding punctuation from a clause, and the list number and polite words at its beginning."""
    clause = clause.strip(" \t.,;:!?*-_\"'`()[]…")
    head, dot, rest = clause.partition(" ")
    if dot and head.rstrip(".)").isdigit() and head[-1] in ".)":
        clause = rest.strip()
    ends = ("", " ", ",", "\n")
    while words := next(
        (one for one in _POLITE if clause.startswith(one) and clause[len(one) : len(one) + 1] in ends), ""
    ):
        clause = clause[len(words) :].lstrip(" ,")
    return clause


def bare(word: str) -> str:
    return word.strip(".,;:!?\"'`()[]")


def _english(clause: str) -> str:
    words = [bare(word) for word in clause.split()]
    if not words or not clause[0].isascii():
        return ""
    if words[0] == "git" and len(words) > 1:
        words = words[1:]
    if words[:2] == ["make", "sure"]:  # verbs in the tables are single words
        words = ["ensure", *words[2:]]
    if words[0] in ("i", "we") and words[1:2] in (["need"], ["want"]) and words[2:3] in (["a"], ["an"], ["another"]):
        words = ["create", *words[2:]]
    if words[0] in ("this", "that", "it") and words[1:2] == ["needs"]:
        words = ["note", *words[2:]]  # a verb that only a changelog takes
    if words[0] in GOING_ON:
        words = without_going_on(words)
    if not _ASKING.isdisjoint(words[:2]) and (action := _of_question(words)):
        return action
    verb, rest = _corrected(words[0]), words[1:]
    if verb in _ALONE and (action := _of_alone(verb, rest)):
        return action
    for action, verbs, things in _ENGLISH:
        if f" {verb} " in verbs and _has_object(rest, frozenset(_cells(things)), verb, action):
            return action
    return ""


def _of_question(words: list[str]) -> str:
    if words[0] in _ASKING_WHICH and (action := _of_command(words)):
        return action
    if len(words) > LONGEST_CLAUSE:
        return ""
    return TRIGGER if _asks_what_starts(words) else _of_rules(words)


def _asks_what_starts(words: list[str]) -> bool:
    if words[0] == "what" and words[1:3] in (["runs", "on"], ["starts", "on"], ["happens", "on"]):
        event = " ".join(word for word in words[3:] if word not in ("a", "an", "the", "every", "each", "any", "new"))
        return event in ("push", "pushes", "pr", "prs", "pull request", "pull requests")
    at = next((number for number, word in enumerate(words) if word in _SENDING), 0)
    if not at or not _OWN.issuperset(words[at + 1 : at + 3]):
        return False
    if words[1:2] in (["happens"], ["runs"], ["starts"]):
        return words[at - 1] in _PERSONS
    return words[0] in ("will", "would", "does", "do") and not _STARTED.isdisjoint(words)


def _of_rules(words: list[str]) -> str:
    """Return the action for whose rules a question asks: "what do I need for a PR here", not "for the PR page"."""
    nouns, verbs = tables.RULES.split(), tables.NEEDS.split()
    is_how = not _HOW.isdisjoint(words[:2]) and not _DOING.isdisjoint(words)
    is_how = is_how or (words[0].startswith("what") and ("write" in words or "put" in words))
    need = next((at for at, word in enumerate(words) if word in verbs), len(words))
    has_noun = any(word in nouns for word in words) and words[0] != "which"
    for at, word in enumerate(words):
        if word not in tables.RULED or not (has_noun or at > need or is_how):
            continue
        behind = next((one for one in words[at + 1 :] if one not in _SECOND_HALVES), "")
        ends = ("", "have", "look", "be", "get", *nouns, *verbs, *(_DOING if is_how else ()))
        if behind in ends or behind in _GO_ON:
            return tables.RULED[word]
    return ""


def _corrected(word: str) -> str:
    """Return the verb in the tables of which ``word`` is a misspelling ("psuh", "relase"); else the word itself."""
    if len(word) < SHORTEST_MISSPELT or f" {word} " in _VERBS or not word.isalpha():
        return word
    swapped = (f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(1, len(word) - 1))
    if verb := next((one for one in swapped if f" {one} " in _VERBS), ""):
        return verb
    if len(word) == SHORTEST_MISSPELT:  # "star" is no misspelt "start"
        return word
    likely = [verb for verb in _VERBS.split() if verb[0] == word[0] and len(verb) == len(word) + 1]
    return next((one for one in likely if any(f"{one[:at]}{one[at + 1 :]}" == word for at in range(1, len(one)))), word)


def _of_command(words: list[str]) -> str:
    """Return the action whose command a clause asks for, as in "which lint command do I run"."""
    at = words.index("command") if "command" in words[:WORDS_BEFORE_COMMAND] else 0
    behind = words[at + 1 : at + 3]
    is_own = not behind or (behind[0] in ("do", "should", "can", "must") and behind[1:] in (["i"], ["we"]))
    return tables.COMMANDS.get(words[at - 1], "") if at > 1 and (is_own or behind[0] == "here") else ""


def without_going_on(words: list[str]) -> list[str]:
    """Return ``words`` with "continue with fixing" or the like replaced with "fix"; other words unchanged."""
    at = next((number for number, word in enumerate(words[1:4], 1) if word not in ("on", "with")), 0)
    gerund = words[at].removesuffix("ing")
    # "fix" of "fixing", "run" of "running", "create" of "creating"
    forms = (gerund, gerund[:-1], f"{gerund}e") if gerund != words[at] else ()
    verb = next((form for form in forms if f" {form} " in _VERBS), "")
    return [verb, *words[at + 1 :]] if verb else words


def _of_alone(verb: str, rest: list[str]) -> str:
    action, behind = _ALONE[verb]
    if not rest:
        return "" if verb in NEEDS_A_THING else action
    if _is_path(rest[0]) and action in ("lint", TEST) and len(rest) == 1:
        return action
    if rest[0] in ("the", "teh", "my", "your", "our", "all") or (rest[0] == "that" and verb in ("commit", "push")):
        return action if _is_committable(verb, rest, behind) else ""
    if verb in ("release", "publish", "tag", "cut") and is_version(rest[0]):
        return action
    if rest[0] == "version":
        return action if len(rest) > 1 and is_version(rest[1]) else ""
    if verb == "tag":  # "tag it with a label" is about something else
        return action if rest in (["it"], ["this"]) else ""
    if verb in NEEDS_A_THING and len(rest) > 1 and rest[0] in ("it", "this", "that", "these", "them", "everything"):
        return action if rest[1] in _GO_ON else ""
    return action if rest[0] in behind or rest[0] in ("now", "again", "please") else ""


def _is_committable(verb: str, rest: list[str], behind: frozenset[str]) -> bool:
    """Return whether the words after ``verb`` (``rest``) name an object that fits it, as "changes" fits "commit".

    The verbs "commit" and "push" may also stand alone; any other verb needs an object from the set ``behind``. An
    object that only begins a longer term ("release" in "the release notes") does not fit.
    """
    thing = next((word for word in rest if word not in _BETWEEN), "")
    at = rest.index(thing) + 1 if thing else len(rest)
    if at < len(rest) and rest[at] not in _GO_ON:
        return False
    if verb in ("commit", "push"):
        return not thing or thing in _OWN_CHANGES
    return thing in behind or (verb == "format" and rest[0] in ("my", "our", "your") and thing in _OWN_CHANGES)


def _is_path(word: str) -> bool:
    return "/" in word or (word.rpartition(".")[2].isalpha() and "." in word[1:])


def _has_object(rest: list[str], things: frozenset[str], verb: str, action: str) -> bool:
    """Return whether the words after ``verb`` (``rest``) name one of ``things`` as its object.

    A few words may come before the object, as in "all of the tests". An object that only begins a longer term ("the
    test plan") does not count. For some actions, further uses do not count, such as "build an app" for BUILD.
    """
    for at, word in enumerate(rest[:MOST_BETWEEN]):
        for length in (4, 3, 2, 1):  # the longest first: "commit message" before "commit"
            if " ".join(rest[at : at + length]) not in things:
                continue
            behind = rest[at + length : at + length + 1]
            if behind and not (behind[0] in _GO_ON or is_version(behind[0])):
                continue
            if action == RELEASE and verb in ("bump", "increase", "raise") and behind == ["of"]:
                return False  # "bump the version of react" is about a dependency
            return not (action in (BUILD, RUN) and {"a", "an"}.intersection(rest[:at]))  # "build an app that …"
        is_between = word in _BETWEEN or is_version(word)
        if not is_between and not (action in NAMED_BETWEEN or (word in _PARTICLES and at < 4)):
            return False
    return False


def _foreign(clause: str) -> str:
    clause = _with_changelog(clause)
    words = [bare(word) for word in clause.replace("'", " ").split()]  # "l'application"
    if not words or len(words) > LONGEST_CLAUSE or NEGATIONS.intersection(words):
        return ""
    if (
        f" {words[0]} " in _VERBS and words[0] != "come" and _FOREIGN_ARTICLES.isdisjoint(words)
    ):  # "compile le projet" is French
        return ""
    ruled = next((tables.RULED[word] for word in words if word in tables.RULED), "")
    if ruled and not tables.HOW.isdisjoint(words[:3]) and not tables.HERE.isdisjoint(words):
        return ruled  # "wie macht man hier Migrationen"
    if clause.isascii() and ENGLISH_WORDS.intersection(words):  # English words may begin like foreign verbs
        return ""
    for action, verbs, things in _FOREIGN:
        # LONGEST_VERB: "Erstellungsdatum" begins like the verb "erstell", but is a noun.
        if not any(f"{word}$".startswith(verbs) and len(word) < LONGEST_VERB for word in words):
            continue
        if action == TEST and _is_report(words, things):
            continue
        if things.intersection(words) or (
            # Without an object, the verb must be complete, apart from its ending: "committe", "committen".
            not things and any(word.rstrip("nrtz") in verbs or word in verbs for word in words)
        ):
            return action
    return ""


def _is_report(words: list[str], things: frozenset[str]) -> bool:
    """Return whether a clause says how the tests are: "die Tests laufen", "el test pasa"; not "lass sie laufen"."""
    at = next((number for number, word in enumerate(words) if word in tables.INTRANSITIVE), 0)
    return not things.isdisjoint(words[:at]) and not any(word.startswith("lass") for word in words)


def _wide(clause: str) -> str:
    # \u3000: Chinese and Japanese characters are above it.
    if clause.isascii() or max(clause) < "\u3000" or any(word in clause for word in WIDE_NOT):
        return ""
    for action, firsts, seconds in _WIDE:
        for first in _cells(firsts):
            _, found, behind = clause.partition(first)
            if clause == first and not seconds.strip():
                return action
            if found and any(0 <= behind.find(second) <= _WIDE_BETWEEN for second in _cells(seconds)):
                return action
    return ""
