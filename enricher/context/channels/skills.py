"""The channel ``skills``: name an installed skill, command or subagent that covers what the prompt asks for.

The channel searches the client's own folders, and reads only the frontmatter in the first 2 KB of each file there. It
runs in the hook.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel
from enricher.prompt.text import cut
from enricher.settings import is_as_specified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import ChannelRule, Request
    from enricher.sources.skills import Helper

MOST_SKILLS = 64  # files that are opened in each folder
HEAD_BYTES = 2048
LONGEST_NAME = 64  # maximum characters of the name of a skill or the like, which the agent reads as part of a sentence
LONGEST_DESCRIPTION = 160
SCORE = 0.9
ONLY_BY_PERSONS = "disable-model-invocation"  # if true, the client hides the skill from the model

FOLDERS = {
    "claude": ((".claude/commands", "command"), (".claude/agents", "subagent")),
    "copilot": ((".github/agents", "subagent"),),
    "cursor": ((".cursor/commands", "command"), (".cursor/agents", "subagent")),
    "opencode": ((".opencode/command", "command"), (".opencode/agent", "subagent")),
}
"""Folders of commands and subagents (one Markdown file each), relative to the project and to the home folder."""


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return the skill, command or subagent that covers the prompt; nothing in the profile ``as-specified``."""
    if is_as_specified(request.settings):
        return []
    bases = [base for base in (request.project.root, os.path.expanduser("~")) if base]
    folders = [(f"{base}/{name}", kind) for base in bases for name, kind in FOLDERS.get(request.host, ())]
    folders = [(folder, kind) for folder, kind in folders if os.path.isdir(folder)]
    if not request.skills and not folders:
        return []
    from enricher.sources.skills import Helper, covering

    helpers = [Helper(name, description) for name, description in request.skills]
    for folder, kind in folders:
        helpers += _files(folder, kind)
    found = covering(request.prompt, helpers[: 2 * MOST_SKILLS])
    if found is None:
        return []
    helper, words = found
    label = f"{_lead(helper, request.host)} (its own words: {', '.join(words[:5])})"
    description = cut(helper.description, LONGEST_DESCRIPTION)
    return [
        Candidate(description, f"{helper.kind} {helper.name}", SCORE, label=label, kind=f"covered by a {helper.kind}")
    ]


def _lead(helper: Helper, host: str) -> str:
    # Published measurements of hooks: a general hint activates a skill in 20 to 50 % of the cases, naming a single one
    # in about 80 %.
    if helper.kind == "subagent":
        return f"subagent {helper.name} covers this request: delegate it"
    if helper.kind == "command":
        return f"/{helper.name} covers this request: follow {helper.path}"
    call = f"Skill({helper.name})" if host == "claude" else f"skill {helper.name}"
    return f"{call} covers this request: use it before starting"


def _files(folder: str, kind: str) -> list[Helper]:
    # One in a subfolder is named ``subfolder:name``, unless its frontmatter gives another name.
    from enricher.sources.skills import Helper

    found: list[Helper] = []
    for entry in _names(folder)[:MOST_SKILLS]:
        path = os.path.join(folder, entry)
        below = [f"{entry}/{name}" for name in _names(path)] if not entry.endswith(".md") else [entry]
        for name in below[:MOST_SKILLS]:
            if name.endswith(".md") and (read := _read(f"{folder}/{name}", name[:-3].replace("/", ":"))) and read[1]:
                base = os.path.dirname(os.path.dirname(folder))
                found.append(Helper(*read, kind=kind, path=f"{folder[len(base) + 1 :]}/{name}"))
    return found


def installed_skills(folders: list[str]) -> list[tuple[str, str]]:
    """Return (name, description) of the skills in ``folders``, sorted by name; of equal names, the first."""
    found: dict[str, str] = {}
    for folder in folders:
        for name in _names(folder):
            skill = _read(os.path.join(folder, name, "SKILL.md"), name)
            if skill and len(found) < MOST_SKILLS:
                found.setdefault(*skill)
    return sorted(found.items())


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(path: str, known_as: str) -> tuple[str, str] | None:
    """Return the name and description in a file's frontmatter; None if unreadable, or hidden from the model."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except OSError:
        return None
    fields = _frontmatter(head)
    if fields.get(ONLY_BY_PERSONS, "").lower() == "true":
        return None
    name = fields.get("name") or known_as
    is_plain = len(name) <= LONGEST_NAME and name.replace("-", "").replace("_", "").replace(":", "").isalnum()
    return name if is_plain else known_as[:LONGEST_NAME], fields.get("description", "")


def _frontmatter(head: str) -> dict[str, str]:
    # A value may continue in indented lines, or stand in the indented lines after ``>`` or ``|``.
    fields: dict[str, str] = {}
    key = ""
    for line in head.partition("\n---")[0].splitlines():
        if line[:1] in " \t" and key:
            fields[key] = f"{fields[key]} {line.strip()}".strip()
            continue
        name, colon, value = line.partition(":")
        key = name.strip() if colon else ""
        if key:
            value = value.strip()
            fields[key] = "" if value[:1] in (">", "|") else value.strip("\"'")
    return fields


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="an installed skill, command or subagent that covers the request, where the prompt names none",
    read_more="docs/ways.md",
    min_score=0.5,
    most=1,
    priority=9,
    tokens=80,
)
