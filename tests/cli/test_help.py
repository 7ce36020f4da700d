"""The help of every command: its section, one spelling and one text for each option, and an example that works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import pytest
from simulator import ROOT

from enricher.interfaces.cli import LONGEST_HELP, _group, commands_from_above

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator import Account

PROMPT = "why does the login test fail?"
TRACE_ID, MEMORY_ID = "0064a1", "m-0123456789"
"""Ids in the examples, which the tests replace with real ones."""
MEASURED = '[{"name": "hook", "ratio": 2.3}]\n'
FILES = {"my-instructions.md": "# Classification\n", "labelled.jsonl": "", "CLAUDE.md": "- Prices are in cents.\n",
         "before.json": MEASURED, "now.json": MEASURED,
         "hydrate_example.md": "# Prompt hydration context\n\n## Drafted plan\n\n## Prompt Hydration\n"}  # fmt: skip
"""Files that the examples name."""
NOT_RUN = {
    "ab ask": "needs a model, tested with the model",
    "ab resume": "needs an experiment with a model, tested with the model",
    "ab cohort": "prints only a letter, tested with the experiments",
    "ab show": "needs an experiment",
    "bench": "takes long",
    "demo": "takes long",
    "model": "needs a model or labelled prompts, tested with the model",
    "mcp": "serves until it is stopped",
    "suggest": "needs many labelled prompts",
    "trace merge": "needs another database",
    "tune": "needs many labelled prompts",
    "workbench": "needs a terminal",
}
"""Commands whose example is only parsed."""
OWN_MEANING = {"--all", "--cases", "--format", "--host", "--match", "--port", "--project", "--prompts", "--scope"}
OWN_MEANING |= {"--cwd", "--dry-run", "--session"}
"""Options whose help text depends on the command."""
VARYING = re.compile(r"((, the newest)?; 0: \w+)?\.$| with .*|; default: .*")
"""Endings of help texts that depend on the command: what 0 means, the fields of a line, the default."""


def _commands(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, (path, name)
            yield from _commands(found, *path, name)


EVERY = dict(_commands(_group()))
OPTIONS = [
    (" ".join(path), option)
    for path, command in EVERY.items()
    for option in command.params
    if isinstance(option, click.Option)
]


def _example(command: click.Command) -> tuple[list[str], str]:
    """Return the words of a command's example after ``enricher``, and what it reads from stdin."""
    text = (command.epilog or "").removeprefix("Example: ")
    given, _, piped = text.rpartition(" | ")
    return shlex.split(piped or text)[1:], (shlex.split(given) or [""])[-1]


ONLY_PARSED = {tuple(name.split()) for name in NOT_RUN}
RUN = [
    path
    for path, command in EVERY.items()
    if not isinstance(command, click.Group) and (path == ("bench", "compare") or not {path[:1], path} & ONLY_PARSED)
]


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_the_help_ends_with_an_example_of_the_command_itself(path: tuple[str, ...]) -> None:
    command = EVERY[path]
    context = click.Context(command, info_name=" ".join(("enricher", *path)), terminal_width=80)
    last = command.get_help(context).rstrip().rpartition("\n\n")[2]

    assert re.match(r"  Example: (echo .* \| )?enricher \S", last)
    assert tuple(_example(command)[0][: len(path)]) == path


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_the_example_is_accepted_by_the_parser(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    words, _given = _example(EVERY[path])
    called = max((one for one in EVERY if tuple(words[: len(one)]) == one), key=len)

    context = EVERY[called].make_context(" ".join(called), words[len(called) :])

    assert not isinstance(EVERY[called], click.Group)
    assert set(context.params) == {one.name for one in EVERY[called].params if one.expose_value}


@pytest.mark.parametrize("path", RUN, ids=" ".join)
def test_the_example_runs(path: tuple[str, ...], account: Account) -> None:
    words, given = _example(EVERY[path])
    _furnish(account, words)

    printed = account.cli(*(_real_id(account, word) for word in words), given=given or None)

    assert "Traceback" not in printed


def test_the_example_of_a_group_is_that_of_one_of_its_commands() -> None:
    groups = [path for path, command in EVERY.items() if isinstance(command, click.Group)]
    own = {path: [one.epilog for other, one in EVERY.items() if other[: len(path)] == path != other] for path in groups}

    assert [path for path in groups if EVERY[path].epilog not in own[path]] == []


def _furnish(account: Account, words: list[str]) -> None:
    """Put into the account what the example names: files, a conversation, a folder to trust, recorded prompts."""
    for name, text in FILES.items():
        account.write(f"project/{name}", text)
    account.write("project/docs/decisions/0001-cents.md", "# Prices are in cents\n\nNo floats.\n")
    if "import" in words:
        said = {"role": "user", "content": PROMPT}
        line = {"type": "user", "message": said, "cwd": str(account.project), "sessionId": "s", "uuid": "u"}
        account.write(".claude/projects/shop/s.jsonl", json.dumps(line | {"timestamp": "2026-01-01T00:00:00Z"}) + "\n")
    if "trust" in words:
        account.write("project/.enricher/config.toml", "")
    if "my-instructions.md" in words:
        for part in ("fitted", "prompt-enricher-instructions.md"):
            source = ROOT / "instructions" / part
            target = account.project / ("my-instructions.md" if source.is_file() else part)
            (shutil.copyfile if source.is_file() else shutil.copytree)(source, target)
    if {TRACE_ID, "last", "recorded", "my-instructions.md"} & set(words):
        account.ask(PROMPT)


def _real_id(account: Account, word: str) -> str:
    """Return the id of what the account has where an example has an invented one, else the word."""
    if word == TRACE_ID:
        return str(account.trace()["id"])
    if word == MEMORY_ID:
        return str(json.loads(account.cli("memory", "add", "Prices are in cents.", "--json"))["id"])
    return word


def test_every_option_has_a_help_text() -> None:
    assert [(command, one.opts[0]) for command, one in OPTIONS if (one.help or "")[-1:] not in tuple(".)")] == []


def test_an_option_has_the_same_help_text_in_every_command() -> None:
    texts: dict[str, set[str]] = {}
    for _command, option in OPTIONS:
        texts.setdefault(option.opts[0], set()).add(VARYING.sub("", option.help or ""))

    assert {name: found for name, found in texts.items() if len(found) > 1 and name not in OWN_MEANING} == {}


def test_the_list_of_commands_is_in_sections_without_a_name_left_over(account: Account) -> None:
    listed = account.cli("--help").partition("See what a prompt gets:")
    titles = re.findall(r"^(\w[\w ]+):$", "".join(listed), re.MULTILINE)
    names = re.findall(r"^  ([a-z]+) +\w", "".join(listed), re.MULTILINE)

    assert titles == [
        "Options", "Set up", "See what a prompt gets", "Memory and code", "Tune the instructions", "History",
        "Check what an agent wrote", "For clients and programs",
    ]  # fmt: skip
    assert sorted(names) == sorted(path[0] for path in EVERY if len(path) == 1)
    assert set(commands_from_above()) <= set(names)
    assert names.index("install") == 0


@pytest.mark.parametrize("path", [path for path in EVERY if path], ids=" ".join)
def test_the_first_sentence_of_a_help_text_fits_into_the_list(path: tuple[str, ...]) -> None:
    assert len(EVERY[path].get_short_help_str(LONGEST_HELP)) < 130


def test_a_selection_limits_the_list_the_export_and_the_figures(account: Account) -> None:
    for prompt in (PROMPT, "rename the importer to reader"):
        account.ask(prompt)
    debug = ("--where", "type:debug")

    assert [one["prompt"] for one in json.loads(account.cli("trace", "list", *debug, "--json"))] == [PROMPT]
    assert json.loads(account.cli("trace", "export", *debug))["prompt"] == PROMPT
    assert json.loads(account.cli("trace", "stats", *debug, "--json"))["prompts"] == 1
    assert json.loads(account.cli("trace", "stats", "--where", "origin:import", "--json"))["prompts"] == 0
    assert "there is no field 'typ'" in account.cli("trace", "list", "--where", "typ:debug", exit_code=2)


@pytest.mark.parametrize(("when", "count"), [("2h", 1), ("today", 1), ("2001", 1), ("2999-01-01", 0)])
def test_since_takes_dates_and_spans(account: Account, when: str, count: int) -> None:
    account.ask(PROMPT)

    assert len(json.loads(account.cli("trace", "list", "--where", f"since:{when}", "--json"))) == count
    assert "is not a date; write" in account.cli("trace", "import", "--since", "tomorrow", exit_code=2)
