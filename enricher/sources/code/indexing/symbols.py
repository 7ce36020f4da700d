"""Find the definitions in a file, and what a test file imports, with regular expressions instead of a parser.

A definition that is missed or found by mistake does little harm, so the patterns are simple. Does not run in the hook.
"""

from __future__ import annotations

import posixpath
import re

MOST_SYMBOLS = 2_000
"""Maximum number of definitions per file; only generated tables have more."""

_JS = (
    r"^[ \t]*(?:export\s+(?:default\s+)?)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:function\s*\*?|class|interface|enum|namespace)\s+([A-Za-z_$][\w$]*)"
    r"|^(?:export\s+)?(?:declare\s+)?type\s+([A-Za-z_$][\w$]*)"
    r"|^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)"
    r"|^[ \t]+(?:(?:public|private|protected|static|async|override|readonly|get|set)\s+)*\*?"
    r"([A-Za-z_$#][\w$]*)\s*(?:<[^>\n]*>)?\([^;\n]{0,200}\)?\s*(?::[^;={\n]{1,200})?\{[ \t]*$"
    r"|^[ \t]*(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*="
    r"|^[ \t]*(?:[A-Za-z_$][\w$]*\.)+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s+)?(?:function|\([^)\n]*\)\s*=>)"
    r"|^[ \t]+([A-Za-z_$][\w$]*)\s*[:=]\s*(?:async\s+)?(?:function\b|\([^)\n]*\)\s*=>)"
)
_CURLY = (
    r"^[ \t]*(?:(?:@\w+(?:\([^)\n]*\))?|public|private|protected|internal|static|final|abstract|sealed|open|override"
    r"|data|inline|suspend|partial|readonly|async|virtual|extern|unsafe)\s+)*"
    r"(?:class|interface|enum|record|object|struct|trait|protocol|extension|fun|func|namespace|typealias|delegate)"
    r"\s+(?:<[^>\n]*>\s*)?(?:\w+\.)?([A-Za-z_]\w*)"
    r"|^[ \t]+(?:(?:public|private|protected|internal|static|final|abstract|override|async|virtual|synchronized)\s+)+"
    r"(?:<[^>\n]*>\s*)?[\w<>\[\],.? ]+\s+([A-Za-z_]\w*)\s*\("
)
_C = (
    r"^(?:[A-Za-z_][\w:<>*&, \t]{0,120}?[\s*&])([A-Za-z_~]\w*(?:::~?\w+)*)[ \t]*\([^;{]{0,400}\)"
    r"\s*(?:const|noexcept|override)?\s*\{"
    r"|^[ \t]*(?:typedef\s+)?(?:template\s*<[^>\n]*>\s*)?(?:class|struct|union|enum(?:\s+class)?|namespace)\s+"
    r"([A-Za-z_]\w*)[^;\n]{0,200}$"
    r"|^#\s*define\s+([A-Za-z_]\w*)"
)
_PATTERNS = {
    "python": r"^[ \t]*(?:async\s+)?(?:def|class)\s+(\w+)|^(?:cdef|cpdef)\s+[\w ]*?(\w+)\s*\("
    r"|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=[^=]",
    "javascript": _JS,
    "go": r"^func\s+(?:\([^)\n]*\)\s*)?(\w+)|^type\s+(\w+)|^(?:var|const)\s+(\w+)",
    "rust": r"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+\"[^\"\n]*\"\s+)*"
    r"(?:fn|struct|enum|trait|type|mod|union|static|const)\s+(\w+)|^[ \t]*macro_rules!\s*(\w+)",
    "curly": _CURLY,
    "c": _C,
    "ruby": r"^[ \t]*(?:def\s+(?:self\.)?|class\s+(?:\w+::)*|module\s+(?:\w+::)*)(\w+[?!=]?)"
    r"|^[ \t]*([A-Z][A-Z0-9_]+)\s*=",
    "php": r"^[ \t]*(?:(?:abstract|final|public|private|protected|static|readonly)\s+)*"
    r"(?:function\s+&?|class\s+|interface\s+|trait\s+|enum\s+)(\w+)",
    "shell": r"^[ \t]*(?:function\s+([\w-]+)|([\w-]+)\s*\(\)\s*\{?)",
    "sql": r"(?i)^[ \t]*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
    r"(?:table|view|index|function|procedure|trigger|type)\s+(?:if\s+not\s+exists\s+)?[\"`\[]?(?:\w+\.)?(\w+)",
    "elixir": r"^[ \t]*(?:defp?|defmodule|defmacro)\s+([\w.]+[?!]?)",
    "lua": r"^[ \t]*(?:local\s+)?function\s+(?:\w+[.:])?(\w+)",
    "markdown": r"^#{1,4}[ \t]+(.{1,80}?)\s*#*$",
}  # fmt: skip
_ENDS = {
    "python": "py pyi pyx",
    "javascript": "js jsx ts tsx mjs cjs mts cts vue svelte astro",
    "go": "go",
    "rust": "rs",
    "curly": "java kt kts cs swift scala groovy dart",
    "c": "c h cc cpp cxx hh hpp m mm",
    "ruby": "rb rake",
    "php": "php phtml",
    "shell": "sh bash zsh",
    "sql": "sql",
    "elixir": "ex exs",
    "lua": "lua",
    "markdown": "md markdown",
}
_LANGUAGES = {end: language for language, ends in _ENDS.items() for end in ends.split()}
_COMPILED = {language: re.compile(pattern, re.MULTILINE) for language, pattern in _PATTERNS.items()}
# The pattern for methods of JavaScript also matches "if (x) {".
_NO_NAMES = frozenset("if for while switch catch return else do try with new function constructor super".split())
MOST_IMPORTS = 60
LONGEST_HEAD = 20_000
"""Characters at the start of a test file that are searched for imports."""
_SCRIPT_ENDS = frozenset("js jsx ts tsx mjs cjs mts cts".split())
_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]{0,800}\)|[^\n#]+)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bmock\()\s*\(?\s*['"]([^'"\n]{1,160})['"]""")


def definitions(path: str, text: str) -> list[tuple[str, int]]:
    """Return the names that a file defines, each with its line (counted from 1), from top to bottom."""
    pattern = _COMPILED.get(_LANGUAGES.get(path.rpartition(".")[2].lower(), ""))
    if pattern is None:
        return []
    found: list[tuple[str, int]] = []
    line, counted = 1, 0
    for match in pattern.finditer(text):
        # Each alternative of a pattern has one group, for the name.
        name = match[match.lastindex or 0]
        if name in _NO_NAMES or len(name) < 2:
            continue
        start = match.start(match.lastindex or 0)
        line += text.count("\n", counted, start)  # from the name before, because counting from the start is quadratic
        counted = start
        found.append((name.rpartition("::")[2], line))  # in C++, a method may be defined as Cart::total
        if len(found) == MOST_SYMBOLS:
            break
    return found


def imported(path: str, text: str) -> list[str]:
    """Return what a test file imports: dotted names in Python, paths without file extension in JavaScript.

    Returns an empty list for any other language.
    """
    head = text[:LONGEST_HEAD]
    end = path.rpartition(".")[2].lower()
    if end == "py":
        found = _of_python(path, head)
    elif end in _SCRIPT_ENDS:
        found = _of_script(path, head)
    else:
        return []
    return list(dict.fromkeys(key for key in found if key))[:MOST_IMPORTS]


def _of_python(path: str, head: str) -> list[str]:
    folders = path.split("/")[:-1]
    found = []
    for match in _PYTHON.finditer(head):
        if match[3]:
            found += [name.strip().partition(" ")[0] for name in match[3].split(",")]
            continue
        module = match[1]
        dots = len(module) - len(module.lstrip("."))
        if dots:  # relative to the folder of the file (one dot), or to one above it
            above = folders[: len(folders) - dots + 1]
            module = ".".join([*above, *filter(None, [module.lstrip(".")])])
        found.append(module)
        names = match[2].strip("() \t").replace("\n", " ").split(",")
        found += [f"{module}.{name.strip().partition(' ')[0]}" for name in names[:20] if name.strip()]
    return [name.lower() for name in found]


def _of_script(path: str, head: str) -> list[str]:
    folder = path.rpartition("/")[0]
    found = []
    for match in _SCRIPT.finditer(head):
        name = match[1]
        if name.startswith("."):
            found.append(_bare(posixpath.normpath(posixpath.join(folder, name))))
        elif name.startswith(("@/", "~/", "#/", "src/")):  # the usual aliases of the folder src/
            found.append("@/" + _bare(name.partition("/")[2]))
    return found


def _bare(path: str) -> str:
    stem, dot, end = path.rpartition(".")
    path = stem if dot and (end in _SCRIPT_ENDS or end in ("vue", "svelte")) else path
    return path.removesuffix("/index").lower()
