"""Find the lines of a prompt that are pasted (logs, stack traces, code, data), not written by the user.

Messages of errors are found in both kinds of lines. This module runs in the hook, where
importing ``re`` would take longer than its work.
"""

from __future__ import annotations

from enricher.prompt.wording import LONGEST_TEXT
from enricher.prompt.wording.words import is_file

ERROR_WORDS = frozenset(
    "error errors exception message warning fehler fehlermeldung erreur errore erro aviso ошибка ошибку".split()
)
MOST_TO_COLON = 8
"""Maximum words between one of ERROR_WORDS and the colon that introduces the message."""
FEWEST_WORDS = 4
"""Minimum words after a pasted object (``{…}``) that make the rest of its line a sentence of the user."""
MANY_PASTED, MANY_VALUES = 4, 4
"""Minimum pasted lines for all lines between them to count as pasted; minimum values that make a line data."""
FAILURES = ("FAILED ", "FAIL ")
"""Beginnings of the lines in which a test runner names a failed test."""
LONGEST_UNIT = 4
AROUND = "¿¡\"'`()[]{}<>,;:!?*=|&~…。，、；：！？（）「」『』【】《》“”„‘’«»‹›·"
"""Punctuation around words, in all languages."""
QUOTES = {
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "`": "`", "‘": "’", "‹": "›", "《": "》",
}  # fmt: skip
"""Marks that begin a quotation, each with the mark that ends it."""
INDENT_OF_MOCHA = 2  # spaces
FIRST_SYMBOL = 0x1F000
"""The lowest code point of emoji.

A line that begins with an emoji counts as output of a program, because people rarely begin a sentence with one.
"""
LEVELS = ("ERROR", "INFO", "WARN", "WARNING", "DEBUG", "TRACE", "FATAL", "CRITICAL", "CRIT", "EMERG", "ERRO", "FATA")
_OF_FRAMEWORKS = (
    "assertion failed", "assertion `", "assertionerror", "assertion error", "left == right", "left != right",
    "called `option::", "called `result::", "thread '", "panicked at", "traceback (most recent call last)",
    "expected: ", "expected <", "expected [", "expected true", "expected false", "expected null", "expected 0x",
    "but was", "received: ", "actual: ", "index out of bounds", "list index out of range", "attempt to add with",
    "attempt to subtract with", "attempt to multiply with", "attempt to divide by", "attempt to index a",
    "attempt to call a",
    "cannot read propert", "'nonetype' object", "'str' object", "'list' object", "'dict' object", "'int' object",
    "nil pointer dereference", "invalid memory address", "undefined is not", "null pointer", "segmentation fault",
    "exited with code ", "exit status ", "process completed with exit code",
)  # fmt: skip
"""Beginnings of what test frameworks, languages and shells print themselves, in lower case."""
_WITHIN_FRAMEWORKS = (
    " but was: ", " but was <", "object has no attribute", "unexpected keyword argument",
    "required positional argument",
    "is not callable", "is not subscriptable", "is not iterable", " with exit code ",
)  # fmt: skip
_PASTED_STARTS = (
    ">>> ", "... ", "$ ", "% ", 'File "', "diff --git", "@@ ", "+++ ", "--- ", "+ ", "|", "{", "}", "</", "<!",
    "<div", "<p", "<span", "<a ", "//", "/*", "#!", "const ", "var ", "def ", "func ", "fn ", "Traceback",
    "Fatal error: Uncaught ", "PHP Fatal error: ", "PHP Warning: ", "PHP Notice: ", "PHP Deprecated: ",
    "PHP Parse error: ", "[Log] ", "<img", "Stack trace:", *FAILURES, "PASSED ", "E   ", "npm ERR",
    "error[", "warning[", "-->", "---- ", "thread '", "panic:", "goroutine ", "!", "= note: ", "= help: ",
    "✖ ", "✗ ", "✘ ", "✕ ", "> Task :",
)  # fmt: skip
MARKS_OF_FAILURE = ("X ", "✖ ", "✗ ", "✘ ", "✕ ", "× ")
BUILT_IN_TYPES = ("string", "number", "boolean", "never", "undefined", "object", "{}", "unknown")
"""Types of TypeScript whose members are not the project's: "Property 'padStart' does not exist on type 'string'"."""
_BEFORE_UNDECLARED = ("undeclared identifier ", "annot find name ", "cannot find value ", "cannot find function ")
_BEHIND_UNDECLARED = (" was not declared in this scope", " undeclared (", " in scope", " does not exist in the current")
"""What precedes or follows a name that a compiler does not know."""
_IN_NUMBERED_FRAMES = (".php(", "{main}", "[internal", "(package:", "(dart:")
_PASTED_ENDS = ("{", ";", "},", "});", ");", "=>", "/>", "\\")


def is_of_a_framework(message: str) -> bool:
    """Return whether a message is printed by a test framework, a language or a shell, and not by the project.

    Examples are ``assertion failed: `(left == right)```, "expected: <3> but was: <4>" and "list index out of range".
    """
    bare = message.lstrip("`'\"( ").lower() if message[:1] in '`"(' else message.lower()
    return bare.startswith(_OF_FRAMEWORKS) or any(words in bare for words in _WITHIN_FRAMEWORKS)


def lacks_built_in(bare: str) -> bool:
    """Return whether a compiler reports that a built-in type has no such member: the project does not define it."""
    return "on type '" in bare and any(f"on type '{one}'" in bare for one in BUILT_IN_TYPES)


def undeclared(bare: str) -> str:
    """Return the quoted name in a line that a compiler does not know in the place of its use; else empty."""
    parts = bare.replace("‘", "'").replace("’", "'").replace("`", "'").split("'")
    return next(
        (
            name
            for before, name, behind in zip(parts[::2], parts[1::2], parts[2::2], strict=False)
            if before.endswith(_BEFORE_UNDECLARED) or behind.startswith(_BEHIND_UNDECLARED)
        ),
        "",
    )


def is_of_trace(bare: str) -> bool:
    """Return whether a line is the beginning or another part of a stack trace."""
    starts = ("Traceback", "at ", "at: ", 'File "', "panic:", "goroutine ", "thread '", "Caused by:")
    if bare.startswith(starts) or is_numbered_frame(bare):
        return True
    return is_error(bare.removeprefix("E   ").partition(":")[0])  # pytest prints "E   KeyError: 1"


def is_numbered_frame(bare: str) -> bool:
    """Return whether a line is from a trace of PHP or Dart, such as ``#0 /app/src/Foo.php(12): bar()``."""
    return bare[0] == "#" and bare[1:2].isdecimal() and any(mark in bare for mark in _IN_NUMBERED_FRAMES)


def pasted(lines: list[tuple[str, str]]) -> list[bool]:
    """Return for each line whether it is pasted; ``lines`` contains pairs (line, line without its indentation).

    If at least MANY_PASTED lines look pasted, all lines between the first and the last of them also count as pasted.
    """
    found: list[bool] = []
    unmarked: list[int] = []
    is_fenced = False
    for number, (line, bare) in enumerate(lines):
        is_fence = bare.startswith(("```", "~~~"))
        is_fenced = is_fenced != is_fence
        below = lines[number + 1][0] if number + 1 < len(lines) else ""
        if not (is_fence or is_fenced) and (_is_pasted(line, bare) or _is_failed_test(line, bare, below)):
            unmarked.append(number)
        found.append(is_fence or is_fenced or unmarked[-1:] == [number])
    if len(unmarked) >= MANY_PASTED:
        first, last = unmarked[0], unmarked[-1]
        found[first:last] = [True] * (last - first)
    return found


def _is_failed_test(line: str, bare: str, below: str) -> bool:
    """Return whether Mocha names a failed test: the line ``  1) Cart``, above a title further to the right."""
    indent = len(line) - len(line.lstrip())
    is_numbered = bare.partition(")")[0].isdecimal()
    return is_numbered and indent >= INDENT_OF_MOCHA and below.startswith(" " * (indent + INDENT_OF_MOCHA))


def _is_pasted(line: str, bare: str) -> bool:
    """Return whether a line is not prose but code, part of a log, the output of a program, or data.

    ``bare`` is the line without its indentation.
    """
    # Indented text is code in Markdown, unless it is an item of a list.
    if line.startswith(("    ", "\t")) and not bare.startswith(("-", "*", "•")) and not bare[0].isdecimal():
        return True
    if bare[0] == "{" and sum(map(str.isalpha, bare.partition("} ")[2].split())) >= FEWEST_WORDS:
        return False  # "{"a": 1} into a map gives …"
    if bare.startswith(_PASTED_STARTS) or bare.endswith(_PASTED_ENDS) or ord(bare[0]) >= FIRST_SYMBOL:
        return True
    if is_numbered_frame(bare) or (run_by_cargo(bare) and not bare.endswith("FAILED")) or said_by_perl(bare)[1]:
        return True
    first_word = bare.partition(" ")[0]
    if first_word == "#" and ("=" in bare or bare[2:3] == "["):  # a setting that is commented out
        return True
    if (first_word in ("let", "export", "return") and " = " in bare) or (first_word == "from" and " import " in bare):
        return True
    if first_word in ("at", "at:") and (bare.endswith(")") or bare[-1].isdecimal()):
        return True  # a stack frame, not "at the top of …"
    if bare.count("=") >= MANY_VALUES or bare.count('": ') + bare.count("': ") >= MANY_VALUES:
        return True
    words = bare.split(None, 4)
    if any(level_in(word, is_first=word is words[0]) for word in words[:4]):
        return True
    if words[1:2] in (["FAILED"], ["PASSED"], ["ERROR"]) and is_file(words[0].partition("::")[0]):
        return True  # a test that pytest has run
    if words[1:2] == [">"] and bare.endswith(" FAILED"):
        return True  # a test that Gradle has run: "CartTest > adds FAILED"
    if words[1:2] == ["="] and words[0].isidentifier():
        return True
    if words[0].replace(":", "", 1).isdecimal() and words[1:2] and words[1] in ("error", "warning", "info", "✖", "⚠"):
        return ":" in words[0]  # a linter's "12:5  error  …"
    first = words[0].strip("[](")
    if len(first) >= 5 and first[0].isdecimal() and max(first.count(":"), first.count("-"), first.count("/")) == 2:
        return True  # a time of day or a date
    place = first.rstrip(":")
    if len(words) > 1 and is_file(place.partition(":")[0]) and place.rpartition(":")[2].isdecimal():
        # "app.js:12 Loading …", but not "app.js:12 is wrong"; "cart.cpp:12:3: error: …"
        return not words[1].islower() or words[1] in ("error:", "warning:", "note:")
    return len(words) > 1 and any(_is_position(word) for word in words[:3])


def said_by_perl(bare: str) -> tuple[str, str]:
    """Return message and file of an error of Perl: ``no such row at lib/Cart.pm line 12.``; two empty texts else."""
    message, found, place = f" {bare.lstrip('#')}".rpartition(" at ")
    path, is_line, number = place.partition(" line ")
    is_told = found and is_line and number.endswith(".") and number[:-1].isdecimal() and is_file(path)
    return (message.strip(), path) if is_told else ("", "")


def run_by_cargo(bare: str) -> str:
    """Return the name of the test in a line such as ``test cart::adds ... ok``; empty for any other line."""
    words = bare.split() if bare.startswith("test ") else []
    return words[1] if len(words) == 4 and words[2] == "..." else ""


def level_in(word: str, *, is_first: bool) -> str:
    """Return the level in a word of a log line, ``ERRO[0012]``, ``[error]`` or ``[shop.orders][error]``; else "".

    A user may also begin a line with ``[error]``, so it counts only after a time or a name.
    """
    bare = word.strip("[]:|")
    if word.startswith("[") and word.endswith("]") and ("][" in word or not is_first):
        bare = bare.rpartition("[")[2].upper()
    bare = bare.partition("[")[0]
    return bare if bare in LEVELS else ""


def _is_position(word: str) -> bool:
    """Return whether a word is a location in a script without a file, such as ``VM343:1`` in a browser's log."""
    name, colon, number = word.strip("()").rpartition(":")
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    return bool(colon and number.isdecimal() and name and name[0].isalpha() and not is_file(name))


def is_error(head: str) -> bool:
    """Return whether ``head`` is a word that error messages begin with, such as ``KeyError``."""
    last = head.strip(AROUND).rpartition(".")[2]
    return last.lower() in ("error", "fatal") or (
        last.isidentifier() and last.endswith(("Error", "Exception", "Warning", "Panic", "Fault"))
    )


def error_message(line: str) -> str:
    """Return the message in a line that names an error first, such as "KeyError: 'user'"; empty if there is none."""
    if line.startswith(MARKS_OF_FAILURE) and line[2:3].isupper():  # "✗ Could not find a row"
        return line[2:][:LONGEST_TEXT]
    head, _, message = line.partition(": ")
    # A program names itself: "make: error: …", "shop: WARNING: …".
    if " " not in head and message.startswith(("error: ", "fatal: ", "WARNING: ")):
        return message.partition(": ")[2][:LONGEST_TEXT]
    if len(head) < LONGEST_TEXT and (head.endswith("Caused by") or is_error(head.rpartition(" ")[2])):
        return message[:LONGEST_TEXT]
    return ""


def told_message(line: str) -> str:
    """Return the message in a sentence such as "the error says list not found"; empty if there is none.

    Others give it behind a colon: "now this error when I save: no such column".
    """
    for verb in ("error says ", "message says ", "error saying ", "message saying "):
        if found := line.partition(verb)[2]:
            return found.partition(". ")[0][:LONGEST_TEXT]
    head, _, found = line.replace(" : ", ": ", 1).partition(": ")
    is_told = found.count(" ") >= 2 and any(word in ERROR_WORDS for word in head.lower().split()[-MOST_TO_COLON:])
    return found[:LONGEST_TEXT] if is_told else ""


def without_library_function(line: str) -> str:
    """Return ``line`` without the function of a library at its end: "…/site-packages/web/load.py, line 9, in get"."""
    before, found, _ = line.rpartition(", in ")
    if not found or ", line " not in before:
        return line
    from enricher.prompt.wording.frames import LIBRARY_FOLDERS

    return before if any(folder in before for folder in LIBRARY_FOLDERS) else line


def is_unit(word: str, before: str) -> bool:
    """Return whether a word is the unit of the number before it, as in "4 KiB", and so not a name in the code."""
    bare = word.strip(AROUND + ".")
    number = before.strip(AROUND).replace(".", "").replace(",", "")
    return len(bare) <= LONGEST_UNIT and bare.isalpha() and "`" not in word and number.isdecimal()
