"""Read a document in Markdown or reStructuredText: its sentences and list items, its headings and its commands.

This module does not run in the hook. A document is split into units: a sentence, a list item, or a line that ends in a
colon together with the list after it. One in reStructuredText is rewritten as Markdown first; each line keeps its
number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from enricher.sources.code.lines import indentation

LONGEST_UNIT, SHORTEST_UNIT = 290, 24
"""Maximum and minimum characters of a unit (a sentence or list item of a document); other units are left out."""
LONGEST_IN_A_ROW = 75
"""Maximum characters of a list item that is joined with its neighbours because it cannot be understood alone."""
MORE_STEPS = "; …"
"""Appended to a numbered list that is cut because another step would make it too long."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BOLD = re.compile(r"(?<![\w/`.])__(\S.*?\S)__(?![\w/`.])")  # not in "pages/__init__.py"
_FENCE = re.compile(r"^\s*(```|~~~)\s*([\w+-]*)")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|(?:\d+|#)[.)])\s+(.*)$")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_LINES = "=-~^"
"""Underline characters of headings without "#", ordered by heading level."""
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,}|~{3,}|\^{3,})$")
LONGEST_TITLE = 80
_INDENTED = ("    ", "\t")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")  # not after "e.g.", which a small letter follows
_FORBIDS = ("Never ", "Do not ", "Don't ")
_EXAMPLE = ("e.g. ", "e.g., ", "example: ", "for example: ", "for example, ")
"""Beginnings of a list item that only shows what the item above it means."""
SHORTEST_PROHIBITION = 45
"""Characters that a prohibition must have to be understood without the sentence before it."""
SHELLS = frozenset(("", "bash", "sh", "shell", "console", "zsh", "text", "cmd", "powershell"))
_RST_UNDERLINE = re.compile(r"""^([=\-~^"'`#*+.:_<>])\1{2,}\s*$""")
_RST_CODE = re.compile(r"^(\s*)\.\. +(?:code-block|code|sourcecode|prompt|parsed-literal)::\s*([\w+-]*)")
_RST_MARKUP = re.compile(r"^\s*\.\.(?: |$)")
"""A directive, a comment, or the target of a link."""
_RST_OPTION = re.compile(r"^\s+:[\w-]+:(?:\s|$)")
_RST_ROLE = re.compile(r":(?P<role>[a-z][\w:+.-]*):`~?(?P<text>[^`<]+?)(?:\s*<[^`>]*>)?`")  # ":ref:`settings <all>`"
_RST_LINK = re.compile(r"(?<!`)(?P<role>)`(?P<text>[^`<]+?)(?:\s*<[^`>]*>)?`__?(?!\w)")
"""A link: "`Ruff <https://…>`_" or "`Ruff`_"."""
_RST_LITERAL = re.compile(r"``([^`\n]+)``")


@dataclass(slots=True)
class Unit:
    """A sentence, list item or short list of a document, with the headings above it, nearest first."""

    line: int
    text: str
    headings: tuple[str, ...]


def units(text: str) -> list[Unit]:
    """Return the sentences and list items of a Markdown text, without code, tables, quotations and lists of links."""
    reader = _Reader()
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence else mark[1]
            reader.end()
            if not fence:
                reader.lead = None
        elif fence:
            reader.command(line)
        else:
            reader.line(number, line)
    reader.end()
    return [unit for unit in reader.found if not unit.text.endswith(":")]


def titles(text: str) -> list[str]:
    """Return the headings of a Markdown text in order, except those in code and comments."""
    reader = _Reader()
    found: list[str] = []
    is_fenced = is_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        is_comment = not is_fenced and (is_comment or "<!--" in line)
        before = reader.headings
        reader.line(number, "" if is_fenced or is_comment else line)
        found += [reader.headings[-1][1]] if reader.headings is not before else []
        is_comment = is_comment and "-->" not in line
    return found


def fenced(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return the lines of all shell blocks, each with its number and the headings above it, nearest first.

    An indented line that begins with a prompt ("$ make test") is from such a block as well, and so are indented lines
    behind one that ends with a colon ("To run the tests:").
    """
    found: list[tuple[int, str, tuple[str, ...]]] = []
    reader = _Reader()
    inside, language, above = False, "", ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        is_indented = not inside and line.startswith(_INDENTED) and bool(line.strip())
        is_prompt = is_indented and (line.strip().startswith("$ ") or above.endswith(":"))
        above = above if is_indented or not line.strip() else line.rstrip()
        if mark:
            inside, language = not inside, mark[2].lower() if not inside else ""
        elif is_prompt or (inside and language in SHELLS and line.strip()):
            found.append((number, line.strip().removeprefix("$ "), reader.titles()))
        elif not inside:
            reader.line(number, line)
    return found


def _with_prohibitions(sentences: list[str]) -> list[str]:
    """Return the sentences; append each short prohibition to the sentence before it: "Use `x`. Never run `y`.".

    If a prohibition is followed by the alternative, both are joined: "Do not edit it by hand. Run `x`.".
    """
    found: list[str] = []
    for sentence in sentences:
        is_short = found and sentence.startswith(_FORBIDS) and len(sentence) < SHORTEST_PROHIBITION
        is_instead = found and found[-1].startswith(_FORBIDS) and "by hand" in found[-1]
        if (is_short or is_instead) and len(found[-1]) + len(sentence) < LONGEST_UNIT:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


class _Reader:
    def __init__(self) -> None:
        self.found: list[Unit] = []
        self.headings: list[tuple[int, str]] = []
        self.start = 0
        self.paragraph = ""
        self.is_item = self.is_numbered = self.is_indented = False
        self.steps: Unit | None = None
        """The steps of a numbered list that were read so far, which are one unit."""
        self.row: Unit | None = None
        """The short items of the current list; together they are one sentence: "use the present tense; no period"."""
        self.lead: Unit | None = None
        """A sentence that ends in a colon, to which the list or command below it is appended."""

    def line(self, number: int, line: str) -> None:
        bare = line.strip()
        if heading := _HEADING.match(line):
            self.end()
            self.heading(len(heading[1]), heading[2])
            return
        if _UNDERLINE.match(bare) and self.paragraph and not self.is_item and len(self.paragraph) <= LONGEST_TITLE:
            title, self.paragraph = self.paragraph, ""
            self.heading(1 + _LINES.find(bare[0]), title)
            return
        # Tables, quotations, HTML, pictures, badges and horizontal rules are not sentences.
        if not bare or bare.startswith(("|", ">", "<", "![", "[!", "---", "===")):
            self.end()
            if bare:
                self.lead = None
            return
        item = _ITEM.match(line)
        if item:
            self.end()
            self.start, self.paragraph, self.is_item = number, item[2], True
            self.is_numbered = item[0].strip()[:1] in "0123456789#" and not item[1]
        elif self.paragraph:
            self.paragraph += " " + bare
        else:
            self.lead = None
            self.is_indented = line[:1].isspace()  # a paragraph of the list item above it
            self.steps = self.steps if self.is_indented else None
            self.start, self.paragraph, self.is_item = number, bare, False

    def heading(self, level: int, title: str) -> None:
        self.lead = None
        self.headings = [one for one in self.headings if one[0] < level] + [(level, title)]

    def titles(self) -> tuple[str, ...]:
        """Return the headings above the current line, nearest first."""
        return tuple(title for _level, title in reversed(self.headings))

    def command(self, line: str) -> None:
        """Append the first line of a code block to the sentence before the block, if that ends with a colon."""
        if self.lead is not None and self.lead.text.endswith(":") and 0 < len(line.strip()) <= 80:
            self.lead.text += f" `{line.strip().removeprefix('$ ')}`"

    def end(self) -> None:
        text, self.paragraph = self.paragraph.strip(), ""
        if not text:
            return
        plain = _BOLD.sub(r"\1", _LINK.sub(lambda link: link[1], text).replace("**", "")).strip()
        is_only_link = bool(_LINK.fullmatch(text))
        if is_only_link or plain.startswith(("[ ]", "[x]")):  # "[ ]" is an item of a checklist, as in a template
            return
        headings = self.titles()
        is_short = self.is_item and len(plain) <= LONGEST_IN_A_ROW and "`" not in plain
        if self.is_item and self._is_joined(plain, headings, is_short=is_short):
            return
        is_one = self.is_item and len(plain) <= LONGEST_UNIT
        parts = [plain] if is_one else _with_prohibitions(_SENTENCE_END.split(plain))
        line = self.start
        for part in parts:
            if SHORTEST_UNIT <= len(part) <= LONGEST_UNIT or part.endswith(":"):
                self.found.append(Unit(line, part, headings))
        self.row = self.found[-1] if is_short and not self.is_numbered and self.found else None
        last = self.found[-1] if self.found and self.found[-1].line == line else None  # None: it was too short or long
        if self.is_item or not self.is_indented:
            self.steps = last if self.is_item and self.is_numbered else None
        if plain.endswith(":") and last:
            self.lead = last

    def _is_joined(self, plain: str, headings: tuple[str, ...], *, is_short: bool) -> bool:
        """Append a list item to the unit to which it belongs, if it fits; return whether there is such a unit."""
        last = self.found[-1] if self.found else None
        if plain.lower().startswith(_EXAMPLE) and last is not None and last.headings == headings:
            last.text = f"{last.text} {plain}" if len(last.text) + len(plain) < LONGEST_UNIT else last.text
            return True
        if self.lead is not None:
            joined = f"{self.lead.text} {plain.rstrip('.;,')};"
            if len(joined) <= LONGEST_UNIT:
                self.lead.text = joined
            return True
        if self.is_numbered and self.steps is not None and self.steps.headings == headings:
            if not self.steps.text.endswith(MORE_STEPS):
                before = self.steps.text.rstrip(".;,")
                joined = f"{before}; {plain.rstrip('.;,')}"
                self.steps.text = joined if len(joined) <= LONGEST_UNIT else f"{before}{MORE_STEPS}"
            return True
        above = self.found[-1] if self.found else None
        if is_short and self.row is not None and self.row is above and above.headings == headings:
            joined = f"{above.text.rstrip('.;,')}; {plain}"
            above.text = joined if len(joined) <= LONGEST_UNIT else above.text
            return True
        return False


# --- reStructuredText


def as_markdown(text: str) -> str:
    """Return a document in Markdown: its headings with "#", its code in fences, its links and roles as their text."""
    lines = _RST_LITERAL.sub(r"`\1`", _RST_LINK.sub(_plain, _RST_ROLE.sub(_plain, text))).split("\n")
    found: list[str] = []
    marks: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if _is_title(lines, at):
            mark = lines[at + 1][0]
            marks += [] if mark in marks else [mark]
            found += [f"{'#' * min(6, 1 + marks.index(mark))} {line.strip()}", ""]
            at += 2
        elif code := _RST_CODE.match(line):
            block = _block(lines, at + 1, len(code[1]))
            found += [f"```{code[2]}", *_fenced(block)]
            at += 1 + len(block)
        elif _RST_MARKUP.match(line) or _RST_UNDERLINE.match(line):
            found.append("")
            at += 1
        elif line.rstrip().endswith("::") and at + 1 < len(lines) and not lines[at + 1].strip():
            block = _block(lines, at + 2, indentation(line))
            found += [line.rstrip()[:-1], "```"]
            found += _fenced(block) if block else [""]
            found = found if block else [*found[:-2], ""]
            at += 2 + len(block)
        else:
            found.append(line)
            at += 1
    return "\n".join(found)


def _is_title(lines: list[str], at: int) -> bool:
    """Return whether a line is a title, which is underlined to its whole length."""
    title, below = lines[at].rstrip(), lines[at + 1] if at + 1 < len(lines) else ""
    is_text = bool(title.strip()) and not _RST_UNDERLINE.match(title)
    return is_text and bool(_RST_UNDERLINE.match(below)) and len(below.rstrip()) >= len(title)


def _block(lines: list[str], start: int, depth: int) -> list[str]:
    """Return the lines from ``start`` on that are empty or indented by more than ``depth``."""
    end = start
    while end < len(lines) and (not lines[end].strip() or indentation(lines[end]) > depth):
        end += 1
    return lines[start:end]


def _fenced(block: list[str]) -> list[str]:
    """Return the lines of a code block without their indentation and options, and with the fence below them."""
    depth = min((indentation(line) for line in block if line.strip()), default=0)
    inside = ["" if _RST_OPTION.match(line) else line[depth:] for line in block]
    if inside and not inside[-1].strip():
        inside[-1] = "```"  # replaces the empty line that ends every block except one at the end of the document
    return inside


def _plain(link: re.Match[str]) -> str:
    """Return the text of a link or role with the same number of line breaks as in the document."""
    text = link["text"]
    number = f"{link['role']} " if text.isdecimal() else ""  # ":pep:`8`"
    return "\n" * (link[0].count("\n") - text.count("\n")) + number + text
