"""Commands that try instructions on recorded prompts."""

SUMMARIES = {
    "ab": "compare two instructions on the same prompts",
    "bisect": "find the version of the instructions that flipped a prompt",
    "compare": "say which recorded prompts two instructions answer differently",
    "coverage": "count how often each rule speaks, and what nothing speaks for",
    "replay": "say what an edit of the instructions changes on recorded prompts",
    "suggest": "propose single edits from labelled prompts, as diffs",
    "tune": "fit weights to labelled prompts, as a diff of the instructions",
}
"""Summaries for the list of commands, as in ``workbench.commands``."""
