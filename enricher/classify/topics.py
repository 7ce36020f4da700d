"""Details of a search intent beyond its class: the confidence of seed 001, the matched keywords, the topics."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

MOST_TOPICS = 5
SHORTEST_TOPIC = 3
LONG_PROMPT = 50
SCANNED = 2000
_EDGES = " \t\n\r.,;:!?()[]{}<>\"'`*_-/\\#@…“”\u2019\u2018|=+~\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"


def confidence(text: str, signals: int) -> float:
    """Return 0.5, plus 0.1 per further signal (at most 0.15), 0.1 for over 50 characters, 0.1 for several sentences."""
    value = 0.5 + min(0.15, 0.1 * max(0, signals - 1))
    if len(text) > LONG_PROMPT:
        value += 0.1
    if has_sentences(text):
        value += 0.1
    return round(min(0.95, value), 2)


def has_sentences(text: str) -> bool:
    """Return whether ``text`` has more than one sentence; a dot within or right after a short token ends none."""
    ended = False
    for chunk in text.split():
        if ended:
            return True
        bare = chunk.rstrip("\"')]}*")
        ended = bare[-1:] in ("?", "!") or (bare[-1:] == "." and bare.count(".") == 1 and len(bare) > 1)
    return False


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, without spans that overlap an earlier or longer one."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def topics(text: str, start: int, *, without: Container[str], keywords: list[str]) -> list[str]:
    """Return up to five content words after ``start``, in the order of their first mention."""
    spent = {word.strip(_EDGES) for keyword in keywords for word in keyword.lower().split()}
    found: list[str] = []
    for chunk in text[start : start + SCANNED].replace("/", " ").replace("\u2019", "'").split():
        for piece in chunk.split(","):
            word = piece.strip(_EDGES).lower()
            word = word.removesuffix("'s")
            if len(word) < SHORTEST_TOPIC or word in without or word in spent or word in found or not word[0].isalpha():
                continue
            found.append(word)
            if len(found) == MOST_TOPICS:
                return found
    return found
