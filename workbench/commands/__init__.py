"""Define the commands of the workbench; ``enricher`` finds them through the entry points in ``pyproject.toml``.

``enricher --help`` takes names and descriptions from SECTIONS, so that it need not import the commands to list them.
"""

SECTIONS = {
    "Tune the instructions": {
        "workbench": "edit the instructions in a terminal app, with live figures",
        "model": "measure a language model as a second opinion, on labels",
    },
    "History": {
        "publish": "show the history in a browser, or write a snapshot to share",
    },
}
