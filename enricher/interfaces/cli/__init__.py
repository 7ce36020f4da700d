"""The command ``enricher``: a table of commands, each imported only when it is called."""

from __future__ import annotations

import os
import sys

from enricher.home import root_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import click

LONGEST_HELP = 300
"""Maximum characters of a command's first sentence; click by itself would cut it to one line."""

COMMANDS = {
    "hook": "answer one event on stdin as a host's prompt hook",
    "enrich": "show what a prompt would get",
    "explain": "show why: signals, scores, and what was left out",
    "check": "lint the instructions",
    "demo": "see the product work on sample data",
    "install": "register the hook in a host",
    "uninstall": "take the hook out of a host",
    "on": "switch the enricher on (ends shadow mode)",
    "off": "switch the enricher off",
    "doctor": "check every registered host and say what to mend",
    "trust": "let a project's .enricher/ take part",
    "config": "show the settings and where they come from",
    "memory": "keep, import, search and review what the project remembers",
    "code": "find the files of a project that a text is about",
    "trace": "list, show, label and export what was logged",
    "topics": "show what the project's memory is about",
    "resources": "list and read what stands at the enricher:// addresses",
    "prompts": "list and write the prompts of the memory",
    "mcp": "serve memory, topics and explanations to an MCP client",
    "bench": "measure the hook, its channels and the memory",
    "help": "say what each search intent looks up (help intent)",
}

_ROOMS = {
    **dict.fromkeys(("check", "config", "doctor", "hook", "install", "off", "on", "trust", "uninstall"), "setup."),
    **dict.fromkeys(("memory", "topics", "resources", "prompts", "mcp"), "memory."),
    "trace": "trace.",
}
"""The subpackages of the commands whose modules are not in this folder."""


def main() -> None:
    """Run the command line; our own root comes first in ``sys.path``, before any ``PYTHONPATH``."""
    sys.path.insert(0, root_dir())
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(sys.argv):
        from enricher.hook.process import main as hook

        hook([word for word in sys.argv[2:] if word != "--host"])
    from enricher.rules.cache import NoRulesError

    try:
        os.getcwd()
    except OSError:
        sys.exit("Error: the folder that you are in is gone; change to another one")
    try:
        _group()()
    except NoRulesError as error:
        sys.exit(f"Error: {error}; see: enricher check")


def _group() -> click.Group:
    import click

    class Commands(click.Group):
        """Commands by name: ours from the table above, the workbench's from entry points."""

        def list_commands(self, ctx: click.Context) -> list[str]:
            del ctx
            return [*COMMANDS, *commands_from_above()]

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            del ctx
            if cmd_name in COMMANDS:
                module = __import__(
                    f"enricher.interfaces.cli.{_ROOMS.get(cmd_name, '')}{cmd_name}", fromlist=[cmd_name]
                )
                command: click.Command = getattr(module, f"{cmd_name}_command", None) or getattr(module, cmd_name)
                return command
            entry = commands_from_above().get(cmd_name)
            return entry.load() if entry else None

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Take the help from the table, so that ``--help`` imports no command."""
            del ctx
            with formatter.section("Commands"):
                others = [(name, _summary(entry)) for name, entry in commands_from_above().items()]
                formatter.write_dl([*COMMANDS.items(), *sorted(others)])

    from enricher import __version__

    group = Commands(
        "enricher",
        help="A prompt hook for coding agents: a few sourced facts or silence, every decision logged.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return click.version_option(__version__, prog_name="enricher")(group)


def commands_from_above(command: str = "") -> dict[str, EntryPoint]:
    """Return the entry points of the workbench's commands, at the top level or in the group ``command``."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=f"enricher.commands.{command}".rstrip("."))}


def _summary(entry: EntryPoint) -> str:
    """Return the one-line help of a command, read from its package so that the command is not imported."""
    from importlib import import_module

    summaries: dict[str, str] = import_module(entry.module.rpartition(".")[0]).SUMMARIES
    return summaries[entry.name]
