"""The prompt: its event, its project, its redaction, the things it names, and the conversation it refers to.

Every module of this package may import this one, so this one imports none of them.
"""

POINTING_WORDS = 24
"""Maximum words of a prompt that may refer back; a longer prompt is assumed to name its subject itself."""
MOST_RECORDED = 40
"""Maximum prompts, files, names etc. recorded of a conversation; far fewer are read from a transcript."""


def cut(text: str, limit: int) -> str:
    """Return the text on one line, cut between words if it is longer than ``limit`` characters."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    kept = flat[: limit - 1]
    return (kept.rpartition(" ")[0] if " " in kept[-20:] else kept).rstrip(" ,.;:") + "…"
