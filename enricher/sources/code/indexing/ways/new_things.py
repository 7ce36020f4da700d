"""Find the sentences of a project's documents and settings that say what to do for a new thing: "Adding an exporter".

Besides the documents on how to contribute, these are the other documents and the prompts in settings of tools
for agents. Does not run in the hook.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enricher.prompt.text import singular
from enricher.sources.code import NEW
from enricher.sources.code.indexing.conventions import CONCRETE, DEEPEST, NO_DOCUMENT, PATH, Convention, is_document
from enricher.sources.code.indexing.documents import units

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

STEPS, RULE = 9.0, 8.0
"""Scores of instructions for adding a thing: of a section about it, and of a single sentence."""
_I = re.IGNORECASE
_GUIDE = re.compile(r"^(?:docs?/.+|(?:.{0,60}/)?(?:ARCHITECTURE|DESIGN|EXTENDING)[\w.-]*)\.(?:md|markdown|rst)$", _I)
"""A document that says among other things what belongs together in the code."""
_SETTINGS = re.compile(r"^\.?[\w-]+\.(?:toml|ya?ml)$")
_PROMPT_NAME = r"[\w-]*(?:prompt|instructions?|guidelines?|conventions|rules)"
_PROMPTS = (
    re.compile(rf"^{_PROMPT_NAME}[ \t]*=[ \t]*('''|\"\"\")(?P<text>.*?)\1", _I | re.MULTILINE | re.DOTALL),
    re.compile(
        rf"^(?P<in>[ ]*)(?:- )?{_PROMPT_NAME}:[ ]*[|>][+-]?\n(?P<text>(?:(?P=in)[ ]+\S.*\n|[ ]*\n)+)", _I | re.MULTILINE
    ),
)
"""Texts for agents in TOML and YAML."""
_ADDED = (
    r"(?:an?|another|(?:your|our) own|new|custom)(?: new| custom| own)* (?P<thing>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)"
)
_ADDING = "(?:add|creat|writ|implement|introduc|register|defin)(?:e|ing)?"
_HEADING = re.compile(
    rf"^\W*(?:[\d.]+ )?(?:how to |steps (?:to|for) |checklist for )?{_ADDING}"
    rf" (?:{_ADDED}|(?P<things>[a-z][\w-]*(?: [a-z][\w-]*)?(?<!s)s(?<!ches|shes|sses)(?<!xes|ies)))"
    r"(?: (?:to|in|for) .{1,40}| ?\(.{1,60}\))?[:?]?$",
    _I,
)
_RULE = re.compile(
    rf"^(?:(?:when(?:ever)?|if|to|before|after) (?:you |we )?(?:{_ADDING}|mak(?:e|ing)(?= an? new )) {_ADDED}"
    r"(?:,| to | in | you | please )"
    r"|(?:every|each|any) new (?P<each>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)"
    r" (?:must|needs?|should|has to|is|are|gets?|goes)\b)",
    _I,
)
_ROMANCE_VERB = r"(?:ajout|cré|écri|implément|añad|agreg|crea|escri|implement|adicion|cri|escrev)\w*"
_ROMANCE_THING = r"(?:une?|uma?|una)(?: (?:nou|nuev|nov)\w+)? (?P<thing>[^\W\d_][\w-]*)"
_GERMAN_THING = r"(?:ein(?:e|en|em)?)(?: (?:neue|weitere|eigene)\w*)? (?P<thing>[^\W\d_][\w-]*)"
_FOREIGN_HEADINGS = (
    re.compile(rf"^\W*(?:[\d.]+ )?{_ROMANCE_VERB} {_ROMANCE_THING}$", _I),
    re.compile(rf"^\W*(?:[\d.]+ )?{_GERMAN_THING} (?:hinzufügen|anlegen|erstellen|schreiben|ergänzen)$", _I),
)
_FOREIGN_RULES = (
    re.compile(
        r"^(?:pour|quand|lorsque|si|para|cuando|al|quando|se|ao) (?:(?:tu|vous|on|nous|você|se) )?"
        rf"{_ROMANCE_VERB} {_ROMANCE_THING}(?:,| \w+,)",
        _I,
    ),
    re.compile(
        rf"^(?:wenn (?:du|ihr|wir|sie|man)|wer|um) {_GERMAN_THING}"
        r" (?:hinzu(?:zu)?f\w+|an(?:zu)?leg\w+|(?:zu )?(?:erstell|schreib|ergänz)\w+),",
        _I,
    ),
)
_NOT_ADDED = frozenset(
    "account branch bug call change changelog changeset clone code comment commit content contributor copy decision"
    " dependency description directory doc docstring document edit entry environment feature file fix folder fork"
    " function functionality issue key line mistake one patch plan pr project release repo repository request setting"
    " tag test ticket token user venv version virtualenv".split()
) | {
    "bug report", "commit message", "feature branch", "merge request", "pull request", "test case", "test file",
    "unit test", "virtual environment",
}  # fmt: skip
"""Things that the documents of any project tell people to create, and things that have an action of their own."""
_NAMED_FILE = re.compile(r"[\w.-]*[\w-]\.[a-z]\w{0,4}\b|[\w-]+(?=/)", _I)


def may_explain(path: str) -> bool:
    """Return whether a file besides those for contributors may say what to do for a new thing, judged by its path."""
    if path.count("/") > DEEPEST or is_document(path):
        return False
    return bool(_SETTINGS.match(path)) or (bool(_GUIDE.match(path)) and not NO_DOCUMENT.search(path))


def prose(path: str, text: str) -> str:
    """Return the text of a document, or that of the prompts in a file of settings; each line keeps its number."""
    if not _SETTINGS.match(path):
        return text
    kept = [""] * (text.count("\n") + 1)
    for pattern in _PROMPTS:
        for found in pattern.finditer(text):
            lines = found["text"].split("\n")
            first = next((line for line in lines if line.strip()), "")
            depth, number = len(first) - len(first.lstrip()), text.count("\n", 0, found.start("text"))
            kept[number : number + len(lines)] = [line[depth:] if not line[:depth].strip() else line for line in lines]
    return "\n".join(kept)


def additions(path: str, text: str, present: Container[str]) -> list[Convention]:
    """Return the first steps for each thing that a file explains how to add, as in "## Adding an exporter".

    The result's ``action`` is "new " and the thing, such as "new exporter". ``present`` are the names of the project's
    files and folders: what is not a document for contributors counts only where it names one of them.
    """
    is_readme = path.rpartition("/")[2].lower().startswith("readme")
    is_for_contributors = is_document(path)
    found: dict[str, Convention] = {}
    for unit in units(text):
        heading = _first((_HEADING, *_FOREIGN_HEADINGS), unit.headings[0]) if unit.headings else None
        named = heading or (None if is_readme else _first((_RULE, *_FOREIGN_RULES), unit.text))
        if not named or not (PATH if is_readme else CONCRETE).search(unit.text):
            continue
        if not is_for_contributors and not any(name in present for name in _NAMED_FILE.findall(unit.text)):
            continue
        parts = named.groupdict()
        words = parts["thing"] or parts.get("things") or parts.get("each") or ""
        thing = " ".join(singular(word.lower()) for word in words.split())
        if thing not in _NOT_ADDED:
            score = STEPS if heading else RULE
            found.setdefault(thing, Convention(NEW + thing, unit.text, unit.line, score))
    return list(found.values())


def _first(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


def names(paths: Iterable[str]) -> set[str]:
    """Return the names of all files and folders in ``paths``."""
    return {name for path in paths for name in path.split("/")}
