"""``enricher demo``: show with bundled sample prompts what the hook adds, without any configuration."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

from enricher.home import root_dir
from enricher.pipeline import PROMPT_LIMIT
from enricher.prompt.redaction import redact_and_cap
from enricher.settings import AS_SPECIFIED, QUIET

PROGRAM = (sys.executable, "-c", "from enricher.interfaces.cli import main; main()")

IN_BOTH_PROFILES = "move the rounding into its own module"
"""The prompt whose enrichment is shown under both profiles, quiet and as-specified."""
ONLY_AT_FIRST = "shop/rates.py"  # the second commit removes it
SUBJECTS = ("Orders, prices, and their export", "orders: each order has its own tax rate")


@click.command("demo", epilog="Example: enricher demo --width 120")
@click.option(
    "--width", default=100, type=click.IntRange(60, 200), show_default=True, help="Width of the output in columns."
)
def demo(width: int) -> None:
    """Run sample prompts through a real hook process and show what the agent receives and what is recorded.

    The prompts are about a small sample project in a temporary folder, so none of your files are read or changed.
    """
    from rich.console import Console

    console = Console(width=width, highlight=False)
    # The background work after the last prompt may still write to the folder while it is removed.
    with tempfile.TemporaryDirectory(prefix="enricher-demo-", ignore_cleanup_errors=True) as folder:
        environment = _fresh_environment(folder)
        shop = _sample_project(Path(folder) / "shop", environment)
        console.rule("the project: a small shop", align="left")
        for arguments in (["code", "index"], ["memory", "import"]):
            _command(console, [*arguments, "--cwd", shop], environment, width, shown=arguments)
        console.print()
        for number, sample in enumerate(_samples()):
            console.rule(sample["about"], align="left")
            _show_prompt(console, sample["prompt"], _hook(sample["prompt"], number, shop, environment))
            if redact_and_cap(sample["prompt"], PROMPT_LIMIT)[1]:  # it contains a secret
                _show_log(console, environment)
        for profile in (QUIET, AS_SPECIFIED):
            console.rule(f'one prompt, profile = "{profile}"', align="left")
            context = _hook(IN_BOTH_PROFILES, profile, shop, {**environment, "ENRICHER_PROFILE": profile})
            _show_prompt(console, IN_BOTH_PROFILES, context)
        console.rule("what was logged")
        for arguments in (["trace", "list"], ["trace", "stats"], ["replay", "--verify"]):
            _command(console, arguments, environment, width)
    click.echo(f"\nThis demo leaves nothing behind. For your own agent client: {sys.argv[0]} install")


def _samples() -> list[dict[str, str]]:
    path = Path(root_dir()) / "enricher" / "samples" / "prompts.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _sample_project(root: Path, environment: dict[str, str]) -> str:
    """Write the files quoted in ``samples/shop.md`` to ``root``, commit them if git is installed; return ``root``."""
    document = (Path(root_dir()) / "enricher" / "samples" / "shop.md").read_text(encoding="utf-8")
    for section in document.split("\n## ")[1:]:  # a heading with the name of a file, then its content in a code block
        name, _, block = section.partition("\n\n```")
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.partition("\n")[2].rpartition("```")[0], encoding="utf-8")
    who = ("-c", "user.name=demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false")
    for subject in SUBJECTS:
        for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", subject)):
            if git := shutil.which("git"):
                subprocess.run([git, *who, *words], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
        (root / ONLY_AT_FIRST).unlink(missing_ok=True)
    return str(root)


def _fresh_environment(folder: str) -> dict[str, str]:
    """Return environment variables that make ``folder`` the home folder, so that the user's own is not touched."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ENRICHER_", "XDG_", "AOPS", "GIT_"))
    }
    # Without bytecode files: the demonstration changes nothing, not even the folder of the package.
    return {**kept, "HOME": folder, "ENRICHER_HOME": os.path.join(folder, "state"), "PYTHONDONTWRITEBYTECODE": "1"}


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


def _show_prompt(console: Console, prompt: str, context: str) -> None:
    console.print(prompt, style="cyan", markup=False)
    console.print()
    console.print(context or "(nothing is added)", style="" if context else "dim", markup=False)
    console.print()


def _show_log(console: Console, environment: dict[str, str]) -> None:
    """Print the newest prompt as it was recorded, without its secrets."""
    arguments = ["trace", "last", "--json"]
    console.print(f"$ enricher {' '.join(arguments)}", style="bold")
    stored = subprocess.run([*PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True).stdout
    # print_json indents by two spaces, so that this is the key of the trace itself.
    console.print("\n".join(line for line in stored.splitlines() if line.startswith('  "prompt":')), markup=False)
    console.print()


def _command(
    console: Console,
    arguments: Sequence[str],
    environment: dict[str, str],
    width: int,
    *,
    shown: Sequence[str] | None = None,
) -> None:
    console.print(f"$ enricher {' '.join(shown or arguments)}", style="bold")
    subprocess.run([*PROGRAM, *arguments], env={**environment, "COLUMNS": str(width)}, check=False)
