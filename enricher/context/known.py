"""Mark facts that the host has in its context anyway (ruling R29), from files that it reads or its last answer."""

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
"""What each client reads at its start: in the project, on the way to it, and in the person's home."""
MOST_BYTES = 64 * 1024
FEWEST_CHARACTERS = 20
"""Less than this stands somewhere in every file."""
KNOWN = "the host has it in "
SAID = "the conversation has it already"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import Gathered, Request


def mark(gathered: list[Gathered], request: Request) -> None:
    """Mark the candidates whose text stands in a file that the host has read."""
    offered = [(item, flat(item.text)) for one in gathered for item in one.candidates if not item.stale]
    offered = [(item, text) for item, text in offered if len(text) >= FEWEST_CHARACTERS]
    if not offered:
        return
    for name, content in _read(request):
        for item, text in offered:
            if not item.stale and text in content:
                item.stale = KNOWN + name


def mark_said(gathered: list[Gathered], answer: str) -> None:
    """Mark the candidates whose text the agent's last answer repeats.

    What the channel ``session`` takes from that answer is the part of it that the prompt means.
    """
    said = _one_line(answer)
    for one in gathered:
        for item in one.candidates if one.name != "session" else ():
            if said and item.text and not item.stale and _one_line(item.text) in said:
                item.stale = SAID


def imports(name: str, request: Request) -> str:
    """Return the file that the host has read and that imports, or links to, this one of the project."""
    path = os.path.join(request.project.root, name)
    for own in FILES.get(request.host, FILES["claude"]):
        if os.path.realpath(os.path.join(request.project.root, own)) == os.path.realpath(path):
            return own
    wanted = os.path.basename(name).lower()
    found = (own for own, content in _read(request) if f"@{wanted}" in content or f"@./{wanted}" in content)
    return next(found, "")


def _one_line(text: str) -> str:
    return " ".join(text.lower().split())


def _read(request: Request) -> list[tuple[str, str]]:
    found = []
    for folder in _folders(request.cwd, request.project.root):
        for name in FILES.get(request.host, FILES["claude"]):
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
    """Return the words alone, so that neither line breaks nor emphasis make two of one."""
    return _one_line(text.replace("*", "").replace("`", ""))
