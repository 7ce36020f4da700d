"""Find where a project declares a dependency that an error misses or the prompt asks about, and what imports it.

Runs in the hook, but is imported only for such an error ("No module named 'lantern'") or question ("do we still need
lantern?").
"""

from __future__ import annotations

from enricher.prompt.wording.words import STOP_WORDS
from enricher.sources.code import SOURCE
from enricher.sources.code.facts import FEW, Fact, as_list, format_place
from enricher.sources.code.lines import is_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

MISSING = ("No module named ", "Cannot find module ", "Cannot find package ", "cannot load such file -- ")
"""Beginnings of the messages of Python, Node and Ruby."""
MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "tox.ini", "noxfile.py", "package.json", "Gemfile")
MOST_PLACES, MOST_USERS = 5, 6
SHORTEST = 4
DEPENDENCY = ("dep", "deps", "dependency", "dependencies", "package", "library", "crate", "gem")
"""Words of a question for a dependency."""
_MARKS = "'\"`,[] "


def missing_module(message: str) -> str:
    """Return the name of the package that an error misses, without its modules; empty if it is none of these errors."""
    start = next((start for start in MISSING if start in message), "")
    named = message.partition(start)[2].split() if start else []
    name = named[0].strip("'\"`.,;") if named else ""
    if name.startswith((".", "/")):  # a file of the project
        return ""
    return "/".join(name.split("/")[:2]) if name.startswith("@") else name.replace("/", ".").partition(".")[0]


def place_of_dependency(lookup: Lookup, module: str) -> Fact | None:
    """Return a fact about the lines of the manifests that name a package; None if there are none or too many."""
    found = [
        (path, number, _group(lookup, path, number))
        for path, _kind in lookup.holding(module) if _is_manifest(path)
        for number, line in lookup.occurrences(path, module) if _is_declared(line, module)
    ]  # fmt: skip
    if not 0 < len(found) <= MOST_PLACES:
        return None
    (path, line, group), *others = found
    told = "".join(f", {format_place(*other[:2])}{_in(other[2])}" for other in others)
    return Fact("dependency", path, line, module, f"the dependency is declared here{_in(group)}{told}", FEW)


def users_of_dependency(lookup: Lookup, said: str) -> Fact | None:
    """Return a fact about what imports the only dependency that a question names, and where it is declared."""
    words = [word.strip(_MARKS + ".?!:;()").lower() for word in said.split()]
    if not any(word in DEPENDENCY for word in words):
        return None
    names = [word for word in words if len(word) >= SHORTEST and word not in STOP_WORDS and word not in DEPENDENCY]
    declared = [(name, fact) for name in names if (fact := place_of_dependency(lookup, name))]
    for name, fact in declared:
        files = [path for path, kind in lookup.holding(name) if kind == SOURCE and not _is_manifest(path)]
        users = [
            (path, number)
            for path in (files if len(files) <= MOST_USERS else ())
            for number, line in lookup.occurrences(path, name)[:1] if is_import(line) or path.endswith(".rs")
        ]  # fmt: skip
        if users:
            declaration = format_place(fact.path, fact.line)
            told = as_list([format_place(*one) for one in users[1:]])
            also = f" and in {told}" if told else ", nowhere else"
            fact = Fact("dependency", *users[0], name, f"imported here{also}; declared in {declaration}", FEW)  # noqa: PLW2901
            fact.users = [path for path, _number in users]
            return fact
    return None


def _is_manifest(path: str) -> bool:
    name = path.rpartition("/")[2]
    if "lock" in name:
        return False
    return name in MANIFESTS or name.endswith((".gemspec", "requirements.txt")) or name.startswith("requirements")


def _is_declared(line: str, module: str) -> bool:
    return line.strip(" \t'\"`-").startswith(module) or f'"{module}' in line or f"'{module}" in line


def _group(lookup: Lookup, path: str, number: int) -> str:
    """Return the name of the list or section around a line of a manifest: "dev" for the items of ``dev = [``."""
    for line in reversed(lookup.text(path).split("\n")[: number - 1]):
        head = line.strip()
        if head.endswith(("= [", ": [", ": {")) or (head.startswith("[") and head.endswith("]")):
            return head.rstrip("=:{[ ").strip(_MARKS)
    return ""


def _in(group: str) -> str:
    return f" (in {group})" if group else ""
