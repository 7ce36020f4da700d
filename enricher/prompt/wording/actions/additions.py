"""Detect which thing a prompt asks to add, of those for which the project has instructions: "add a CSV exporter".

This module runs in the hook, where importing ``re`` would take longer than its work.
"""

from __future__ import annotations

from enricher.prompt.text import singular
from enricher.prompt.wording import actions

MAKING = frozenset("add create implement introduce write build make register define".split())
LONGEST_THING = 5
"""Maximum words of the thing that a prompt asks for, including those before the noun: "streaming CSV exporter"."""
_NEW = frozenset("a an another new one two three some more following these".split())
_BEFORE_NEW = _NEW | {"me", "us", "also", "own", "custom", "simple", "our", "the"}
_BEHIND_NEW = frozenset(
    "that which who for to with without in into on onto of from like called named using by as at so when where if"
    " while until because since similar instead here there please now first next again too off based".split()
)
_FOREIGN_MAKING = (
    *("füg", "fueg", "erstell", "schreib", "implementier", "ergänz", "ajout", "crée", "créer", "écri", "implément"),
    *("añad", "agreg", "escrib", "adicion", "escrev", "aggiung", "scriv"),
    *("добав", "созда", "напиш", "реализ"),
)
_FOREIGN_MAKING_WORDS = frozenset("crea cread crie criar implementa".split())  # "creation" begins like "crea"
_WIDE_MAKING = ("添加", "新增", "增加", "实现", "创建", "编写", "追加", "作成", "実装")
_FOREIGN_NEW = (
    *("ein", "neu", "weiter", "un", "une", "nouve", "una", "uno", "nuev", "otr", "um", "uma", "nov", "outr", "nuov"),
    *("нов", "ещё", "еще"),
)
"""Beginnings of the words for "a" and "new", which precede the thing to be made, not the place where it belongs."""
_WIDE_NEW = ("一个", "一個", "一种", "新", "新的", "新しい", *_WIDE_MAKING)


def asked_addition(prompt: str, things: list[str]) -> str:
    """Return the one of ``things`` that the prompt asks the agent to add or create; an empty string if none.

    With the thing "exporter", "add a CSV exporter for totals" asks for it, and "add an exporter argument" does not. The
    things are lower-case singular nouns. If several fit, such as "type" and "task type", the longest is returned.
    """
    longest_first = sorted(things, key=len, reverse=True)
    for clause in actions.clauses(actions.lowered(prompt)):
        made = _made(clause)
        if made:
            found = next((thing for thing in longest_first if f" {made}".endswith(f" {thing}")), "")
            found = found or _in_its_folder(made, prompt, longest_first)
        elif _is_foreign_making(clause):
            found = next((thing for thing in longest_first if _is_object(clause, thing)), "")
        else:
            continue
        if found:
            return found
    return ""


def _in_its_folder(made: str, prompt: str, things: list[str]) -> str:
    """Return the one of ``things`` after which the folder of a new file is named: "a csv one, as exporters/csv.py"."""
    words = prompt[: actions.READ_CHARS].lower().split()
    for before, word in zip(words, words[1:], strict=False):  # noqa: RUF007 (itertools is not loaded here)
        folder, _, name = actions.bare(word).rpartition("/")
        thing = singular(folder.rpartition("/")[2].replace("_", " ").replace("-", " "))
        if before in ("at", "as") and thing in things and name.partition(".")[0] in made.split()[:-1]:
            return thing
    return ""


def _made(clause: str) -> str:
    """Return the thing that an English clause asks to create: "a new CSV exporter for totals" gives "csv exporter"."""
    words = [actions.bare(word) for word in clause.split()]
    if words and words[0] in actions.GOING_ON:
        words = actions.without_going_on(words)
    if not words or words[0] not in MAKING:
        return ""
    at = 1
    while at < len(words) and words[at] in _BEFORE_NEW:
        at += 1
    if not _NEW.intersection(words[1:at]):
        return ""
    made: list[str] = []
    for word in words[at : at + LONGEST_THING + 1]:
        if word in _BEHIND_NEW or not word:
            break
        made.append(word)
    if not made or len(made) > LONGEST_THING:
        return ""
    return " ".join([*made[:-1], singular(made[-1])])


def _is_foreign_making(clause: str) -> bool:
    words = [actions.bare(word) for word in clause.split()]
    if clause.isascii() and actions.ENGLISH_WORDS.intersection(words):
        return False
    if (
        len(words) > actions.LONGEST_CLAUSE
        or actions.NEGATIONS.intersection(words)
        or any(word in clause for word in actions.WIDE_NOT)
    ):
        return False
    return any(map(_is_foreign_verb, words)) or any(verb in clause for verb in _WIDE_MAKING)


def _is_foreign_verb(word: str) -> bool:
    return word.startswith(_FOREIGN_MAKING) or word in _FOREIGN_MAKING_WORDS


def _is_object(clause: str, thing: str) -> bool:
    """Return whether a clause asks to add ``thing``, which follows "a", "new" or the verb: "crea un exporter".

    Chinese and Japanese clauses have no spaces between words; a Japanese object ends in the particle を.
    """
    before, found, behind = clause.partition(thing)
    behind = behind.removeprefix("s")
    if not found or (behind[:1].isascii() and behind[:1].isalnum()):
        return False
    if behind.lstrip().startswith("を") or before.rstrip().endswith(_WIDE_NEW):
        return True
    *_, word = before.split() or [""]
    return before.endswith(" ") and (word.startswith(_FOREIGN_NEW) or _is_foreign_verb(word))
