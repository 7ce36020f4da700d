"""Look up the files that a prompt names: where each is, what uses it, and where it contains the prompt's other names.

Runs in the hook, but is imported only for a prompt that names a file.
"""

from __future__ import annotations

import os

from enricher.prompt.wording import ATTACHED, CODE, FILE, FLAG, IDENTIFIER, TEXT
from enricher.prompt.wording.place_questions import asks_for_users
from enricher.prompt.wording.words import quoted
from enricher.sources.code import CONFIG, EXAMPLE, GENERATED, SOURCE, TEMPLATE, TEST, VENDORED, bare_name
from enricher.sources.code.facts import FEW, MOST_LINES, ONLY, USERS, Fact, also_lines, format_place, only_file
from enricher.sources.code.lines import is_comment, is_import
from enricher.sources.code.lookup import LONG_FILE, SHORTEST_MISSPELLED, is_near
from enricher.sources.code.special.folders import said_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

PACKAGE_FILES = frozenset(("__init__", "index", "mod", "mkdocs"))
"""Names, without extension, of files that only re-export what the modules of a folder define, or list all documents."""
MOST_USERS = 3
MOST_ALIKE = 4
"""Maximum files with one name that are listed; with more, the name identifies none of them."""
MOST_NAMED = 2
"""If a prompt names more files than this, their users (the files that use them) are not shown."""
MOST_HOLDING = 12
"""Maximum files that are read to find the users of a file; with more, its name is too common to identify it."""
INSTALLED = ("vendor/", "node_modules/")
"""Folders of installed packages, which a user of the project may have."""
OF_THE_SYSTEM = ("/etc/", "/proc/", "/sys/", "/dev/", "/run/", "/bin/", "/sbin/", "/var/lib/", "/var/log/")
"""System folders, which contain no projects, so that a path there is not a misspelled path of the project."""
SHORTEST_IN_FOLDER = 4
"""Minimum letters of a misspelled file name that is shorter than SHORTEST_MISSPELLED.

It must be in the folder that the prompt names, with letters swapped, or added or missing: shop/price.py for
shop/prices.py.
"""
_FAMILIES = [
    frozenset(family.split())
    for family in ("js jsx ts tsx mjs cjs mts cts", "md mdx rst txt adoc", "yml yaml", "html htm jinja j2 vue svelte",
                   "css scss sass less", "py pyi", "c cc cpp cxx", "h hh hpp hxx", "html.erb html.haml html.slim")
]  # fmt: skip
"""File extensions that people confuse with each other."""
_COMPILED = (".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".go", ".java", ".kt", ".swift")
COMMON_FILES = frozenset(
    "readme.md index.html index.js index.ts __init__.py main.py main.go main.js app.py app.js package.json setup.py"
    " config.yaml config.yml _config.yml config.json config.py settings.py models.py views.py urls.py utils.py types.ts"
    " conftest.py pyproject.toml tsconfig.json mod.rs lib.rs cargo.toml changelog.md license.md skill.md"
    " claude.md agents.md go.mod go.sum gemfile composer.json pom.xml makefile dockerfile".split()
)
"""Names of files that occur in many folders; if several match, it is unknown which one is meant."""


def place_of_file(lookup: Lookup, name: Name) -> Fact | None:
    """Return where a named file is and what uses it, or that it does not exist; None if there is nothing to add."""
    if os.path.exists(f"{lookup.root}/{name.text}"):
        is_clear = name.kind == FILE and not name.line and ("/" in name.text or len(lookup.named(name.text)) == 1)
        return _with_users_if_wanted(lookup, name, name.text) if is_clear else None
    if name.is_made:
        return None
    named = lookup.named(name.text)
    found = [path for path, kind in named if kind not in (TEST, EXAMPLE, GENERATED, VENDORED)]
    found = found or [path for path, _kind in named][:2]
    if not found:
        # If there are several attachments, the user chose them from a list in the client, which has read the files.
        is_chosen = name.kind == ATTACHED and lookup.attached > 1
        return None if is_chosen else _missing_file(lookup, name.text, may_be_new=name.may_be_new)
    found = _beside_named(lookup, found) or found
    if name.kind == ATTACHED or len(found) > MOST_ALIKE:
        return None
    if len(found) == 1:
        users = None if name.line else _with_users_if_wanted(lookup, name, found[0])
        return users or only_file(found[0], line=name.line, score=ONLY)
    if name.text.lower() in COMMON_FILES or all(kind in (TEST, EXAMPLE, GENERATED, VENDORED) for _path, kind in named):
        return None
    said = said_folders(lookup.said)
    found.sort(key=lambda path: said.isdisjoint(path.lower().split("/")[:-1]))
    reason = f"one of {len(found)} files of that name: {', '.join(quoted(path) for path in found[1:])}"
    fact = Fact(FILE, found[0], name.line, "", reason, FEW)
    fact.others = found[1:]
    return fact


SCRIPTS = (".sh", ".bash", ".zsh", ".ps1", ".bat", ".pl")


def _with_users_if_wanted(lookup: Lookup, name: Name, path: str) -> Fact | None:
    """Return the users of a file, if it is no source file but a script, or the prompt asks for them.

    What uses a source file was edited or read in 4 of 20 cases where the prompt named the file (``python -m
    tests.usefulness``), but a script or template is often edited together with what calls or loads it.
    """
    is_source = any(kind == SOURCE for own, kind in lookup.named(path) if own == path) and not path.endswith(SCRIPTS)
    is_asked = name.is_asked or any(map(asks_for_users, lookup.said))
    return with_users(lookup, path) if is_asked or not is_source else None


def _beside_named(lookup: Lookup, found: list[str]) -> list[str]:
    """Return those of ``found`` (files of one name) that share a folder with a file whose path the prompt states."""
    folders = {named.rpartition("/")[0] for named in lookup.named_paths if os.path.exists(f"{lookup.root}/{named}")}
    return [path for path in found if path.rpartition("/")[0] in folders - {""}]


def only_file_with_users(lookup: Lookup, path: str) -> Fact | None:
    return with_users(lookup, path) or only_file(path)


def with_users(lookup: Lookup, path: str) -> Fact | None:
    """Return a fact that lists the places that mention the file at ``path`` or import it.

    Returns None if there are none or too many, or if they need not be shown.
    """
    if path in lookup.opened or path.lower() in COMMON_FILES or len(lookup.named_paths) > MOST_NAMED:
        return None
    places = _mentions(lookup, path) | _imports(lookup, path)
    if not places:
        return None
    if len(places) > MOST_USERS or all(bare_name(user) in PACKAGE_FILES for user in places):
        return None
    listed = ", ".join(format_place(user, line) for user, line in sorted(places.items()))
    fact = Fact(USERS, path, 0, "", f"used in {listed}", FEW)
    fact.users = list(places)
    return fact


def _mentions(lookup: Lookup, path: str) -> dict[str, int]:
    """Return the files that mention the file at ``path``, each with the number of the first line that does so.

    The last two parts of the path count as a mention; if no file contains these, the file name alone counts.
    """
    name = path.rpartition("/")[2]
    texts = ["/".join(path.split("/")[-2:])] if "/" in path else []
    if name.lower() not in COMMON_FILES:
        texts.append(name)
    for text in texts:
        if found := _lines_with(lookup, path, text, (SOURCE, TEMPLATE, CONFIG)):
            # A script that names a file of a compiled language does not use its code.
            is_compiled = path.endswith(_COMPILED)
            return {user: line for user, line in found.items() if not is_compiled or user.endswith(_COMPILED)}
    return {}


def _imports(lookup: Lookup, path: str) -> dict[str, int]:
    stem = bare_name(path)
    if any(other != path and kind == SOURCE for other, kind in lookup.of_stem(stem)):
        return {}  # an import may refer to another module of this name
    return _lines_with(lookup, path, stem, (SOURCE, TEMPLATE), only_imports=True)


def _lines_with(
    lookup: Lookup, path: str, text: str, kinds: tuple[int, ...], *, only_imports: bool = False
) -> dict[str, int]:
    holding = [(user, kind) for user, kind in lookup.holding(text) if user != path and kind in kinds]
    found: dict[str, int] = {}
    for user, _kind in holding if len(holding) <= MOST_HOLDING else ():
        for number, line in lookup.occurrences(user, text):
            # An address on the web may end like a path of the project.
            is_address = "://" in line.partition(text)[0].rpartition(" ")[2]
            if is_import(line) if only_imports else not (is_comment(line) or is_address):
                found.setdefault(user, number)
    return found


def place_in_named_file(lookup: Lookup, name: Name) -> Fact | None:
    """Return where the only file that the prompt names contains ``name``; None if the prompt names no file or several.

    Also returns None if the file is short, or if it does not contain ``name`` or contains it too often.
    """
    if name.kind not in (IDENTIFIER, TEXT, FLAG, CODE) or not name.is_certain or lookup.placed_paths:
        return None
    if len(lookup.named_paths) > MOST_NAMED:
        return None
    named = [found for given in lookup.named_paths if len(found := lookup.named(given)) == 1]
    paths = list(dict.fromkeys(found[0][0] for found in named))
    if len(paths) != 1 or lookup.text(paths[0]).count("\n") < LONG_FILE:
        return None
    lines = [number for number, _text in lookup.occurrences(paths[0], name.text)]
    if not 0 < len(lines) <= MOST_LINES:
        return None
    kind = "name" if name.kind == IDENTIFIER else name.kind
    return Fact(kind, paths[0], lines[0], name.text, f"here in the file that the prompt names{also_lines(lines)}", FEW)


def _missing_file(lookup: Lookup, path: str, *, may_be_new: bool = False) -> Fact | None:
    """Return the only file that a nonexistent path may refer to, as a correction; None if there is none or several.

    If the prompt may ask to make the file, only a file of the same folder that is spelled almost alike is meant.
    """
    folder, _, name = path.rpartition("/")
    if lookup.has_history(name) or os.path.exists(f"{lookup.root}/{folder}/.{name}"):  # "in mocharc.yml"
        return None
    elsewhere = [own for own, _kind in lookup.named(name)] if folder else []
    is_elsewhere = os.path.exists(path) or any("/" in own and path.endswith(f"/{own}") for own in elsewhere)
    if path.startswith((*OF_THE_SYSTEM, *INSTALLED)) or (path.startswith("/") and is_elsewhere):
        return None  # outside of the project, or in a copy of it on another machine
    for alike in _similar_files(lookup, path, elsewhere, may_be_new=may_be_new):
        beside = [own for own in alike if folder and f"/{own.rpartition('/')[0]}".endswith(f"/{folder}")]
        if candidates := beside or alike:
            nearest = candidates[0]
            if nearest.lower() == path.lower():
                return Fact("missing", nearest, 0, "", f"spelled so, not {path}", FEW)
            if len(candidates) > 1:
                return None
            fact = Fact("missing", path, 0, "", f"does not exist; the nearest is {quoted(nearest)}", FEW)
            fact.others = [nearest]
            return fact
    return None


def _similar_files(lookup: Lookup, path: str, elsewhere: list[str], *, may_be_new: bool) -> tuple[list[str], ...]:
    """Return lists of similar files, from the most to the least similar.

    They have another spelling in the same folder, the same name elsewhere, another extension, or another spelling.
    """
    folder, _, name = path.rpartition("/")
    beside, alike = _other_spellings(lookup, path)
    if may_be_new:
        return (beside,)
    stem, _, ending = name.partition(".")
    same_stem = [own for own, _kind in lookup.of_stem(stem) if _is_of_family(own, ending)] if len(stem) > 3 else []
    same_stem = [own for own in same_stem if own.rpartition("/")[0] == folder] or same_stem
    if name.lower() in COMMON_FILES:  # such a name says nothing without its folder
        last = folder.rpartition("/")[2]
        elsewhere = [own for own in elsewhere if f"/{own}".endswith(f"/{last}/{name}")]
        same_stem, alike = ([own for own in found if own.rpartition("/")[0] == folder] for found in (same_stem, alike))
    return beside, elsewhere, same_stem, alike


def _other_spellings(lookup: Lookup, path: str) -> tuple[list[str], list[str]]:
    """Return the files of that ending that are spelled almost alike: those where either name or folder is, and all."""
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.partition(".")
    like = [own for own in lookup.files_like(stem) if own.endswith(f".{ending}")]
    in_folder = [own for own in like if folder and f"/{own}".rpartition("/")[0].endswith(f"/{folder}")]
    beside = [own for own in in_folder if _is_misspelled(bare_name(own), stem)]
    folders = {own: "/".join(own.split("/")[-folder.count("/") - 2 : -1]) for own, _kind in lookup.named(name)}
    beside += [own for own, last in folders.items() if _is_misspelled(last, folder)]
    alike = [own for own in like if is_near(bare_name(own), stem)] if len(stem) >= SHORTEST_MISSPELLED else []
    return beside, alike


def _is_misspelled(own: str, stem: str) -> bool:
    """Return whether ``stem`` is ``own`` with a slip: a letter or two at one place, but no digit ("page2")."""
    if not is_near(own, stem) or any(map(str.isdigit, set(own) ^ set(stem))):
        return False
    if len(stem) >= SHORTEST_MISSPELLED:
        return True
    is_longer = abs(len(own) - len(stem)) == 1 or own.startswith(stem) or stem.startswith(own)
    return len(stem) >= SHORTEST_IN_FOLDER and (is_longer or sorted(own) == sorted(stem))


def _is_of_family(path: str, ending: str) -> bool:
    other = path.rpartition("/")[2].partition(".")[2]
    return any(ending in family and other in family for family in _FAMILIES)
