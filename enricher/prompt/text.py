"""Cut and sanitize texts, remove their code blocks, find substrings, and estimate their tokens."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import AnyStr

CJK_STARTS = "\u2e80"
CJK_ENDS = "\u9fff"
HANGUL = ("\uac00", "\ud7af")
ELLIPSIS = "…"
LONGEST_LABEL = 240
LONGEST_PREVIEW = 200  # characters
LOOK_ALIKES = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


def harmless(text: str, *, longest: int) -> str:
    """Return untrusted text on one line, without control characters, ``<`` and ``>``, cut to ``longest`` characters.

    Such a text can neither imitate the tags that a host (a coding agent) uses nor end an HTML comment.
    """
    flat = " ".join(text.replace("\x1b", " ").split())  # ESC is no white space
    clean = "".join(char for char in flat if char.isprintable())  # drops invisible characters such as U+200B, too
    clean = clean.replace("<", LOOK_ALIKES[0]).replace(">", LOOK_ALIKES[1])
    return shortened(clean, longest)


def shortened(text: str, longest: int) -> str:
    """Return ``text``; if it has more than ``longest`` characters, cut it and end it with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + ELLIPSIS


def preview(content: str, *, longest: int = LONGEST_PREVIEW) -> str:
    """Return the beginning of a text on one line, at most ``longest`` characters, cut at a word."""
    # The beginning of a huge text is enough, even if 95 % of it is white space.
    flat = " ".join(content[: longest * 20].split())
    if len(flat) <= longest and len(content) <= longest * 20:
        return flat
    head = flat[: longest - 1]
    at_word = without_last_word(head, window=longest) if flat[len(head) :][:1].strip() else head
    return (at_word or head).rstrip() + ELLIPSIS


def cut(text: str, limit: int) -> str:
    """Return the text on one line; if it has more than ``limit`` characters, cut it between words."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    return without_last_word(flat[: limit - 1], window=20).rstrip(" ,.;:") + ELLIPSIS


def places(text: AnyStr, mark: AnyStr) -> Iterator[int]:
    """Yield the offset of each occurrence of ``mark`` in ``text``; they do not overlap."""
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + len(mark))


def without_code(lines: list[str]) -> list[str]:
    """Return the lines, with every line of a Markdown code block replaced by an empty one."""
    kept, is_code = [], False
    for line in lines:
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_code = is_code != is_fence
        kept.append("" if is_code or is_fence else line)
    return kept


def has_cue(low: str, cues: str) -> bool:
    """Return whether a text in lower case contains one of ``cues``, in which ``_`` means a space."""
    return any(cue.replace("_", " ") in low for cue in cues.split())


def singular(word: str) -> str:
    """Return an English word without the "s" of the plural; words such as "class" are unchanged."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


def is_version(word: str) -> bool:
    """Return whether a word has the form of a version with a dot: "2.1", "v2.1.0"."""
    return word.lstrip("v")[:1].isdigit() and "." in word


def without_last_word(text: str, *, window: int = 40) -> str:
    """Drop the last word of a text that was cut off, if that word begins within the last ``window`` characters."""
    return text.rpartition(" ")[0] if " " in text[-window:] else text


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens as max(words x 1.3 + 1, characters / 4, CJK characters) (ruling R12)."""
    wide = 0
    if not text.isascii() and max(text) >= CJK_STARTS:  # most texts need no slow count of single characters
        wide = sum(1 for char in text if CJK_STARTS <= char <= CJK_ENDS or HANGUL[0] <= char <= HANGUL[1])
    return max(int(len(text.split()) * 1.3) + 1, len(text) // 4, wide)
