"""Quote foreign text in Markdown so that it cannot act as anything but a quotation.

Everything that a terminal, a host or a renderer would interpret is removed or escaped: control
and direction characters, tags, comments, headings, fences, rules, links and images. Words, code
and line breaks stay unchanged.
"""

from __future__ import annotations

import re

from enricher.prompt.text import ELLIPSIS, without_last_word

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])|\x9b[0-?]*[ -/]*[@-~]")
_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029]")
_FENCE = re.compile(r"`{3,}|~{3,}")
_LEADING = re.compile(r"^(\s*)(?=#|>|\[[^\]]*\]:|=+\s*$|-+\s*$|(?:[-*_]\s*){3,}$)")
_LINK = re.compile(r"!\[|\]\(")
_INVISIBLE = "\u00ad\u034f\u180e\u3164\ufe0f"


def line(text: str, *, longest: int) -> str:
    """Return ``text`` on one line of at most ``longest`` characters before escaping, cut at a word."""
    flat = " ".join(_visible(text).split())
    return _escaped(flat if len(flat) <= longest else without_last_word(flat[: longest - 1]).rstrip() + ELLIPSIS)


def block(text: str) -> str:
    """Return ``text`` as a block quotation, every line of it escaped."""
    lines = _visible(text).strip("\n").split("\n")
    return "\n".join(f"> {_escaped(one)}".rstrip() for one in lines)


def _visible(text: str) -> str:
    plain = _LINE_ENDS.sub("\n", _ANSI.sub("", text)).replace("\t", "    ").encode(errors="replace").decode()
    if plain.isascii() and plain.replace("\n", "").isprintable():
        return plain
    spaced = (" " if char.isspace() and char != "\n" else char for char in plain)
    return "".join(char for char in spaced if char == "\n" or (char.isprintable() and char not in _INVISIBLE))


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;") if "&lt;" in text or "&#" in text or "&gt;" in text else text
    text = text.replace("<", "&lt;").replace("-->", "--&gt;")
    text = _FENCE.sub(lambda run: "".join(f"\\{char}" for char in run[0]), text)
    text = _LINK.sub(lambda mark: f"{mark[0][0]}\\{mark[0][1]}", text)
    return _LEADING.sub(r"\1\\", text)
