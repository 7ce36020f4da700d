"""Commands that evaluate recorded prompts again under other instructions."""

SECTIONS = {
    "Tune the instructions": {
        "replay": "show what an edit changes on recorded prompts",
        "compare": "show which prompts two versions answer differently",
        "coverage": "count how often each rule fires",
        "bisect": "find the edit that changed the result of a prompt",
        "suggest": "propose single edits from labelled prompts",
        "tune": "fit the weights to labelled prompts",
        "ab": "test whether one version is better than another",
    },
}
"""For each section of ``enricher --help``, the commands of this package with a description."""
