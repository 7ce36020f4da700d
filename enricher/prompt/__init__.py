"""Read what the client sends with a prompt, redact its secrets, and find the names and earlier turns it refers to.

Every module of this package may import this one, so this one imports none of them.
"""

POINTING_WORDS = 24
"""Maximum words of a prompt that may refer back; a longer prompt is assumed to name its subject itself."""
MOST_RECORDED = 40
"""Maximum number of prompts, files, names etc. that a trace records; far fewer are read from a transcript."""
