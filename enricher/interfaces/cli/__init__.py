"""Run the command line ``enricher``; the module of a command is imported only when the command is called."""

from __future__ import annotations

import os
import sys

from enricher.home import root_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import click

LONGEST_HELP = 300  # characters of a command's first sentence in --help; click by itself would cut it to one line

SECTIONS = {
    "Set up": {
        "install": "register the hook in your agent client",
        "doctor": "check the installation, and say how to repair it",
        "config": "show the settings and where each comes from",
        "trust": "let the .enricher folder of a project take effect",
        "on": "switch enrichment on, and end shadow mode",
        "off": "switch enrichment off; the hook stays registered",
        "uninstall": "remove the hook from your agent clients",
    },
    "See what a prompt gets": {
        "demo": "run sample prompts through the hook and show what it adds",
        "enrich": "show what would be added to a prompt",
        "hydrate": "print the plan in a file of the mode hydrate-file",
        "explain": "show why: the signals, the scores, and what was left out",
        "help": "explain the search intents (enricher help intent)",
    },
    "Memory and code": {
        "memory": "add, import, search and review what a project remembers",
        "topics": "list the topics of the project's memory",
        "code": "find the files of a project that a text is about",
    },
    "Tune the instructions": {
        "check": "find errors in the instructions",
        "template": "list and render the prompts for a model, and check its answers",
    },
    "History": {"trace": "list, label, import, export and delete recorded prompts"},
    "Check what an agent wrote": {"validate": "find stubs, fixed values and swallowed errors in Python code"},
    "For clients and programs": {
        "hook": "answer one prompt on stdin, as agent clients call it",
        "mcp": "serve the memory to clients of the Model Context Protocol",
        "resources": "list and read the resources of the MCP server",
        "prompts": "list and print the prompts of the MCP server",
        "bench": "measure how long the hook and its parts take",
    },
}
"""The commands with their summaries, in the sections of ``enricher --help``, in the order a newcomer needs them."""

COMMANDS = {name: summary for section in SECTIONS.values() for name, summary in section.items()}

_MODULES = {
    **dict.fromkeys(("doctor", "on", "off", "uninstall"), "install"),
    "trust": "config",
    "help": "explain",
    **dict.fromkeys(("check", "template"), "instructions"),
    "validate": "code",
    **dict.fromkeys(("hydrate", "hook"), "enrich"),
    "memory": "memory.memory",
    **dict.fromkeys(("topics", "resources", "prompts", "mcp"), "memory.library"),
    "trace": "trace.trace",
}
"""The modules of the commands that are not in a module of their own name in this folder."""

OTHER_WORDS = {"why": "explain", "forget": "trace forget or memory forget", "remember": "memory add"}
"""Words that people type for a command, and the command."""
EXAMPLE = 'Example: enricher enrich "why does the login test fail?" --cwd .'


def main() -> None:
    """Run the command line, importing modules from our own root folder before those in ``PYTHONPATH``."""
    sys.path.insert(0, root_dir())
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(sys.argv):
        # Without click, whose import takes longer than the hook itself; main() ends the process.
        from enricher.hook.process import main as hook

        hook([word for word in sys.argv[2:] if word != "--host"])
    from enricher.rules.cache import NoRulesError

    try:
        os.getcwd()  # nearly every command needs it, and some would fail with a traceback
    except OSError:
        sys.exit("Error: the current folder no longer exists; change to another folder and try again")
    try:
        _group()()
    except NoRulesError as error:
        sys.exit(f"Error: {error}; to find out more, run: enricher check")
    except (OSError, OverflowError, UnicodeEncodeError) as error:
        sys.exit(f"Error: {_told(error)}")


def _told(error: Exception) -> str:
    """Return what a user can do about an error that any command may meet: a full disk, or a value that none can use."""
    if isinstance(error, OverflowError):
        return "a number of this command is too large; give a smaller one"
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object!r} cannot be encoded in {error.encoding}; give it in UTF-8"
    return str(error)


def _command_meant(word: str, commands: list[str]) -> str:
    """Return the command that is meant by a word that is none; empty if no command is like it."""
    from difflib import get_close_matches

    return OTHER_WORDS.get(word) or "".join(get_close_matches(word, commands, 1))


def _group() -> click.Group:
    # The class is defined in this function, because its base class is in click, whose import takes long.
    import click

    class Commands(click.Group):
        """The group of all commands of ``enricher``; the module of a command is imported only when it is called.

        Our own commands are in the tables of this module; the workbench declares its commands as entry points.
        """

        def list_commands(self, ctx: click.Context) -> list[str]:
            del ctx
            return [name for section in _all_sections().values() for name in section]

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name in COMMANDS:
                name = _MODULES.get(cmd_name, cmd_name)
                module = __import__(f"enricher.interfaces.cli.{name}", fromlist=[cmd_name])
                # ``help`` is a builtin, so that its function has another name.
                command: click.Command = getattr(module, f"{cmd_name}_command", None) or getattr(module, cmd_name)
                return command
            entry = commands_from_above().get(cmd_name)
            if entry is not None:
                loaded: click.Command = entry.load()
                return loaded
            if not ctx.resilient_parsing and (near := _command_meant(cmd_name, self.list_commands(ctx))):
                raise click.UsageError(f"there is no command '{cmd_name}'; did you mean {near}?", ctx)
            return None

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Write the summaries from the tables of this module, so that ``--help`` imports no command."""
            del ctx
            sections = _all_sections()
            width = max(len(name) for section in sections.values() for name in section)
            for title, section in sections.items():
                with formatter.section(title):
                    # Padded, since click aligns the summaries only within a section.
                    formatter.write_dl([(name.ljust(width), summary) for name, summary in section.items()])

    from enricher import __version__

    group = Commands(
        "enricher",
        help="A prompt hook for coding agents: it adds a few facts with their sources, or nothing, and records why.",
        epilog=EXAMPLE,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return click.version_option(__version__, prog_name="enricher")(group)


def commands_from_above(command: str = "") -> dict[str, EntryPoint]:
    """Return the entry points of the commands that the workbench adds to the group ``command``, by name.

    If ``command`` is empty, return those that it adds at the top level.
    """
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=f"enricher.commands.{command}".rstrip("."))}


def _all_sections() -> dict[str, dict[str, str]]:
    """Return the sections of the help with our commands, then those that the packages of the workbench list.

    This imports these packages, but not the modules of the commands.
    """
    from importlib import import_module

    found = {title: dict(section) for title, section in SECTIONS.items()}
    for package in sorted({entry.module.rpartition(".")[0] for entry in commands_from_above().values()}):
        for title, section in import_module(package).SECTIONS.items():
            found.setdefault(title, {}).update(section)
    return found
