"""The prompt: its event, its project, the secrets taken out of it, what its words name and point back to.

Every module of this package may import this one, so it imports none of them.
"""

POINTING_WORDS = 24
"""A prompt of more words says itself what it is about."""
MOST_RECORDED = 40
"""Prompts, files, names and the like that are recorded of a conversation; of a transcript far fewer are kept."""


def cut(text: str, limit: int) -> str:
    """Return the text on one line, cut at a word where it is longer than ``limit`` characters."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    kept = flat[: limit - 1]
    return (kept.rpartition(" ")[0] if " " in kept[-20:] else kept).rstrip(" ,.;:") + "…"
