"""How much text is enough: an estimate of tokens, and cutting to fit (rulings R8 and R12)."""

from __future__ import annotations

MOST_CHARACTERS = 9500
HARD_CAP_TOKENS = 2000
CJK_STARTS = "\u2e80"
CJK_ENDS = "\u9fff"
HANGUL = ("\uac00", "\ud7af")
ELLIPSIS = "…"


def estimate_tokens(text: str) -> int:
    """Return max(words x 1.3 + 1, characters / 4, CJK characters), the estimate of ruling R12."""
    if text.isascii():
        return max(int(len(text.split()) * 1.3) + 1, len(text) // 4)
    wide = sum(1 for char in text if CJK_STARTS <= char <= CJK_ENDS or HANGUL[0] <= char <= HANGUL[1])
    return max(int(len(text.split()) * 1.3) + 1, len(text) // 4, wide)


def cut(text: str, *, tokens: int) -> str:
    """Return ``text``, ended with an ellipsis at a word if it is estimated at more than ``tokens``."""
    if estimate_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle] + ELLIPSIS) <= tokens else (low, middle - 1)
    kept = text[:low]
    at_word = kept.rpartition(" ")[0] if low < len(text) and " " in kept[-40:] else kept
    return at_word.rstrip() + ELLIPSIS if at_word.strip() else ""
