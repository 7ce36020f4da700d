"""Find in pasted lines what is worth looking up in the project: failed tests, messages of errors, lines of code.

Runs in the hook, but is imported only for a prompt with pasted lines.
"""

from __future__ import annotations

from enricher.prompt.wording import LONGEST_TEXT
from enricher.prompt.wording.pasted.lines import (
    FAILURES,
    error_message,
    is_error,
    is_numbered_frame,
    lacks_built_in,
    level_in,
    said_by_perl,
)
from enricher.prompt.wording.words import is_file

WORDS_TO_LEVEL = 6
"""Maximum words of a log line up to its level, such as the date, the time, and the program that wrote it."""
ERROR_LEVELS = ("ERROR", "FATAL", "CRITICAL", "CRIT", "EMERG", "ERRO", "FATA")
WARNINGS, WORDS_OF_A_WARNING = ("WARN", "WARNING"), 7
"""Levels of warnings, and the minimum blanks in one that says enough to be looked up."""
SHORTEST_CODE = 24
"""Minimum characters of a pasted line of code to look up."""
CODE_SIGNS = ("(", "=", "{", ";")
COMPLAINTS = ("error: ", "error[", "e: ")
"""Beginnings of the lines in which a compiler reports an error."""


def is_complaint(bare: str) -> bool:
    """Return whether a compiler reports an error in this line."""
    return bare.startswith(COMPLAINTS) or ": error" in bare or " - error" in bare


def quoted_names(bare: str) -> list[str]:
    """Return the quoted names in the error of a compiler: "error TS2304: Cannot find name 'rateTable'"."""
    plain = bare.replace("‘", "'").replace("’", "'").partition("id you mean")[0]  # the quotation marks of GCC
    if lacks_built_in(plain):
        return []
    names = (one.partition("(")[0] for quote in "'`\"" for one in plain.split(quote)[1::2])
    return [name for name in names if len(name.split()) == 1]


def failed_tests(bare: str) -> list[str]:
    """Return the files of the tests that a line of a test runner's output reports as failed."""
    found = []
    if bare.startswith(FAILURES):
        test = bare.split(None, 2)[1].partition("::")[0]
        found += [test] if is_file(test) else []
    test, _, number = bare.partition(": ")[0].rstrip(":").rpartition(":")  # "file:line"
    is_failed = test.endswith(("_test.go", "_test.exs")) or (bare.endswith(": FAILED:") and is_file(test))
    found += [test] if is_failed and number.isdecimal() else []
    message, path = said_by_perl(bare)
    if path.endswith(".t"):
        found, message = [*found, path], ""
    test = "" if message else bare.partition("Loc: [")[2].partition("(")[0]  # a location printed by Qt Test
    return [*found, test] if is_file(test) else found


def message_in(bare: str) -> str:
    """Return the message of the error that a line reports; empty if it reports none."""
    message, path = said_by_perl(bare)
    if path.endswith(".t"):
        message = ""
    return (message or error_message(bare) or _logged_error(bare))[:LONGEST_TEXT]


def expected_beginning(bare: str) -> str:
    """Return the beginning of a text that a test expected, if it ends in a wildcard: "nomatch: 'row saved as: *'"."""
    before, _, behind = bare.partition("match")
    pattern = behind.partition(": '")[2].rpartition("'")[0] if before else ""
    beginning = pattern.removesuffix("*").strip()
    is_told = pattern.endswith("*") and " " in beginning and "*" not in beginning
    return beginning if is_told and len(beginning) <= LONGEST_TEXT else ""


def is_code(bare: str) -> bool:
    """Return whether a line may be code of the project: it has a sign of code, and is neither too short nor data."""
    is_line = SHORTEST_CODE <= len(bare) <= LONGEST_TEXT and any(sign in bare for sign in CODE_SIGNS)
    return is_line and not _is_data(bare)


def _logged_error(bare: str) -> str:
    """Return the message of a log line that reports an error; empty for any other line."""
    rest = bare
    for count in range(WORDS_TO_LEVEL):
        word, _, rest = rest.partition(" ")
        if level := level_in(word, is_first=count == 0):
            if level in ERROR_LEVELS or (level in WARNINGS and rest.count(" ") >= WORDS_OF_A_WARNING):
                return rest.lstrip(" -|:")
            break
    if "=" not in bare and '":' not in bare:
        return ""
    from enricher.prompt.wording.frames import LEVEL_KEYS, MESSAGE_KEYS, logged_value

    level = logged_value(bare, LEVEL_KEYS).upper()
    message = logged_value(bare, MESSAGE_KEYS)
    # An answer of a service has no level: {"code": 128, "message": "fatal: …"}
    is_answer = not level and bare[0] == "{" and is_error(message.partition(": ")[0])
    # A warning counts if it reports an error, as in Go's level=WARN msg="not sent" error="status=400".
    is_told = level in ERROR_LEVELS or is_answer or (level != "" and logged_value(bare, ("error", "err")) != "")
    return message if is_told else ""


def _is_data(bare: str) -> bool:
    """Return whether a pasted line is from a log or a table, so that it is useless to search the project for it."""
    # Such lines contain times, numbers or other values of one run.
    if is_numbered_frame(bare) or bare.startswith(("at ", "File ")):
        return True
    return bare[0] in "[|{<0123456789" or "://" in bare or ord(bare[0]) > 127
