"""What an approach may point at: facts read off the prompt itself, each with the words it came from.

Pure text work on the judged prompt; a fact that is not there is simply absent,
and an approach that needs it stays silent.
"""

from __future__ import annotations

LIBRARY_FOLDERS = (
    "site-packages", "dist-packages", "node_modules", "node:", "/lib/python", "<frozen", "<string>", "internal/",
    "/.cargo/registry/", "/rustc/", "/usr/lib/", "/gems/", "vendor/", "java.base", "<anonymous>",
)  # fmt: skip
MOST_LINES = 400
LONGEST_PATH = 200
THINGS = frozenset(
    "files tests modules components pages endpoints routes classes functions packages services repos repositories"
    " scripts migrations tables screens views templates handlers tickets issues plugins projects directories"
    " folders models controllers queries charts languages locales translations".split()
)
FEWEST_TO_SHARE = 5
PASTED = frozenset(("stack_trace", "log", "code_block", "diff", "shell", "pasted_error"))
"""With these in a prompt, many of its words are not the person's own."""
FEWEST_LISTED = 4
GENERIC_WORDS = frozenset(
    "a an and are as at be by code dev development do file files for from how in into is it of on or project projects"
    " skill skills task tasks that the this to tool tools use used user uses using when with work write writing you"
    " your add create make new update change any all".split()
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def read_facts(prompt: str, features: Iterable[str], skills: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the facts of a prompt by name: frame, error, count, listed, skill (those that it has)."""
    found: dict[str, str] = {}
    if "stack_trace" in features:
        lines = prompt.splitlines()[-MOST_LINES:]
        _keep(found, "frame", _innermost_frame(lines))
        _keep(found, "error", _error(lines))
    _keep(found, "count", _count(prompt))
    if "list" in features:
        _keep(found, "listed", _listed(prompt))
    if not PASTED.intersection(features):
        _keep(found, "skill", _skill(prompt, skills))
    return found


def _keep(found: dict[str, str], name: str, value: str) -> None:
    if value:
        found[name] = value


def _innermost_frame(lines: list[str]) -> str:
    """The frame nearest to the fault that is not library code, as ``path:line``.

    Python prints the innermost frame last, everybody else prints it first.
    """
    python = [frame for line in lines if (frame := _python_frame(line))]
    if python:
        return next((frame for frame in reversed(python) if _is_own(frame)), "")
    return next((frame for line in lines if (frame := _other_frame(line)) and _is_own(frame)), "")


def _is_own(frame: str) -> bool:
    return not any(folder in frame for folder in LIBRARY_FOLDERS)


def _python_frame(line: str) -> str:
    """``File "app/db.py", line 84, in save`` as ``app/db.py:84``."""
    _, quoted, rest = line.partition('File "')
    path, _, after = rest.partition('", line ')
    number = after.partition(",")[0].strip()
    return f"{path}:{number}" if quoted and number.isdigit() and len(path) < LONGEST_PATH else ""


def _other_frame(line: str) -> str:
    """``at save (src/db.ts:84:7)``, ``src/db.rs:84:7`` and their like as ``src/db.ts:84``."""
    words = line.replace("(", " ").replace(")", " ").split()
    if not words or words[0] not in {"at", "-->", "from", "in"}:
        return ""
    for word in words[1:]:
        path, number = _path_and_line(word.rstrip(",:"))
        if number and "." in path and len(path) < LONGEST_PATH:
            return f"{path}:{number}"
    return ""


def _path_and_line(word: str) -> tuple[str, str]:
    pieces = word.removeprefix("file://").split(":")
    numbers = 0
    while numbers < len(pieces) - 1 and pieces[-1 - numbers].isdigit():
        numbers += 1
    if not numbers:
        return "", ""
    return ":".join(pieces[: len(pieces) - numbers]), pieces[len(pieces) - numbers]


def _error(lines: list[str]) -> str:
    """The name of the exception, such as ``KeyError``."""
    for line in reversed(lines):
        name = line.strip().removeprefix("Uncaught ").partition(":")[0]
        last = name.rpartition(".")[2]
        if last.endswith(("Error", "Exception", "Panic")) and last[:1].isupper() and last.isidentifier():
            return last
    return ""


def _count(prompt: str) -> str:
    """A stated number of like things, such as ``40 files``."""
    words = prompt[:12_000].lower().split()
    for at, word in enumerate(words):
        if not (word.isascii() and word.isdigit()) or not FEWEST_TO_SHARE <= int(word[:6]) < 100_000:
            continue
        for thing in words[at + 1 : at + 3]:
            bare = thing.strip(".,;:!?()")
            if bare in THINGS:
                return f"{word} {bare}"
    return ""


def _listed(prompt: str) -> str:
    """How many items the prompt lists, if it lists several."""
    items = sum(1 for line in prompt.splitlines() if _is_item(line.strip()))
    return str(items) if items >= FEWEST_LISTED else ""


def _is_item(line: str) -> bool:
    if line.startswith(("- ", "* ", "• ")):
        return len(line) > len("- x y")
    number, mark, rest = line.partition(".") if "." in line[:4] else line.partition(")")
    return bool(mark and rest.strip()) and number.isdigit()


def _skill(prompt: str, skills: Iterable[tuple[str, str]]) -> str:
    """The one installed skill whose own words the prompt uses; a tie names none."""
    words = _words(prompt[:4000])
    scored: list[tuple[int, str]] = []
    for name, description in skills:
        in_name = _words(name.replace("-", " ").replace("_", " ")) & words
        in_description = _words(description) & words
        if in_name:
            scored.append((2 * len(in_name) + len(in_description - in_name), name))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    if not scored or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return ""
    return scored[0][1]


def _words(text: str) -> set[str]:
    signs = str.maketrans(dict.fromkeys("`'\".,;:!?()[]{}<>/\\*#|", " "))
    return {word for word in text.lower().translate(signs).split() if len(word) > 1} - GENERIC_WORDS
