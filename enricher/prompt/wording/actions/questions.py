"""Recognise a question for the project's rules on an action, or for what a push or merge starts.

This module runs in the hook, so it uses no regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording.actions import words as tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

TRIGGER = "trigger"
"""The action for a question such as "what happens when I push this"."""
_PERSONS = ("i", "we", "you")
_SENDING = frozenset("push merge pushing merging pushed merged".split())
_STARTED = frozenset("deploy deploys release releases publish publishes deployment ci workflow workflows".split())
_OWN = frozenset(
    "it this that these them everything pr branch my the a our main master to into tag pull request deploy here or /"
    " push merge".split()
)
"""Words that may follow "push" or "merge" where these are meant in the sense of git."""
_SECOND_HALVES = ("message", "messages", "request", "requests", "entry")
_LONGEST_QUESTION = 14


def asked_about(words: list[str], go_on: AbstractSet[str]) -> str:
    """Return the action that a question is about, given its words; empty if none.

    ``go_on`` has the words that may follow the object: "what do I need for a PR here" is about pull requests, "what
    do I need for the PR page" is not.
    """
    if len(words) > _LONGEST_QUESTION:
        return ""
    return TRIGGER if _asks_what_starts(words) else _of_rules(words, go_on)


def _asks_what_starts(words: list[str]) -> bool:
    at = next((number for number, word in enumerate(words) if word in _SENDING), 0)
    if not at or not _OWN.issuperset(words[at + 1 : at + 3]):
        return False
    if words[1:2] in (["happens"], ["runs"], ["starts"]):
        return words[at - 1] in _PERSONS
    return words[0] in ("will", "would", "does", "do") and not _STARTED.isdisjoint(words)


def _of_rules(words: list[str], go_on: AbstractSet[str]) -> str:
    nouns, verbs = tables.RULES.split(), tables.NEEDS.split()
    need = next((at for at, word in enumerate(words) if word in verbs), len(words))
    has_noun = any(word in nouns for word in words) and words[0] != "which"
    for at, word in enumerate(words):
        if word not in tables.RULED or not (has_noun or at > need):
            continue
        behind = next((one for one in words[at + 1 :] if one not in _SECOND_HALVES), "")
        if not behind or behind in go_on or behind in nouns or behind in verbs or behind in ("have", "look", "be"):
            return tables.RULED[word]
    return ""
