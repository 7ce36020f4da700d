"""Define the prompt event, into which the events of all hosts (coding agents) are parsed, and decide which to skip.

No I/O: the same event and settings always give the same reason to skip a prompt. The reason is stored with the prompt;
it is empty if the prompt is enriched.
"""

from __future__ import annotations

SKIPS = {
    "disabled": "the enricher is switched off (enricher on)",
    "subagent": "the prompt was given to a subagent, by an agent",
    "machine_prompt": "the prompt was written by a program",
    "empty": "the prompt has no words",
    "bypass_phrase": "the prompt asks that nothing be added",
    "bypass_prefix": "the prompt begins with the bypass prefix",
    "slash_command": "a slash command is for the host",
    "settings_unknown": "the settings could not be read, so it is unknown whether the enricher is switched on",
    "duplicate": "the same prompt came twice in a session within two seconds, as with a hook that is registered twice",
    "gate_closed": "the caller's format is switched off",
    "remembered": "the prompt only says what to remember",
}
"""All reasons to skip a prompt, with their descriptions; the last four are determined in ``enricher.pipeline``."""

MEMORY_CUES = ("remember", "decision:", "from now on", "lesson", "note to self", "the record")
"""A prompt without any of these words cannot ask to remember anything, so the module that checks is not loaded."""

_PERSONS = frozenset(("", "user", "sdk"))
_MACHINE_TAGS = ("<task-notification", "<agent-notification")
_BYPASS_PHRASE = "no enrichment:"
_PRIVATE = "[redacted:private]"
# Names of files, folders or platforms that begin with a dot (".env is missing"), which here is not the bypass prefix.
_DOTFILES = frozenset(
    """
    env envrc venv git github gitlab gitea circleci husky vscode idea cursor claude gemini codex copilot opencode
    config cache local ssh aws kube docker npm yarn pnp next nuxt output svelte-kit vercel netlify expo gradle cargo
    tox nox coverage coveragerc pytest_cache mypy_cache ruff_cache profile bash_profile bash_aliases zshenv zprofile
    tmux editorconfig prettierrc eslintrc stylelintrc babelrc browserslistrc nvmrc npmrc yarnrc condarc pylintrc
    flake8 pre-commit-config python-version node-version ruby-version tool-versions htaccess netrc pgpass mailmap
    clang-format clang-tidy clangd devcontainer cursorrules windsurfrules clinerules aider mcp well-known
    ds_store terraform terragrunt storybook changeset changesets turbo parcel-cache enricher net
    """.split()
)
_DOTFILE_ENDINGS = ("ignore", "attributes", "modules", "rc", "config", "_history")


class PromptEvent:
    """One prompt as a host reported it.

    ``prompt`` is the text as typed. Any other field is empty if the host does not send it. ``source`` says, in the
    host's own terms, who wrote the prompt; ``agent`` is the subagent that received it, or empty for the main agent.
    """

    __slots__ = ("agent", "cwd", "host", "prompt", "session_id", "source", "transcript_path")

    def __init__(
        self,
        prompt: str,
        *,
        host: str = "",
        session_id: str = "",
        cwd: str = "",
        transcript_path: str = "",
        source: str = "",
        agent: str = "",
    ) -> None:
        self.prompt, self.host, self.session_id, self.cwd = prompt, host, session_id, cwd
        self.transcript_path, self.source, self.agent = transcript_path, source, agent


def skip_reason(event: PromptEvent, *, bypass_prefix: str = ".", enabled: bool = True) -> str:
    """Return the reason (a key of ``SKIPS``) why this prompt is not enriched; empty if it is enriched."""
    if not enabled:
        return "disabled"
    if event.agent:
        return "subagent"
    prompt = event.prompt.strip()
    if event.source.strip().lower() not in _PERSONS or _is_notification(prompt):
        return "machine_prompt"
    if not prompt.replace(_PRIVATE, "").strip():  # private blocks have already been redacted
        return "empty"
    return _asked_to_skip(prompt, bypass_prefix)


def _asked_to_skip(prompt: str, bypass_prefix: str) -> str:
    if prompt[: len(_BYPASS_PHRASE)].lower() == _BYPASS_PHRASE:
        return "bypass_phrase"
    if bypass_prefix and prompt.startswith(bypass_prefix) and not (bypass_prefix == "." and _is_dotted_name(prompt)):
        return "bypass_prefix"
    return "slash_command" if _is_slash_command(prompt) else ""


def _is_notification(prompt: str) -> bool:
    tag = next((tag for tag in _MACHINE_TAGS if prompt.startswith(tag)), "")
    return bool(tag) and (prompt[len(tag) : len(tag) + 1] == ">" or prompt[len(tag) : len(tag) + 1].isspace())


def _is_dotted_name(prompt: str) -> bool:
    """Return whether a prompt that begins with a dot begins with a path, an ellipsis, a fraction or a dotfile."""
    first = prompt[1:2]
    if first in {".", "/", "\\"} or first.isdigit():
        return True
    # Only the beginning is split, since a prompt may be one huge word.
    name = prompt[1:513].split(None, 1)[0].rstrip(",;:!?)'\"`") if first.strip() else ""
    stem, dot, rest = name.partition(".")
    folder, slash, _ = stem.partition("/")
    return bool(name) and (bool(dot and rest) or bool(slash and folder) or _is_dotfile(folder.lower()))


def _is_dotfile(name: str) -> bool:
    return name in _DOTFILES or (name.endswith(_DOTFILE_ENDINGS) and name not in _DOTFILE_ENDINGS)


def _is_slash_command(prompt: str) -> bool:
    """Return whether the prompt is a slash command.

    It does not count as one if the host has marked several words as the arguments of the command.
    """
    if prompt.startswith(("<command-name>", "<command-message>")):
        return "<command-name>" in prompt and not _has_written_arguments(prompt)
    # "# /commit" is a slash command in the form of a Markdown heading.
    line = prompt.removeprefix("#").lstrip(" ") if prompt.startswith("# /") else prompt
    name = line[1:257].split(None, 1)[:1] if line.startswith("/") and not line[1:2].isspace() else []
    is_named = bool(name) and all(letter.isalnum() or letter in "-:" for letter in name[0])  # otherwise, it is a path
    return is_named and not _has_written_arguments(prompt)


def _has_written_arguments(prompt: str) -> bool:
    """Return whether the host has marked more than one word as the arguments of a slash command."""
    _, mark, behind = prompt.partition("<command-args>")
    return "<command-name>" in prompt and bool(mark) and len(behind.partition("</command-args>")[0].split(None, 2)) > 1


def has_memory_cue(prompt: str) -> bool:
    """Return whether the prompt may ask to remember something, so that ``enricher.prompt.capture`` must parse it."""
    low = prompt.lower()
    return any(cue in low for cue in MEMORY_CUES)
