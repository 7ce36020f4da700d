"""``enricher demo``: show the product's main function with bundled sample prompts, without any configuration."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

from enricher.home import root_dir
from enricher.pipeline import PROMPT_LIMIT
from enricher.prompt.redaction import redact_and_cap
from enricher.settings import AS_SPECIFIED, QUIET

PROGRAM = (sys.executable, "-c", "from enricher.interfaces.cli import main; main()")

IN_BOTH_PROFILES = "move the retry logic of the importer into its own module"
ABOUT_US = "why is there no daemon? a cold process for every prompt sounds slow"
ABOUT_A_SHOP = "can we store the prices of orders as floats?"
FACT = "prices of orders are stored as integer cents: floats lost money in the May export"

SKILL = "---\nname: python-scripts\ndescription: How this house writes Python scripts: layout, arguments, tests.\n---\n"


@click.command("demo", epilog="Example: enricher demo --width 120")
@click.option(
    "--width", default=100, type=click.IntRange(60, 200), show_default=True, help="Width of the output in columns."
)
def demo(width: int) -> None:
    """Run sample prompts through a real hook process and show what the agent receives and what is recorded.

    It uses a temporary folder, so none of your files are changed.
    """
    from rich.console import Console

    console = Console(width=width, highlight=False)
    # The upkeep behind the last prompt may still write there while the folder is removed.
    with tempfile.TemporaryDirectory(prefix="enricher-demo-", ignore_cleanup_errors=True) as folder:
        environment = _fresh_environment(Path(folder))
        for number, sample in enumerate(_samples()):
            _show(console, sample, _hook(sample["prompt"], number, folder, environment))
            if redact_and_cap(sample["prompt"], PROMPT_LIMIT)[1]:
                _show_log(console, environment)
        _show_profiles(console, folder, environment)
        _show_memory(console, folder, environment, width)
        console.rule("what was logged")
        for arguments in (["trace", "list"], ["trace", "stats"], ["replay", "--verify"]):
            console.print(f"$ enricher {' '.join(arguments)}", style="bold")
            _command(arguments, environment, width)


def _samples() -> list[dict[str, str]]:
    path = Path(root_dir()) / "enricher" / "samples" / "prompts.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _fresh_environment(folder: Path) -> dict[str, str]:
    """Return an environment with a separate home folder, so that none of the user's files are read or written."""
    skill = folder / ".claude" / "skills" / "python-scripts"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ENRICHER_", "XDG_", "AOPS"))}
    return {**kept, "HOME": str(folder), "ENRICHER_HOME": str(folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}


def _hook(prompt: str, session: object, cwd: str, environment: dict[str, str]) -> str:
    event = {
        "session_id": f"demo-{session}", "transcript_path": "", "cwd": cwd, "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    }  # fmt: skip
    boot = os.path.join(root_dir(), "enricher", "boot.py")
    command = [sys.executable, "-I", "-S", boot, "claude"]
    answered = subprocess.run(
        command, input=json.dumps(event), capture_output=True, text=True, env=environment, check=True
    )
    if not answered.stdout:
        return ""
    answer: dict[str, Any] = json.loads(answered.stdout)
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _show_profiles(console: Console, cwd: str, environment: dict[str, str]) -> None:
    """Print the answers to one prompt in each of two profiles, to show the difference."""
    for profile in (QUIET, AS_SPECIFIED):
        console.rule(f'one prompt, profile = "{profile}"', align="left")
        context = _hook(IN_BOTH_PROFILES, profile, cwd, {**environment, "ENRICHER_PROFILE": profile})
        _show_prompt(console, IN_BOTH_PROFILES, context)


def _show_memory(console: Console, folder: str, environment: dict[str, str], width: int) -> None:
    """Import this repository's records, or add one fact if there is no repository; print a prompt about them."""
    root = root_dir()
    is_repository = os.path.isdir(os.path.join(root, "docs", "decisions"))
    cwd = root if is_repository else folder
    arguments = ["memory", "import"] if is_repository else ["memory", "add", FACT, "--namespace", "decisions"]
    sample = {
        "about": "what the project decided: imported from its own decision records and git log"
        if is_repository
        else "what the project decided: one fact, added by hand",
        "prompt": ABOUT_US if is_repository else ABOUT_A_SHOP,
    }
    console.rule(sample["about"], align="left")
    console.print(f"$ enricher {shlex.join(arguments)}", style="bold", markup=False)
    _command([*arguments, "--cwd", cwd], environment, width)
    console.print()
    context = _hook(sample["prompt"], len(_samples()), cwd, environment)
    _show_prompt(console, sample["prompt"], context)


def _show(console: Console, sample: dict[str, str], context: str) -> None:
    console.rule(sample["about"], align="left")
    _show_prompt(console, sample["prompt"], context)


def _show_prompt(console: Console, prompt: str, context: str) -> None:
    console.print(prompt, style="cyan", markup=False)
    console.print()
    console.print(context or "(nothing is added)", style="" if context else "dim", markup=False)
    console.print()


def _show_log(console: Console, environment: dict[str, str]) -> None:
    """Print the prompt as stored in its trace."""
    arguments = ["trace", "last", "--json"]
    console.print(f"$ enricher {' '.join(arguments)}", style="bold")
    stored = subprocess.run([*PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True).stdout
    console.print("\n".join(line for line in stored.splitlines() if line.startswith('  "prompt":')), markup=False)
    console.print()


def _command(arguments: list[str], environment: dict[str, str], width: int) -> None:
    subprocess.run([*PROGRAM, *arguments], env={**environment, "COLUMNS": str(width)}, check=False)
