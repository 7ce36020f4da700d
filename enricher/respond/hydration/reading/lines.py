"""Find the lines of a prompt that the user wrote, and the list items; skip pasted code, traces, logs and quotations."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_STEPS, LONGEST_BRIEF = 2, 12
"""MIN_STEPS lines that begin like steps ("first", "then") form a list; if no line has more than LONGEST_BRIEF words,
all lines are its items."""


LONGEST_HEADING = 6  # maximum words of a heading; a longer line with a colon at its end is not one
PASTED = (
    ">", "|", "$ ", "% ", "#!", "at ", 'File "', "+", "diff ", "@@", "Traceback", "\u23bf", "│", "✓", "✔", "✗", "✖",
    "╭", "╰", "├", "└", "E   ", "FAILED ", "FAIL ", "PASSED ", "ERROR ",
)  # fmt: skip
BARS = "█▓▒░▕▏"
SEQUENCE = ("first ", "first,", "first:", "then ", "then,", "next ", "next,", "after that", "finally")
"""Beginnings of lines that list tasks in sequence."""
TRACES = ("stack trace", "[c]: ", "backtrace")
HEADING = ("# ", "## ", "### ")
LIST_MARKS = ("- ", "* ", "• ")


def places_of(lines: list[tuple[str, bool, bool]]) -> list[str]:
    """Return for each line of a prompt a note on where it is, to be shown when the line is quoted alone; or "".

    If there are several headings, the note names the one above the line, as in ``(under "Header")``. For a line that
    ends with "here", it names the previous line, as in ``(behind "the totals" in the prompt)``.
    """
    headings = [at for at, (line, _is_listed, _is_nested) in enumerate(lines) if _is_heading(line)]
    headings = [at for at in headings if at + 1 < len(lines) and at + 1 not in headings]
    places: list[str] = []
    heading = ""
    for at, (line, _is_listed, _is_nested) in enumerate(lines):
        before = lines[at - 1][0] if at and at - 1 not in headings else ""
        if at in headings:
            heading = line.rstrip(" :*") if len(headings) > 1 else ""
        parts = [f'under "{heading}"'] if heading and at not in headings else []
        if line.lower().rstrip(" .!").endswith(" here") and before and len(before.split()) <= LONGEST_BRIEF:
            parts.append(f'behind "{before.rstrip(" .:")}" in the prompt')
        places.append(f" ({', '.join(parts)})" if parts else "")
    return places


def _is_heading(line: str) -> bool:
    return line.rstrip(" *").endswith(":") and len(line.split()) <= LONGEST_HEADING


def own_lines(prompt: str) -> list[tuple[str, bool, bool]]:
    """Return the lines that the user wrote, as (line, whether it is a list item, whether it is a nested list item)."""
    lines: list[tuple[str, bool, bool]] = []
    outer = 0
    for line, bare in _typed(prompt):
        if len(numbered := _numbered(bare)) > 1:
            last, _stop, rest = numbered.pop().partition(". ")
            lines += [(one, True, False) for one in (*numbered, last)]
            lines += [(rest, False, False)] * bool(rest)
            continue
        marked = next((bare[len(mark) :] for mark in LIST_MARKS if bare.startswith(mark)), "")
        number, dot, rest = bare.partition(".") if "." in bare[:4] else bare.partition(")")
        if not marked and dot and number.isdigit() and rest.startswith(" "):
            marked = rest.strip()
        indent = len(line) - len(line.lstrip())
        is_nested = bool(marked) and bool(lines) and lines[-1][1] and indent > outer
        outer = indent if marked and not is_nested else outer
        lines.append((marked or bare, bool(marked), is_nested))
    return _with_steps(lines)


def _typed(prompt: str) -> Iterator[tuple[str, str]]:
    """Yield (line, its text) for each line that is no heading, and no pasted code, log or output of a program."""
    fenced = pasted = False
    written = prompt.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").splitlines()
    for line in written:
        bare = line.strip()
        if bare.startswith(HEADING) and len(written) > 1:
            continue  # a heading, or a comment in pasted settings
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not bare:
            pasted = False
            continue
        if _is_logged(bare):
            continue
        if at := _start_of_log(bare):
            bare = bare[:at].rstrip()
        if bare.startswith(PASTED) and not bare.startswith(("- ", "+ ")):
            pasted = bare.startswith(("Traceback", "\u23bf"))
            continue
        if not (fenced or pasted or _is_code(line, bare)):
            yield line, bare


def _with_steps(lines: list[tuple[str, bool, bool]]) -> list[tuple[str, bool, bool]]:
    """Return the lines; those that are steps of a sequence ("first …", "then …") are marked as list items."""
    steps = [line.lower().startswith(SEQUENCE) for line, _is_listed, _is_nested in lines]
    if sum(steps) < MIN_STEPS:
        return lines
    is_brief = all(len(line.split()) <= LONGEST_BRIEF for line, _is_listed, _is_nested in lines)
    return [
        (line, is_listed or is_brief or is_step, is_nested)
        for is_step, (line, is_listed, is_nested) in zip(steps, lines, strict=True)
    ]


def _numbered(line: str) -> list[str]:
    """Return the items of a list that is written on one line, "1. add x 2. fix y"; empty if there is no such list."""
    items: list[list[str]] = []
    for word in line.split():
        if word in (f"{len(items) + 1}.", f"{len(items) + 1})", f"({len(items) + 1})"):
            items.append([])
        elif items:
            items[-1].append(word)
    return [" ".join(item) for item in items if item]


def _is_logged(bare: str) -> bool:
    # A date at its beginning, the first line of a stack trace, a progress bar, or a number and a "·".
    if bare.lower().startswith(TRACES) or (" \u00b7 " in bare and any(char.isdigit() for char in bare)):
        return True
    if any(bar in bare for bar in BARS):
        return True
    digits = bare[1:] if bare[:1] == "[" else bare
    return (digits[:4].isdigit() and digits[4:5] in ("-", "/")) or (digits[:2].isdigit() and digits[2:3] == "/")


def _start_of_log(bare: str) -> int:
    """Return the position at which a pasted log line begins after the user's own words; 0 if there is none."""
    at = bare.find("-")
    while at >= len("2026"):
        start = at - len("2026")
        if start and bare[start - 1] in " [:" and _is_time(bare[start : start + len("2026-03-04 18:20:03")]):
            return start
        at = bare.find("-", at + 1)
    return 0


def _is_time(text: str) -> bool:
    """Return whether a text is a date and a time, with a space or ``T`` between: ``2026-03-04 18:20:03``."""
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16]
    return digits.isdecimal() and text[4:5] == text[7:8] == "-" and text[10:11] in "T " and text[13:14] == ":"


def _is_code(line: str, bare: str) -> bool:
    is_indented = line.startswith(("    ", "\t")) and not bare.startswith(LIST_MARKS)
    is_value = bare[0] in "\"'" and bare.partition(":")[0].rstrip()[-1:] == bare[0] and ":" in bare
    return (
        is_value
        or bare.endswith(("{", "}", ";", "=>", "/>"))
        or (is_indented and any(sign in bare for sign in "=(){}<>"))
    )
