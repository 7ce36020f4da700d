"""Find a route that is declared in parts: ``APIRouter(prefix="/crates")`` and ``@router.get("/list")`` below it.

Runs in the hook, but is imported only for a route that the code does not contain as a whole.
"""

from __future__ import annotations

import os

from enricher.sources.code import SOURCE, stem_of
from enricher.sources.code.facts import FEW, Fact, also_lines, format_place
from enricher.sources.code.lines import indentation, is_comment
from enricher.sources.code.lookup import MOST_CANDIDATES
from enricher.sources.code.special.setting_reads import QUOTES, last_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

    Declared = tuple[int, str, str, int, str]
    """The end of a route: its line, owner and text, then the line and text of the part before it (0 if elsewhere)."""

ROUTERS = ("APIRouter(", "Blueprint(")
CONTROLLERS = ("@Controller(", "@RequestMapping(")
METHODS = frozenset("get post put patch delete head options all route websocket api_route".split())
GROUPS = (".Group(", ".PathPrefix(")
"""Calls in Go that return what declares the routes below a path: Gin, Echo and Gorilla."""
GO_METHODS = METHODS | {"handlefunc", "handle", "any"}
SAID = ("prefix", "Controller", "RequestMapping", "scope", "PathPrefix", "Group")
"""Words of the files that declare the beginning of their routes; the words of a route alone are in too many files."""
PHOENIX = (".ex", ".exs")
PHOENIX_ROUTES = METHODS | {"live", "resources", "forward"}
SCRIPTS = (".js", ".ts", ".mjs", ".cjs")


def place_of_composed(lookup: Lookup, kind: str, route: str, parts: list[str]) -> Fact | None:
    """Return a fact about the only file with a declaration that ends ``route``, and with the part of it before that.

    ``parts`` are those of the route, with empty texts in place of its parameters.
    """
    words = [part for part in parts if part]
    found: dict[str, tuple[list[int], str]] = {}
    # What precedes a route such as "/{row}" has the last word; otherwise, the declaration has it.
    near = [" ".join(words[-2:])] + [words[-1]] * (not parts[-1])
    for path, number, own, home, line, before in _declarations(lookup, near, words):
        declared = [_plain(part) for part in f"{before.strip('/')}/{own.strip('/')}".split("/")]
        if own.strip("/") and before.strip("/") and parts[-len(declared) :] == declared:
            place = f"line {line}" if home == path else format_place(home, line)
            found.setdefault(path, ([], f'declared here as "{own}", below "{before}" in {place}'))[0].append(number)
    if len(found) > 1:  # "/v2/crates/list" is in the folder v2
        found = {path: one for path, one in found.items() if set(words[:-2]) & set(path.split("/"))}
    if len(found) != 1 or lookup.is_exhausted:
        return None
    path, (lines, reason) = next(iter(found.items()))
    return Fact(kind, path, lines[0], route, f"{reason}{also_lines(sorted({*lines}))}", FEW)


def _plain(part: str) -> str:
    return "" if part[:1] in (":", "{", "<", "[", "$") else part


def _declarations(lookup: Lookup, near: list[str], words: list[str]) -> list[tuple[str, int, str, str, int, str]]:
    """Return declared ends of routes: path, line and text, then the path, line and text of the part before each."""
    found = [
        (path, number, own, path, line, before)
        for said in SAID
        for some in near
        for path in _files(lookup, f"{said} {some}")
        for number, _owner, own, line, before in _parts(path, lookup.text(path)) if line
    ]  # fmt: skip
    mounting = {path for word in words for path in _files(lookup, f"use {word}") if path.endswith(SCRIPTS)}
    found += [
        (target, number, own, path, line, before)
        for path in sorted(mounting)
        for line, before, target in _mounted(lookup, path)
        for number, owner, own, _line, _before in _ends(lookup.text(target)) if _is_router(lookup.text(target), owner)
    ]  # fmt: skip
    return found


def _files(lookup: Lookup, words: str) -> list[str]:
    files = [path for path, kind in lookup.holding(words) if kind == SOURCE]
    return files if len(files) <= MOST_CANDIDATES else []


def _parts(path: str, text: str) -> list[Declared]:
    return _scoped(text) if path.endswith(PHOENIX) else _ends(text)


def _ends(text: str) -> list[Declared]:
    """Return the ends of routes that a file declares, with what its router or class has before them."""
    before: dict[str, tuple[int, str]] = {}  # by the router's name; a class has none
    found: list[Declared] = []
    router = ""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        head, _, arguments = bare.partition("(")
        told = _string(arguments or "".join(lines[number : number + 1]))
        owner, method = last_word(head.rpartition(".")[0]), last_word(head)
        if line.startswith("}"):  # the end of a class
            before.pop("", None)
        if group := next((call for call in GROUPS if call in bare and "=" in bare.partition(call)[0]), ""):
            name = bare.partition("=")[0].strip(" :").rpartition(" ")[2]
            before[name] = (number, _string(bare.partition(group)[2]))
        elif any(call in bare for call in ROUTERS):
            router = last_word(bare.partition("=")[0].partition(":")[0])
        elif bare.startswith(CONTROLLERS) and not indentation(line):
            before[""] = (number, told)
        elif owner and told.startswith("/") and _declares(method, owner in before) and not is_comment(line):
            found.append((number, owner, told, *before.get(owner, (0, ""))))
        elif "" in before and head[:1] == "@" and method.removesuffix("Mapping").lower() in {*METHODS, "request"}:
            found.append((number, "", told, *before[""]))
        if router and "prefix=" in bare.replace(" ", ""):
            before[router] = (number, _string(bare.partition("prefix")[2]))
        router = "" if bare.endswith(")") else router
    return found


def _declares(method: str, is_of_group: bool) -> bool:
    return method in METHODS or (is_of_group and method.lower() in GO_METHODS)


def _scoped(text: str) -> list[Declared]:
    """Return the ends of routes in a router of Phoenix, ``live "/new", PageLive``, with the scopes around each."""
    found: list[Declared] = []
    scopes: list[tuple[int, int, str]] = []  # the indentation, line and text of each scope around the line
    for number, line in enumerate(text.split("\n"), 1):
        word, _, rest = line.strip().partition(" ")
        told = _string(rest)
        while scopes and word and indentation(line) <= scopes[-1][0]:
            scopes.pop()
        if word == "scope" and rest.endswith(" do"):
            scopes.append((indentation(line), number, told.strip("/")))
        elif word in PHOENIX_ROUTES and told.startswith("/") and scopes:
            before = "/".join(part for _indent, _line, part in scopes if part)
            found.append((number, "", told, scopes[-1][1], f"/{before}"))
    return found


def _string(text: str) -> str:
    """Return the string with which the arguments of a call begin: ``"/list", …``, ``value = "/list"``."""
    bare = text.lstrip(" \t{[").removeprefix("path").removeprefix("value").lstrip(" =:{[")
    end = bare.find(bare[0], 1) if bare[:1] in QUOTES else -1
    return bare[1:end] if end > 0 else ""


def _is_router(text: str, owner: str) -> bool:
    return "Router(" in text.partition(f"{owner} = ")[2].partition("\n")[0]


def _mounted(lookup: Lookup, path: str) -> list[tuple[int, str, str]]:
    """Return what ``app.use("/crates", routes)`` mounts: the line, the part of the route, and the file of the rest."""
    lines = lookup.text(path).split("\n")
    found = []
    for number, line in enumerate(lines, 1):
        before = _string(line.partition(".use(")[2])
        name = last_word(line.rstrip(" ;)"))
        imports = [line] if "require(" in line else [one for one in lines if _imports(one, name)]
        if before.startswith("/") and len(imports) == 1:
            module = imports[0].replace("'", '"').rpartition('"')[0].rpartition('"')[2]
            whole = os.path.normpath(f"{os.path.dirname(path)}/{module}") if module.startswith(".") else ""
            files = [one for one, kind in lookup.of_stem(stem_of(whole)) if kind == SOURCE]
            targets = [one for one in files if os.path.splitext(one)[0] in (whole, f"{whole}/index", whole[:-3])]
            found += [(number, before, targets[0])] if len(targets) == 1 else []
    return found


def _imports(line: str, name: str) -> bool:
    words = line.replace("{", " ").replace("}", " ").replace(",", " ").split()
    return words[:1] in (["import"], ["const"], ["let"], ["var"]) and name in words[1:3] and "./" in line
