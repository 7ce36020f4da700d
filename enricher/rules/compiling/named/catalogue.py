"""Read the guardrail catalogue (ids, titles, statements) and the table of its short names.

Both common heading formats can be read: ``## H5: Title`` (with sub-rules such as
``### H2a: Title``) and ``## Title (P#58)``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.rules.compiling.document import Problem

if TYPE_CHECKING:
    from enricher.rules.compiling.named.files import Files

NUMBER_FIRST = re.compile(r"^#{2,3}\s+(H\d+[a-z]?):\s+(\S.*?)\s*$")
NUMBER_LAST = re.compile(r"^#{2,3}\s+(\S.*?)\s+\((P#\d+[a-z]?)\)\s*$")
COLUMNS = ("slug", "guardrail", "task types", "aliases")


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A guardrail: its id, the title that the agent is shown, its statement, its file and line."""

    id: str
    title: str
    statement: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Shorthand:
    """A row of the table of short names: a slug, the guardrail it stands for, the task types that trigger it."""

    slug: str
    guardrail: str
    task_types: tuple[str, ...]
    aliases: tuple[str, ...]
    file: str
    line: int


def read_catalogue(file: str, problems: list[Problem], files: Files, *, named_at: str = "") -> dict[str, Guardrail]:
    """Return the guardrails of a catalogue file by id, in file order; add a problem for each duplicate id."""
    found: dict[str, Guardrail] = {}
    known = len(problems)
    lines = files.read(file, problems, "the guardrail catalogue", named_at=named_at).splitlines()
    for at, line in enumerate(lines):
        if (heading := _heading(line)) is None:
            continue
        identity, title = heading
        if identity in found:
            first = found[identity].line
            problems.append(Problem(file, at + 1, "error", f"{identity} occurs twice; the first is on line {first}"))
            continue
        found[identity] = Guardrail(identity, title, _statement(lines[at + 1 :]), file, at + 1)
    if not found and len(problems) == known:
        problems.append(
            Problem(file, 1, "error", "no guardrail found; headings read '## H5: Title' or '## Title (P#5)'")
        )
    return found


def _heading(line: str) -> tuple[str, str] | None:
    if match := NUMBER_FIRST.match(line):
        return match[1], match[2]
    if match := NUMBER_LAST.match(line):
        return match[2], match[1]
    return None


def _statement(below: list[str]) -> str:
    for line in below:
        if line.startswith("#"):
            break
        if line.startswith("**Statement**:"):
            return line.partition(":")[2].strip()
    return ""


def read_shorthands(file: str, problems: list[Problem], files: Files, *, named_at: str = "") -> list[Shorthand]:
    """Return the rows of the table ``slug | guardrail | task types | aliases``."""
    found: list[Shorthand] = []
    columns: list[str] = []
    names: dict[str, int] = {}
    text = files.read(file, problems, "the guardrail table", named_at=named_at)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = [cell.lower() for cell in cells]
        elif "guardrail" in columns and set(cells[0]) - set("-: "):
            row = dict(zip(columns, cells, strict=False))
            shorthand = Shorthand(
                slug=row.get("slug", ""),
                guardrail=row.get("guardrail", ""),
                task_types=_words(row.get("task types", "")),
                aliases=_words(row.get("aliases", "")),
                file=file,
                line=number,
            )
            _refuse_second(shorthand, names, problems)
            found.append(shorthand)
    if text and not found:
        problems.append(Problem(file, 1, "warning", f"no row found; the columns are {' | '.join(COLUMNS)}"))
    return found


def _refuse_second(shorthand: Shorthand, names: dict[str, int], problems: list[Problem]) -> None:
    for name in (shorthand.slug, *shorthand.aliases):
        if name in names:
            message = f"'{name}' occurs twice; the first is on line {names[name]}"
            problems.append(Problem(shorthand.file, shorthand.line, "error", message))
        names.setdefault(name, shorthand.line)


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.strip("`") for word in cell.replace(",", " ").split() if word.strip("`-"))
