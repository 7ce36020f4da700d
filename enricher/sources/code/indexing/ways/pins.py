"""Find where a project states its own version and those of its languages and dependencies: in manifests and documents.

Does not run in the hook. Each place is a row with the name, the versions and its file and line;
``enricher.context.ways.versions_set`` chooses among them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from enricher.prompt.redaction import redact
from enricher.prompt.wording.actions.versions import LANGUAGES, language_of, plain_name, plain_version
from enricher.sources import git
from enricher.sources.code import OWN_VERSION, meta
from enricher.sources.code.indexing import read_text, set_meta
from enricher.sources.code.indexing.listing import uppermost

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from enricher.sources.code.indexing.listing import ListedFile

SCHEMA = """
create table pins (name text not null, versions text not null, path text not null, line integer not null,
    said text not null);
create index pins_by_name on pins (name);
"""
MOST_FILES, MOST_BYTES, MOST_PINS, DEEPEST = 150, 200_000, 6_000, 3
_MANIFESTS = frozenset(
    "package.json cargo.toml composer.json pubspec.yaml pyproject.toml libs.versions.toml pipfile".split()
)
LONGEST_SAID, LONGEST_LINE = 44, 300
_PINNING = re.compile(
    r"(?:^|/)(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|requirements/[\w.-]+\.(?:txt|in)|constraints[\w.-]*\.txt"
    r"|setup\.py|noxfile\.py|environment\.ya?ml|pipfile|\.n(?:vmrc|ode-version)"
    r"|\.(?:python|ruby|java|go)-version|\.tool-versions|rust-toolchain(?:\.toml)?|\.?clippy\.toml|go\.work"
    r"|[\w.-]+\.gemspec|gradle\.properties|libs\.versions\.toml|gradle-wrapper\.properties|global\.json"
    r"|[\w.-]+\.csproj|directory\.(?:packages|build)\.props|cmakelists\.txt"
    r"|(?:[\w.-]+\.)?(?:docker|container)file(?:\.[\w-]+)?"
    r"|(?:docker-)?compose[\w.-]*\.ya?ml|devcontainer\.json|\.readthedocs\.ya?ml|netlify\.toml|vercel\.json"
    r"|runtime\.txt|configure\.ac|build\.properties|[\w-]*\.classpath|[\w-]+\.pom|gradle/[\w-]+\.gradle"
    r"|\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|\.?appveyor\.yml|\.cirrus\.yml"
    r"|__init__\.py|_{0,2}(?:version|about)_{0,2}\.(?:py|rb|go|ts|js|php|h)|version"
    r"|package\.json|pyproject\.toml|setup\.cfg|tox\.ini|go\.mod|cargo\.toml|mix\.exs|gemfile|composer\.json"
    r"|pubspec\.yaml|build\.gradle(?:\.kts)?|pom\.xml|\.pre-commit-config\.yaml|\.?mise\.toml)$"
    r"|^\.github/workflows/[^/]+\.ya?ml$|^\.circleci/config\.yml$"
    r"|^(?:docs?/(?:[\w-]+/)?)?(?:readme|contributing|development|(?:[\w-]*install(?:ation|ing)?|requirements"
    r"|getting[-_]started|quick[-_]?start)[\w-]*)\.(?:md|rst|txt|adoc)$",
    re.IGNORECASE,
)
_ENDS = tuple(
    ".txt .in setup.py noxfile.py .yml .yaml .toml .json .xml .gradle .kts .md .rst .adoc .mod .work .cfg .ini .props"
    " .csproj .properties .gemspec .exs file vmrc version versions toolchain VERSION /__init__.py version.py"
    " version__.py about__.py version.rb version.go version.ts version.js version.php Version.php version.h"
    " configure.ac .classpath .pom".split()
)
"""Ends of the names of such files, which are compared before the pattern, because that takes longer."""
_ASIDE = re.compile(
    r"(?:^|/)(?:node_modules|fixtures?|examples?|samples?|testdata|tests?|vendor|third_party)/", re.IGNORECASE
)
_PROSE = (".md", ".rst", ".adoc")
_NUMBER = r"v?\d+(?:\.[\dx*]+)*(?:[-.]?(?:rc|beta|alpha|dev|a|b)\.?\d+)?"
_VERSION = re.compile(rf"(?<![\w.$/]){_NUMBER}(?![\w])")
_KEY = re.compile(
    r"""^\s*(?:- |export |ARG |ENV |<|set\(|ext\.|val |def )*["']?([A-Za-z][\w.-]*)["']?\s*"""
    r"""(?:[:=>]|(?<=[a-z]) (?=["'v\d]))(.*)$"""
)
_BESIDE = frozenset(
    "version versions min minimum minimal max maximum msrv srv latest default oldest newest current lowest highest"
    " target required requires release ci test tests build compiler source language sdk toolchain matrix ver maven lang"
    " s spec stable support supported base image runtime engine install".split()
)
"""Words that may stand beside a language in the name of a setting for its version: GO_MIN_VERSION."""
_ITEM = re.compile(r"""^\s*- ["']?([^:#]*?)["']?\s*(?:#.*)?$""")
_REQUIREMENT = re.compile(
    rf"(?<![\w./@<-])(?P<name>@?[A-Za-z][\w.-]*)(?:\[[\w, -]+\])?\s*(?P<versions>(?:[=~!]=|[<>]=?|===)\s*{_NUMBER}"
    rf"(?:\s*,\s*(?:[=~!]=|[<>]=?)\s*{_NUMBER})*)"
)
_OF_MANIFEST = re.compile(
    rf"""^\s*["']?(?P<name>@?[A-Za-z][\w./-]*)["']?\s*(?::|=)\s*(?:\{{.*?version\s*=\s*)?"""
    rf"""["']?(?P<versions>[~^<>= ]*{_NUMBER})"""
)
_OF_GO = re.compile(rf"^(?:require )?\s*(?P<name>[\w.-]+\.[\w.-]+/\S+) (?P<versions>{_NUMBER})\S*")
_OF_RUBY = re.compile(rf"""(?:gem|dependency)\(?\s*["'](?P<name>[\w-]+)["'],\s*["'](?P<versions>[~<>= ]*{_NUMBER})""")
_OF_GRADLE = re.compile(rf"""["'][\w.-]+:(?P<name>[\w.-]+):(?P<versions>{_NUMBER}[\w.-]*)["']""")
_OF_PROPERTIES = re.compile(
    rf"^\s*<?(?!model)(?:ext\.)?(?P<name>[A-Za-z][\w-]*?)(?:[.-]version|Version)\s*[=:>]\s*[\"']?(?P<versions>{_NUMBER})"
)
"""Lines such as ``owl.version = 1.2``, ``<owl.version>1.2<`` and ``owlVersion = '1.2'``."""
_OF_VERSIONS = re.compile(rf"^\s*versions\.(?P<name>[A-Za-z][\w-]*)\s*=\s*[\"'](?P<versions>{_NUMBER})")
_JAR = re.compile(r"(?<![\w.-])(?P<name>[A-Za-z][\w.-]*?)-(?P<versions>\d+(?:\.\d+)+)\.jar\b")
_VERSIONED_FILE = re.compile(r"(?:^|/)(?P<name>[A-Za-z][\w.-]*?)-(?P<versions>\d+(?:\.\d+)+)\.[a-z]+$")
_VERSION_OF_TABLE = re.compile(rf"""^version\s*=\s*["']([~^<>= ]*{_NUMBER})""")
_OF_TABLE = re.compile(r"^\[(?:.*\.)?(?:dev-|build-)?dependencies\.(?P<name>[\w-]+)\]")
"""A table of its own for a dependency, as in "[dependencies.owl]"; ``_VERSION_OF_TABLE`` is its version."""
_AT = re.compile(rf"(?<![\w./@-])(?P<name>@?[\w.-]+(?:/[\w.-]+)*)@(?P<versions>{_NUMBER})(?![\w@])")
_IMAGE = re.compile(
    rf"(?:FROM|image:|container:)\s+(?:--\S+ )?[\"']?(?:[\w.-]+/)*(?P<name>[\w.-]+):(?P<versions>{_NUMBER})[\w.-]*",
    re.IGNORECASE,
)
_CMAKE = re.compile(rf"(?P<name>cmake)_minimum_required\s*\(\s*VERSION\s+(?P<versions>{_NUMBER})", re.IGNORECASE)
_GRADLE_ITSELF = re.compile(rf"distributions/(?P<name>gradle)-(?P<versions>{_NUMBER})-")
_CLASSIFIER = re.compile(r"Programming Language :: (?P<name>\w+) :: (?P<versions>\d+\.\d+)\b")
_PY = re.compile(r"\bpy(3)(\d{1,2})\b")
_DOTNET = re.compile(r"<TargetFrameworks?>(?P<versions>[^<]+)<")
_IN_MANY = (_REQUIREMENT, _AT, _IMAGE, _CMAKE, _GRADLE_ITSELF, _CLASSIFIER, _OF_GRADLE, _JAR)
_OF_JAVA = (".properties", ".gradle", "pom.xml", ".pom")
_MAVEN = re.compile(
    r"(?:<groupId>(?P<group>[^<]+)</groupId>\s*)?<artifactId>(?P<name>[^<]+)</artifactId>"
    r"\s*<version>(?P<version>[^<$]+)<"
)
_HOOK = re.compile(
    r"repo:\s*\S+/(?P<name>[\w.-]+?)(?:\.git)?[\"']?\s*\n(?:\s*#.*\n)*\s*rev:\s*[\"']?(?P<version>[\w.-]+)"
)
_WHOLE_FILES = {".nvmrc": "node", ".node-version": "node", ".python-version": "python", ".ruby-version": "ruby",
                ".java-version": "java", ".go-version": "go", "rust-toolchain": "rust"}  # fmt: skip


_IN_PROSE = {
    language: re.compile(
        rf"(?<![\w-])(?:{'|'.join(map(re.escape, names.split()))})"
        r"(?:\W(?:[^\d\n]|%[23]\w){0,24}?)?(?<![\w.])(\d+(?:\.\d+)*)(?!\.?\w)",
        re.IGNORECASE,
    )
    for language, names in LANGUAGES.items()
}
"""The name of a language with a version behind it, as in "at least Go version 1.15" and in the address of a badge."""


_OWN_KEY = re.compile(
    r"""^[\s#]*(?:(?:export |public |final |static )*(?:const|var|define|String) )?["']?(?:__version__|version"""
    r"""|Version|VERSION|[A-Z_]+_?VERSION)["']?(?: string)?\s*(?::=|[:= ])\s*"""
    r"""["']?v?(\d+\.\d+[\w.+-]*\d)["',;)]*\s*(?:#.*)?$"""
)
_OWN_CALL = re.compile(
    r"""^\s*(?:version\s*[=:]|project\(.*VERSION|AC_INIT\(\[[^\]]*\],\s*\[|.*\bnew Version(?:Id)?\()"""
    r"""\s*["']?(\d+\.\d+\.[\w.+-]*\d)"""
)
# A line that does nothing but set a version: `release = "2.1.0"`, `current_version = 2.1.0`, `:Version: 2.1.0 (Owl)`.
_ASSIGNED = r"""^\W*(?:\w+ )?["']?\w*(?:version|release)\w*["'\]]*\s*(?::=|=>|[:=(])\s*["'(\[]*v?"""
_BEHIND_VALUE = r"""["')\],;]*\s*(?:\([^()]*\)|#.*|//.*)?$"""
FEWEST_DOTS = 2
_NO_MANIFEST = (".yml", ".txt", ".in", "Dockerfile", ".props", "tox.ini", "pom.xml", "go.mod")
"""Endings of files that state only the versions of dependencies and tools."""


class Pin(NamedTuple):
    """A place that states ``versions`` (with spaces between them) of ``name``; ``said`` is how it states them."""

    name: str
    versions: str
    path: str
    line: int
    said: str


def is_pinning(path: str) -> bool:
    """Return whether a file may state versions of languages or dependencies, judged by its path."""
    # Cheap checks first: they reject most of 100,000 files.
    if path.count("/") > DEEPEST or not (path.endswith(_ENDS) or "ockerfile." in path):
        return False
    return bool(_PINNING.search(path)) and not _ASIDE.search(path)


def write(db: sqlite3.Connection, root: str, files: list[ListedFile]) -> bool:
    """Store the places of versions in those of ``files`` that state some, unless these are as at the last call."""
    concerned = uppermost([file for file in files if is_pinning(file.path) and file.size <= MOST_BYTES])[:MOST_FILES]
    mark = "\n".join(f"{file.path} {file.mtime_ns} {file.size}" for file in concerned)
    if meta(db, "pins") == mark:
        return False
    texts = {file.path: read_text(root, file.path, MOST_BYTES) for file in concerned}
    found = pins(texts)
    found += _assigned_elsewhere(root, next((pin.versions for pin in found if pin.name == OWN_VERSION), ""), texts)
    found += _in_names([file.path for file in files], found)
    db.execute("delete from pins")
    db.executemany("insert into pins values (?, ?, ?, ?, ?)", found)
    set_meta(db, pins=mark)
    return True


def pins(texts: dict[str, str]) -> list[Pin]:
    """Return the places in ``texts`` (contents by path); of documents, only those with a version found elsewhere."""
    found = [pin for path, text in texts.items() if not path.endswith(_PROSE) for pin in _of_file(path, text)]
    known: dict[str, set[str]] = {}
    for pin in found:
        if pin.name in LANGUAGES:
            known.setdefault(pin.name, set()).update(map(_comparable, pin.versions.split()))
    for path, text in texts.items():
        if path.endswith(_PROSE):
            found += _of_prose(path, text, known)
    found += _of_project(texts)
    unique = {(pin.name, pin.path, pin.line): pin for pin in reversed(found)}
    return [pin._replace(said=redact(pin.said)[0]) for pin in reversed(unique.values())][:MOST_PINS]


def _of_project(texts: dict[str, str]) -> Iterator[Pin]:
    """Return the lines that state the project's own version.

    This version is read from the manifest or version file that is nearest to the top folder.
    """
    declared = [
        (path.count("/"), version, path, number)
        for path, text in texts.items() if not (path.startswith(".") or path.endswith((*_PROSE, *_NO_MANIFEST)))
        for number, version in _own_lines(path, text)[:1]
    ]  # fmt: skip
    if not declared:
        return
    own = min(declared)[1]
    is_whole = re.compile(rf"(?<![\w.=<>~^-]){re.escape(own)}(?![\w-]|\.\d)")
    for path, text in texts.items():
        if path.endswith(_PROSE):
            lines = [number for number, line in enumerate(text.splitlines(), 1) if is_whole.search(line)][:2]
        else:
            lines = [number for depth, version, at, number in declared if at == path and version == own]
        yield from (Pin(OWN_VERSION, own, path, number, own) for number in lines)


def _assigned_elsewhere(root: str, own: str, known: dict[str, str]) -> Iterator[Pin]:
    """Yield the lines of tracked files other than ``known`` whose whole value is the project's own version."""
    if own.count(".") < FEWEST_DOTS:  # "1.0" is the version of many things
        return
    try:
        printed = git.ask(root, "grep", "-nIFw", "--no-color", "-e", own, "--", ".", ":!*.lock", ":!*lock.json")
    except git.GitError:  # also if there is none
        return
    assigned = re.compile(rf"{_ASSIGNED}{re.escape(own)}{_BEHIND_VALUE}", re.IGNORECASE)
    for found in printed.decode("utf-8", "replace").splitlines()[:MOST_PINS]:
        path, number, line = (*found.split(":", 2), "", "")[:3]
        is_other = path in known or path.endswith(_PROSE) or _ASIDE.search(path)
        if not is_other and number.isdecimal() and len(line) <= LONGEST_LINE and assigned.match(line):
            yield Pin(OWN_VERSION, own, path, int(number), own)


def _in_names(paths: list[str], known: list[Pin]) -> Iterator[Pin]:
    """Yield the files with a dependency of ``known`` and its version in their names: ``licenses/owl-1.4.8.txt``."""
    stated = {(pin.name, pin.versions) for pin in known}
    for path in paths:
        if (match := _VERSIONED_FILE.search(path)) and (plain_name(match["name"]), match["versions"]) in stated:
            yield Pin(plain_name(match["name"]), match["versions"], path, 0, match["versions"])


def _own_lines(path: str, text: str) -> list[tuple[int, str]]:
    if path.rpartition("/")[2] in ("VERSION", "version"):
        found = _VERSION.findall(text[:LONGEST_LINE].partition("\n")[0])
        return [(1, found[0])] if found else []
    is_dependency = False
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):  # a table of a manifest
            is_dependency = "dependenc" in line or ("tool." in line and "poetry]" not in line)
        if not is_dependency and len(line) < LONGEST_LINE and (match := _OWN_KEY.match(line) or _OWN_CALL.match(line)):
            lines.append((number, match[1]))
    return lines


def _comparable(version: str) -> str:
    return version.removesuffix(".0").removesuffix(".x")


def _of_file(path: str, text: str) -> Iterator[Pin]:
    name = path.rpartition("/")[2].lower()
    if language := _WHOLE_FILES.get(name):
        if versions := _VERSION.findall(text[:LONGEST_LINE].partition("\n")[0]):
            yield _pin(language, versions, path, 1, versions[0])
        return
    for pattern in (_MAVEN, _HOOK):
        for match in pattern.finditer(text) if name.endswith((".pom", "pom.xml", ".pre-commit-config.yaml")) else ():
            yield from _of_block(path, text, match)
    kinds = (*_IN_MANY, *((_OF_GO,) if name == "go.mod" else ()), *((_OF_RUBY,) if "gem" in name else ()))
    kinds += (_OF_MANIFEST,) if name in _MANIFESTS else ()
    kinds += (_OF_PROPERTIES, _OF_VERSIONS) if name.endswith(_OF_JAVA) else ()
    listed, table = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE or not line.strip() or line.lstrip().startswith(("#", "//")):
            continue
        listed = _list_begun(line, listed)
        if line.startswith("["):
            table = _OF_TABLE.match(line)
        elif table and (stated := _VERSION_OF_TABLE.match(line)):
            yield _pin(table["name"], _VERSION.findall(stated[1]), path, number, f"{table['name']} {stated[1]}")
        if not any(char.isdigit() for char in line):
            continue
        yield from _of_line(path, number, line, kinds)
        if listed and (item := _ITEM.match(line)) and (versions := _VERSION.findall(item[1])):
            yield _pin(listed, versions, path, number, item[1])


def _of_block(path: str, text: str, match: re.Match[str]) -> Iterator[Pin]:
    versions = _VERSION.findall(match["version"])[:1]
    line = text.count("\n", 0, match.start("version")) + 1
    group = (match.groupdict().get("group") or "").rpartition(".")[2]
    name = match["name"].removeprefix("mirrors-").removesuffix("-pre-commit").removesuffix("-mirror")
    for one in dict.fromkeys((name, group or name)) if versions else ():
        yield _pin(one, versions, path, line, f"{name} {match['version']}")


def _of_line(path: str, number: int, line: str, kinds: tuple[re.Pattern[str], ...]) -> Iterator[Pin]:
    if key := _KEY.match(line):
        is_rust = key[1] == "channel" and path.endswith("rust-toolchain.toml")
        language, value = "rust" if is_rust else _language_of_key(key[1]), key[2].partition(" #")[0]
        versions = _VERSION.findall(value.replace("JavaVersion.VERSION_", "").replace("|", " "))
        if language and versions and "${" not in value:
            yield _pin(language, versions, path, number, line.strip().partition(" #")[0])
    for pattern in kinds:
        for match in pattern.finditer(line):
            name = match["name"]
            last = name.rpartition("/")[2]
            versions, said = _VERSION.findall(match["versions"]), line[match.start("name") : match.end()]
            names = (name,) if language_of(last) else dict.fromkeys((name, last))  # "@types/node" is not Node
            yield from (_pin(one, versions, path, number, said) for one in names)
    if tags := _PY.findall(line):
        yield _pin("python", [f"{major}.{minor}" for major, minor in tags], path, number, line.strip())
    if framework := _DOTNET.search(line):
        versions = re.findall(r"\d+\.\d+", framework["versions"])
        yield _pin("dotnet", versions, path, number, framework["versions"])


def _language_of_key(key: str) -> str:
    """Return the language whose version a key gives: "go" of "latest_go", "rust" of "RUST_MIN_SRV"; else nothing."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[_.-]", " ", key).lower().split()
    if words in (["source", "compatibility"], ["target", "compatibility"]) or words[:2] == ["maven", "compiler"]:
        return "java"
    if words in (["channel"], ["msrv"]):
        return "rust"
    languages = {language for word in words if (language := language_of(word))}
    rest = [word for word in words if not language_of(word)]
    return languages.pop() if len(languages) == 1 and _BESIDE.issuperset(rest) else ""


def _list_begun(line: str, listed: str) -> str:
    """Return the language whose versions the lines below list: that of "python-version:" up to the next key."""
    key = _KEY.match(line)
    if key and not key[2].strip(" [\"'"):
        return _language_of_key(key[1])
    return listed if _ITEM.match(line) else ""


def _of_prose(path: str, text: str, known: dict[str, set[str]]) -> Iterator[Pin]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE * 2:
            continue
        for language, versions in known.items():
            for match in _IN_PROSE[language].finditer(line):
                if _comparable(match[1]) in versions:
                    yield _pin(language, [match[1]], path, number, match[1])
                    break


def _pin(name: str, versions: list[str], path: str, line: int, said: str) -> Pin:
    plain = " ".join(dict.fromkeys(plain_version(version) for version in versions))
    stated = said.replace("`", "").replace(".version>", ".version ").replace(">=", "≥").replace("<=", "≤")
    short = " ".join(stated.split()).strip(" ,") if not stated.startswith("<") and "</" not in stated else plain
    short = short.strip("'\"") if short.count('"') % 2 or short.count("'") % 2 else short
    short += ")" * (short.count("(") - short.count(")"))
    short = short if len(short) <= LONGEST_SAID else plain
    return Pin(language_of(name) or plain_name(name), plain, path, line, short)
