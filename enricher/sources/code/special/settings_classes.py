"""Find the field of a class of settings in Python, the environment variable that sets it, and where it is read.

Runs in the hook, but is imported only for a name in lower case that the index does not define.
"""

from __future__ import annotations

from enricher.sources.code import SOURCE
from enricher.sources.code.facts import (
    DEFINITION,
    MOST_ASKED,
    MOST_SHOWN,
    NAMED_IN_PROMPT,
    ONLY,
    Fact,
    as_list,
    counted,
    in_order,
)
from enricher.sources.code.lines import defines
from enricher.sources.code.lookup import MOST_CANDIDATES, SourceLine
from enricher.sources.code.nesting import enclosing, end_of_class
from enricher.sources.code.special.setting_reads import reading_lines
from enricher.sources.code.special.settings import default_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

MOST_WITHOUT_IT = 2
"""Maximum files with the name of a field that do not read it; where there are more, it is a common parameter."""
KINDS = ("Settings", "Config", "Options")
"""Words in the first line of a class, one of which shows that its fields are settings."""
RENAMING = ("alias", "env=", "case_sensitive", "customise_sources", "env_prefix")
"""What may give the variables of a class of pydantic other names than those of the fields in capitals."""


def place_of_settings_field(lookup: Lookup, name: str, *, is_asked: bool) -> Fact | None:
    """Return a fact about the only field called ``name`` of a class of settings; None if there is not just one."""
    files = [path for path, kind in lookup.holding(name) if kind == SOURCE and path.endswith(".py")]
    found = [
        (place, head)
        for path in (files if len(files) <= MOST_CANDIDATES else ())
        for number, text in lookup.occurrences(path, name) if text.strip().startswith(name) and defines(text, name)
        for place in [SourceLine(path, number, SOURCE, text)]
        if (head := enclosing(lookup, place).strip()).startswith("class ") and any(kind in head for kind in KINDS)
    ]  # fmt: skip
    if len(found) != 1:
        return None
    place, head = found[0]
    readers = reading_lines(lookup, name, place)
    others = {one.path for one in readers} - {place.path}
    if "Tuple" in head and not is_asked and len({*files} - others - {place.path}) > MOST_WITHOUT_IT:
        return None
    listed = as_list(in_order(readers, place), most=MOST_ASKED if is_asked else MOST_SHOWN) if readers else ""
    read = f"; read in {listed}" if readers else ""
    if len(others) > MOST_SHOWN or (len(others) > 1 and listed.endswith("…")):
        read = f"; read in {counted(len(others))}{f': {listed}' if is_asked else ''}"
    reason = f"defined here{default_of(lookup, place, name)}{_set_by(lookup, place, head, name)}{read}"
    is_told = lookup.gives_place(place.path) and not others
    fact = Fact(DEFINITION, place.path, place.line, name, reason, ONLY, fault=NAMED_IN_PROMPT if is_told else "")
    fact.users = [one.path for one in readers]
    return fact


def _set_by(lookup: Lookup, place: SourceLine, head: str, name: str) -> str:
    """Return which environment variable sets the field of a class of pydantic; empty unless that is certain."""
    lines = lookup.text(place.path).split("\n")
    first = next(number for number in range(place.line, 0, -1) if lines[number - 1].strip() == head)
    body = "\n".join(lines[first : end_of_class(lookup, SourceLine(place.path, first, SOURCE, head))])
    before, found, behind = body.partition("env_prefix")
    value = behind.lstrip(" =")
    prefix = value[1:].partition(value[0])[0] if found and value[:1] in ('"', "'") else ""
    rest = before + value[len(prefix) :]
    is_certain = head.endswith("(BaseSettings):") and bool(prefix) == bool(found)
    if not is_certain or any(word in rest for word in RENAMING):
        return ""
    return f"; set by {prefix.upper()}{name.upper()}"
