"""The workbench's commands, one module each; ``enricher`` finds them through its entry points.

The summaries are what its help lists, so that listing loads no command.
"""

SUMMARIES = {
    "ab": "compare two instructions on the same prompts",
    "bisect": "find the version of the instructions that flipped a prompt",
    "compare": "say which recorded prompts two instructions answer differently",
    "coverage": "count how often each rule speaks, and what nothing speaks for",
    "publish": "show the history in a browser, or write a snapshot that may be shown to others",
    "replay": "say what an edit of the instructions changes on recorded prompts",
    "suggest": "propose single edits from labelled prompts, as diffs",
    "tune": "fit weights to labelled prompts, as a diff of the instructions",
    "workbench": "tune the instructions in an app, with live figures",
}
