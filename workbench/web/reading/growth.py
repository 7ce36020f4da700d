"""Decide how many prompts are measured, and when there are enough new ones to measure again."""

NEWEST_PROMPTS = 5_000
"""At most so many prompts are measured, the newest."""
GROWTH = 0.05
"""It is measured again only once prompts have increased by this share, because measuring takes seconds."""


def enough_new(measured: int) -> int:
    """Return how many new prompts are enough to measure again if ``measured`` prompts were measured."""
    return max(1, round(measured * GROWTH))
