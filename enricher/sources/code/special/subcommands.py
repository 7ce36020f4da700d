"""Find where the project declares a subcommand or an option that a prompt names: "shopctl restock", "--dry-run".

Runs in the hook, but is imported only for a prompt that names one of them.
"""

from __future__ import annotations

import os

from enricher.prompt.wording import COMMAND, FLAG
from enricher.sources.code import SOURCE
from enricher.sources.code.facts import FEW, ONLY, Fact
from enricher.sources.code.lookup import MOST_WITH_ALL_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

TOOLS = frozenset(
    "git gh npm npx yarn pnpm bun deno node pip pipx uv poetry python python3 pytest ruff mypy cargo go make cmake"
    " docker podman kubectl helm terraform aws gcloud az brew apt sudo cd ls cat grep curl ssh bash sh claude codex"
    " gemini".split()
)
"""Programs whose subcommands the project does not define."""
DECLARES = "declares this command"
DECLARING_CALLS = ("command(", "add_parser(", "Use: ", "Command::new(", "ommand(name = ")
"""Code that directly precedes a subcommand's name in a declaration for a command-line library."""
HANDLERS = ("cmd_{}", "command_{}", "do_{}", "handle_{}", "{}_command")
"""Names of the functions that handle a command of a chat or a shell."""
VISIBILITIES_OF_RUST = ("pub ", "pub(crate) ", "pub(super) ")
OPTIONS_OF_RUST = ("#[arg(", "#[clap(", "#[structopt(")
"""Beginnings of the Rust attributes that declare the field below them as a command-line option."""
MOST_LINES_OF_AN_ATTRIBUTE = 16
MOST_WORDS_OF_A_VALUE = 4
COMMAND_FILES = ("cmd_{}", "cmd-{}", "{}_cmd", "{}-cmd", "{}_command", "{}-command", "{}command")
"""Patterns for the name of a subcommand's file in any folder: ``cmd_stats.go`` for ``stats``."""
COMMAND_FOLDERS = frozenset(("cmd", "cmds", "command", "commands", "subcommands", "cli"))


def place_of_command(lookup: Lookup, name: Name) -> Fact | None:
    """Return the place of a subcommand: the only file of that name, else its only declaration, else None."""
    if name.owner == "/":
        return _place_of_chat_command(lookup, name.text)
    if name.owner.lower() in TOOLS:
        return None
    subject = f"{name.owner} {name.text}"
    files = [
        path for path, kind in lookup.of_stem(name.text)
        if kind == SOURCE and path.split("/")[-2:-1] and path.split("/")[-2].lower() in COMMAND_FOLDERS
    ] + [
        path for form in COMMAND_FILES for path, kind in lookup.of_stem(form.format(name.text)) if kind == SOURCE
    ]  # fmt: skip
    if len(files) == 1:
        line = _declaring_line(lookup.occurrences(files[0], name.text), name.text)
        return Fact(COMMAND, files[0], line, subject, DECLARES if line else "the file of this command", FEW)
    declared = [
        (path, number)
        for path in _sources_with(lookup, name.text)
        for number, at in lookup.occurrences(path, name.text) if _declares_command(at, name.text)
    ]  # fmt: skip
    return Fact(COMMAND, *declared[0], subject, DECLARES, FEW) if len(declared) == 1 else None


def _place_of_chat_command(lookup: Lookup, command: str) -> Fact | None:
    """Return the function that handles a command such as "/web", by its name; else the only declaration, else None."""
    if os.path.exists(f"{lookup.root}/{command}"):
        return None
    for form in HANDLERS:
        name = form.format(command.replace("-", "_"))
        own = [place for place in lookup.definitions(name) if place.kind == SOURCE and lookup.verified(place, name)]
        if len(own) == 1:
            return Fact(COMMAND, own[0].path, own[0].line, f"/{command}", DECLARES, FEW)
    found = [
        (path, number)
        for path in _sources_with(lookup, command)
        for number, at in lookup.occurrences(path, command)
        if _declares_command(at, command) or any(f"{quote}/{command}{quote}" in at for quote in "\"'`")
    ]  # fmt: skip
    return Fact(COMMAND, *found[0], f"/{command}", DECLARES, FEW) if len(found) == 1 else None


def _sources_with(lookup: Lookup, word: str) -> list[str]:
    """Return the source files that contain ``word``; empty if there are too many to read."""
    files = [path for path, kind in lookup.holding(word) if kind == SOURCE]
    return files if len(files) <= MOST_WITH_ALL_WORDS else []


def _declares_command(line: str, command: str) -> bool:
    """Return whether a line declares the subcommand, perhaps with its arguments: ``Use:   "stats [flags] [ID]"``."""
    starts = [f"{call}{quote}{command}" for call in DECLARING_CALLS for quote in ("'", '"')]
    plain = " ".join(line.split())
    if plain.startswith("package ") and plain.endswith(f"::{command};"):  # the class of a command in Perl
        return True
    return any(plain.partition(start)[2].startswith(("'", '"', " [", " <")) for start in starts)


def _declaring_line(lines: list[tuple[int, str]], command: str) -> int:
    """Return the number of the line that most likely declares the subcommand ``command``; 0 if there is none."""
    declaring = [number for number, at in lines if _declares_command(at, command)]
    starts = [f"{quote}{command}{end}" for quote in ("'", '"') for end in (quote, " ")]
    # A longer line with the quoted name is a sentence of the help text.
    values = [
        number for number, at in lines
        if any(one in at for one in starts) and len(at.split()) <= MOST_WORDS_OF_A_VALUE
    ]  # fmt: skip
    return next(iter(declaring + values), 0)


def place_of_field(lookup: Lookup, flag: str) -> Fact | None:
    """Return the only field of a Rust file that declares an option; None if none does, or several do."""
    field = flag[2:].replace("-", "_")
    files = [path for path in _sources_with(lookup, field) if path.endswith(".rs")]
    found = [(path, number) for path in files for number in _option_fields(lookup, path, field)]
    return Fact(FLAG, *found[0], flag, "declared here", ONLY) if len(found) == 1 else None


def _option_fields(lookup: Lookup, path: str, field: str) -> list[int]:
    """Return the lines of a Rust file that declare an option as a field below an attribute such as ``#[arg(long)]``."""
    lines = lookup.text(path).split("\n")
    found = []
    for number, line in lookup.occurrences(path, field):
        at = number - 2
        is_field = any(line.strip().startswith(f"{visible}{field}: ") for visible in ("", *VISIBILITIES_OF_RUST))
        if not is_field or at < 0 or not lines[at].rstrip().endswith(")]"):
            continue
        while at > max(number - MOST_LINES_OF_AN_ATTRIBUTE, 0) and not lines[at].lstrip().startswith(OPTIONS_OF_RUST):
            at -= 1
        attribute = " ".join(lines[at : number - 1]).replace("(", " ").replace(")", " ").replace(",", " ")
        if lines[at].lstrip().startswith(OPTIONS_OF_RUST) and "long" in attribute.split():
            found.append(number)
    return found
