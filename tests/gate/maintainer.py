"""A repository as a maintainer has it: under git, with prompts that were typed in it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.gate import gate, reports

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

DEBUG = "the nightly export is failing, fix the bug"
QUESTION = "explain how the cache works"
SMALL_TALK = "thanks, great"
NO_DEBUG = "# Classification\n\n## Task type: debug\n\n```yaml\ndisabled: true\n```\n"
NO_QUESTION = NO_DEBUG.replace("debug", "question")


@dataclass
class Repository:
    """The account's project under git, with the hook's prompts and the commands that a maintainer types."""

    account: Account
    root: Path

    @property
    def file(self) -> Path:
        """The golden cases."""
        return self.root / ".enricher" / "cases.jsonl"

    def git(self, *words: str, exit_code: int = 0) -> str:
        """Run git as a person with a name."""
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
        env = self.account.env | {"GIT_CONFIG_NOSYSTEM": "1"}
        ended = subprocess.run(
            ["git", *who, *words], cwd=self.root, env=env, capture_output=True, text=True, check=False
        )
        assert ended.returncode == exit_code, ended
        return ended.stdout

    def commit(self, subject: str = "as it is") -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-qm", subject, "--allow-empty")

    def typed(self, prompt: str, **changed: object) -> str:
        """Type a prompt and return the id of its trace."""
        self.account.ask(prompt, **changed)
        return str(self.account.trace()["id"])

    def approve(self, prompt: str, verdict: str = "ok") -> str:
        """Type a prompt, label it as a case, and return the id of its trace."""
        trace_id = self.typed(prompt)
        self.account.cli("trace", "label", trace_id, verdict, "--case")
        return trace_id

    def instruct(self, text: str) -> None:
        """Write the repository's own instructions."""
        self.file.parent.mkdir(exist_ok=True)
        (self.file.parent / "instructions.md").write_text(text)

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the cases."""
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def gate(self, *words: str, exit_code: int = 0) -> str:
        """Run the gate with an empty state folder, as a fresh checkout in CI has it."""
        self.account.env["ENRICHER_HOME"] = str(self.account.home / "ci")
        try:
            return self.account.cli("replay", "--gate", *words, exit_code=exit_code)
        finally:
            self.account.env["ENRICHER_HOME"] = str(self.account.state)

    def report(self, *words: str, exit_code: int = 0) -> dict[str, Any]:
        """Return what the command says as JSON."""
        return json.loads(self.gate("--json", *words, exit_code=exit_code))

    def judged(self, base: str = "", **options: Any) -> dict[str, Any]:
        """Return what the library finds, as the command's JSON has it."""
        return reports.to_json(gate.run(str(self.root), base=base, **options))
