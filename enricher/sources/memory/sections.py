"""Split a Markdown note into frontmatter, title, and sections that become separate memories.

A short note is one memory. A long note is split at its headings, and a long section
between paragraphs, so that a search finds the passage and not the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from enricher.sources.memory.reading import headed

SHORT, LONGEST_PIECE, TOO_SMALL = 1_500, 3_000, 120
"""Maximum characters of a note that stays whole, and of each piece of a longer note.

A passage of less than TOO_SMALL characters is appended to the passage of its parent heading.
"""
LONGEST_FRONTMATTER = 64 * 1024
DECISION_HEADINGS = ("decision", "decisions", "decision outcome", "the decision")
FIELD_HEADINGS = ("status", "date", "deciders", "decision makers")

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
# Here and in ``notes``, repetitions are limited: a long line of such characters would take quadratic time.
_FIELD = re.compile(r"[\s>*_-]{0,9}(?:date|status|deciders?|authors?)\b[\s*_]{0,9}:", re.IGNORECASE)
_SLUG = re.compile(r"[^a-z0-9]+")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_ITEM_OR_PARAGRAPH = re.compile(rf"\n(?={_ITEM.pattern})|\n\n+(?=\S)")


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A section of a note, which becomes a separate memory.

    ``heading`` is empty if the section is the whole note. ``anchor`` identifies the section within its note.
    """

    heading: str
    text: str
    anchor: str


@dataclass(slots=True)
class _Part:
    level: int
    heading: str
    lines: list[str]

    def text(self) -> str:
        return "\n".join(self.lines).strip()


def frontmatter(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the fields of a note's frontmatter, the rest of the note, and an error message (empty if there is none).

    The message begins with the number of the faulty line and a colon.
    """
    lines = text[: LONGEST_FRONTMATTER + 8].split("\n")  # including the line that ends it
    if lines[0].rstrip() != "---":
        return {}, text, ""
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return {}, text, ""
    body = text.split("\n", end + 1)[end + 1] if text.count("\n") > end else ""
    import yaml  # only here, because most notes have no frontmatter

    try:
        # The loader in C is several times as fast, but not every installation has it.
        fields = yaml.load("\n".join(lines[1:end]), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        mark = getattr(failure, "problem_mark", None)
        line = mark.line + 2 if mark else 2  # YAML counts from 0, and the line "---" is not part of its text
        return {}, body, f"{line}: the frontmatter is no YAML ({getattr(failure, 'problem', None) or failure})"
    if fields is None:
        return {}, body, ""
    if not isinstance(fields, dict):
        return {}, body, "2: the frontmatter holds no fields; write them as «name: value»"
    return {str(name).lower(): value for name, value in fields.items()}, body, ""


def title_of(body: str) -> str:
    """Return the title of a note: a level 1 heading at its start; empty if there is none."""
    parts = _parts(body)
    first = next((part for part in parts if part.level), None)
    return first.heading if first and first.level == 1 and not parts[0].text() else ""


def sections(body: str, *, cut_short_ones: bool = False) -> list[NoteSection]:
    """Return the sections of a note.

    A short note remains a single section, unless ``cut_short_ones`` is set; then it is split at its headings, too, and
    if that leaves a single section, at the items of its list.
    """
    parts = [part for part in _parts(body) if part.level or part.text()]
    if parts and parts[0].level == 1 and sum(part.level == 1 for part in parts) == 1:
        parts[0] = _Part(0, "", parts[0].lines)  # this heading is the title, which every memory gets anyway
    if parts and not parts[0].level:
        parts[0].lines = _without_fields(parts[0].lines)
    parts = _decision_first(parts)
    whole = "\n\n".join(filter(None, (_whole(part) for part in parts)))
    if not whole:
        return []
    if len(whole) <= SHORT and not cut_short_ones:
        return [NoteSection("", whole, "")]
    found: dict[str, int] = {}
    result: list[NoteSection] = []
    passages = _passages(parts)
    if cut_short_ones and len(passages) == 1:
        passages = [(heading, item) for heading, text in passages for item in _items(text)]
    for heading, text in passages:
        for piece in _pieces(text):
            slug = _SLUG.sub("-", heading.lower()).strip("-")[:60]
            found[slug] = count = found.get(slug, 0) + 1
            result.append(NoteSection(heading, piece, f"{slug}~{count}" if count > 1 else slug or "start"))
    return result


def _parts(body: str) -> list[_Part]:
    """Return the parts of a note, one per heading; the first part is the text above all headings."""
    parts = [_Part(0, "", [])]
    fence = ""
    for line in body.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        # A longer line is no heading, and the pattern would take quadratic time to reject it.
        heading = None if fence or len(line) > 1000 else _HEADING.fullmatch(line)
        if heading:
            parts.append(_Part(len(heading[1]), heading[2], []))
        else:
            parts[-1].lines.append(line)
    return parts


def _without_fields(lines: list[str]) -> list[str]:
    """Return the lines without those at the beginning that state a field of the memory, such as its status or date."""
    first = next((at for at, line in enumerate(lines) if line.strip() and not _FIELD.match(line)), len(lines))
    return lines[first:]


def _decision_first(parts: list[_Part]) -> list[_Part]:
    """Return the parts of a decision record with the decision first, and without chapters such as "Status" and "Date".

    The parts of any other note are returned as they are.
    """
    chapters: list[list[_Part]] = []
    for part in parts:
        if chapters and part.level > chapters[-1][0].level > 0:
            chapters[-1].append(part)
        else:
            chapters.append([part])
    decided = [one for one in chapters if one[0].heading.lower() in DECISION_HEADINGS]
    if not decided:
        return parts
    decided[0][0].heading = ""
    others = [one for one in chapters if one not in decided and one[0].heading.lower() not in FIELD_HEADINGS]
    return [part for chapter in (*decided, *others) for part in chapter]


def _whole(part: _Part) -> str:
    return "\n".join(filter(None, (headed(part.heading) if part.heading else "", part.text())))


def _passages(parts: list[_Part]) -> list[tuple[str, str]]:
    """Return the passages of a note, each with its text and, before that, its headings from the outermost on."""
    above: list[tuple[int, str]] = []
    passages: list[tuple[str, str]] = []
    for part in parts:
        if part.level:
            above = [*(one for one in above if one[0] < part.level), (part.level, part.heading)]
        text = part.text()
        if not text:
            continue
        path = " / ".join(heading for level, heading in above if heading)
        if passages and len(text) < TOO_SMALL and passages[-1][0] and path.startswith(f"{passages[-1][0]} / "):
            passages[-1] = (passages[-1][0], f"{passages[-1][1]}\n{part.heading}: {text}")
        else:
            passages.append((path, text))
    return passages


def _items(text: str) -> list[str]:
    """Return the items of a list and the paragraphs around it; the whole text if it has no list or introduces one."""
    blocks = [block.strip() for block in _ITEM_OR_PARAGRAPH.split(text)]
    is_list = sum(bool(_ITEM.match(block)) for block in blocks) > 1
    if not is_list or "```" in text or any(block.endswith(":") for block in blocks):
        return [text]
    return [_ITEM.sub("", block, count=1) if _ITEM.match(block) else block for block in blocks]


def _pieces(text: str) -> list[str]:
    """Split the text, preferably between paragraphs, into pieces of at most LONGEST_PIECE characters."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > LONGEST_PIECE:
        window = text[start : start + LONGEST_PIECE]
        # Not too near to the beginning, where a paragraph's end would leave a tiny piece.
        cut = next((at for mark in ("\n\n", "\n", " ") if (at := window.rfind(mark)) > LONGEST_PIECE // 3), len(window))
        pieces.append(window[:cut].strip())
        start += cut
    return [piece for piece in (*pieces, text[start:].strip()) if piece]
