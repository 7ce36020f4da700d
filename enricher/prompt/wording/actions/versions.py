"""Recognise a request to change the version of a language or dependency: "bump requests to 2.32", "drop python 3.9".

This module runs in the hook, where importing ``re`` would take longer than its work.
"""

from __future__ import annotations

from enricher.prompt.wording import actions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LANGUAGES = {
    "go": "go golang", "python": "python python3 cpython py", "node": "node nodejs node.js", "rust": "rust rustc msrv",
    "java": "java jdk jre openjdk eclipse-temurin temurin", "ruby": "ruby", "php": "php", "dotnet": "dotnet .net",
    "elixir": "elixir", "kotlin": "kotlin", "scala": "scala", "swift": "swift", "dart": "dart", "cmake": "cmake",
}  # fmt: skip
"""Names of languages and build programs in files and prompts."""
KEYS = {"cmake_minimum_required": "cmake", "rust-version": "rust", "requires-python": "python",
        "python_requires": "python"}  # fmt: skip
"""Names of settings for the oldest supported version of a language."""
_LANGUAGE_OF = {word: language for language, words in LANGUAGES.items() for word in words.split()}
BUMPING = ("bump", "upgrade", "update", "downgrade", "pin")
_CHANGING = frozenset(
    (*BUMPING, "raise", "lift", "increase", "lower", "move", "switch", "migrate", "go", "require", "lock")
)
_DROPPING = frozenset("drop remove kill retire deprecate ditch stop rid".split())
_TAKING = frozenset("take want wants adopt allow".split())
_LEAST = ("minimum", "minimal", "min", "least", "mindest", "minim", "mínim", "минимал", "минимум")
"""Beginnings of words that say that a version is the lowest one."""
_WHICH = frozenset("which what what's whats welche welches quelle quel qué que qual quale какая какую какой".split())
_OWN = frozenset("our the minimum min current".split())
_SUPPORTING = (
    "support", "requir", "need", "target", "oldest", "lowest", "unterstütz", "brauch", "ältest", "soport", "admit",
    "suport", "exig", "richied", "поддерж", *_LEAST,
)  # fmt: skip
"""Beginnings of words by which a question for a version asks for what the project supports."""
_BETWEEN = frozenset(
    "the our required supported support version versions minimum min minimal dependency of for on from to ci all lowest"
    " oldest a new is at least required now supporting testing in".split()
)
_BEFORE_VERSION = frozenset(
    """
    to from at version versions as the is -> → >= => = > ≥ and or auf à a para pour su до на la versión versão
    versione die der support dependency minimum requirement wrapper toolchain in ci
    """.split()
)
_BEHIND = frozenset(
    """
    in from to on at and or for everywhere please pls now then here too also with without because since instead is
    as support only when if of which that again first so but by the this there where still wherever anymore across
    it raus rausnehmen rauswerfen an anheben hoch setzen heben bitte überall im aus der dem den fallen lassen en
    dans partout du de no na em nos por todas todo toda ovunque везде в из для
    """.split()
)
"""Words that may follow the version; before any other, as in "5 seconds", it is no version."""
_FOREIGN_CHANGING = tuple(
    """
    hoch aktualisier actualiz actualis atualiz aggiorn обнов mets heb anheb erhöh setz passe passer sube subir suba
    eleva relev augment porta alza подним повыс
    """.split()
)
_FOREIGN_DROPPING = tuple(
    """
    raus entfern schmeiß schmeiss wirf abandonn retire supprim enlèv elimin quita quitar remover rimuov togli убери
    убрать удали выкин streich
    """.split()
)
_WIDE_CHANGING = ("升级", "升到", "更新", "提高", "に上げ", "アップデート", "引き上げ", "にして", "最低", "最小")
_WIDE_DROPPING = ("去掉", "移除", "删除", "放弃", "不再支持", "削除", "外して", "切って", "やめ", "落として")
_FIRST_WIDE = "\u3000"
"""Chinese and Japanese characters are above it."""
MOST_BETWEEN, NEAR = 5, 3
CHANGED, TAKEN, DROPPED, ADDED, LOWERED, LEAST = "changed", "taken", "dropped", "added", "lowered", "least"


class AskedVersion:
    """A language or dependency whose version shall change, to or from ``version`` (empty if none is named)."""

    __slots__ = ("how", "name", "version")

    def __init__(self, name: str, version: str, how: str) -> None:
        self.name, self.version, self.how = name, version, how


def language_of(word: str) -> str:
    """Return the language that a word names, such as "go" for "golang"; empty if it names none."""
    return _LANGUAGE_OF.get(word.lower().replace("_", "-"), "")


def is_language(name: str) -> bool:
    """Return whether a name in ``AskedVersion`` is that of a language or build program."""
    return name in LANGUAGES


def plain_name(name: str) -> str:
    """Return the name of a dependency as it is compared: in small letters, with hyphens."""
    return name.lower().replace("_", "-")


def plain_version(version: str) -> str:
    """Return a version without what precedes its first digit, as in "v1.2" and ">=1.2"."""
    return version.lower().lstrip("v^~=<>! ").rstrip("+")


def asked_version(prompt: str, known: Callable[[list[str]], set[str]]) -> AskedVersion | None:
    """Return the first change of a version that a prompt asks for; ``known`` returns which of some words are names."""
    for clause in actions.clauses(actions.lowered(prompt)):
        words = _words(clause)
        may_be = (bool(words) and words[0] in BUMPING) or any(map(str.isdigit, clause))
        if not may_be or len(words) > actions.LONGEST_CLAUSE:
            continue
        latin = words if clause.isascii() else _words("".join(one if one < _FIRST_WIDE else " " for one in clause))
        names = known([language_of(word) or plain_name(word) for word in latin if not is_version(word)])
        for at, word in enumerate(latin):
            if (name := language_of(word) or plain_name(word)) in names and (found := _asked(clause, latin, at, name)):
                return found
    return None


def language_asked_for(prompt: str) -> str:
    """Return the language whose oldest supported version a prompt asks for; empty if it asks for none.

    Examples are "which php do we still have to support?" and "what is our minimum node version"; in short, "go
    version?", "with our msrv", and "lower cmake_minimum_required".
    """
    for clause in actions.clauses(actions.lowered(prompt)):
        words = _words(clause)
        if language := _language_in_short(words):
            return language
        start = next((at for at, word in enumerate(words) if word in _WHICH), -1)
        near = words[start + 1 : start + MOST_BETWEEN + 1] if start >= 0 else []
        at = next((number for number, word in enumerate(near) if language_of(word.partition("-")[0])), -1)
        is_of_another = near[at + 1 : at + 2] in (["of"], ["in"], ["from"])  # "which node of the tree"
        if at >= 0 and not is_of_another and any(word.startswith(_SUPPORTING) for word in words[start + 1 :]):
            return language_of(near[at].partition("-")[0])
    return ""


def _language_in_short(words: list[str]) -> str:
    if any(word[:1].isdigit() for word in words):  # the version that shall be
        return ""
    bare = [word for word in words if word not in _OWN]
    if len(bare) == 2 and bare[1] == "version":
        return language_of(bare[0])
    if key := next((word for word in words if word in KEYS), ""):
        return KEYS[key]
    is_own = "msrv" in words[1:] and words[words.index("msrv") - 1] in _OWN and words[0] not in _CHANGING
    return language_of("msrv") if is_own else ""


def _words(clause: str) -> list[str]:
    # "requests@2.32", "requests==2.32", "go1.22", "java-17": a name and a version
    apart = " ".join(
        word[:1] + word[1:].replace("@", " ").replace("==", " ").replace(">=", " ") for word in clause.split()
    )
    words = [word.strip(".,;:!?\"'`()[]") for word in apart.split()]  # not "@": a name may begin with it
    found = []
    for word in words:
        head = word.rstrip("0123456789.x")
        if head != word and language_of(head.rstrip("-")) and word not in _LANGUAGE_OF:
            found += [head.rstrip("-"), word[len(head) :]]
        elif word:
            found.append(word)
    return found


def _asked(clause: str, words: list[str], at: int, name: str) -> AskedVersion | None:
    """Return the change that a clause asks for whose word ``at`` is the name; None if it asks for none."""
    version, end = _version_behind(words, at, name)
    if version and not _may_follow("".join(words[end : end + 1])) and clause.isascii():
        return None
    before = words[:at]
    if not before and _is_pair(words, version):
        return AskedVersion(name, version, CHANGED)  # "NAME to 1.2", "NAME 1.1 -> 1.2"
    if actions.NEGATIONS.intersection(before):
        return None
    verb = _verb_before(before)
    if verb in _CHANGING and (version or (verb in BUMPING and verb != "update" and _ends(words, at))):
        return AskedVersion(name, version, LOWERED if verb in ("lower", "downgrade") else CHANGED)
    if not version:
        return None
    if verb in _DROPPING:
        return AskedVersion(name, version, DROPPED)
    if (verb == "add" and ("support" in before or is_language(name))) or verb == "support":
        return AskedVersion(name, version, ADDED)
    if before and before[-1] in _TAKING:
        return AskedVersion(name, version, TAKEN)
    if any(word.startswith(_LEAST) for word in words[max(0, at - NEAR) : end + NEAR + 1]):
        return AskedVersion(name, version, LEAST)
    return _foreign(clause, words, name, version)


def _is_pair(words: list[str], version: str) -> bool:
    """Return whether a clause is only a name with its next version: "xyz to 1.2", "xyz 1.1 -> 1.2"."""
    return (words[1:] == ["to", version] and "." in version) or words[2:] in (["->", version], ["→", version])


def _may_follow(word: str) -> bool:
    return not word or word in _BEHIND or word.startswith((*_FOREIGN_CHANGING, *_FOREIGN_DROPPING))


def _verb_before(before: list[str]) -> str:
    """Return the word that begins a request for another version, as in "drop support for" and "is it safe to bump"."""
    at = len(before) - 1
    while at > 0 and before[at] in _BETWEEN and (before[at] != "support" or "for" in before[at:]):
        at -= 1
    is_order = at == 0 or (at > 0 and (before[at - 1] == "to" or before[at - 1 : at + 1] == ["get", "rid"]))
    return before[at] if is_order and len(before) - at <= MOST_BETWEEN else ""


def _ends(words: list[str], at: int) -> bool:
    return at + 1 == len(words) or words[at + 1] in _BEHIND


def _version_behind(words: list[str], at: int, name: str) -> tuple[str, int]:
    """Return the version that follows the name at ``at``, the newer of two, and the index behind it; else ("", 0)."""
    found, end = "", 0
    for number in range(at + 1, min(at + 1 + MOST_BETWEEN + 1, len(words))):
        if is_version(words[number]):
            found, end = plain_version(words[number]), number + 1
        elif words[number] not in _BEFORE_VERSION and language_of(words[number]) != name:
            break
    return found, end


def is_version(word: str) -> bool:
    """Return whether a word is a version: "1.85", "v2", ">=3.9", "latest"."""
    plain = plain_version(word)
    return word in ("latest", "newest") or (
        plain[:1].isdigit() and all(one.isalnum() or one in ".-*+" for one in plain)
    )


def _foreign(clause: str, words: list[str], name: str, version: str) -> AskedVersion | None:
    if clause.isascii() and actions.ENGLISH_WORDS.intersection(words):
        return None
    if any(word.startswith(_FOREIGN_DROPPING) for word in words) or any(verb in clause for verb in _WIDE_DROPPING):
        return AskedVersion(name, version, DROPPED)
    if any(word.startswith(_FOREIGN_CHANGING) for word in words) or any(verb in clause for verb in _WIDE_CHANGING):
        return AskedVersion(name, version, CHANGED)
    return None
