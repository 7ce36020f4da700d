"""Find where the project declares a subcommand that a prompt names, such as "shopctl restock".

Runs in the hook, but is imported only for a prompt that names a subcommand.
"""

from __future__ import annotations

from enricher.prompt.wording.names import COMMAND
from enricher.sources.code import SOURCE
from enricher.sources.code.facts import FEW, Fact
from enricher.sources.code.lookup import MOST_CANDIDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording.names import Name
    from enricher.sources.code.lookup import Lookup

TOOLS = frozenset(
    "git gh npm npx yarn pnpm bun deno node pip pipx uv poetry python python3 pytest ruff mypy cargo go make cmake"
    " docker podman kubectl helm terraform aws gcloud az brew apt sudo cd ls cat grep curl ssh bash sh claude codex"
    " gemini".split()
)
"""Programs whose subcommands the project does not define."""
DECLARES = "declares this command"
DECLARING_CALLS = ("command(", "add_parser(", "Use: ", "Command::new(", "ommand(name = ")
"""Code that comes directly before a subcommand's name where a command-line library declares it."""
MOST_WORDS_OF_A_VALUE = 4
COMMAND_FOLDERS = frozenset(("cmd", "cmds", "command", "commands", "subcommands", "cli"))


def place_of_command(lookup: Lookup, name: Name) -> Fact | None:
    """Return the place of a subcommand: its one file in a folder of commands, else its one declaration, else None."""
    if name.owner.lower() in TOOLS:
        return None
    subject = f"{name.owner} {name.text}"
    files = [
        path for path, kind in lookup.of_stem(name.text)
        if kind == SOURCE and path.split("/")[-2:-1] and path.split("/")[-2] in COMMAND_FOLDERS
    ]  # fmt: skip
    if len(files) == 1:
        line = _declaring_line(lookup.occurrences(files[0], name.text), name.text)
        return Fact(COMMAND, files[0], line, subject, DECLARES if line else "the file of this command", FEW)
    holding = [path for path, kind in lookup.holding(name.text) if kind == SOURCE]
    calls = [f"{call}{quote}{name.text}{quote}" for call in DECLARING_CALLS for quote in ("'", '"')]
    declared = [
        (path, number)
        for path in (holding if len(holding) <= MOST_CANDIDATES else ())
        for number, at in lookup.occurrences(path, name.text) if any(call in at for call in calls)
    ]  # fmt: skip
    return Fact(COMMAND, *declared[0], subject, DECLARES, FEW) if len(declared) == 1 else None


def _declaring_line(lines: list[tuple[int, str]], command: str) -> int:
    """Return the number of the line that most likely declares the subcommand ``command``; 0 if there is none."""
    starts = [f"{quote}{command}{end}" for quote in ("'", '"') for end in (quote, " ")]
    quoting = [(number, " ".join(at.split())) for number, at in lines if any(one in at for one in starts)]
    declaring = [
        number for number, at in quoting if any(f"{call}{one}" in at for call in DECLARING_CALLS for one in starts)
    ]
    # A longer line with the name in quotation marks is a sentence of the help text.
    values = [number for number, at in quoting if len(at.split()) <= MOST_WORDS_OF_A_VALUE]
    return next(iter(declaring + values), 0)
