"""Mark the facts that the agent already has, so that they are not shown to it again (ruling R29).

It has them from files that its client loads, or from its own last answer.
"""

from __future__ import annotations

import os

from storage.base import private

FILES = {
    "claude": ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    "codex": ("AGENTS.md", ".codex/AGENTS.md"),
    "gemini": ("GEMINI.md", ".gemini/GEMINI.md"),
    "copilot": ("AGENTS.md", ".github/copilot-instructions.md"),
    "cursor": ("AGENTS.md", ".cursorrules"),
    "opencode": ("AGENTS.md",),
}
"""Files that each client loads at its start: from the folders between project root and ``cwd``, and the home folder."""
MOST_BYTES = 64 * 1024  # of each file
FEWEST_CHARACTERS = 20  # shorter texts occur by chance in almost any file
IN_HOST_FILE = "the host has it in "
IN_CONVERSATION = "the conversation has it already"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import ChannelResult, Request


def mark_loaded(gathered: list[ChannelResult], request: Request) -> None:
    """Mark as stale (not to be shown) the candidates whose text occurs in a file that the client has loaded."""
    offered = [(item, flat(item.text)) for one in gathered for item in one.candidates if not item.stale]
    offered = [(item, text) for item, text in offered if len(text) >= FEWEST_CHARACTERS]
    if not offered:
        return
    for name, content in _read(request):
        for item, text in offered:
            if not item.stale and text in content:
                item.stale = IN_HOST_FILE + name


def mark_in_answer(gathered: list[ChannelResult], answer: str) -> None:
    """Mark as stale (not to be shown) the candidates whose text occurs in the agent's last answer."""
    answer_line = _one_line(answer)
    for one in gathered:
        if one.name == "session":  # quotes that answer on purpose, to say what the prompt refers to
            continue
        for item in one.candidates:
            if item.text and not item.stale and _one_line(item.text) in answer_line:
                item.stale = IN_CONVERSATION


def own_files(host: str) -> tuple[str, ...]:
    """Return the files that a client loads at its start; of an unknown client, those of Claude Code."""
    return FILES.get(host, FILES["claude"])


def imports(name: str, request: Request) -> str:
    """Return the file through which the client loads the file ``name``: itself, or one that imports it; or ""."""
    path = os.path.join(request.project.root, name)
    for own in own_files(request.host):
        if os.path.realpath(os.path.join(request.project.root, own)) == os.path.realpath(path):
            return own
    wanted = os.path.basename(name).lower()
    # Claude Code and Gemini CLI load "@FILE" in their files.
    found = (own for own, content in _read(request) if f"@{wanted}" in content or f"@./{wanted}" in content)
    return next(found, "")


def _one_line(text: str) -> str:
    return " ".join(text.lower().split())


def _read(request: Request) -> list[tuple[str, str]]:
    found = []
    for folder in _folders(request.cwd, request.project.root):
        for name in own_files(request.host):
            try:
                content = private.read_file(os.path.join(folder, name), MOST_BYTES)
            except OSError:
                continue
            found.append((name, flat(content.decode(errors="replace"))))
    return found


def _folders(cwd: str, root: str) -> list[str]:
    folders = [folder for folder in dict.fromkeys((cwd, root)) if folder]
    while cwd and root and cwd.startswith(root + os.sep) and (cwd := os.path.dirname(cwd)) != root:
        folders.append(cwd)
    return [*folders, os.path.expanduser("~")]


def flat(text: str) -> str:
    """Return a text in a form for comparison: on one line, lowercase, without asterisks and backticks."""
    return _one_line(text.replace("*", "").replace("`", ""))
