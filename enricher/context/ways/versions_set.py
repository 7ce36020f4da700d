"""Say where a project states the version that a prompt wants to change, with the values that it has there.

It belongs to the channel ``ways``, runs in the hook, and starts no process.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.prompt.wording.actions.versions import (
    ADDED,
    CHANGED,
    DROPPED,
    LOWERED,
    TAKEN,
    AskedVersion,
    asked_version,
    is_language,
    language_asked_for,
    plain_name,
)
from enricher.sources.code import OWN_VERSION, marks, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from enricher.context import Request

MOST_PLACES, MOST_ANSWERS = 6, 3
"""Maximum places that state a version to be changed, and that answer the question for one."""
MANIFESTS = frozenset(
    "package.json pyproject.toml setup.py setup.cfg Cargo.toml composer.json pom.xml mix.exs pubspec.yaml"
    " VERSION".split()
)
UPDATING = {"cargo update": "Cargo.toml", "bundle update": "Gemfile", "composer update": "composer.json",
            "npm update": "package.json", "poetry update": "pyproject.toml"}  # fmt: skip
"""Commands that take the newest version of a dependency which the manifest allows, and the manifest."""
FAR = 3
NEWEST = ("newest", "latest", "neueste", "aktuellste", "dernière", "última", "ultima", "последн", "最新")
"""Words for a version that only a registry knows, so that no place of the project can have it already."""
THE_VERSION = ("version", "versión", "versão", "versione")
SCORE = 0.9
_BY_KIND = ((".github/", ".circleci/", ".gitlab", ".travis", "azure-", "appveyor", ".cirrus"), ("docker", "compose"))
_DOCUMENTS = (".md", ".rst", ".adoc")


class Place:
    """A line that states versions of a language or dependency; ``said`` is how it states them."""

    __slots__ = ("line", "path", "said", "versions")

    def __init__(self, versions: str, path: str, line: int, said: str) -> None:
        self.versions, self.path, self.line, self.said = versions.split(), path, line, said


def offered(request: Request, index: sqlite3.Connection, actions: list[str]) -> list[Candidate]:
    """Return where the version is stated that a prompt wants to change; add "dependency" to ``actions`` for one."""
    dependencies = meta(index, "dependencies").split()
    if language := language_asked_for(request.prompt):
        found = _stated(index, language)
        return (
            [_told(AskedVersion(language, "", CHANGED), found, f"the version of {language}", request)] if found else []
        )
    if required := _required(request.prompt, index):
        return [required]
    asked = asked_version(request.prompt, lambda words: _known(index, dependencies, words))
    if not asked:
        return []
    if asked.name in THE_VERSION:  # "sube la version a 2.1"
        return own_version(request, index)
    if asked.how == CHANGED and not is_language(asked.name) and "dependency" not in actions:
        actions.append("dependency")
    return _places_of(asked, index, request)


def _required(prompt: str, index: sqlite3.Connection) -> Candidate | None:
    """Return the requirement on the dependency that a prompt updates by a command, which stays within it."""
    low = f" {prompt.lower()}"
    for command, manifest in UPDATING.items():
        behind = low.partition(f" {command} ")[2].split()[:FAR]
        name = next((plain_name(word.strip("`'\".,")) for word in behind if not word.startswith("-")), "")
        found = [place for place in _stated(index, name) if place.path.endswith(manifest)] if name else []
        if found:
            label = f"{_listed(found[:MOST_PLACES])} — the requirement on {name}; `{command}` stays within it"
            return Candidate("", f"version {name}", SCORE, label=label, kind="way: version")
    return None


def own_version(request: Request, index: sqlite3.Connection) -> list[Candidate]:
    """Return where the project states its own version; nothing if that is only a manifest, which is easily found."""
    found = _stated(index, OWN_VERSION)
    paths = {place.path for place in found}
    if len(paths) < 2 and all(path.rpartition("/")[2] in MANIFESTS for path in paths):
        return []
    asked = AskedVersion(OWN_VERSION, "", CHANGED)
    return [_told(asked, found, "the version of this project", request)]


def _stated(index: sqlite3.Connection, name: str) -> list[Place]:
    query = "select versions, path, line, said from pins where name = ? order by path, line"
    return [Place(*row) for row in index.execute(query, (name,))]


def _known(index: sqlite3.Connection, dependencies: list[str], words: list[str]) -> set[str]:
    """Return those of ``words`` that are languages or dependencies of which the project states a version."""
    rows = index.execute(f"select distinct name from pins where name in ({marks(words)})", words).fetchall()
    return {name for (name,) in rows}.union(set(dependencies).intersection(words))


def _places_of(asked: AskedVersion, index: sqlite3.Connection, request: Request) -> list[Candidate]:
    """Return a fact with the places that state the version to be changed, unless there is only an obvious one."""
    every = _stated(index, asked.name)
    left = [place for place in every if _is_concerned(asked, place, every)]
    is_open = asked.version.endswith((".x", ".*")) or any(word in request.prompt.lower() for word in NEWEST)
    if every and not left and asked.how in (CHANGED, TAKEN) and not is_open:
        return [_told(asked, every, f"already {asked.version} or newer", request)]
    if len({place.path for place in left}) < 2:
        return []
    return [_told(asked, left, f"with the version of {asked.name}", request)]


def _is_concerned(asked: AskedVersion, place: Place, every: list[Place]) -> bool:
    if not asked.version or not asked.version[0].isdigit():
        return True
    wanted = _numbers(asked, asked.version)
    stated = [_numbers(asked, version) for version in place.versions]
    if asked.how == DROPPED:
        return any(one[: len(wanted)] == wanted for one in stated)
    if asked.how == ADDED:
        newest = max(_numbers(asked, version) for one in every for version in one.versions)
        return wanted not in stated and newest in stated
    if "<" in place.said or "≤" in place.said:
        return True  # an upper limit
    pairs = [(one[: len(wanted)], wanted[: len(one)]) for one in stated]
    return any(one > other if asked.how == LOWERED else one < other for one, other in pairs)


def _numbers(asked: AskedVersion, version: str) -> tuple[int, ...]:
    parts = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts[1:] if asked.name == "java" and parts[:1] == [1] and len(parts) > 1 else parts)  # "1.8" is 8


def _told(asked: AskedVersion, found: list[Place], says: str, request: Request) -> Candidate:
    from enricher.context import host_context

    conversation = request.conversation
    opened = {*conversation.files, *conversation.changed}
    fresh = [place for place in found if place.path not in opened and place.path not in request.prompt]
    shown = sorted(fresh or found, key=lambda place: (_kind(place.path), place.path, place.line))
    also = " also" if 0 < len(fresh) < len(found) else ""
    label = f"{_listed(shown[:MOST_PLACES])}{_more(len(shown))} —{also} {says}"
    stale = "" if fresh else host_context.IN_CONVERSATION
    return Candidate("", f"version {asked.name}", SCORE, label=label, kind="way: version", stale=stale)


def _more(count: int) -> str:
    return f" and {count - MOST_PLACES} more" if count > MOST_PLACES else ""


def _kind(path: str) -> int:
    """Return the rank of a file's kind: manifests, workflows, images, documents."""
    if path.endswith(_DOCUMENTS):
        return len(_BY_KIND) + 1
    low = path.lower()
    return next((number for number, parts in enumerate(_BY_KIND, 1) if any(part in low for part in parts)), 0)


def _listed(places: list[Place]) -> str:
    """Return "Cargo.toml:19 `rust-version = "1.82"`, README.md:17 and 73 `1.82`", in the order of ``places``."""
    by_path: dict[str, list[Place]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    parts = []
    for path, own in by_path.items():
        if not own[0].line:
            parts.append(f"{path} by its name")
            continue
        lines = [str(place.line) for place in own]
        said = own[0].said if len({place.said for place in own}) == 1 else ""
        said = said or ", ".join(dict.fromkeys(version for place in own for version in place.versions))
        joined = " and ".join([", ".join(lines[:-1]), lines[-1]] if lines[1:] else lines)
        parts.append(f"{path}:{joined} `{said}`")
    return ", ".join(parts)
