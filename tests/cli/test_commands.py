"""The command line is whole: every command works, is documented, and nothing documented is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator import ENTRY, ROOT

import enricher
from enricher.context import CHANNELS
from enricher.interfaces.cli import COMMANDS
from enricher.rules.compiling.body import HANDLERS

if TYPE_CHECKING:
    from simulator import Account

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALL_COMMANDS = [*COMMANDS, *PROJECT["entry-points"]["enricher.commands"]]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN_BY_OTHERS = {"hook", "demo"}  # by clients, by make
CALLED = re.compile(r"(?:^|[`$] ?|\| |: )enricher ([a-z][a-z-]*)", re.MULTILINE)


SMALLEST_CALLS = {
    "hook": ("hook",),
    "enrich": ("enrich", "why is the build red?"),
    "explain": ("explain", "why is the build red?"),
    "check": ("check", "--effective"),
    "install": ("install", "--host", "claude", "--dry-run"),
    "uninstall": ("uninstall", "--host", "claude", "--dry-run"),
    "on": ("on",),
    "off": ("off",),
    "config": ("config", "show"),
    "memory": ("memory", "list"),
    "code": ("code", "search", "where are sessions saved"),
    "trace": ("trace", "list"),
    "topics": ("topics",),
    "resources": ("resources", "list"),
    "prompts": ("prompts", "list"),
    "help": ("help", "intent"),
    "coverage": ("coverage",),
    "replay": ("replay", "--verify"),
}
"""What each command can do in a fresh account; the others need a history, a terminal or a server: their help text."""


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_every_command_works_in_a_cold_process(new_account: Account, command: str) -> None:
    words = SMALLEST_CALLS.get(command, (command, "--help"))
    script = Path(sys.executable).with_name("enricher")

    ended = subprocess.run(
        [script, *words],
        env=new_account.env,
        cwd=new_account.project,
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_every_command_has_a_help_text(account: Account, command: str) -> None:
    printed = account.cli(command, "--help")

    assert re.match(r"Usage: enricher ", printed)
    assert len(printed.splitlines()) > 4


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_every_documented_command_exists(file: Path) -> None:
    assert set(CALLED.findall(file.read_text(encoding="utf-8"))) <= set(ALL_COMMANDS)


def test_every_command_is_documented() -> None:
    called = {name for file in DOCUMENTS for name in CALLED.findall(file.read_text(encoding="utf-8"))}

    assert set(ALL_COMMANDS) - called <= RUN_BY_OTHERS


def test_the_versions_agree(account: Account) -> None:
    versions = {PROJECT["version"], enricher.__version__, account.cli("--version").split()[-1]}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions.update(re.findall(r"^## \[(\d[\d.]*)", changes, re.MULTILINE)[:1])

    assert len(versions) == 1


def test_imports_point_down() -> None:
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("import-linter is not installed")

    ended = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("enrich",),
        ("trace", "show", "nonsense"),
        ("check", "/no/such/file.md"),
        ("trace", "list", "--before", b"caf\xe9"),
        ("trace", "list", "--limit", "9" * 20),
    ],
)
def test_a_wrong_call_gets_a_remedy_and_no_traceback(account: Account, words: tuple[str | bytes, ...]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENTRY, str(ROOT), *words],
        env=account.env,
        cwd=account.project,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr + ended.stdout
    assert ended.stderr + ended.stdout


def test_a_full_disk_below_the_output_is_told(account: Account) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(
            [sys.executable, "-c", ENTRY, str(ROOT), "config", "show"],
            env=account.env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert ended.returncode
    assert ended.stderr.startswith("Error: [Errno 28] No space left on device\n")


def test_a_pipe_in_place_of_instructions_is_told(account: Account) -> None:
    os.mkfifo(account.project / "pipe.md")  # without a writer, reading it would not end

    told = account.cli("check", "pipe.md", exit_code=1)

    assert "/pipe.md:1: error: not a regular file" in told


def test_a_blank_topic_is_none(account: Account) -> None:
    assert account.cli("topics", "  ") == account.cli("topics")


@pytest.mark.parametrize(("word", "meant"), [("explan", "explain"), ("why", "explain"), ("forget", "trace forget")])
def test_a_word_that_is_no_command_leads_to_the_one_that_was_meant(account: Account, word: str, meant: str) -> None:
    assert f"did you mean {meant}" in account.cli(word, exit_code=2)


def test_enrich_answers_many_prompts_in_order_and_says_which_line_is_bad(account: Account) -> None:
    lines = '{"id": 1, "prompt": "the test is not working"}\nnot json\n{"id": 3}\n\n{"id": "4", "prompt": "thanks"}\n'
    file = account.write("prompts.jsonl", lines)

    rows = [json.loads(line) for line in account.cli("enrich", "--jsonl", str(file), exit_code=1).splitlines()]

    assert [row["id"] for row in rows] == [1, None, 3, "4"]
    assert ["error" in row for row in rows] == [False, True, True, False]
    assert rows[0]["task_type"] == "debug"
    assert rows[0]["text"].startswith("## Prompt Enrichment")


def test_enrich_shows_what_the_hook_says(account: Account) -> None:
    prompt = "update the hooks to add a new feature"

    assert account.cli("enrich", prompt).rstrip("\n") == account.ask(prompt).context


def test_the_hook_command_answers_like_the_launcher(account: Account) -> None:
    given = json.dumps(account.event("the test is not working"))

    printed = account.cli("hook", "--host", "claude", given=given)

    assert "## Prompt Enrichment" in printed


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        pytest.param("thanks", "chat is never shown", id="chat"),
        pytest.param(
            "der Export geht nicht mehr, bitte mach das wieder heil", "does not seem to be English", id="german"
        ),
        pytest.param("the thing", "is below min_confidence 0.65 of debug", id="vague"),
    ],
)
def test_explain_says_why_a_class_is_not_shown(account: Account, prompt: str, reason: str) -> None:
    said = " ".join(account.cli("explain", prompt).split())

    assert reason in said.partition("uncertain because")[2]


def test_explain_gives_no_reason_where_the_class_is_shown(account: Account) -> None:
    assert "uncertain because" not in account.cli("explain", "why does the login test fail?")


@pytest.mark.parametrize(("prompt", "reason"), [("/compact", "slash_command"), ("", "empty"), ("  ", "empty")])
def test_explain_of_a_skipped_prompt_is_the_reason_and_one_line(account: Account, prompt: str, reason: str) -> None:
    first, *others = account.cli("explain", prompt).splitlines()

    assert (first, len(others)) == (f"skipped: {reason}", 1)


def test_a_missing_file_is_all_that_check_says_of_it(account: Account) -> None:
    assert account.cli("check", "/nope.md", exit_code=1) == "/nope.md:1: error: no such file\n"
    assert len(json.loads(account.cli("check", "/nope.md", "--json", exit_code=1))["problems"]) == 1


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param(
            "# Guardrails\n\n## Approach: x\n\n```yaml\nsay: See {nonsense}.\n```\n",
            6,
            "error: unknown placeholder '{nonsense}'; known: {frame}",
            id="placeholder",
        ),
        pytest.param(
            "# Guardrails\n\n## Guardrail: H77\n\n```yaml\ndisabled: true\n```\n",
            3,
            "warning: guardrail 'H77' is in no catalogue, so this disables nothing",
            id="guardrail",
        ),
    ],
)
def test_check_finds_what_would_have_no_effect(account: Account, text: str, line: int, said: str) -> None:
    file = account.write("config/instructions.md", text)

    printed = account.cli("check", exit_code=int(said.startswith("error")))

    assert f"{file}:{line}: {said}" in printed


def test_config_begins_with_the_folders_it_reads(account: Account) -> None:
    lines = account.cli("config", "show").splitlines()

    assert lines[:2] == [f"config folder: {account.config}", f"state folder: {account.state}"]
    folders = json.loads(account.cli("config", "show", "--json"))["folders"]
    assert folders == {"config": str(account.config), "state": str(account.state)}


@pytest.mark.slow
def test_the_demo_shows_one_prompt_in_both_profiles(demo: str) -> None:
    quiet, specified = (
        demo.partition(f'profile = "{profile}"')[2].partition("\n─")[0] for profile in ("quiet", "as-specified")
    )

    assert "(nothing is added)" in quiet
    assert "**Classification**: refactor\n\n**Applicable Guardrails**: none" in specified
    assert demo.rstrip().endswith(" install")


def test_config_lists_channels_hosts_gates_and_the_budgets_of_a_layer(account: Account) -> None:
    file = account.instruct(
        "# Context\n\n## Channel: notes\n\n```yaml\ncommand: [cat]\n```\n"
        "\n# Output\n\n## Budgets\n\n```yaml\nextend: true\ntokens: 300\n```\n"
    )
    settings = account.write("config/config.toml", "[channels]\nmemory = false\n\n[budgets]\nitems = 5\n")
    shown = json.loads(account.cli("config", "show", "--json"))

    named = {key: value for key, value in shown["settings"].items() if key.startswith("channels.")}
    assert named == {f"channels.{name}": name != "memory" for name in (*CHANNELS, *HANDLERS, "notes")}
    assert shown["settings"]["hosts.claude"] is True
    assert shown["settings"]["enable_local_enrichment"] is None
    assert (shown["settings"]["budgets.tokens"], shown["settings"]["budgets.items"]) == (300, 5)
    assert shown["sources"] == {
        "budgets.tokens": f"{file}:15", "budgets.items": str(settings), "channels.memory": str(settings),
    }  # fmt: skip


def test_config_credits_no_variable_whose_value_was_refused(account: Account) -> None:
    account.write("config/config.toml", "[search_intent]\nmin_confidence = 0.4\n")
    account.env |= {
        "ENRICHER_LOG": "nope", "ENRICHER_SHOW": "1",
        "SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE": "0.7", "ENRICHER_SEARCH_INTENT_MIN_CONFIDENCE": "often",
    }  # fmt: skip
    shown = json.loads(account.cli("config", "show", "--json"))

    assert shown["sources"] == {
        "show": "$ENRICHER_SHOW", "search_intent.min_confidence": "$SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE",
    }  # fmt: skip
    assert (shown["settings"]["log"], len(shown["warnings"])) == ("redacted", 2)


SAMPLES = [json.loads(line) for line in (ROOT / "enricher/samples/prompts.jsonl").read_text().splitlines()]
SHOWN = {
    "defined": "- shop/prices.py:6 price_with_tax — defined here; 2 callers: shop/exporter.py:13, shop/orders.py:17\n",
    "comes from": '- shop/exporter.py:6 "No orders in this period" — the only place that has it\n',
    "nearest": "- shop/price.py — does not exist; the nearest is shop/prices.py\n",
    "removed": "- `load_rates` — removed from shop/rates.py in ",
    "run that alone": "run it alone: `python -m pytest tests/test_exporter.py`\n",
    "project does it": '- CONTRIBUTING.md:3, on commits: "Every commit message begins with the part that changed',
    "decided before": '(docs/decisions/0001-cents.md): "Prices are integer cents: Prices of orders are stored',
    "nothing to add": "(nothing is added)",
    "not for us": "(nothing is added)",
    "bypass": "(nothing is added)",
}


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["about"] for sample in SAMPLES])
def test_the_demo_shows_what_the_heading_of_a_prompt_promises(demo: str, sample: dict[str, str]) -> None:
    answer = demo.partition(f"\n{sample['about']} ─")[2].partition("\n\n")[2].partition(" ───")[0]

    shown = next((line for about, line in SHOWN.items() if about in sample["about"]), "**Applicable Guardrails**: H")
    assert shown in answer


def test_the_readme_shows_what_the_demo_shows(demo: str) -> None:
    shown = (ROOT / "README.md").read_text().partition("## Prompt Enrichment\n")[2].partition("```")[0]

    assert [line for line in shown.splitlines() if line not in demo] == []


def test_the_demo_shows_the_secret_as_the_log_has_it(demo: str) -> None:
    printed = demo.partition("what the log keeps of it")[2]

    assert '"prompt": "why does the upload fail with password=[redacted:' in printed


@pytest.mark.parametrize("words", [(), ("bench",), ("memory",), ("trace",), ("code",), ("config",)])
def test_lists_of_commands_say_whole_sentences(account: Account, words: tuple[str, ...]) -> None:
    listed = account.cli(*words, "--help").partition("Commands:" if words else "Set up:")[2]

    assert len(listed.splitlines()) > 1
    assert not [line for line in listed.splitlines() if line.endswith("...")]


def test_every_command_from_above_has_a_summary(account: Account) -> None:
    listed = set(re.findall(r"^  ([a-z]+) +\w", account.cli("--help"), re.MULTILINE))

    assert set(PROJECT["entry-points"]["enricher.commands"]) <= listed


def test_a_folder_that_is_gone_is_told(account: Account) -> None:
    gone = account.home / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2" -I -c "$3" "$4" trace list'
    words = ["sh", "-c", script, "sh", str(gone), sys.executable, ENTRY, str(ROOT)]
    ended = subprocess.run(words, env=account.env, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (
        1,
        "Error: the current folder no longer exists; change to another folder and try again\n",
    )
