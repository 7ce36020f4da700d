"""Read the catalogues of guardrails (principles of which the agent is reminded), and link each to its triggers.

Both common formats of headings can be read: ``## H5: Title`` (with sub-rules such as ``### H2a: Title``) and
``## Title (P#58)``.

A guardrail is defined by a heading of a catalogue, or by a rule that has a title. If several define the same id, a rule
wins over catalogues, and a higher layer over a lower one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from enricher.prompt.text import harmless
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named_files import named_file
from enricher.rules.compiling.schema import LONGEST_TEXT, LONGEST_TITLE
from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.named_files import Files

    Row = tuple[str, str, list[str], bool, int]

ID = re.compile(r"[A-Za-z][\w.#-]*")  # such as H5, H2a or P#58
GUARDRAILS, NAMES = "guardrails", "names"
DEFAULT_FILES = {GUARDRAILS: "HEURISTICS.md", NAMES: "guardrails.md"}
"""Names of the catalogue files for an instructions file that replaces all layers and names no catalogue itself."""
IN_BRACKETS = str.maketrans("()", "[]")  # the answer puts the title itself in parentheses

NUMBER_FIRST = re.compile(r"^#{2,3}\s+(H\d+[a-z]?):\s+(\S.*?)\s*$")  # ## H5: Title
NUMBER_LAST = re.compile(r"^#{2,3}\s+(\S.*?)\s+\((P#\d+[a-z]?)\)\s*$")  # ## Title (P#58)
COLUMNS = ("slug", "guardrail", "task types", "aliases")


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A guardrail, a principle of which the agent is reminded by its title; ``file`` and ``line`` define it."""

    id: str
    title: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Shorthand:
    """A row of the table of short names: a slug, the id of its guardrail, the task types that trigger the guardrail.

    ``aliases`` are further short names.
    """

    slug: str
    guardrail: str
    task_types: tuple[str, ...]
    aliases: tuple[str, ...]
    file: str
    line: int


class CatalogueFile(NamedTuple):
    """A file of guardrails or of short names, and the ``file:line`` where a rule names it (empty if none does)."""

    kind: str
    path: str
    named_at: str = ""

    def described(self, what: str) -> str:
        """Return ``what`` with the place where a rule names this file."""
        return f"{what} (named at {self.named_at})" if self.named_at else what


def read_catalogue(file: CatalogueFile, problems: list[Problem], files: Files) -> dict[str, Guardrail]:
    """Return the guardrails of a catalogue file by id, in file order; add to ``problems`` what is wrong in the file."""
    found: dict[str, Guardrail] = {}
    known = len(problems)
    path = file.path
    lines = files.read(path, problems, file.described("the guardrail catalogue")).splitlines()
    for at, line in enumerate(lines):
        if (heading := _heading(line)) is None:
            continue
        identity, title = heading
        if identity in found:
            first = found[identity].line
            problems.append(Problem(path, at + 1, "error", f"{identity} occurs twice; the first is on line {first}"))
            continue
        found[identity] = Guardrail(identity, title, path, at + 1)
    if not found and len(problems) == known:
        problems.append(
            Problem(path, 1, "error", "no guardrail found; headings read '## H5: Title' or '## Title (P#5)'")
        )
    return found


def _heading(line: str) -> tuple[str, str] | None:
    if match := NUMBER_FIRST.match(line):
        return match[1], match[2]
    if match := NUMBER_LAST.match(line):
        return match[2], match[1]
    return None


def read_shorthands(file: CatalogueFile, problems: list[Problem], files: Files) -> list[Shorthand]:
    """Return the rows of the table ``slug | guardrail | task types | aliases``; add errors to ``problems``."""
    found: list[Shorthand] = []
    columns: list[str] = []
    names: dict[str, int] = {}
    text = files.read(file.path, problems, file.described("the guardrail table"))
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = [cell.lower() for cell in cells]
        elif "guardrail" in columns and set(cells[0]) - set("-: "):  # not the line "| --- | --- |" below the heads
            row = dict(zip(columns, cells, strict=False))
            shorthand = Shorthand(
                slug=row.get("slug", ""),
                guardrail=row.get("guardrail", ""),
                task_types=_words(row.get("task types", "")),
                aliases=_words(row.get("aliases", "")),
                file=file.path,
                line=number,
            )
            _refuse_second(shorthand, names, problems)
            found.append(shorthand)
    if text and not found:
        problems.append(Problem(file.path, 1, "warning", f"no row found; the columns are {' | '.join(COLUMNS)}"))
    return found


def _refuse_second(shorthand: Shorthand, names: dict[str, int], problems: list[Problem]) -> None:
    for name in (shorthand.slug, *shorthand.aliases):
        if name in names:
            message = f"'{name}' occurs twice; the first is on line {names[name]}"
            problems.append(Problem(shorthand.file, shorthand.line, "error", message))
        names.setdefault(name, shorthand.line)


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.strip("`") for word in cell.replace(",", " ").split() if word.strip("`-"))


@dataclass(slots=True)
class Guardrails:
    """The guardrails and the rules that trigger them; ``rows`` is their compiled form, which the hook reads.

    ``catalogue`` has all defined guardrails by id; its order decides ties, so the user's own come first. ``ids`` maps
    short names to ids. ``rules`` has the rules by the ids of their guardrails, and ``sentences`` the guardrails'
    sentences about a prompt, by id, as (text, condition, maximum per session). ``as_specified`` are the ids of the
    guardrails that are used only in the profile ``as-specified``.
    """

    catalogue: dict[str, Guardrail] = field(default_factory=dict)
    shorthands: list[Shorthand] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    rules: dict[str, RuleBlock] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    sentences: dict[str, list[Any]] = field(default_factory=dict)
    asking_for_run: list[str] = field(default_factory=list)
    as_specified: list[str] = field(default_factory=list)

    def id_of(self, name: str) -> str:
        """Return the id of the guardrail with the short name ``name``; an id is returned unchanged."""
        return self.ids.get(name, name)

    def takes_signals_of(self, name: str) -> bool:
        """Return whether the signals of the rule ``name`` trigger its guardrail.

        They do not if the guardrail is unknown, or if another rule for the same guardrail is used.
        """
        rule = self.rules.get(self.id_of(name))
        return rule is not None and rule.name == name

    def task_types(self, identity: str) -> set[str]:
        """Return the task types that trigger the guardrail with this id."""
        named = {kind for row in self.shorthands if row.guardrail == identity for kind in row.task_types}
        rule = self.rules.get(identity)
        own = rule.data.get("task_types") if rule else None
        if rule is None or own is None:
            return named
        return named.union(own) if rule.data.get("extend") else set(own)


def catalogue_files(rule: RuleBlock) -> list[CatalogueFile]:
    """Return the catalogue files that a rule ``## Catalogues`` names."""
    named = [(kind, named_file(rule, kind)) for kind in DEFAULT_FILES if rule.data.get(kind)]
    return [CatalogueFile(kind, one.path, f"{one.file}:{one.line}") for kind, one in named]


def files_of_lone(
    file: str, named: Sequence[CatalogueFile], files: Files, problems: list[Problem]
) -> list[CatalogueFile]:
    """Return the catalogues of an instructions file that replaces all layers; ``named`` are those that it names.

    Instead of one that does not exist, as when only the packaged instructions were copied, the packaged one is used.
    """
    folder, ours = os.path.dirname(file), os.path.dirname(packaged_file())
    kinds = {one.kind for one in named}
    default = [
        CatalogueFile(kind, os.path.join(folder, name)) for kind, name in DEFAULT_FILES.items() if kind not in kinds
    ]
    found = []
    for one in (*named, *default):
        name = os.path.relpath(one.path, folder)
        packaged = os.path.join(ours, name)
        if files.has(one.path) or not files.has(packaged):
            found.append(one)
            continue
        found.append(one._replace(path=packaged))
        problems.append(Problem(file, 1, "warning", f"there is no {name} beside this file; the packaged one is used"))
    return found


def link(
    named: Sequence[CatalogueFile],
    rules: Sequence[RuleBlock],
    disabled: Sequence[RuleBlock],
    *,
    layers: Sequence[str],
    files: Files,
    problems: list[Problem],
) -> Guardrails:
    """Return the guardrails of the catalogues ``named``, linked to the rules that trigger them.

    ``layers`` are the paths of the instructions files. Catalogues, rules and layers are given from low to high.
    """
    found = _read(named, files, problems)
    without_id = [rule for rule in rules if rule.data.get("title") and not ID.fullmatch(rule.name)]
    for rule in without_id:
        message = f"'{rule.name}' is not an id; write one word of letters, digits, '-', '_', '.' or '#', such as X1"
        problems.append(Problem(rule.file, rule.line, "error", message))
    rules = [rule for rule in rules if rule not in without_id]
    titled = [(found.id_of(rule.name), rule) for rule in rules if rule.data.get("title")]
    own = {identity: Guardrail(identity, rule.data["title"], rule.file, rule.line) for identity, rule in titled}
    found.catalogue = own | {identity: one for identity, one in found.catalogue.items() if identity not in own}
    for rule in rules:
        _add_rule(rule, found, problems)
    _report_dangling(found, problems)
    silenced = {found.id_of(rule.name) for rule in disabled}
    for one in found.catalogue.values():
        task_types, own_rule = found.task_types(one.id), found.rules.get(one.id)
        if (own_rule or task_types) and one.id not in silenced:
            data = own_rule.data if own_rule else {}
            is_about = own_rule is not None and _is_about(own_rule, one, named, layers)
            threshold = data.get("min_score") if is_about else None
            found.rows.append((one.id, _shown(one, data), sorted(task_types), bool(data.get("always")), threshold or 0))
            if own_rule and is_about:
                _add_sentence(one.id, own_rule, found)
    return found


def _add_sentence(identity: str, rule: RuleBlock, found: Guardrails) -> None:
    data = rule.data
    if data.get("profile"):
        found.as_specified.append(identity)
    elif say := data.get("say"):
        found.sentences[identity] = [" ".join(say.split()), data.get("needs", ""), data.get("times", 1)]
        if data.get("asks_for_run"):
            found.asking_for_run.append(identity)


def _is_about(rule: RuleBlock, one: Guardrail, named: Sequence[CatalogueFile], layers: Sequence[str]) -> bool:
    # In a user's catalogue, an id of the packaged rules may mean a different guardrail, for which the packaged sentence
    # and threshold would be wrong. Only rules in the files that define the guardrail, or complete ones above them,
    # count.
    sources = {one.file, *(each.named_at.rpartition(":")[0] for each in named if each.path == one.file)}
    highest = max((layers.index(file) for file in sources if file in layers), default=len(layers))
    if rule.below is None and rule.file in layers and layers.index(rule.file) > highest:
        return True
    files = {rule.file}
    while rule.below is not None:
        rule = rule.below
        files.add(rule.file)
    return not files.isdisjoint(sources)


def _read(named: Sequence[CatalogueFile], files: Files, problems: list[Problem]) -> Guardrails:
    found = Guardrails()
    for one in reversed(named):  # the highest layer first, whose definitions win
        if one.named_at and not (files.has(one.path) or os.path.lexists(one.path)):
            place, _, line = one.named_at.rpartition(":")
            message = f"the catalogue {one.path} does not exist, so nothing is taken from it; correct the path"
            problems.append(Problem(place, int(line), "error", message))
        elif one.kind == GUARDRAILS:
            catalogue = read_catalogue(one, problems, files)
            found.catalogue |= {identity: row for identity, row in catalogue.items() if identity not in found.catalogue}
        else:
            known = {row.slug for row in found.shorthands}
            rows = [row for row in read_shorthands(one, problems, files) if row.slug not in known]
            found.shorthands += rows
            for row in rows:
                for name in (row.slug, *row.aliases):
                    found.ids.setdefault(name, row.guardrail)
    return found


def _add_rule(rule: RuleBlock, found: Guardrails, problems: list[Problem]) -> None:
    identity = found.id_of(rule.name)
    if identity not in found.catalogue:
        message = f"guardrail '{rule.name}' is in no catalogue; it is left out. Give it a title to define it here"
        problems.append(Problem(rule.file, rule.line, "error", message))
    elif other := found.rules.get(identity):
        message = f"'{rule.name}' and '{other.name}' ({other.file}:{other.line}) are both {identity}; join them"
        problems.append(Problem(rule.file, rule.line, "error", message))
    else:
        found.rules[identity] = rule


def _report_dangling(found: Guardrails, problems: list[Problem]) -> None:
    for row in found.shorthands:
        if row.guardrail not in found.catalogue:
            message = f"'{row.slug}' stands for {row.guardrail}, which is in no catalogue; it is left out"
            problems.append(Problem(row.file, row.line, "error", message))


def _shown(one: Guardrail, data: Mapping[str, str]) -> str:
    text = data.get("text")
    shown = f"{one.title}: {text}" if text else one.title
    return harmless(shown, longest=LONGEST_TITLE + LONGEST_TEXT).translate(IN_BRACKETS)
