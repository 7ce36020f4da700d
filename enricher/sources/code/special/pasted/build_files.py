"""Find the lines of build files that explain what a build tool reports: the search for a package, a plugin, an option.

Runs in the hook, but is imported only for a prompt with such a report.
"""

from __future__ import annotations

from enricher.prompt.text import shortened
from enricher.prompt.wording.pasted.build_tools import CMAKE, GRADLE, MAVEN
from enricher.sources.code import CONFIG, SOURCE
from enricher.sources.code.facts import FEW, MOST_SHOWN, ONLY, Fact, format_place
from enricher.sources.code.lines import is_comment
from enricher.sources.code.lookup import MOST_CANDIDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

    Place = tuple[str, int, str]
    """The path of a build file, and the number and content of a line in it."""

LONGEST_SHOWN = 60
_NAMES = (
    "makefile", "gnumakefile", "cmakelists.txt", "meson.build", "configure", "sconstruct", "sconscript", "wscript",
    "jamfile", "build.zig", "setup.py",
)  # fmt: skip
"""Beginnings of the names of build files, in lower case."""
_ENDS = (
    ".cmake", ".mk", ".am", ".ac", ".m4", ".gyp", ".gypi", ".pro", ".pri", ".gradle", ".kts", ".bazel", ".bzl",
    ".toml", ".yml", ".yaml", ".sh",
)  # fmt: skip


def place_in_build_files(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about the lines of build files from which a build tool's report on ``name`` comes.

    Return None if there are no such lines, or too many.
    The name's owner is the tool: CMAKE for a package that it did not find, MAVEN for the plugin of a failed goal,
    GRADLE for a dependency that it did not find, or else a compiler with an option.
    """
    if name.owner == CMAKE:
        return _fact(_searches(lookup, name.text), "", "CMake searches for it here")
    if name.owner == MAVEN:
        return _configured(lookup, name.text)
    if name.owner == GRADLE:
        places = _lines(lookup, name.text, lambda line: f":{name.text}:" in line or f">{name.text}<" in line)
        return _fact(places, name.text, "the dependency is declared here")
    return _fact(_settings(lookup, name.text), name.text, "set here")


def _fact(places: list[Place], subject: str, reason: str, ending: str = "") -> Fact | None:
    """Return a fact about the first of a few ``places``; without a ``subject``, it shows the line itself."""
    if not 0 < len(places) <= MOST_SHOWN:
        return None
    path, number, line = places[0]
    others = ", ".join(format_place(*one[:2]) for one in places[1:])
    told = f"{reason}{' and in ' * bool(others)}{others}{ending}"
    return Fact("build", path, number, subject or shortened(line.strip(), LONGEST_SHOWN), told, FEW if others else ONLY)


def _searches(lookup: Lookup, package: str) -> list[Place]:
    start = f"find_package({package}".lower()

    def is_search(line: str) -> bool:
        bare = line.strip().lower().replace("( ", "(", 1).replace(" (", "(", 1)
        return bare.startswith(start) and bare[len(start) : len(start) + 1] in ("", " ", ")")

    return _lines(lookup, package, is_search, held=f"find_package {package}")


def _configured(lookup: Lookup, plugin: str) -> Fact | None:
    """Return a fact about the poms that configure a plugin of Maven, or else about its setting ``<plugin.skip>``."""
    skip = f"{plugin.removeprefix('maven-').removesuffix('-plugin').removesuffix('-maven')}.skip"
    configured = _lines(lookup, plugin, lambda line: f"<artifactId>{plugin}</artifactId>" in line)
    settings = _lines(lookup, skip, lambda line: f"<{skip}>" in line)
    ending = f"; {skip}: {format_place(*settings[0][:2])}" if settings else ""
    return _fact(configured, plugin, "the plugin of the failed goal is configured here", ending) or (
        None if configured else _fact(settings, skip, f"set here; no pom of the project itself configures {plugin}")
    )


def _settings(lookup: Lookup, option: str) -> list[Place]:
    def sets(line: str) -> bool:
        return not is_comment(line) and line.partition(option)[2][:1] not in ("=", "-")  # "-Werror=unused"

    return _lines(lookup, option, sets)


def _lines(lookup: Lookup, text: str, is_meant: Callable[[str], bool], *, held: str = "") -> list[Place]:
    """Return the first line with ``text`` that ``is_meant`` of each build file, those in the uppermost folders first.

    The files have the words of ``held``, or else those of ``text``.
    """
    files = [path for path, kind in lookup.holding(held or text) if kind in (SOURCE, CONFIG) and _is_of_build(path)]
    found: list[Place] = []
    for path in sorted(files, key=lambda one: (one.count("/"), one))[:MOST_CANDIDATES]:
        lines = (one for one in lookup.occurrences(path, text) if is_meant(one[1]))
        found += [(path, *one) for one in lines][:1]
    return found


def _is_of_build(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.startswith(_NAMES) or name.endswith(_ENDS) or "." not in name or name == "pom.xml"
