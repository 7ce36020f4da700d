"""The tests beside this one run nearly every line of the rooms that classify a prompt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = [
    ROOT / "enricher" / "interfaces" / "compat" / "intent.py",
    *sorted((ROOT / "enricher" / "classify").glob("*.py")),
    ROOT / "enricher" / "prompt" / "wording" / "structure.py",
]
RUN = """
import json, os, sys
rooms, seen = set(json.loads(sys.argv[1])), set()
def follow(frame, event, _value):
    if event == "line":
        seen.add((frame.f_code.co_filename, frame.f_lineno))
    return follow
def enter(frame, _event, _value):
    if frame.f_code.co_filename in rooms:
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return follow
sys.settrace(enter)
import pytest
failed = pytest.main(["-q", "-p", "no:cacheprovider", "-k", "not takes_long", *sys.argv[2:]])
sys.settrace(None)
print("\\n" + json.dumps(sorted(seen)))
os._exit(failed)
"""


def lines_of(code: CodeType) -> set[int]:
    """Return the lines of a module that can run at all."""
    own = {line for _start, _end, line in code.co_lines() if line}
    return own.union(*(lines_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def typing_only(source: str) -> set[int]:
    """Return the lines that only a type checker reads."""
    found, inside = set(), False
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() and not line.startswith(" "):
            inside = line == "if TYPE_CHECKING:"
        elif inside:
            found.add(number)
    return found


@pytest.mark.slow
@pytest.mark.conformance("S1-1.X")
def test_more_than_nine_lines_in_ten_are_run() -> None:
    tests = [str(file) for file in sorted(Path(__file__).parent.glob("test_[!c]*.py"))]
    tests.append(str(ROOT / "tests" / "model" / "test_opinions.py"))
    command = [sys.executable, "-c", RUN, json.dumps([str(room) for room in ROOMS]), *tests]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]

    seen = {(file, line) for file, line in json.loads(ended.stdout.splitlines()[-1])}
    shares = {}
    for room in ROOMS:
        source = room.read_text(encoding="utf-8")
        lines = lines_of(compile(source, str(room), "exec")) - typing_only(source)
        shares[room.name] = sum((str(room), line) in seen for line in lines) / max(len(lines), 1)

    assert min(shares.values()) > 0.9, shares
