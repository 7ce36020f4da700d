"""Run prompts through real hook processes beside a simulated model: with it, late, failing, and what it costs.

The model is the loopback server of the tests (``tests/model/serving.py``). Everything is written to a temporary folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "model"))

from serving import MODEL, ModelServer, serving  # noqa: E402 (found by the line above)

PROMPT = "our basket has the prices of yesterday's import in it now"
"""The rules are uncertain about its task type."""
OPINION = {"intent_type": "none", "confidence": 0.9, "topics": [], "task_type": "ops", "task_confidence": 0.95}
SETTINGS = {
    "ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS": "1000",
    "ENRICHER_MODEL_ACCURACY": "0.9",
    "ENRICHER_MODEL_USD_PER_MILLION_INPUT": "1",
    "ENRICHER_MODEL_USD_PER_MILLION_OUTPUT": "5",
}
LAYER = "# Output\n\n## Lines\n\n```yaml\nclass_line: alone\n```\n"
"""The person's own instructions: name the class, if it is certain enough, even where nothing else is added."""
LATEST_S = 30
NOTHING = "(nothing)"


class Person:
    """Someone with a home folder of their own who types prompts into an agent."""

    def __init__(self, home: Path) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.home = home
        self.env = kept | SETTINGS | {"HOME": str(home), "ENRICHER_HOME": str(home / "state"), "COLUMNS": "120"}
        self.env["ENRICHER_CONFIG_HOME"] = str(home / "config")
        (home / "config").mkdir()
        (home / "config" / "instructions.md").write_text(LAYER, encoding="utf-8")

    def hook(self, event: str, session: str, **fields: str) -> str:
        """Run the hook as Claude Code does, and return what the agent gets."""
        given = {"session_id": session, "cwd": str(self.home), "hook_event_name": event, **fields}
        command = [sys.executable, "-I", "-S", str(ROOT / "enricher" / "boot.py"), "claude"]
        ended = subprocess.run(command, input=json.dumps(given).encode(), env=self.env, capture_output=True, check=True)
        answer = json.loads(ended.stdout or b"{}")
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def types(self, prompt: str, session: str) -> str:
        return self.hook("UserPromptSubmit", session, prompt=prompt)

    def ends_a_tool(self, session: str) -> str:
        return self.hook("PostToolUse", session, tool_name="Read")

    def command(self, *words: str) -> str:
        command = [str(Path(sys.executable).parent / "enricher"), *words]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=True).stdout

    def newest(self) -> str:
        """Return the id of the newest trace."""
        return str(json.loads(self.command("trace", "list", "--limit", "1", "--json"))[0]["id"])


def show(title: str, text: str = "") -> None:
    print(f"\n== {title}" if not text else f"-- {title}\n{text.rstrip()}", flush=True)


def about_the_class(explanation: str) -> str:
    """Return the parts of an explanation that are about the task type: its scores, and how certain it is."""
    parts = explanation.split("\n\n")
    told = "\n".join(part for part in parts if part.startswith(("task type", "confidence")))
    return "\n".join(line for line in told.splitlines() if not line.startswith(("left out", "channel")))


def about_the_model(shown: str) -> str:
    return next((line.partition("model ")[2].strip() for line in shown.splitlines() if MODEL in line), NOTHING)


def use(person: Person, model: ModelServer) -> None:
    """Configure the model, as config.toml would."""
    model.key, model.reply = "", json.dumps(OPINION)
    person.env |= {"ENRICHER_MODEL_URL": model.url, "ENRICHER_MODEL_NAME": MODEL}


def rules_alone(person: Person) -> None:
    show("The rules alone")
    show(f"the agent gets, for: {PROMPT}", person.types(PROMPT, "rules") or NOTHING)
    show("enricher explain --trace ID", about_the_class(person.command("explain", "--trace", person.newest())))


def with_the_model(person: Person) -> None:
    show("With the model: its opinion is one more signal")
    show("the agent gets", person.types(PROMPT, "model"))
    show("enricher explain --trace ID", about_the_class(person.command("explain", "--trace", person.newest())))
    show("enricher trace show ID", about_the_model(person.command("trace", "show", person.newest())))


def late(person: Person, model: ModelServer) -> None:
    show("A late result: the model takes two seconds, and the hook does not wait")
    model.delay_s, person.env["ENRICHER_MODEL_LATE"] = 2.0, "true"
    show("the agent gets, at the prompt", person.types(PROMPT, "late") or NOTHING)
    show("after the first tool, while the model still thinks", person.ends_a_tool("late") or NOTHING)
    latest = time.monotonic() + LATEST_S
    while not (result := person.ends_a_tool("late")) and time.monotonic() < latest:
        time.sleep(0.1)
    show("after a later tool", result)
    show("after the next tool", person.ends_a_tool("late") or NOTHING)
    show("enricher trace show ID", about_the_model(person.command("trace", "show", person.newest())))
    model.delay_s, person.env["ENRICHER_MODEL_LATE"] = 0.0, "false"


def failing(person: Person, model: ModelServer) -> None:
    show("An endpoint that fails: the rules decide")
    model.status = 529
    show("the agent gets", person.types(PROMPT, "failing") or NOTHING)
    show("enricher trace show ID", about_the_model(person.command("trace", "show", person.newest())))
    model.status = 200


def cost(person: Person) -> None:
    show("What it costs, at 1 USD per million tokens of input and 5 of output; then with a limit below that")
    show("enricher trace show ID --json, for each prompt with an answer", "\n".join(costs(person)))
    person.env["ENRICHER_MODEL_USD_PER_DAY"] = "0.0001"
    person.types(PROMPT, "limit")
    show("enricher trace show ID", about_the_model(person.command("trace", "show", person.newest())))


def costs(person: Person) -> list[str]:
    """Return what each prompt's call cost, as its trace has it."""
    found = []
    for trace in reversed(json.loads(person.command("trace", "list", "--json"))):
        model = json.loads(person.command("trace", "show", trace["id"], "--json"))["inputs"].get("model")
        if model and "usd" in model:
            found.append(
                f"{model['status']}: {model['input_tokens']} and {model['output_tokens']} tokens, {model['usd']} USD"
            )
    return found


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="enricher-model-", ignore_cleanup_errors=True) as folder,
        serving() as model,
    ):
        person = Person(Path(folder))
        rules_alone(person)
        use(person, model)
        with_the_model(person)
        late(person, model)
        failing(person, model)
        cost(person)
        show(f"{len(model.calls)} calls were made")


if __name__ == "__main__":
    main()
