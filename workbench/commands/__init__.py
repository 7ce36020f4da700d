"""The workbench's commands, one module each; ``enricher`` finds them through its entry points.

The help of ``enricher`` shows these summaries, so that listing the commands imports none of them.
"""

SUMMARIES = {
    "publish": "show the history in a browser, or write a snapshot that may be shown to others",
    "workbench": "tune the instructions in an app, with live figures",
}
