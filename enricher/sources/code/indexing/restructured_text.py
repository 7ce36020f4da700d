"""Rewrite a document in reStructuredText as Markdown, so that its headings, sentences and commands can be read.

This module does not run in the hook. Each line keeps its number.
"""

from __future__ import annotations

import re

_UNDERLINE = re.compile(r"""^([=\-~^"'`#*+.:_<>])\1{2,}\s*$""")
_CODE = re.compile(r"^(\s*)\.\. +(?:code-block|code|sourcecode|prompt|parsed-literal)::\s*([\w+-]*)")
_MARKUP = re.compile(r"^\s*\.\.(?: |$)")
"""A directive, a comment, or the target of a link."""
_OPTION = re.compile(r"^\s+:[\w-]+:(?:\s|$)")
_ROLE = re.compile(r":(?P<role>[a-z][\w:+.-]*):`~?(?P<text>[^`<]+?)(?:\s*<[^`>]*>)?`")  # ":ref:`settings <all>`"
_LINK = re.compile(r"(?<!`)(?P<role>)`(?P<text>[^`<]+?)(?:\s*<[^`>]*>)?`__?(?!\w)")  # "`Ruff <https://…>`_", "`Ruff`_"
_LITERAL = re.compile(r"``([^`\n]+)``")


def as_markdown(text: str) -> str:
    """Return a document in Markdown: its headings with "#", its code in fences, its links and roles as their text."""
    lines = _LITERAL.sub(r"`\1`", _LINK.sub(_plain, _ROLE.sub(_plain, text))).split("\n")
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
        elif code := _CODE.match(line):
            block = _block(lines, at + 1, len(code[1]))
            found += [f"```{code[2]}", *_fenced(block)]
            at += 1 + len(block)
        elif _MARKUP.match(line) or _UNDERLINE.match(line):
            found.append("")
            at += 1
        elif line.rstrip().endswith("::") and at + 1 < len(lines) and not lines[at + 1].strip():
            block = _block(lines, at + 2, _indentation(line))
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
    is_text = bool(title.strip()) and not _UNDERLINE.match(title)
    return is_text and bool(_UNDERLINE.match(below)) and len(below.rstrip()) >= len(title)


def _block(lines: list[str], start: int, depth: int) -> list[str]:
    """Return the lines from ``start`` on that are empty or indented by more than ``depth``."""
    end = start
    while end < len(lines) and (not lines[end].strip() or _indentation(lines[end]) > depth):
        end += 1
    return lines[start:end]


def _fenced(block: list[str]) -> list[str]:
    """Return the lines of a code block without their indentation and options, and with the fence below them."""
    depth = min((_indentation(line) for line in block if line.strip()), default=0)
    inside = ["" if _OPTION.match(line) else line[depth:] for line in block]
    if inside and not inside[-1].strip():
        inside[-1] = "```"  # in the place of the empty line that ends each block but that at the document's end
    return inside


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _plain(link: re.Match[str]) -> str:
    """Return the text of a link or role, with as many line ends as it has in the document."""
    text = link["text"]
    number = f"{link['role']} " if text.isdecimal() else ""  # ":pep:`8`"
    return "\n" * (link[0].count("\n") - text.count("\n")) + number + text
