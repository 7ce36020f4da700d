"""The real agent clients: pinned, installed once into a cache, run in an empty home.

Every run gets a fresh HOME, an otherwise empty environment, a dummy key and our
loopback server as its model, a time limit, and is killed with its whole group.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

REPOSITORY = Path(__file__).parents[2]
CACHE = Path(os.environ.get("ENRICHER_TEST_CLIENTS") or REPOSITORY / ".cache" / "clients")
PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.329",
    "gemini": "@google/gemini-cli@0.61.0",
    "codex": "@openai/codex@0.169.0",
    "copilot": "@github/copilot@1.0.102",
    "opencode": "opencode-ai@1.18.33",
}
RUN_SECONDS = 90.0


class UnavailableError(Exception):
    """The real client cannot be had here; the message says why."""


class Finished:
    """What a client left behind when it ended."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code, self.stdout, self.stderr = code, stdout, stderr


class Client:
    """One real client with a home of its own."""

    def __init__(self, name: str, *, home: Path, project: Path, model_url: str) -> None:
        self.name, self.home, self.project, self.model_url = name, home, project, model_url
        self.binary = install(name)
        self.asks_for_trust = False
        self.options: list[str] = []
        self.variables: dict[str, str] = {}
        getattr(self, f"_configure_{name}")()

    def environment(self) -> dict[str, str]:
        """Return the whole environment the client sees."""
        shared = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SHELL": "/bin/sh"}
        keys: dict[str, str] = _KEYS[self.name](self.model_url)
        return shared | keys | self.variables

    def run(self, prompt: str) -> Finished:
        """Put ``prompt`` to the client as a person would in a script, and wait for its end."""
        command = [*self.binary, *self._arguments(prompt)]
        return run_group(command, cwd=self.project, env=self.environment())

    def as_sent(self, prompt: str) -> str:
        """Return what the client makes of a prompt on its command line; OpenCode puts it in quotes."""
        if self.name != "opencode":
            return prompt
        return '"' + prompt.replace('"', '\\"') + '"'

    def shows(self, words: str, prompt: str) -> bool:
        """Put ``prompt`` to the client in a terminal and say whether ``words`` came up on its screen."""
        if self.name != "codex":
            finished = self.run(prompt)
            return words in finished.stdout + finished.stderr
        self.trust_project()
        with self._terminal("--dangerously-bypass-hook-trust", "--", prompt) as terminal:
            return terminal.shows(words)

    def trust_hooks(self) -> None:
        """Do what Codex asks a person to do before it runs a new hook."""
        self.trust_project()
        settings = self.home / ".codex" / "config.toml"
        with self._terminal() as terminal:
            assert terminal.shows("2. Trust all and continue")
            assert terminal.press_until("2", lambda: terminal.has_drawn("› 2. Trust all"))  # noqa: RUF001 (its cursor)
            assert terminal.press_until("\r", lambda: "trusted_hash" in settings.read_text())
        self.asks_for_trust = True

    def _terminal(self, *arguments: str) -> Terminal:
        return Terminal([*self.binary, *arguments], cwd=self.project, env=self.environment())

    def trust_project(self) -> None:
        """Let the client run what is registered in the project."""
        if self.name == "codex":
            settings = self.home / ".codex" / "config.toml"
            trust = f'[projects."{self.project}"]\ntrust_level = "trusted"\n'
            if trust not in settings.read_text():
                settings.write_text(settings.read_text() + trust)
        if self.name == "copilot":
            self.variables["GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS"] = "true"

    def _arguments(self, prompt: str) -> list[str]:
        return {
            "claude": ["-p", "--output-format", "stream-json", "--verbose", *self.options, "--", prompt],
            "gemini": ["-m", "gemini-2.5-flash", "--skip-trust", "-o", "json", *self.options, f"--prompt={prompt}"],
            "codex": [
                *("exec", "--skip-git-repo-check"),
                *([] if self.asks_for_trust else ["--dangerously-bypass-hook-trust"]),
                *(*self.options, "--", prompt),
            ],
            "copilot": ["--allow-all-tools", "--no-auto-update", *self.options, "-p", prompt],
            "opencode": ["run", *self.options, "--", prompt],
        }[self.name]

    def _configure_claude(self) -> None:
        write_json(self.home / ".claude" / "settings.json", {"model": "sonnet"})

    def _configure_gemini(self) -> None:
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True},
        }
        write_json(self.home / ".gemini" / "settings.json", settings)
        write_json(self.home / ".gemini" / "trustedFolders.json", {str(self.project): "TRUST_FOLDER"})

    def _configure_codex(self) -> None:
        lines = [
            'model = "gpt-5-codex"',
            'model_provider = "stub"',
            "[model_providers.stub]",
            'name = "stub"',
            f'base_url = "{self.model_url}/v1"',
            'wire_api = "responses"',
            'env_key = "STUB_KEY"',
            "request_max_retries = 0",
            "stream_max_retries = 0",
            "[analytics]",
            "enabled = false",
            "[features]",
            "daemon_auto_start = false",  # it would outlive the test in a session of its own
        ]
        folder = self.home / ".codex"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("\n".join(lines) + "\n")

    def _configure_copilot(self) -> None:
        (self.home / ".copilot").mkdir(parents=True)

    def _configure_opencode(self) -> None:
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "model": "anthropic/claude-sonnet-4-5",
            "provider": {"anthropic": {"options": {"baseURL": f"{self.model_url}/v1", "apiKey": "dummy"}}},
        }
        write_json(self.home / ".config" / "opencode" / "opencode.json", settings)


def client_or_skip(name: str, *, home: Path, project: Path, model_url: str) -> Client:
    """Return a client ready to run, or skip the test with the reason why there is none."""
    try:
        return Client(name, home=home, project=project, model_url=model_url)
    except UnavailableError as error:
        pytest.skip(str(error))


_KEYS: dict[str, Any] = {
    "claude": lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    },
    "gemini": lambda url: {
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "dummy",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    "codex": lambda _url: {"STUB_KEY": "dummy"},
    "copilot": lambda url: {
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_BASE_URL": url,
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "claude-sonnet-4.5",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_HOOK_ALLOW_LOCALHOST": "1",
    },
    "opencode": lambda _url: {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    },
}


def install(name: str) -> list[str]:
    """Return the command that starts the client, fetching the pinned package first where it is missing."""
    if not _is_pinned_version_there(name):
        _fetch(PACKAGES[name])
    return _start_command(name)


def _is_pinned_version_there(name: str) -> bool:
    package, _, version = PACKAGES[name].rpartition("@")
    manifest = CACHE / "node_modules" / package / "package.json"
    return manifest.exists() and json.loads(manifest.read_text())["version"] == version


def _fetch(package: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "package.json").exists():
        write_json(CACHE / "package.json", {"name": "clients", "private": True, "version": "0.0.0"})
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
    command = [npm, "install", *flags, package]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise UnavailableError(f"npm could not fetch {package}: {' '.join(reasons[:2])}")


def _start_command(name: str) -> list[str]:
    modules = CACHE / "node_modules"
    patterns = {
        "claude": "@anthropic-ai/claude-code-*/claude",
        "codex": "@openai/codex-*/vendor/*/bin/codex",
        "copilot": "@github/copilot-*/copilot",
        "opencode": "opencode-*/bin/opencode",
    }
    if name == "gemini":
        node = shutil.which("node")
        if node is None:
            raise UnavailableError("node is not installed")
        return [node, str(modules / "@google" / "gemini-cli" / "bundle" / "gemini.js")]
    found = sorted(path for path in modules.glob(patterns[name]) if "baseline" not in str(path))
    if not found:
        raise UnavailableError(f"{PACKAGES[name]} has no binary for {sys.platform}")
    return [str(found[0])]


def run_group(command: list[str], *, cwd: Path, env: dict[str, str], stdin: bytes = b"") -> Finished:
    """Run a command in its own process group and leave nothing of it behind."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout=RUN_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Finished(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def end_leftovers(home: Path) -> None:
    """End what a client started in a session of its own: whatever still runs with this fresh home."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HOME={home}".encode() in variables:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(folder.name), signal.SIGKILL)


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
