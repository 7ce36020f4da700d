"""Quote what the head of a generated file says about the program that writes it.

It belongs to the channel ``ways``, runs in the hook, and starts no process.
"""

from __future__ import annotations

from enricher.context import Candidate, host_context
from enricher.prompt.wording.words import words_of
from enricher.sources.code import read_file, stem_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from enricher.context import Request

SCORE = 0.9
MOST_OF_A_HEAD, HEAD_LINES = 1500, 12
FAR, MOST_NAMES = 4000, 12
MOST_FILES, MOST_JOINED = 6, 4
LONGEST, SHORTEST = 220, 20
GENERATED = ("generated", "do not edit", "do not modify", "do not change")
"""Words of heads of generated files, in lower case."""
COMMENTS = ("#", "/", "*", ";", '"', "'", "%", "<!", "--", "..", '.\\"', '\\"')
NO_COMMENTS = ("#include", "#import", "#define", "#if")
AROUND = '#/*;\\"%<!->. \t'
"""Characters of comment marks."""
PROGRAMS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".php")


def generated_files(request: Request, index: sqlite3.Connection) -> list[Candidate]:
    """Return what a generated file says about its generation: one named in the prompt, else one the agent just edited.

    There is at most one result, for the first such file.
    """
    opened = [*request.conversation.files, *request.conversation.changed]
    for path in (_named(request.prompt, index) or request.conversation.changed)[:MOST_FILES]:
        line, said = _said_by_head(read_file(request.project.root, path))
        if said:
            is_known = any(other in said for other in opened) or said in request.conversation.answer
            stale = host_context.IN_CONVERSATION if is_known else ""
            label = f"{path}:{line}, {_command(said, index) or 'a generated file'}"
            return [Candidate(said, f"generated {path}", SCORE, label=label, kind="way: generated", stale=stale)]
    return []


def _named(prompt: str, index: sqlite3.Connection) -> list[str]:
    """Return the files of the project that a prompt names by a path or name that no other file has."""
    found: list[str] = []
    names = dict.fromkeys(word.strip("./-") for word in words_of(prompt[:FAR]) if "." in word)
    for name in list(names)[:MOST_NAMES]:
        rows = index.execute("select path from files where stem = ?", (stem_of(name),)).fetchall()
        paths = [path for (path,) in rows if f"/{path}".endswith(f"/{name}")]
        found += [path for path in paths if path == name] or (paths if len(paths) == 1 else [])
    return found


def _said_by_head(text: str) -> tuple[int, str]:
    """Return the line and the text of the comment in a file's first lines that says that it is generated."""
    head = text[:MOST_OF_A_HEAD].split("\n")[:HEAD_LINES]
    at = next((at for at, line in enumerate(head) if any(word in line.lower() for word in GENERATED)), HEAD_LINES)
    said = ""
    for line in head[at : at + MOST_JOINED]:
        bare = line.strip(AROUND)
        if not bare or not _is_comment(line.lstrip()) or len(said) + len(bare) > LONGEST:
            break
        said = f"{said}{'. ' if bare[0].isupper() and said else ' '}{bare}".strip()
    return (at + 1, said) if len(said) >= SHORTEST else (0, "")


def _is_comment(line: str) -> bool:
    return line.startswith(COMMENTS) and not line.startswith(NO_COMMENTS)


def _command(said: str, index: sqlite3.Connection) -> str:
    """Return the only command of the project that ``said`` names or that calls the program named there."""
    rows = index.execute("select said, label, path, line from ways where kind = 'command' and line > 0").fetchall()
    programs = [word.rpartition("/")[2] for word in words_of(said) if word.strip(".").endswith(PROGRAMS)]
    named = [row for row in rows if f"`{row[0]}`" in said]
    called = [row for row in rows if any(program.strip(".") in row[1] for program in programs)]
    found = {f"by `{command}` ({path}:{line})" for command, _label, path, line in named or called}
    return f"generated {found.pop()}" if len(found) == 1 else ""
