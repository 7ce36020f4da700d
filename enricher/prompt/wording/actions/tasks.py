"""Recognise which of the project's own tasks a prompt asks for, by the words of its name: "bump the ui version".

The tasks are targets of task files, scripts in manifests and files in a folder for scripts, except those for one of the
usual actions. This module runs in the hook, so it uses no regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording.actions import NEGATIONS, bare, clauses, lowered

MOST_WORDS = 14
"""Maximum words of a prompt; a longer one is about more than a task."""
MOST_BESIDE = 3
"""Maximum further words in a request with a one-word name, such as "parser" in "regenerate the promql parser"."""
_MAKING = frozenset("regenerate regen generate rebuild recompile refresh".split())
_ORDERING = _MAKING | frozenset(
    "run rerun execute start update upgrade bump build compile sync check install make do".split()
)
_FOREIGN_ORDERING = (
    *("ausführ", "führ", "aktualisier", "generier", "regenerier", "exécut", "régénèr", "génèr", "ejecut", "actualiz"),
    *("atualiz", "esegu", "aggiorn", "запусти", "обнови", "сгенерируй", "прогони"),
)
_FOREIGN_WORDS = frozenset("lass starte lance corre genera regenera rode roda gera".split())  # "correct", "general"
_SAME = {
    "dependencies": "deps", "dependency": "deps", "dep": "deps", "documentation": "docs", "doc": "docs",
    "upgrade": "update", "bump": "update", "linter": "lint", "formatter": "format", "generate": "gen",
    "regenerate": "gen", "regen": "gen", "generated": "gen", "tests": "test",
}  # fmt: skip
_EMPTY = frozenset("all the a go sh py js".split())
_NEW = frozenset("a an new another".split())


def asked_tasks(prompt: str, tasks: list[str]) -> list[str]:
    """Return those of ``tasks`` that the prompt requests by their names; a task is given as the words of its name.

    A name of one word counts only in a request to generate it. If several match, those with the most words are
    returned.
    """
    low = lowered(prompt)
    all_clauses = clauses(low)
    words = [bare(word) for word in low.replace("-", " ").split()]
    firsts = {bare(clause.split()[0]) for clause in all_clauses if clause.split()}
    is_foreign = any(word in _FOREIGN_WORDS or word.startswith(_FOREIGN_ORDERING) for word in words)
    is_ordered = is_foreign or not _ORDERING.isdisjoint(firsts)
    if len(words) > MOST_WORDS or not is_ordered or NEGATIONS.intersection(words):
        return []
    told = {_SAME.get(word, word) for word in words}
    beside = max((len(clause.split()) for clause in all_clauses), default=0) - 2
    may_be_short = bool(firsts & _MAKING) and beside <= MOST_BESIDE and _NEW.isdisjoint(words)
    found: dict[str, int] = {}
    for task in tasks:
        name = {_SAME.get(word, word) for word in task.split()} - _EMPTY
        if name <= told and (len(name) > 1 or (name and may_be_short)):
            found[task] = len(name)
    most = max(found.values(), default=0)
    return [task for task, count in found.items() if count == most]
