"""The workbench's commands, one module each; ``enricher`` finds them through its entry points.

The summaries are what its help lists, so that listing loads no command.
"""

SUMMARIES = {
    "publish": "show the history in a browser, or write a snapshot that may be shown to others",
    "workbench": "tune the instructions in an app, with live figures",
}
