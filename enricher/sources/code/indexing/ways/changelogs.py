"""Derive where the next entry of the changelog belongs: a section of a file, or a folder with a file for each change.

Does not run in the hook.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enricher.sources.code.indexing.conventions import is_document
from enricher.sources.code.indexing.ways.files import file_row, folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.sources.code.indexing.commands import ProjectFiles
    from enricher.sources.code.indexing.ways.files import Row

CHANGELOG = re.compile(
    r"^(?:[\w@.-]+/){0,2}(?:(?:CHANGELOG|CHANGES|HISTORY|NEWS|RELEASES|RELEASE[-_]?NOTES|WHATS[-_]?NEW)\.(?:md|rst|txt)"
    r"|(?-i:CHANGELOG|CHANGES|NEWS))$",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"unreleased|unpublished|not (?:yet )?released|to be released|pending|upcoming|in (?:development|progress)|snapshot"
    r"|\bdev\d*\b|\bnext(?: release| version)?$|\bt\.?b\.?[ad]\b|x{3,}|\bwip\b"
    r"|^(?:current )?(?:master|main|head|trunk|develop|edge)(?: branch)?(?: \(|$)",
    re.IGNORECASE,
)
"""Words in the heading of a changelog's section for what was not released yet."""
_NEXT_BELOW = re.compile(r"^#+ *\[?(?:unreleased|not (?:yet )?released)\b", re.MULTILINE | re.IGNORECASE)
"""Such a heading where the section stands below those of the versions."""
_UNDERLINE = re.compile(r"([=~^*-])\1{2,}\s*$")
_MARKED = re.compile(r"#+ |={1,4} |#+\[|\[")
_MARKS = re.compile(r"^={1,4} | ={1,4}$|[\[\]#*`{}$]|\(http\S*\)")
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NEWEST = 80
"""Lines at the beginning of a changelog that are searched for the heading of its newest section."""
LONGEST_TITLE, MOST_GROUPS, LONGEST_GROUP = 40, 4, 30
FRAGMENTS = re.compile(
    r"^(?P<above>(?:(?!(?:tests?|vendor|node_modules|fixtures|examples?)/)[\w.-]+/){0,3}?)"
    r"(?P<name>newsfragments|news_fragments|changelog[-_.]fragments|change(?:log|s)\.d|news\.d|changelog_unreleased"
    r"|changelogs?/(?:unreleased|fragments|next)|\.?changes/(?:unreleased|next)|unreleased_changes|releasenotes/notes"
    r"|upcoming_changes|next_whats_new|(?:interface|api)[-_]changes|\.changeset)/(?P<file>.+)$",
    re.IGNORECASE,
)
"""Files in folders with one for each change that the next release will have."""
_TYPED = re.compile(
    r"^(?P<above>(?:(?!(?:tests?|vendor|node_modules|fixtures|examples?)/)[\w.-]+/){0,2})"
    r"(?P<name>news|changes|changelogs?)/"
    r"(?P<file>(?:[+\w-]*\d[\w-]*|[+\w-]+(?=\.\w+\.(?:md|rst|txt)$))\.(?:bug(?:fix)?|feat(?:ure)?|misc|docs?|removal|deprecation|breaking|security|changed?|added"
    r"|fixed|improvement|enhancement|trivial|vendor|process)(?:\.\d+)?(?:\.(?:md|rst|txt))?)$",
    re.IGNORECASE,
)
"""Files that are named after an issue and the kind of change, in a folder such as ``news/`` or ``CHANGES/``."""
_NO_ENTRY = re.compile(
    r"^(?:\.|_|readme|template|example|config|index)|\.(?:j2|jinja2?|tmpl|toml|json)$", re.IGNORECASE
)
_TEMPLATE = re.compile(r"^(?:template|example)(?:\.(?:md|txt|ya?ml))?$", re.IGNORECASE)
CHANGESETS = ".changeset/config.json"
ENTRIES, SECTION = 13.0, 6.0
"""Ranks of a folder for entries (above each sentence, because its line names the one about it) and of a section."""


def of_changelogs(project: ProjectFiles, tags: list[str]) -> list[Row]:
    """Return a row for each place for the next entry; ``tags`` are the names of the repository's tags."""
    rows = _of_fragments(project)
    for path, text in project.texts.items():
        if CHANGELOG.match(path) and CHANGESETS not in project.present:
            rows += _of_file(path, text, tags)
    return rows


def _of_fragments(project: ProjectFiles) -> list[Row]:
    found: dict[str, list[str]] = {}
    packages: dict[str, str] = {}
    for path in project.paths:
        if match := FRAGMENTS.match(path) or _TYPED.match(path):
            folder = match["above"] + match["name"]
            found.setdefault(folder, []).append(match["file"])
            packages[folder] = "" if match["above"].lower().startswith((".", "doc")) else match["above"].rstrip("/")
    rows = []
    for folder, names in found.items():
        label = f"{folder}/ — a change is noted in a file of its own there{_pattern(project, folder, names)}"
        rows.append(file_row("changelog", folder, label, ENTRIES, said=label, folder=packages[folder]))
        if f"{folder}/config.json" == CHANGESETS:
            rows.append(file_row("release", CHANGESETS, label, 4.5, said=label))
    return rows


def _pattern(project: ProjectFiles, folder: str, names: list[str]) -> str:
    """Return the end of a folder's line: its newest entry, the template, and the place of the sentence about it."""
    entries = [name for name in names if not _NO_ENTRY.search(name.rpartition("/")[2])]
    newest = max(entries, key=lambda name: ([int(digits) for digits in re.findall(r"\d{1,9}", name)], name), default="")
    above = folder.rpartition("/")[0]
    beside = [path for path in project.paths if path.rpartition("/")[0] in (folder, above or folder)]
    template = next((path for path in beside if _TEMPLATE.match(path.rpartition("/")[2])), "")
    readme = next((path for path in beside if path.lower().startswith(f"{folder.lower()}/readme")), "")
    place = next(_telling(project, folder), readme)
    return (
        (f", such as {newest}" if newest else "")
        + (f", after {template}" if template else "")
        + (f" ({place})" if place else "")
    )


def _telling(project: ProjectFiles, folder: str) -> Iterator[str]:
    """Yield the places of the lines that name a folder for entries, those of CONTRIBUTING first."""
    ends = r"[/`]|(?![\w-])" if len(folder) > len("changelogs") else r"[/`]"  # "changes" is a word of any sentence
    named = re.compile(rf"(?<![\w./-]){re.escape(folder)}(?:{ends})")
    documents = [path for path, text in project.texts.items() if is_document(path) and named.search(text)]
    for path in sorted(documents, key=lambda path: ("contribut" not in path.lower(), path.count("/"), path)):
        lines = enumerate(project.texts[path].splitlines(), 1)
        yield from (f"{path}:{number}" for number, line in lines if named.search(line))


def _of_file(path: str, text: str, tags: list[str]) -> list[Row]:
    """Return a row for the section of a changelog that takes the next entry; none if its newest one was released."""
    lines = text.splitlines()
    heads = list(_headings(lines))
    line, title, why = _next_section(text, heads, [] if folder_of(path) else tags)
    if not line:
        return []
    folder = folder_of(path)
    section = f"{path}:{line} — the section {title[:LONGEST_TITLE]}{why} takes the next entry"
    label = f"{section}{_groups(lines, heads, line)}"
    changelog = file_row("changelog", path, label, SECTION, line=line, folder=folder)
    return [changelog] if folder else [changelog, file_row("release", path, section, 3.0, line=line)]


def _headings(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each heading."""
    for number, line in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        if _MARKED.match(line) or (line.strip() and not _UNDERLINE.match(line) and _UNDERLINE.match(below)):
            yield number, _MARKS.sub("", line).strip()


def _next_section(text: str, heads: list[tuple[int, str]], tags: list[str]) -> tuple[int, str, str]:
    """Return line and title of the section for what was not released, and why if it says nothing; line 0 if none."""
    if lower := _NEXT_BELOW.search(text):
        at = text.count("\n", 0, lower.start()) + 1
        return next(((line, title, "") for line, title in heads if line == at), (0, "", ""))
    versions = [(line, title, found[0]) for line, title in heads if (found := _VERSION.search(title))]
    newest = versions[0][0] if versions else NEWEST
    for line, title in heads:
        if line > min(newest, NEWEST):
            break
        if _NEXT.search(title):
            return line, title, ""
    if len(versions) > 1 and newest <= NEWEST and not _YEAR.search(versions[0][1]):
        released = [any(_is_tag_of(tag, version) for tag in tags) for _line, _title, version in versions[:2]]
        if released == [False, True]:
            return versions[0][0], versions[0][1], ", which has no tag yet,"
    return 0, "", ""


def _is_tag_of(tag: str, version: str) -> bool:
    """Return whether a tag such as "v1.2.0" or "core-1.2" is that of a version, whose last zero may be left out."""
    named = _VERSION.search(tag)
    return named is not None and named[0].removesuffix(".0") == version.removesuffix(".0")


def _groups(lines: list[str], heads: list[tuple[int, str]], line: int) -> str:
    """Return the headings within the section at ``line``, such as "Bug fixes", with their lines."""
    level = _level(lines, line)
    found = []
    for number, title in heads:
        if number > line:
            if _level(lines, number) == level or _VERSION.search(title):
                break
            found.append(f"{title} (line {number})")
    short = [one for one in found if len(one) <= LONGEST_GROUP + len(" (line 10)")][:MOST_GROUPS]
    return f"; in it {', '.join(short)}" if short else ""


def _level(lines: list[str], number: int) -> str:
    """Return the mark of a heading: "##", or the first character of the line below it."""
    line = lines[number - 1]
    marks = line[: len(line) - len(line.lstrip("#="))]
    return marks or (lines[number][:1] if number < len(lines) else "")
